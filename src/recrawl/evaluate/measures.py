"""How well visits did against the truth. Formulas and worked examples: docs/reference/measures.md.

What is counted stays apart for each resource, so that results of chunks can be joined and resources or hosts
resampled. Every measure is a ratio of two sums over resources, but for the quantiles of the delay, which come
from a histogram.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from math import isnan, nan
from typing import Any

import numpy as np

from recrawl.errors import BadInputError
from recrawl.evaluate import counting
from recrawl.evaluate.protocol import Window
from recrawl.evaluate.slices import Slices
from recrawl.model import DAY_S, Floats, Ints
from recrawl.simulate.traces import Traces, Visits

# name: what is added up over resources, what it is divided by, and the unit
RATIOS = {
    "recall": ("n_observed", "n_changes", 1.0),
    "precision": ("n_observed", "n_visits", 1.0),
    "recall_novel": ("n_novel_observed", "n_novel", 1.0),
    "freshness": ("fresh_s", "window_s", 1.0),
    "freshness_by_content": ("fresh_by_content_s", "window_s", 1.0),
    "age_days": ("age_s2", "window_s", DAY_S),
    "harmonic": ("harmonic_s", "window_s", 1.0),
    "behind": ("behind_s", "window_s", 1.0),
    "delay_days_mean": ("delay_s", "n_reached", DAY_S),
    "wait_days_mean": ("behind_s", "n_changes", DAY_S),
}
# those that are given by weight too
WEIGHTED = ("recall", "precision", "freshness", "age_days", "harmonic", "delay_days_mean", "wait_days_mean")


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """All resources together. NaN where there is nothing to divide by; `_weighted` counts by weight."""

    resources: int
    visits: int
    changes: int
    observed: int
    missed: int  # changes that no visit told apart
    novel: int  # changes that brought a content never there before; the others went back to an earlier one
    novel_observed: int
    late: int  # changes that no visit came after
    recall: float
    precision: float
    recall_novel: float
    freshness: float
    freshness_by_content: float  # a copy counts as fresh, too, when its content is back
    age_days: float
    harmonic: float
    behind: float  # unseen changes
    delay_days_mean: float
    delay_days_p50: float
    delay_days_p95: float
    wait_days_mean: float  # as the delay, with the late ones up to the window's end
    recall_weighted: float
    precision_weighted: float
    freshness_weighted: float
    age_days_weighted: float
    harmonic_weighted: float
    delay_days_mean_weighted: float
    delay_days_p50_weighted: float
    delay_days_p95_weighted: float
    wait_days_mean_weighted: float
    bytes: float = nan  # where sizes are known

    def document(self) -> dict[str, Any]:
        """As JSON; null where a figure is not defined."""
        row = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            key: None if isinstance(value, float) and isnan(value) else value for key, value in row.items()
        }


def mean_score(scores: Sequence[Score]) -> Score:
    """The mean of each figure over draws, NaN ones left out; counts are rounded."""
    if not scores:
        raise BadInputError("There is no score to take the mean of; draw at least one window.")
    means: dict[str, Any] = {}
    for field in fields(Score):
        values = np.array([getattr(one, field.name) for one in scores], dtype=np.float64)
        known = values[~np.isnan(values)]
        mean = float(known.mean()) if len(known) else nan
        means[field.name] = round(mean) if isinstance(getattr(scores[0], field.name), int) else mean
    return Score(**means)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What was counted, a row per resource; the histograms and the slices over time are of all together."""

    n_visits: Ints
    n_changes: Ints
    n_observed: Ints
    n_novel: Ints
    n_novel_observed: Ints
    n_reached: Ints  # changes that some visit came after
    fresh_s: Floats
    fresh_by_content_s: Floats
    age_s2: Floats  # the time since the first unseen change, over time
    harmonic_s: Floats  # the harmonic number of unseen changes, over time
    behind_s: Floats  # the number of unseen changes, over time
    delay_s: Floats
    window_s: Floats
    weight: Floats
    host: Ints
    delays: Floats  # two histograms: of changes, and of their weights
    size_bytes: Floats | None = None
    slices: Slices | None = None

    def __len__(self) -> int:
        return len(self.weight)

    def ratio(self, name: str, *, weighted: bool = False) -> tuple[Floats, Floats]:
        """The two columns whose sums make a measure."""
        try:
            above, below, unit = RATIOS[name]
        except KeyError:
            raise BadInputError(f"There is no measure {name!r}; choose among {', '.join(RATIOS)}.") from None
        weight = self.weight if weighted else 1.0
        return getattr(self, above) / unit * weight, getattr(self, below) * weight * 1.0

    def value(self, name: str, *, weighted: bool = False) -> float:
        above, below = self.ratio(name, weighted=weighted)
        return float(above.sum() / below.sum()) if below.sum() > 0 else nan

    def delay_days(self, share: float, *, weighted: bool = False) -> float:
        """The delay within which this share of the changes that were reached had been, to half a percent."""
        upto = np.cumsum(self.delays[int(weighted)])
        if not upto[-1] > 0:
            return nan
        b = int(np.searchsorted(upto, share * upto[-1] * (1 - 1e-12)))
        return counting.LEAST_DELAY_S * counting.RATIO ** (b - 0.5) / DAY_S if b else 0.0

    @property
    def n_bytes(self) -> float:
        """Of all visits; NaN where the size of one that was visited is not known."""
        if self.size_bytes is None:
            return nan
        visited = self.n_visits > 0
        return float(self.size_bytes[visited] @ self.n_visits[visited])

    def total(self) -> Score:
        n_changes, n_observed = int(self.n_changes.sum()), int(self.n_observed.sum())
        return Score(
            resources=len(self),
            visits=int(self.n_visits.sum()),
            changes=n_changes,
            observed=n_observed,
            missed=n_changes - n_observed,
            novel=int(self.n_novel.sum()),
            novel_observed=int(self.n_novel_observed.sum()),
            late=n_changes - int(self.n_reached.sum()),
            delay_days_p50=self.delay_days(0.5),
            delay_days_p95=self.delay_days(0.95),
            delay_days_p50_weighted=self.delay_days(0.5, weighted=True),
            delay_days_p95_weighted=self.delay_days(0.95, weighted=True),
            bytes=self.n_bytes,
            **{name: self.value(name) for name in RATIOS},
            **{f"{name}_weighted": self.value(name, weighted=True) for name in WEIGHTED},
        )

    def pick(self, rows: Ints) -> Measured:
        """Some of the resources, for the measures that are ratios; what is of all together is left out."""
        picked = {name: getattr(self, name)[rows] for name in _COLUMNS}
        size_bytes = None if self.size_bytes is None else self.size_bytes[rows]
        return Measured(**picked, delays=np.full_like(self.delays, nan), size_bytes=size_bytes, slices=None)


