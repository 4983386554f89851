"""The words of many versions, as columns: in each row numbered words and how often each occurs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from recrawl.model.columns import Floats, Ints


@dataclass(frozen=True, slots=True)
class Bags:
    bounds: Ints  # row i has words bounds[i] to bounds[i + 1]
    word: Ints  # its number; rising within a row
    count: Floats

    def __len__(self) -> int:
        return len(self.bounds) - 1

    @classmethod
    def of(cls, rows: Iterable[Mapping[int, float]]) -> Bags:
        """Each row from a dictionary of numbered words."""
        words = [sorted(row.items()) for row in rows]
        return cls(
            np.concatenate([[0], np.cumsum([len(row) for row in words])]).astype(np.int64),
            np.array([word for row in words for word, _ in row], dtype=np.int64),
            np.array([count for row in words for _, count in row], dtype=np.float64),
        )

    @property
    def row(self) -> Ints:
        """Of each word: the row that it stands in."""
        return np.repeat(np.arange(len(self)), np.diff(self.bounds))

    @property
    def total(self) -> Floats:
        """How many words each row has."""
        return np.asarray(np.bincount(self.row, weights=self.count, minlength=len(self)), dtype=np.float64)

    def pick(self, rows: Ints) -> Bags:
        n = np.diff(self.bounds)[rows]
        bounds = np.concatenate([[0], np.cumsum(n)]).astype(np.int64)
        places = np.arange(bounds[-1]) + np.repeat(self.bounds[rows] - bounds[:-1], n)
        return Bags(bounds, self.word[places], self.count[places])

    def dense(self) -> tuple[Bags, Ints]:
        """The same with words numbered from 0 without gaps, and which number each had."""
        known, word = np.unique(self.word, return_inverse=True)
        return Bags(self.bounds, word.astype(np.int64), self.count), known
