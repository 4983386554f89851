"""What no schedule can beat: the limits that measures are held against (docs/reference/measures.md).

`omniscient` knows every change and may visit at any time. `omniscient_within` keeps the gap bounds of the
policies too, and their first visits: a tighter limit. `known_rates` knows how often each resource changes,
and no more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, floor, inf, nan

import numpy as np

from recrawl.errors import BadInputError
from recrawl.evaluate import placing
from recrawl.evaluate.protocol import Window
from recrawl.model import DAY_S, Floats
from recrawl.schedule.optimum import KnownRates, Optimum, expected
from recrawl.simulate.traces import Traces, Visits

# A finer grid gives a tighter limit and takes longer: visits may seem to come up to a step early.
STEPS_PER_GAP = 8
MOST_STEPS = 32_768
Evaluate = Callable[[float], tuple[float, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The best that any schedule can reach, each by a schedule of its own; NaN where it was not asked for."""

    recall: float
    precision: float
    freshness: float
    wait_days_mean: float  # least: every change counts, up to its visit or to the window's end
    age_days: float = nan  # least


def omniscient(traces: Traces, window: Window, n_visits: int, *, weighted: bool = False) -> Limits:
    """With `n_visits` visits at any times, of a scheduler that knows every change; no gap bounds."""
    start_at, end_at = window.start_at, window.end_at
    weight = traces.weight if weighted else np.ones(len(traces))
    inside = (traces.at > start_at) & (traces.at <= end_at)
    rows = np.repeat(np.arange(len(traces)), traces.n_changes)
    # a version lives until the resource's next change, or the window's end
    next_at = np.append(traces.at[1:], end_at)
    next_at[traces.bounds[1:][traces.n_changes > 0] - 1] = end_at
    life_s = (np.minimum(next_at, end_at) - traces.at)[inside]
    first_s = np.full(len(traces), end_at - start_at)
    np.minimum.at(first_s, rows[inside], traces.at[inside] - start_at)
    caught = _largest(weight[rows[inside]], n_visits)
    n_changes = float(weight[rows[inside]].sum())
    fresh_s = float(weight @ first_s) + _largest(weight[rows[inside]] * life_s, n_visits)
    if not n_changes:
        return Limits(recall=nan, precision=0.0, freshness=1.0, wait_days_mean=nan, age_days=0.0)
    waits_s, ages_s2 = (
        _least(
            lambda price, what=what: placing.free(  # type: ignore[misc]
                traces.bounds, traces.at, weight, start_at, end_at, price, what
            ),
            n_visits,
        )
        for what in (placing.WAIT, placing.AGE)
    )
    window_s = float(weight.sum()) * window.length_s
    return Limits(
        recall=caught / n_changes,
        precision=min(n_visits, int(inside.sum())) / n_visits if n_visits else nan,
        freshness=fresh_s / window_s,
        wait_days_mean=waits_s / n_changes / DAY_S,
        age_days=ages_s2 / window_s / DAY_S,
    )


def _largest(values: Floats, n: int) -> float:
    """The sum of the n largest."""
    if n >= len(values):
        return float(values.sum())
    return float(np.partition(values, len(values) - n)[len(values) - n :].sum()) if n > 0 else 0.0


def omniscient_within(
    traces: Traces,
    window: Window,
    n_visits: int,
    *,
    min_gap_s: float,
    max_gap_s: float,
    weighted: bool = False,
    step_s: float | None = None,
) -> Limits:
    """As `omniscient`, with the window's first visits and gaps from `min_gap_s` to `max_gap_s`.

    The wait knows the smallest gap alone. What is given is never below what such a schedule can reach, and
    above it by little: by what a visit up to `step_s` too early may gain, and by resources whose visits come
    in lumps. Fewer visits than the largest gap demands nobody can make: then as many are allowed.
    """
    if not 0 <= min_gap_s <= max_gap_s:
        raise BadInputError("The smallest gap is above the largest; give bounds that hold some gap.")
    n_visits = max(n_visits, n_evenly(max_gap_s, window))
    start_at, end_at = float(window.start_at), float(window.end_at)
    weight = traces.weight if weighted else np.ones(len(traces))
    first_at = start_at + window.first_gap_s
    inside = (traces.at > start_at) & (traces.at <= end_at)
    n_changes = float(weight[np.repeat(np.arange(len(traces)), traces.n_changes)[inside]].sum())
    finest_s = window.length_s / MOST_STEPS
    fine_s = step_s or max(finest_s, min_gap_s / STEPS_PER_GAP)
    coarse_s = max(finest_s * 8, min_gap_s, fine_s)

    def least(what: int) -> float:
        def at_step(each_s: float) -> Evaluate:
            low = floor(min_gap_s / each_s * (1 + 1e-12))
            high = max(1, ceil(min(max_gap_s, 2 * window.length_s) / each_s * (1 - 1e-12)))
            return lambda price: placing.bounded(
                *(traces.bounds, traces.at, weight, first_at, start_at, end_at),
                *(each_s, low, high, price, what),
            )

        # The price that a coarse grid finds is nearly that of the fine one, and any price gives a bound.
        near = _best_price(at_step(coarse_s), n_visits)[1]
        return _best_price(at_step(fine_s), n_visits, near=near, n_rounds=4)[0]

    observed = -least(placing.UNSEEN)
    window_s = float(weight.sum()) * window.length_s
    return Limits(
        recall=min(observed / n_changes, 1.0) if n_changes else nan,
        precision=min(observed / n_visits, 1.0) if n_visits and not weighted else nan,
        freshness=1.0 - max(least(placing.STALE), 0.0) / window_s,
        wait_days_mean=max(least(placing.WAIT), 0.0) / n_changes / DAY_S if n_changes else nan,
    )


