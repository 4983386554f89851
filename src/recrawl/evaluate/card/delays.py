"""How late changes were found: a change is known to an interval, and the forecast says where in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from recrawl.learn.forecasts import GammaForecasts
from recrawl.model import Bools, Floats, Looked

N_HALVINGS = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    """Seconds from a change to the visit that found it: as expected, and between which bounds it must lie."""

    n_changes: int
    n_exact: int  # whose own time is known
    mean_s: float
    mean_least_s: float
    mean_most_s: float
    median_s: float
    median_least_s: float
    median_most_s: float

    def document(self) -> dict[str, Any]:
        return {
            "changes": self.n_changes,
            "exact": self.n_exact,
            "mean_s": self.mean_s,
            "mean_bounds_s": [self.mean_least_s, self.mean_most_s],
            "median_s": self.median_s,
            "median_bounds_s": [self.median_least_s, self.median_most_s],
        }


def delay(found: Looked, rates: GammaForecasts, known: Bools) -> Delay:
    """Of visits that found a change, each with its rate. Where several changes lay between two visits it is
    the newest that was found: nothing changed in the time after it.

    With S the survival curve and g the gap, it is older than d with the chance (S(d) - S(g)) / (1 - S(g)).
    Where no rate is known, it may be any moment of the gap.
    """
    gap_s = found.at - found.since_at
    own_s = found.at - found.event_at
    exact = np.isfinite(own_s) & (own_s >= 0.0) & (own_s <= gap_s)
    least_s, most_s = np.where(exact, own_s, 0.0), np.where(exact, own_s, gap_s)
    # with hardly any hazard all moments are alike
    flat = GammaForecasts(np.where(known, rates.a, 1e-6), np.where(known, rates.b_s, 1e12))
    survived = flat.survival(gap_s)
    changed = np.maximum(1.0 - survived, 1e-300)
    even = 1.0 - survived < 1e-9
    expected_s = np.where(even, gap_s / 2.0, (flat.survival_integral(gap_s) - gap_s * survived) / changed)
    expected_s = np.clip(np.where(exact, own_s, expected_s), least_s, most_s)

    def share_within(d_s: float) -> float:
        part = np.minimum(d_s, gap_s)
        within = np.where(even, part / np.maximum(gap_s, 1e-9), (1.0 - flat.survival(part)) / changed)
        return float(np.where(exact, own_s <= d_s, within).mean())

    low_s, high_s = 0.0, float(most_s.max())
    for _ in range(N_HALVINGS):
        middle_s = (low_s + high_s) / 2.0
        low_s, high_s = (low_s, middle_s) if share_within(middle_s) >= 0.5 else (middle_s, high_s)
    return Delay(
        n_changes=len(found),
        n_exact=int(exact.sum()),
        mean_s=float(expected_s.mean()),
        mean_least_s=float(least_s.mean()),
        mean_most_s=float(most_s.mean()),
        median_s=high_s,
        median_least_s=_median(least_s),
        median_most_s=_median(most_s),
    )


def _median(values_s: Floats) -> float:
    return float(np.median(values_s))
