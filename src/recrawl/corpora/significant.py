"""A corpus of which only significant changes count.

A version counts when its words differ significantly from those of the last version that counted: what is too
little at a time adds up. The first version of a resource always counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recrawl.corpora.contents import Contents, contents, must_have_contents
from recrawl.corpora.native import Corpus
from recrawl.corpora.opened import Tell
from recrawl.detect.significance import significances
from recrawl.model import Bags, Bools, Ints
from recrawl.model.columns import Bits
from recrawl.simulate.traces import Traces

NOT_SIGNIFICANT = "a change that is not significant"
NO_WORDS = "a version whose words are not kept"
_FURTHEST = 64  # versions that are compared with one at a time


class SignificantCorpus(Corpus):
    """Contents are read during the first pass; what counts is remembered then."""

    def __init__(
        self, folder: Path, *, strict: bool = False, tell: Tell = lambda _share, _what: None
    ) -> None:
        super().__init__(folder, strict=strict)
        must_have_contents(folder)
        self._counting = self._that_count
        self._tell = tell
        self._known: dict[tuple[int, int], _Counted] = {}
        self._ahead: Iterator[Contents] = iter(())
        self._held: Contents | None = None

    def said(self) -> list[str]:
        """What is to be told of the changes that were read."""
        n = sum(one.n_significant for one in self._known.values())
        n_all = sum(one.n_changes for one in self._known.values())
        share = f" ({n / n_all:.1%})" if n_all else ""
        return [f"Only significant changes count: {n:,} of {n_all:,}{share}."]

    def chunks(self, n_resources: int) -> Iterator[Traces]:
        self._ahead, self._held = contents(self.folder, self.number), None
        return super().chunks(n_resources)

    def _that_count(self, low: int, high: int, place: Ints, at: Ints, digest: Bits) -> Bools:
        found = self._known.get((low, high))
        if found is None:
            found = self._known[low, high] = self._judged(place, at, digest)
        self._count(NOT_SIGNIFICANT, found.n_changes - found.n_significant - found.n_unknown)
        self._count(NO_WORDS, found.n_unknown)
        return found.counts

    def _judged(self, place: Ints, at: Ints, digest: Bits) -> _Counted:
        counts = np.diff(place, prepend=-1) > 0
        n_first, n_unknown, done = int(np.count_nonzero(counts)), 0, 0
        while done < len(place) and (block := self._block()) is not None:
            upto = int(np.searchsorted(place, block.place[-1], "right"))
            own = slice(done, upto)
            if upto > done:
                rows = block.rows(place[own], at[own], digest[own])
                n_unknown += int(np.count_nonzero((rows < 0) & ~counts[own]))
                counts[own] |= adding_up(block.bags, place[own], rows)
            if upto < len(place):
                self._held = None
            done = upto
            self._tell(int(block.place[-1]) / len(self), "words of versions")
        n_unknown += int(np.count_nonzero(~counts[done:]))
        return _Counted(counts, int(np.count_nonzero(counts)) - n_first, len(counts) - n_first, n_unknown)

    def _block(self) -> Contents | None:
        if self._held is None:
            self._held = next(self._ahead, None)
        return self._held


@dataclass(frozen=True, slots=True)
class _Counted:
    counts: Bools  # of each version: it is the first, or significant
    n_significant: int
    n_changes: int
    n_unknown: int


def adding_up(bags: Bags, owner: Ints, rows: Ints) -> Bools:
    """Which versions differ significantly from the last of their owner that did, or from the first. `rows`
    are their bags, -1 where they are not known: those are passed over."""
    every, known = np.zeros(len(rows), dtype=bool), np.flatnonzero(rows >= 0)
    rows, owner = rows[known], owner[known]
    starts = np.flatnonzero(np.diff(owner, prepend=-1))
    ends = np.append(starts[1:], len(rows)) if len(starts) else starts
    base, upto = rows[starts], starts + 1
    reach = np.ones(len(starts), dtype=np.int64)  # further each time, until one is found
    counts = np.zeros(len(rows), dtype=bool)
    active = np.flatnonzero(upto < ends)
    while len(active):
        n = np.minimum(reach[active], ends[active] - upto[active])
        first = np.cumsum(n) - n
        version = np.arange(int(n.sum())) + np.repeat(upto[active] - first, n)
        found = significances(bags, np.repeat(base[active], n), rows[version]).significant
        none = np.iinfo(np.int64).max
        hit = np.minimum.reduceat(np.where(found, version, none), first)
        there = hit < none
        counts[hit[there]] = True
        base[active[there]] = rows[hit[there]]
        upto[active] = np.where(there, np.minimum(hit, len(rows) - 1) + 1, upto[active] + n)
        reach[active] = np.where(there, np.maximum(reach[active] // 2, 1), np.minimum(2 * n, _FURTHEST))
        active = active[upto[active] < ends[active]]
    every[known] = counts
    return every
