"""Judging: how long two documents take to compare, beside plain parsing of the same bytes in the same run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from pyoxigraph import RdfFormat, parse
from selectolax.lexbor import LexborHTMLParser

from recrawl.detect.rdf import Rdf
from recrawl.detect.text import Text
from recrawl.model import Changed, Lens, Mask, Snapshot

TIMES = 7  # the best of so many
PAGE_BYTES = 100_000
PAGE_LIMIT_S = 0.020
GRAPH_LIMIT_S = 2.0


def best_s(task: Callable[[], object], times: int = TIMES) -> float:
    """The best of several runs, after one that warms everything up."""
    task()
    took = []
    for _ in range(times):
        begun = time.perf_counter()
        task()
        took.append(time.perf_counter() - begun)
    return min(took)


def pages() -> bool:
    """Two pages of 100 kB: whether each comparison took less than 20 ms."""
    base = _page(0, edited=0.0)
    parse_s = best_s(lambda: [LexborHTMLParser(base.decode()), LexborHTMLParser(base.decode())])
    print(f"two pages of {len(base) // 1000} kB; parsing both takes {parse_s * 1e3:.1f} ms")
    cases = {
        "one word differs": (_page(1, edited=0.0).replace(b"</h1>", b" today</h1>"), Lens()),
        "a tenth of the words": (_page(1, edited=0.1), Lens()),
        "all words": (_page(1, edited=1.0), Lens()),
        "through a mask": (
            _page(1, edited=0.1),
            Lens(masks=(Mask(place="footer>p", shape="Page {number}"),)),
        ),
        "only main content": (_page(1, edited=0.1), Lens(main=True)),
        "ignoring by CSS": (_page(1, edited=0.1), Lens(ignore=("nav", ".ad"))),
        "including by XPath": (_page(1, edited=0.1), Lens(include=("//p",))),
    }
    fine = True
    for name, (other, lens) in cases.items():
        before, after = (
            Snapshot(body=body, media_type="text/html", charset="utf-8", lens=lens) for body in (base, other)
        )
        assert Text().compare(before, after).changed is Changed.YES
        took_s = best_s(lambda before=before, after=after: Text().compare(before, after))  # type: ignore[misc]
        plain = lens == Lens() or bool(lens.masks)
        within = took_s < PAGE_LIMIT_S
        fine = fine and (within or not plain)
        limit = f"limit {PAGE_LIMIT_S * 1e3:.0f} ms: {'met' if within else 'MISSED'}" if plain else ""
        print(f"  {name:<22} {took_s * 1e3:6.1f} ms  {took_s / parse_s:5.1f} x parsing  {limit}")
    return fine


def _page(seed: int, *, edited: float) -> bytes:
    """A page like many: a menu, paragraphs with links, a script. A share of its words is drawn anew."""
    words, other = np.random.default_rng(0), np.random.default_rng(seed)
    lines: list[str] = []
    n_bytes = 0
    while n_bytes < PAGE_BYTES - 8_000:
        drawn = [
            _word(
                int(words.integers(20_000) if words.random() >= edited else 20_000 + other.integers(20_000))
            )
            for _ in range(60)
        ]
        lines.append(
            f'<div class="item"><h2>{" ".join(drawn[:4])}</h2><p>{" ".join(drawn[4:30])} '
            f'<a href="/{drawn[0]}/{len(lines)}">{drawn[30]}</a> {" ".join(drawn[31:])}</p></div>'
        )
        n_bytes += len(lines[-1])
    menu = "".join(f'<li><a href="/{_word(i)}">{_word(i)}</a></li>' for i in range(80))
    script = "<script>" + "var x = 1;" * 200 + "</script>"
    return (
        f"<!doctype html><html><head><title>News</title>{script}</head><body><nav><ul>{menu}</ul></nav>"
        f"<main><h1>News</h1>{''.join(lines)}</main><div class=ad>Buy soap</div>"
        f"<footer><p>Page {seed}</p></footer></body></html>"
    ).encode()


def _word(n: int) -> str:
    letters = "bcdfghjklmnprstvwz"
    return "".join(letters[n // 18**i % 18] + "aeiou"[(n + i) % 5] for i in range(3))


def graphs() -> bool:
    """Two graphs of 100,000 statements, a tenth of their nodes blank, relabelled and reordered: whether
    both digests and the verdict took less than 2 s. Where all nodes are blank there is no limit."""
    fine = True
    print("two graphs of 100,000 statements")
    for name, statements in {
        "addresses": _addresses,
        "lists": _lists,
        "observations": _observations,
        "all blank": _all_blank,
    }.items():
        before, same, edited = (
            _graph(statements, label, word) for label, word in (("a", "One"), ("b", "One"), ("b", "Other"))
        )
        parse_s = best_s(
            lambda before=before, same=same: [
                list(parse(body, format=RdfFormat.N_TRIPLES)) for body in (before, same)
            ],  # type: ignore[misc]
            times=3,
        )
        for what, after, changed in (("the same", same, Changed.NO), ("one edit", edited, Changed.YES)):
            one, other = (Snapshot(body=body, media_type="application/n-triples") for body in (before, after))
            assert Rdf().compare(one, other).changed is changed
            took_s = best_s(lambda one=one, other=other: Rdf().compare(one, other), times=3)  # type: ignore[misc]
            within = took_s < GRAPH_LIMIT_S or name == "all blank"
            fine = fine and within
            limit = (
                f"limit {GRAPH_LIMIT_S:.0f} s: {'met' if within else 'MISSED'}" if name != "all blank" else ""
            )
            print(f"  {name:<13} {what:<8} {took_s:5.2f} s  {took_s / parse_s:5.1f} x parsing both  {limit}")
    return fine


def _graph(statements: Callable[[str], list[str]], label: str, word: str) -> bytes:
    lines = statements(label)
    order = np.random.default_rng(len(label + word)).permutation(len(lines))
    return "\n".join(lines[i] for i in order).replace('"One"', f'"{word}"').encode()


def _addresses(label: str) -> list[str]:
    """Things with nine statements each, one of them an address that has no name."""
    lines = []
    for i in range(10_000):
        thing, street = f"<http://example.org/{i}>", "One" if i == 500 else f"Street {i % 100}"
        lines += [f'{thing} <http://example.org/p{j}> "{j} of {i}" .' for j in range(8)]
        lines += [f"{thing} <http://example.org/at> _:{label}{i} ."]
        lines += [f'_:{label}{i} <http://example.org/street> "{street}" .']
    return lines


def _lists(label: str) -> list[str]:
    """A thousand lists of ten, and things with names."""
    rdf, lines = "http://www.w3.org/1999/02/22-rdf-syntax-ns#", []
    for i in range(1_000):
        lines += [f"<http://example.org/{i}> <http://example.org/list> _:{label}{i}x0 ."]
        for j in range(10):
            rest = f"_:{label}{i}x{j + 1}" if j < 9 else f"<{rdf}nil>"
            first = "One" if (i, j) == (500, 5) else f"{j} of {i % 50}"
            lines += [f'_:{label}{i}x{j} <{rdf}first> "{first}" .', f"_:{label}{i}x{j} <{rdf}rest> {rest} ."]
    return lines + [f'<http://example.org/{i}> <http://example.org/p> "{i}" .' for i in range(79_000)]


def _observations(label: str) -> list[str]:
    """A thousand things without names, ten statements each, among nine thousand that have them."""
    return [
        f"{f'_:{label}{i}' if i < 1_000 else f'<http://example.org/{i}>'} <http://example.org/p{j}> "
        f'"{"One" if (i, j) == (500, 5) else i * (j + 1) % 977}" .'
        for i in range(10_000)
        for j in range(10)
    ]


def _all_blank(label: str) -> list[str]:
    return [
        line.replace("<http://example.org/", f"_:{label}", 1).replace("> ", " ", 1)
        if line[0] == "<"
        else line
        for line in _observations(label)
    ]


def main() -> None:
    fine = [pages(), graphs()]
    sys.exit(0 if all(fine) else 1)


if __name__ == "__main__":
    main()
