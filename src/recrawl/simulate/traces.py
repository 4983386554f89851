"""Histories and visits as columns: what the fast path, the measures and the corpora all speak.

Both are ragged: row `i` owns `at[bounds[i] : bounds[i + 1]]`, in order of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from recrawl.model import Bools, Floats, Ints
from recrawl.model.columns import Bits


class Hunches(TypedDict, total=False):
    """As columns have them; nothing where there are none."""

    hunch_per_day: Floats
    hunch_gap_s: Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """Resources and when each of them changed.

    A change is a moment from which the content is another one than just before; the first version, from
    `born_at` on, is none. `digest` stands for the content that each change brought and `first_digest` for the
    first one: equal numbers, equal contents; 0 where nobody knows.
    """

    born_at: Floats
    bounds: Ints  # one more than there are resources
    at: Floats
    digest: Bits
    first_digest: Bits
    host: Ints  # a number for each host (or other group that changes together)
    weight: Floats
    url: Sequence[str] = ()  # empty where nobody needs them
    size_bytes: Floats | None = None  # what a visit takes, in the mean; NaN where nobody knows
    # what first sight makes one expect of each: changes a day, and the gap between changes; NaN: nothing
    hunch_per_day: Floats | None = None
    hunch_gap_s: Floats | None = None

    def __len__(self) -> int:
        return len(self.born_at)

    @property
    def n_changes(self) -> Ints:
        return np.diff(self.bounds)

    def of(self, index: int) -> Floats:
        return self.at[self.bounds[index] : self.bounds[index + 1]]

    def hunches(self, rows: Ints | Bools) -> Hunches:
        """Of these resources."""
        known = Hunches()
        if self.hunch_per_day is not None:
            known["hunch_per_day"] = self.hunch_per_day[rows]
        if self.hunch_gap_s is not None:
            known["hunch_gap_s"] = self.hunch_gap_s[rows]
        return known

    def pick(self, rows: Ints | Bools) -> Traces:
        """These resources, in this order."""
        index = np.arange(len(self))[rows]
        bounds, taken = picked(self.bounds, index)
        return Traces(
            born_at=self.born_at[index],
            bounds=bounds,
            at=self.at[taken],
            digest=self.digest[taken],
            first_digest=self.first_digest[index],
            host=self.host[index],
            weight=self.weight[index],
            url=[self.url[i] for i in index] if len(self.url) else (),
            size_bytes=None if self.size_bytes is None else self.size_bytes[index],
            **self.hunches(index),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Visits:
    """Visits made to the resources of some traces, row by row the same resources.

    Each resource's first copy, taken when the window begins, is not among them: nobody chose its time.
    """

    bounds: Ints
    at: Floats

    def __len__(self) -> int:
        return len(self.at)

    def of(self, index: int) -> Floats:
        return self.at[self.bounds[index] : self.bounds[index + 1]]


def picked(bounds: Ints, rows: Ints) -> tuple[Ints, Ints]:
    """The bounds of these rows alone, and the places of what they own."""
    sizes = np.diff(bounds)[rows]
    ends = np.cumsum(sizes)
    inner = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - sizes, sizes)
    return np.concatenate([[0], ends]).astype(np.int64), np.repeat(bounds[rows], sizes) + inner
