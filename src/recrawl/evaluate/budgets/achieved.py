"""What visits achieved in a stretch of time, to be held against what was expected of it.

A window of `evaluate.measures` begins with fresh copies. Here visits were made before too, and what was stale
when the stretch began counts: it is the difference of two windows that begin with the first visit.
"""

from __future__ import annotations

from recrawl.evaluate.measures import measure
from recrawl.evaluate.protocol import whole
from recrawl.model import DAY_S, Floats
from recrawl.simulate.traces import Traces, Visits


def achieved(
    traces: Traces, visits: Visits, *, start_at: float, from_at: float, until_at: float
) -> dict[str, float]:
    """Between the last two moments, of visits since the first."""
    upto, before = (
        measure(traces, visits, whole(len(traces), start_at, end_at)) for end_at in (until_at, from_at)
    )

    def more(name: str) -> float:
        column: Floats = getattr(upto, name) - getattr(before, name)
        return float(column.sum())

    n_changes = max(more("n_changes"), 1e-9)
    return {
        "freshness": more("fresh_s") / more("window_s"),
        "recall": more("n_observed") / n_changes,
        "delay_days_mean": more("behind_s") / n_changes / DAY_S,
        "harmonic": more("harmonic_s") / more("window_s"),
    }
