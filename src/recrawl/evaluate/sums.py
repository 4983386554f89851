"""What was measured, added up over chunks of resources: memory stays bounded however many there are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan
from typing import Any

import numpy as np

from recrawl.evaluate import counting
from recrawl.evaluate.intervals import Draws
from recrawl.evaluate.measures import WEIGHTED, Measured, Score
from recrawl.model import Floats, Ints

COLUMNS = (
    *("n_visits", "n_changes", "n_observed", "n_novel", "n_novel_observed", "n_reached", "fresh_s"),
    *("fresh_by_content_s", "age_s2", "harmonic_s", "behind_s", "delay_s", "window_s"),
)
SLICES = ("visits", "changes", "observed", "fresh_s")
N_SLICES = 36  # of a window: a month each, in three years
# Groups of resources that are resampled whole. Where there are more, several share a number: what changes
# together stays together all the same.
MOST_GROUPS = 1_000


@dataclass(slots=True, kw_only=True)
class Sums:
    """Of one policy in one window."""

    n_resources: int
    groups: Floats  # a row for each group, a column for each of COLUMNS
    weighted: Floats  # one for each of COLUMNS
    delays: Floats  # as in Measured
    slices: Floats  # a row for each of SLICES
    n_bytes: float  # of all visits; NaN where a size is not known

    @classmethod
    def of(cls, measured: Measured, group: Ints, n_groups: int) -> Sums:
        columns = [getattr(measured, name).astype(np.float64) for name in COLUMNS]
        over_time = measured.slices
        return cls(
            n_resources=len(measured),
            groups=np.stack([np.bincount(group, column, n_groups) for column in columns], axis=1),
            weighted=np.array([column @ measured.weight for column in columns]),
            delays=measured.delays,
            slices=np.stack([getattr(over_time, name) for name in SLICES]) if over_time else np.zeros((4, 0)),
            n_bytes=measured.n_bytes,
        )

    def plus(self, other: Sums) -> Sums:
        return Sums(
            n_resources=self.n_resources + other.n_resources,
            groups=self.groups + other.groups,
            weighted=self.weighted + other.weighted,
            delays=self.delays + other.delays,
            slices=self.slices + other.slices,
            n_bytes=self.n_bytes + other.n_bytes,
        )

    @property
    def n_visits(self) -> int:
        return round(float(self.groups[:, COLUMNS.index("n_visits")].sum()))

    def score(self) -> Score:
        total = _rows(self.groups.sum(axis=0, keepdims=True), self.delays).total()
        weighted = _rows(self.weighted[None, :], self.delays)
        changed = {f"{name}_weighted": weighted.value(name) for name in WEIGHTED}
        return replace(total, resources=self.n_resources, bytes=self.n_bytes, **changed)  # type: ignore[arg-type]  # all floats


def draws_of(sums: Sequence[Sums]) -> Draws:
    """One for each draw, for the intervals; groups without a resource are left out."""
    there = np.flatnonzero(sum(one.groups[:, COLUMNS.index("window_s")] for one in sums))
    return Draws([_rows(one.groups[there]) for one in sums], [there] * len(sums))


def over_time(draws: Sequence[Sums]) -> dict[str, Floats]:
    """Slice by slice, in the mean over draws: SLICES, and the time of all resources together."""
    mean = np.mean([one.slices for one in draws], axis=0)
    window_s = np.mean([one.groups[:, COLUMNS.index("window_s")].sum() for one in draws])
    return {
        **{name: mean[i] for i, name in enumerate(SLICES)},
        "window_s": np.full(N_SLICES, window_s / N_SLICES),
    }


def curve(slices: Mapping[str, Floats], days: float) -> dict[str, Any]:
    """What `over_time` gave, for JSON: recall and precision so far, freshness in each slice, and counts."""
    return {
        "days": ends_days(days),
        "recall": _listed(so_far(slices["observed"], slices["changes"])),
        "precision": _listed(so_far(slices["observed"], slices["visits"])),
        "freshness": _listed(ratio(slices["fresh_s"], slices["window_s"])),
        **{name: slices[name].tolist() for name in ("visits", "changes", "observed")},
    }


def _listed(values: Iterable[float]) -> list[float | None]:
    return [None if isnan(value) else float(value) for value in values]


def ends_days(days: float) -> list[float]:
    """Where the slices of a window end, from its beginning."""
    return [days * (i + 1) / N_SLICES for i in range(N_SLICES)]


def so_far(above: Floats, below: Floats) -> list[float]:
    """A ratio of counts from the window's beginning to the end of each slice; NaN where there is none."""
    return list(map(float, ratio(np.cumsum(above), np.cumsum(below))))


def ratio(above: Floats, below: Floats) -> Floats:
    return np.asarray(np.divide(above, below, out=np.full(len(above), nan), where=below > 0))


def _rows(columns: Floats, delays: Floats | None = None) -> Measured:
    """Sums as if each row of them were a resource: its measures that are ratios come out the same."""
    named = {name: columns[:, i] for i, name in enumerate(COLUMNS)}
    return Measured(
        **named,  # type: ignore[arg-type]  # weighted counts are no whole numbers
        weight=np.ones(len(columns)),
        host=np.arange(len(columns)),
        delays=np.zeros((2, counting.N_DELAYS)) if delays is None else delays,
    )
