"""What a plan's two figures say of the rate of change, and how sure they are of it.

A plan has the chance of a change by its moment, and the expected changes a day until then. Of a rate that is
known exactly the one follows from the other; of one that may be high or low, more changes are expected than
the chance alone would say. So the two figures have one Gamma distribution between them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from recrawl.learn.forecasts import GammaForecasts
from recrawl.model import DAY_S, Floats, Ints, Looked, Prospects

SUREST = 1e-12  # no chance is nearer to 0 or 1
N_POINTS = 4_096
LEAST_U, MOST_U = 1e-6, 1e9  # gap by evidence


def gammas(p_changed: Floats, per_day: Floats, gap_s: Floats) -> GammaForecasts:
    """The Gamma distributed rates with which a gap has this chance of a change, and so many a day.

    With u the gap by the evidence b, -ln S = a ln(1 + u) and M = a u: their ratio gives u.
    """
    hazard = -np.log1p(-np.clip(p_changed, SUREST, 1.0 - SUREST))
    # who expects fewer changes than the chance alone would mean is as sure as can be
    expected = np.maximum(per_day * gap_s / DAY_S, hazard)
    ratio, log_u = _table()
    u = np.exp(np.interp(hazard / expected, ratio, log_u))
    return GammaForecasts(expected / u, gap_s / u)


@cache
def _table() -> tuple[Floats, Floats]:
    log_u = np.linspace(np.log(LEAST_U), np.log(MOST_U), N_POINTS)
    ratio = np.log1p(np.exp(log_u)) / np.exp(log_u)
    return ratio[::-1], log_u[::-1]


@dataclass(frozen=True, slots=True)
class Rates:
    """What is believed of each resource at the end, in the order of the prospects; NaN: nothing."""

    gamma: GammaForecasts
    known: np.ndarray[tuple[int], np.dtype[np.bool_]]

    @property
    def per_s(self) -> Floats:
        return self.gamma.a / self.gamma.b_s


def rates(prospects: Prospects, looked: Looked, rows: Ints) -> Rates:
    """By the present plans. Where that is no forecast's (a retry, say), by the newest that led to a visit;
    `rows` has the resource of each visit."""
    p, per_day, gap_s = prospects.p_changed.copy(), prospects.per_day.copy(), prospects.gap_s.copy()
    lacking = ~(np.isfinite(p) & np.isfinite(per_day) & (gap_s > 0.0))
    planned_s = looked.due_at - looked.since_at
    usable = np.isfinite(looked.p_changed) & np.isfinite(looked.per_day) & (planned_s > 0.0)
    late = np.flatnonzero(usable & lacking[rows])  # the last of each comes last, and stands
    p[rows[late]], per_day[rows[late]] = looked.p_changed[late], looked.per_day[late]
    gap_s[rows[late]] = planned_s[late]
    known = np.isfinite(p) & np.isfinite(per_day) & (gap_s > 0.0)
    some = gammas(np.where(known, p, 0.5), np.where(known, per_day, 1.0), np.where(known, gap_s, 1.0))
    nothing = np.nan
    return Rates(
        GammaForecasts(np.where(known, some.a, nothing), np.where(known, some.b_s, nothing)),
        known,
    )
