"""The price that gives a number of visits, in few runs."""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, log

from recrawl.simulate.traces import Visits

_N_RUNS = 40
_STEEP = 0.5  # to begin with: twice as many visits at a quarter of the price


def bid(
    run: Callable[[float], Visits], n_wanted: int, guess: float, tolerance: float
) -> tuple[float, Visits]:
    """The price whose run makes `n_wanted` visits within the tolerance (a share), and that run; where the
    bounds allow no such run, the nearest.

    Visits fall with the price, nearly as a power of it: a straight line in log-log is followed until the
    number lies between two runs, and then between those.
    """
    best = (guess, run(guess))
    low: tuple[float, float] | None = None  # log price and log of how many times too many visits
    high: tuple[float, float] | None = None
    price, found = best
    for _ in range(_N_RUNS):
        off = _off(found, n_wanted)
        if abs(off) < abs(_off(best[1], n_wanted)):
            best = (price, found)
        if abs(off) <= log(1.0 + tolerance):
            break
        if price in (0.0, inf):
            break  # the bounds alone decide, and it is still not enough
        if off > 0.0:
            low = (log(price), off)
        else:
            high = (log(price), off)
        price = _next(low, high)
        found = run(price)
    return best


def _next(low: tuple[float, float] | None, high: tuple[float, float] | None) -> float:
    if low is not None and high is not None:
        share = low[1] / (low[1] - high[1])
        if high[0] - low[0] < 1e-9:
            return exp(low[0])
        # never quite at an end, so that every run halves the stretch at least now and then
        return exp(low[0] + min(max(share, 0.1), 0.9) * (high[0] - low[0]))
    known = low if low is not None else high
    assert known is not None  # noqa: S101 - one of them was just set
    x = known[0] + min(max(known[1] / _STEEP, -7.0), 7.0) + (0.1 if known[1] > 0.0 else -0.1)
    if abs(x) > 60.0:
        return inf if x > 0.0 else 0.0
    return exp(x)


def _off(visits: Visits, n_wanted: int) -> float:
    return log(max(len(visits), 0.5) / max(n_wanted, 0.5))
