"""How far those are to be believed who tell of other resources' changes.

A sitemap or a feed says that a resource has changed: it told of it. With probability q, how far the source is
believed, there was a change by then whatever else is known; so nothing has changed after the telling with
probability (1 - q) S, where S is what was foretold without it. In the own time of a Gamma rate that is a leap
ahead.

Who was told of and then visited shows whether the source was right. A change may have come without anything
to do with it, so each counts as far as it is likely that it was the one told of (one step of
expectation-maximisation a visit). A source that nobody has checked yet is believed as far as all together.
Old tellings fade, and whether a source still is as it was is asked at every visit: one that was right a
thousand times and begins to say "changed now" of everything is disbelieved after a few.
"""

from __future__ import annotations

from math import exp, log1p
from typing import NamedTuple

import numpy as np

from recrawl.compiled import quick
from recrawl.model import Bools, Floats, Ints

FIRST = 0.7  # how far sources are believed before any was checked
DOUBT = 5.0  # tellings: so many must be checked before a source's own record weighs as much as all others'
MOST = 0.99
FADING = 0.02  # of a source's record at each telling that is checked: the last fifty count …
FADING_ALL = 0.002  # … and of all sources together the last five hundred
TURNING = 0.001  # how likely it is, at each telling, that a source begins to lie, or ends
_FAR = 600.0  # e to this, times any number of seconds, is still a number

ALL = 0  # the row of all sources together


class Sources(NamedTuple):
    """One row for each source; row 0 is for all of them together."""

    n: Floats  # tellings that were checked
    right: Floats  # of those, how many were right
    same: Floats  # how likely it is that it still is as its record says, and does not lie


def no_sources(n: int) -> Sources:
    """Room for so many; nothing is known of them."""
    return Sources(np.zeros(1 + n), np.zeros(1 + n), np.ones(1 + n))


def more_sources(sources: Sources, n: int) -> Sources:
    """The same, with room for so many."""
    grown = no_sources(n)
    for old, new in zip(sources, grown, strict=True):
        new[: len(old)] = old
    return grown


class Register:
    """Which row is whose, in the order in which they were first heard."""

    def __init__(self) -> None:
        self._rows: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._rows)

    def enrolled(self, sources: Sources, told: Bools, told_by: Ints) -> tuple[Sources, Ints]:
        """Sources with room for all of these, and whose record each visit is for; -1: nobody `told` of it."""
        self.enrol(told_by[told])
        if len(self) >= len(sources.n):
            sources = more_sources(sources, max(16, 2 * len(self)))
        return sources, np.where(told, self.rows(told_by), -1)

    def enrol(self, told_by: Ints) -> None:
        """A row for each of these sources; 0 is none."""
        for source_id in np.unique(told_by).tolist():
            if source_id > 0:
                self._rows.setdefault(source_id, 1 + len(self._rows))

    def rows(self, told_by: Ints) -> Ints:
        """Theirs; who is not known goes by the row of all."""
        ids, of = np.unique(told_by, return_inverse=True)
        found = [self._rows.get(source_id, ALL) for source_id in ids.tolist()]
        return np.array(found, dtype=np.int64)[of]


@quick
def recorded(sources: Sources, row: int) -> float:
    """How often it was right, by its record alone."""
    usual = (DOUBT * FIRST + sources.right[ALL]) / (DOUBT + sources.n[ALL])
    if row == ALL:
        return float(min(max(usual, 0.0), MOST))
    own = (DOUBT * usual + sources.right[row]) / (DOUBT + sources.n[row])
    return float(min(max(own, 0.0), MOST))


@quick
def believed(sources: Sources, row: int) -> float:
    """How far it is to be believed when it tells of a resource."""
    return float(recorded(sources, row) * sources.same[row])


def all_believed(sources: Sources, rows: Ints) -> Floats:
    """The same for many."""
    usual = (DOUBT * FIRST + sources.right[ALL]) / (DOUBT + sources.n[ALL])
    own = (DOUBT * usual + sources.right[rows]) / (DOUBT + sources.n[rows])
    return np.asarray(np.clip(np.where(rows == ALL, usual, own), 0.0, MOST) * sources.same[rows])


@quick
def check(sources: Sources, row: int, survival: float, changed: bool) -> None:
    """Somebody it told of was visited. `survival` is what was foretold without the signal: the probability
    that nothing had changed by then."""
    record, same = recorded(sources, row), sources.same[row]
    q = record * same
    share = q / max(1.0 - (1.0 - q) * survival, 1e-300) if changed else 0.0
    for which, fading in ((row, FADING), (ALL, FADING_ALL)):
        sources.n[which] = (1.0 - fading) * sources.n[which] + 1.0
        sources.right[which] = (1.0 - fading) * sources.right[which] + share
        if row == ALL:
            return
    # of one that lies the telling says nothing
    if changed:
        as_recorded, lying = 1.0 - (1.0 - record) * survival, 1.0 - survival
    else:
        as_recorded, lying = (1.0 - record) * survival, survival
    total = same * as_recorded + (1.0 - same) * lying
    after = same * as_recorded / total if total > 0.0 else same
    sources.same[row] = (1.0 - TURNING) * after + TURNING * (1.0 - after)


@quick
def heard(sources: Sources, row: int, a: float, b_s: float, own_s: float, changed: bool) -> float:
    """Somebody it told of was visited, whose rate is Gamma(a, b_s): how far a change was its own, of which
    nobody told."""
    survival, q = exp(-a * log1p(own_s / b_s)), believed(sources, row)
    check(sources, row, survival, changed)
    return 1.0 - q / max(1.0 - (1.0 - q) * survival, 1e-300) if changed else 1.0


@quick
def leapt_s(own_s: float, a: float, b_s: float, q: float) -> float:
    """How far a resource of rate Gamma(a, b_s) is in its own time when a source that is believed so far has
    told of it."""
    return (b_s + own_s) * exp(min(-log1p(-q) / a, _FAR)) - b_s


@quick
def before_leap_s(asked_s: float, a: float, b_s: float, q: float, counting: bool = False) -> float:
    """How far it must be in its own time for the leap to lead so far; 0 where the leap leads further. Who is
    `counting` changes has q more of them, which take q b / a to come by themselves."""
    if counting:
        return max(asked_s - q * b_s / a, 0.0)
    return max((b_s + asked_s) * exp(-min(-log1p(-q) / a, _FAR)) - b_s, 0.0)


def leaps_s(own_s: Floats, a: Floats, b_s: Floats, q: Floats) -> Floats:
    """`leapt_s` for many."""
    return np.asarray((b_s + own_s) * np.exp(np.minimum(-np.log1p(-q) / a, _FAR)) - b_s)


def before_leaps_s(asked_s: Floats, a: Floats, b_s: Floats, q: Floats, counting: bool = False) -> Floats:
    """`before_leap_s` for many."""
    if counting:
        return np.maximum(asked_s - q * b_s / a, 0.0)
    return np.maximum((b_s + asked_s) * np.exp(-np.minimum(-np.log1p(-q) / a, _FAR)) - b_s, 0.0)
