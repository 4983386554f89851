"""How good forecasts of "changed by this visit?" are: one number for each, and the curve behind it.

Formulas and a worked example: docs/reference/measures.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan, sqrt

import numpy as np

from recrawl.errors import BadInputError
from recrawl.model import Bools, Floats

N_BINS = 10
# A forecast of exactly 0 that comes true would cost infinitely much; nobody may be surer than this.
SUREST = 1e-6
_Z = 1.959964  # of 95 %


def brier(p: Floats, changed: Bools) -> float:
    """The mean square of what the forecast was off: 0 is perfect, 0.25 is what saying one half always costs.

    >>> brier(np.array([0.0, 0.5]), np.array([False, True]))
    0.125
    """
    return float(np.mean(squares(p, changed))) if len(p) else nan


def log_loss(p: Floats, changed: Bools) -> float:
    """The mean of -ln of the chance that was given to what happened."""
    return float(np.mean(surprises(p, changed))) if len(p) else nan


def squares(p: Floats, changed: Bools) -> Floats:
    return (_checked(p, changed) - changed) ** 2


def surprises(p: Floats, changed: Bools) -> Floats:
    sure = np.clip(_checked(p, changed), SUREST, 1.0 - SUREST)
    return -np.log(np.where(changed, sure, 1.0 - sure))


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """Forecasts from `low` to just below `high`, and what became of them."""

    low: float
    high: float
    n: int
    forecast: float  # the mean
    happened: float  # the share
    least: float  # of the interval of that share
    most: float

    def document(self) -> dict[str, float | None]:
        row = {name: getattr(self, name) for name in ("low", "high", "n", "forecast", "happened")}
        row |= {"interval_low": self.least, "interval_high": self.most}
        return {name: None if np.isnan(value) else value for name, value in row.items()}


def reliability(p: Floats, changed: Bools, n_bins: int = N_BINS) -> list[Bin]:
    """Of all forecasts of about the same chance, how many came true: in a calibrated predictor, that many.

    Intervals are Wilson's, as if visits were independent.
    """
    if n_bins < 1:
        raise BadInputError(f"{n_bins} bins show no curve; ask for 1 or more.")
    place = np.clip((_checked(p, changed) * n_bins).astype(np.int64), 0, n_bins - 1)
    n = np.bincount(place, minlength=n_bins)
    forecast = np.bincount(place, weights=p, minlength=n_bins)
    happened = np.bincount(place, weights=changed.astype(np.float64), minlength=n_bins)
    return [
        _bin(i / n_bins, (i + 1) / n_bins, int(n[i]), float(forecast[i]), float(happened[i]))
        for i in range(n_bins)
    ]


def calibration_error(bins: Sequence[Bin]) -> float:
    """How far forecasts are from what happened, in the mean over visits: the expected calibration error."""
    total = sum(one.n for one in bins)
    if not total:
        return nan
    return sum(one.n * abs(one.forecast - one.happened) for one in bins if one.n) / total


def _bin(low: float, high: float, n: int, forecast: float, happened: float) -> Bin:
    if not n:
        return Bin(low=low, high=high, n=0, forecast=nan, happened=nan, least=nan, most=nan)
    share = happened / n
    middle = (share + _Z**2 / (2 * n)) / (1 + _Z**2 / n)
    half = _Z / (1 + _Z**2 / n) * sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    return Bin(
        low=low,
        high=high,
        n=n,
        forecast=forecast / n,
        happened=share,
        least=max(0.0, middle - half),
        most=min(1.0, middle + half),
    )


def _checked(p: Floats, changed: Bools) -> Floats:
    if len(p) != len(changed):
        raise BadInputError(
            f"There are {len(p)} forecasts and {len(changed)} outcomes; give one for each visit."
        )
    if len(p) and not ((p >= -1e-9) & (p <= 1.0 + 1e-9)).all():
        raise BadInputError("A chance lies between 0 and 1; mend the predictor that forecast another.")
    return np.clip(p, 0.0, 1.0)
