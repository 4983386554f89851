"""The price that gives a number of visits, in few runs."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping, Sized
from math import exp, inf, log
from typing import TypeVar

Run = TypeVar("Run", bound=Sized)  # what a run gives; its length is the number of visits

_N_RUNS = 40
_STEEP = 0.5  # to begin with: twice as many visits at a quarter of the price


def bid(
    run: Callable[[float], Run],
    n_wanted: int,
    guess: float,
    tolerance: float,
    known: MutableMapping[float, Run] | None = None,
) -> tuple[float, Run]:
    """The price whose run makes `n_wanted` visits within the tolerance (a share), and that run; where the
    bounds allow no such run, the nearest.

    Visits fall with the price, nearly as a power of it: a straight line in log-log is followed until the
    number lies between two runs, and then between those. Runs that are `known` already, by their prices, save
    others; those made are added to them.
    """
    runs: MutableMapping[float, Run] = {} if known is None else known

    def made(price: float) -> Run:
        found = runs[price] if price in runs else run(price)
        if known is not None:  # else they are let go: a run may be large
            known[price] = found
        return found

    # log price and log of how many times too many visits: of the nearest run with too many and with too few
    low, high = _ends(runs, n_wanted)
    price = guess if low is None and high is None else _next(low, high)
    if runs:
        nearest = min(runs, key=lambda one: abs(_off(runs[one], n_wanted)))
        if abs(_off(runs[nearest], n_wanted)) <= log(1.0 + tolerance):
            price = nearest
    best = (price, made(price))
    found = best[1]
    for n_tried in range(1, _N_RUNS + 1):
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
        price = _next(low, high, n_tried)
        found = made(price)
    return best


def _ends(
    runs: MutableMapping[float, Run], n_wanted: int
) -> tuple[tuple[float, float] | None, tuple[float, float] | None]:
    """Between which of the known runs the price lies. Visits need not fall with every step of the price:
    where the nearest two are in the wrong order, nothing is known."""
    off = [(_off(one, n_wanted), log(price)) for price, one in runs.items() if 0.0 < price < inf]
    many, few = [pair for pair in off if pair[0] > 0.0], [pair for pair in off if pair[0] <= 0.0]
    low = (min(many)[1], min(many)[0]) if many else None
    high = (max(few)[1], max(few)[0]) if few else None
    if low is not None and high is not None and low[0] >= high[0]:
        return None, None
    return low, high


def _next(low: tuple[float, float] | None, high: tuple[float, float] | None, n_tried: int = 1) -> float:
    """The price to try. With runs on one side alone, the steps grow: where the bounds hold the visits nearly
    where they are wanted, small ones would come to no end."""
    if low is not None and high is not None:
        share = low[1] / (low[1] - high[1])
        if high[0] - low[0] < 1e-9:
            return exp(low[0])
        # never quite at an end, so that every run halves the stretch at least now and then
        return exp(low[0] + min(max(share, 0.1), 0.9) * (high[0] - low[0]))
    known = low if low is not None else high
    assert known is not None  # noqa: S101 - one of them was just set
    nudge = 0.05 * 2.0**n_tried
    x = known[0] + min(max(known[1] / _STEEP, -7.0), 7.0) + (nudge if known[1] > 0.0 else -nudge)
    if abs(x) > 60.0:
        return inf if x > 0.0 else 0.0
    return exp(x)


def _off(visits: Sized, n_wanted: int) -> float:
    return log(max(len(visits), 0.5) / max(n_wanted, 0.5))