_COLUMNS = tuple(f.name for f in fields(Measured) if f.name not in ("delays", "size_bytes", "slices"))


def joined(parts: Sequence[Measured]) -> Measured:
    """Chunks of one population, measured in the same window, as if they had been measured at once."""
    if not parts:
        raise BadInputError("There is nothing to join; measure at least one chunk.")
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS}
    sizes = [part.size_bytes for part in parts if part.size_bytes is not None]
    over_time = [part.slices for part in parts if part.slices is not None]
    together = None
    if len(over_time) == len(parts):
        together = replace(
            over_time[0],
            n_resources=sum(one.n_resources for one in over_time),
            **{
                name: np.sum([getattr(one, name) for one in over_time], axis=0)
                for name in ("visits", "changes", "observed", "fresh_s")
            },
        )
    return Measured(
        **columns,
        delays=np.sum([part.delays for part in parts], axis=0),
        size_bytes=np.concatenate(sizes) if len(sizes) == len(parts) else None,
        slices=together,
    )


def measure(
    traces: Traces,
    visits: Visits,
    window: Window,
    *,
    n_bins: int = 0,
    held: bool = True,
) -> Measured:
    """Measure visits to the resources of these traces, row by row the same.

    The traces are the window's population, `traces.pick(window.rows)`, with the events before the window too.
    Each resource holds a copy when the window begins, unless `held` is False: then it has none before its
    first visit, is not fresh until then, and that visit finds no change.
    """
    n = len(traces)
    if len(visits.bounds) != n + 1:
        raise BadInputError(
            f"The visits are to {len(visits.bounds) - 1} resources and the traces have {n}; "
            "give the traces of the window's population."
        )
    counts = np.zeros((n, counting.N_COUNTS), dtype=np.int64)
    times = np.zeros((n, counting.N_TIMES))
    delays = np.zeros((2, counting.N_DELAYS))
    start_at, end_at = float(window.start_at), float(window.end_at)
    counting.count(
        *(
            traces.bounds,
            traces.at,
            traces.digest,
            traces.first_digest,
            visits.bounds,
            visits.at,
            traces.weight,
        ),
        *(start_at, end_at, held, counts, times, delays),
    )
    over_time = None
    if n_bins > 0:
        out = np.zeros((4, n_bins))
        counting.slices(traces.bounds, traces.at, visits.bounds, visits.at, start_at, end_at, held, out)
        edges_at = np.linspace(start_at, end_at, n_bins + 1)
        over_time = Slices(
            n_resources=n, edges_at=edges_at, visits=out[0], changes=out[1], observed=out[2], fresh_s=out[3]
        )
    return Measured(
        n_visits=counts[:, counting.VISITS],
        n_changes=counts[:, counting.CHANGES],
        n_observed=counts[:, counting.OBSERVED],
        n_novel=counts[:, counting.NOVEL],
        n_novel_observed=counts[:, counting.NOVEL_OBSERVED],
        n_reached=counts[:, counting.REACHED],
        fresh_s=times[:, counting.FRESH],
        fresh_by_content_s=times[:, counting.FRESH_BY_CONTENT],
        age_s2=times[:, counting.AGE],
        harmonic_s=times[:, counting.HARMONIC],
        behind_s=times[:, counting.BEHIND],
        delay_s=times[:, counting.DELAY],
        window_s=np.full(n, end_at - start_at),
        weight=traces.weight,
        host=traces.host,
        delays=delays,
        size_bytes=traces.size_bytes,
        slices=over_time,
    )
