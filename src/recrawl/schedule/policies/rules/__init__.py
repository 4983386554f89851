"""Revisit rules that others published or run: small state machines that look at no forecast and no price.

A rule keeps a row of numbers for each resource; `row[0]` is the gap that it asks for. At every visit that
tells something it takes one step. The steps are plain functions of plain numbers: the loop calls them as they
are, and the simulator's fast path compiles the very same ones. How each source is read is in
docs/why/0017-rules.md.
"""
