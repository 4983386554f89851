"""Parts of what was measured, so that a choice made on one can be tried on another.

By group: whole groups of resources are in one fold or in the other. Over time: the window's first half, and
its second, in which everybody goes on with what was learned in the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from types import MappingProxyType

import numpy as np

from recrawl.evaluate.measures import Measured, measure
from recrawl.evaluate.protocol import Window
from recrawl.model import Bools, Ints
from recrawl.simulate.traces import Traces, Visits

ALL, FOLD_A, FOLD_B, FIRST, SECOND = "all", "fold A", "fold B", "first half", "second half"
SPLITS = (ALL, FOLD_A, FOLD_B, FIRST, SECOND)
# Splits over the same resources are resampled alike, those over different ones each by itself.
STREAM: Mapping[str, int] = MappingProxyType({ALL: 0, FOLD_A: 1, FOLD_B: 2, FIRST: 0, SECOND: 0})
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_ROUNDED = 1e-9
_COUNTED = tuple(
    field.name for field in fields(Measured) if field.name not in ("weight", "host", "size_bytes", "slices")
)


def in_fold_a(group: Ints) -> Bools:
    """Of each resource whether it is in fold A: groups in the order of a hash, each to the fold with fewer
    resources so far."""
    groups, of, sizes = np.unique(group, return_inverse=True, return_counts=True)
    mixed = (groups.astype(np.uint64) + np.uint64(1)) * _SPREAD
    mixed = (mixed ^ (mixed >> np.uint64(29))) * _SPREAD
    mine = np.zeros(len(groups), dtype=bool)
    n_a = n_b = 0
    for g in np.argsort(mixed ^ (mixed >> np.uint64(32)), kind="stable").tolist():
        mine[g] = n_a <= n_b
        n_a, n_b = (n_a + int(sizes[g]), n_b) if mine[g] else (n_a, n_b + int(sizes[g]))
    return np.asarray(mine[of])


def rows_of(split: str, in_a: Bools) -> Ints:
    """Those resources that a split is about."""
    return np.flatnonzero(in_a if split == FOLD_A else ~in_a if split == FOLD_B else np.ones_like(in_a))


def measured_in(traces: Traces, visits: Visits, window: Window, in_a: Bools) -> dict[str, Measured]:
    """What visits came to, split by split."""
    whole = measure(traces, visits, window)
    middle_at = (window.start_at + window.end_at) / 2.0
    first = measure(traces, visits, replace(window, end_at=middle_at))
    return {
        ALL: whole,
        FOLD_A: whole.pick(rows_of(FOLD_A, in_a)),
        FOLD_B: whole.pick(rows_of(FOLD_B, in_a)),
        FIRST: first,
        SECOND: after(whole, first),
    }


def after(whole: Measured, first: Measured) -> Measured:
    """What came after the first part of a window, which was measured alike: the copies held are those that
    the visits before had left. A change counts when it comes; that it is observed or reached, and its delay,
    when the visit comes that does so."""
    columns = {}
    for name in _COUNTED:
        both, before = getattr(whole, name), getattr(first, name)
        # what rounding leaves of nothing is nothing
        columns[name] = np.where(both - before > _ROUNDED * both, both - before, 0)
    return replace(whole, slices=None, **columns)


def mixed(a: Measured, b: Measured, share: float) -> Measured:
    """As if it had gone by `b` in this share of cases, and by `a` in the others."""
    columns = {name: (1.0 - share) * getattr(a, name) + share * getattr(b, name) for name in _COUNTED}
    return replace(a, slices=None, **columns)