def _least(evaluate: Evaluate, n_visits: int) -> float:
    return max(0.0, _best_price(evaluate, n_visits)[0])


def _best_price(
    evaluate: Evaluate, n_visits: int, *, near: float | None = None, n_rounds: int = 60
) -> tuple[float, float]:
    """The highest bound, and its price. In the price it is concave and made of straight pieces: where the
    tangents on both sides of the top meet is the next guess, and tells how much there is still to gain."""
    if near == 0.0 or n_rounds < 1:
        return evaluate(0.0)[0], 0.0
    value, n = evaluate(0.0) if near is None else (0.0, n_visits + 1)
    if n <= n_visits:
        return value, 0.0
    best, best_price = (value, 0.0) if near is None else (-inf, near)
    sides: list[tuple[float, float, int] | None] = [None, None]  # cheaper and dearer: price, value, slope
    if near is None:
        sides[0] = (0.0, value, n - n_visits)
    price = near if near is not None else 1.0
    for _ in range(n_rounds):
        value, n = evaluate(price)
        value -= price * n_visits
        if value > best:
            best, best_price = value, price
        if n == n_visits:
            break
        sides[n < n_visits] = (price, value, n - n_visits)
        below, above = sides
        if below is None or above is None:
            factor = 1.01 if near is not None else 16.0
            price = price * factor if above is None else price / factor
            if price > 1e30:
                break  # so many visits are too few for the largest gap
            continue
        price = (above[1] - below[1] + below[2] * below[0] - above[2] * above[0]) / (below[2] - above[2])
        top = below[1] + below[2] * (price - below[0])
        if not below[0] < price < above[0] or top - best <= 1e-7 * abs(top):
            break
    return best, best_price


def known_rates(
    traces: Traces,
    window: Window,
    n_visits: int,
    *,
    goal: str = "fresh",
    min_gap_s: float,
    max_gap_s: float,
    weighted: bool = False,
) -> tuple[Visits, Optimum]:
    """The even gaps that are best for the true mean rates in the window: as visits, and with their value if
    changes were Poisson. As many visits as asked for, but where the gap bounds do not allow it."""
    inside = (traces.at > window.start_at) & (traces.at <= window.end_at)
    rows = np.repeat(np.arange(len(traces)), traces.n_changes)
    rate_per_s = np.bincount(rows[inside], minlength=len(traces)) / window.length_s
    weight = traces.weight if weighted else np.ones(len(traces))
    quote = KnownRates(
        goal=goal, rate_per_s=rate_per_s, weight=weight, min_gap_s=min_gap_s, max_gap_s=max_gap_s
    )
    low, high = 1e-12, 1e18  # prices; each step halves their ratio's logarithm
    for _ in range(60):
        price = float(np.sqrt(low * high))
        if _counts(quote.gaps(price), window).sum() > n_visits:
            low = price
        else:
            high = price
    gap_s = quote.gaps(high)
    return evenly(gap_s, window), expected(rate_per_s, weight, gap_s, high)


def n_evenly(gap_s: float, window: Window) -> int:
    """How many visits the same gap for all makes."""
    return int(_counts(np.full(len(window.first_gap_s), gap_s), window).sum())


def _counts(gap_s: Floats, window: Window) -> Floats:
    left_s = window.length_s - window.first_gap_s
    return np.where(left_s >= 0.0, np.floor(np.maximum(left_s, 0.0) / gap_s) + 1.0, 0.0)


def evenly(gap_s: Floats, window: Window) -> Visits:
    """The first visits, and then one after each gap."""
    gap_s = np.minimum(gap_s, 2 * window.length_s)  # times 0 it is 0, which infinity is not
    n = _counts(gap_s, window).astype(np.int64)
    bounds = np.concatenate([[0], np.cumsum(n)])
    turn = np.arange(bounds[-1]) - np.repeat(bounds[:-1], n)
    at = window.start_at + np.repeat(window.first_gap_s, n) + turn * np.repeat(gap_s, n)
    return Visits(bounds=bounds, at=np.minimum(at, window.end_at))
