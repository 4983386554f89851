"""Small histories and visits, and what is counted on them, from the definitions and slowly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from recrawl.corpora.about import About
from recrawl.model import DAY_S
from recrawl.simulate.traces import Traces, Visits

# Few different times, so that changes and visits fall together.
TIMES = st.lists(st.integers(-5, 30), max_size=8, unique=True).map(sorted)
Times = Sequence[float]


def history(
    changes: Sequence[Times],
    *,
    digests: Sequence[Sequence[int]] | None = None,
    first: Sequence[int] | None = None,
    weight: Sequence[float] | None = None,
    host: Sequence[int] | None = None,
    born_at: float = -1e9,
) -> Traces:
    n = len(changes)
    flat = [at for one in changes for at in one]
    named = [digest for one in digests for digest in one] if digests is not None else range(1, len(flat) + 1)
    return Traces(
        born_at=np.full(n, born_at),
        bounds=np.cumsum([0, *(len(one) for one in changes)]).astype(np.int64),
        at=np.array(flat, dtype=np.float64),
        digest=np.array(list(named), dtype=np.uint64),
        first_digest=np.array(first if first is not None else [0] * n, dtype=np.uint64),
        host=np.array(host if host is not None else range(n), dtype=np.int64),
        weight=np.array(weight if weight is not None else [1.0] * n),
    )


@dataclass
class Held:
    """Histories that are there already."""

    about: About
    held: Traces
    skipped: Mapping[str, int] = field(default_factory=dict)
    n_listed: int | None = None  # where not all of them have versions

    def __len__(self) -> int:
        return len(self.held) if self.n_listed is None else self.n_listed

    def traces(self) -> Traces:
        return self.held

    def chunks(self, n_resources: int) -> Iterator[Traces]:
        for low in range(0, len(self.held), n_resources):
            yield self.held.pick(np.arange(low, min(low + n_resources, len(self))))


def bustle(weight: Sequence[float] | None = None) -> Held:
    """One in ten of 120 changes every day and a half, for a hundred days; the others never."""
    changes = [[1.5 * DAY_S * k + 1000.0 * i for k in range(66)] if i % 10 == 0 else [] for i in range(120)]
    about = About(name="bustle", kind="page", observation="every-change", start_at=0.0, end_at=100 * DAY_S)
    return Held(about, history(changes, weight=weight))


def looks(at: Sequence[Times]) -> Visits:
    return Visits(
        bounds=np.cumsum([0, *(len(one) for one in at)]).astype(np.int64),
        at=np.array([t for one in at for t in one], dtype=np.float64),
    )


def by_definition(
    changes: Times, digests: Sequence[int], first: int, visits: Times, start: float, end: float, held: bool
) -> dict[str, float]:
    """One resource. Between two moments at which something happens nothing changes, so each such stretch
    is looked at by itself."""
    inside = [t for t in changes if start < t <= end]
    made = [v for v in visits if start <= v <= end]
    names = {t: (digest or f"?{t}") for t, digest in zip(changes, digests, strict=True)}

    def content(t: float) -> object:
        before = [c for c in changes if c <= t]
        return names[before[-1]] if before else first or "?first"

    out = dict.fromkeys(
        ("fresh_s", "fresh_by_content_s", "age_s2", "harmonic_s", "behind_s", "delay_s", "n_observed"), 0.0
    )
    moments = sorted({start, end, *inside, *made})
    for a, b in pairwise(moments):
        last = max([v for v in made if v <= a], default=start)
        unseen = [c for c in inside if last < c <= a]
        if held or any(v <= a for v in made):
            out["fresh_s"] += (b - a) * (not unseen)
            out["fresh_by_content_s"] += (b - a) * (content(last) == content(a))
        if unseen:
            out["age_s2"] += (b - a) * ((a + b) / 2 - unseen[0])
        out["harmonic_s"] += (b - a) * sum(1 / k for k in range(1, len(unseen) + 1))
        out["behind_s"] += (b - a) * len(unseen)
    reached = [c for c in inside if any(v >= c for v in made)]
    out["delay_s"] = sum(min(v for v in made if v >= c) - c for c in reached)
    had: set[object] = {content(start)}
    everything = {first or "?first"} | {names[c] for c in changes if c <= start}
    new = [content(c) for c in inside]
    n_novel = len(set(new) - everything)
    n_novel_observed = 0
    for i, v in enumerate(made):
        since = made[i - 1] if i else start
        told = (held or i > 0) and any(since < c <= v for c in inside)
        out["n_observed"] += told
        n_novel_observed += told and content(v) not in had | everything
        had.add(content(v))
    return out | {
        "n_visits": len(made),
        "n_changes": len(inside),
        "n_reached": len(reached),
        "n_novel": n_novel,
        "n_novel_observed": n_novel_observed,
    }
