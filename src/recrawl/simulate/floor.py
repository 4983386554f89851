"""The floor: the plainest scheduler that learns, which every better one is measured against.

One Gamma filter for each resource, which forgets towards its prior at every visit, and knows no groups, no
calendar and no bursts. `fresh` and `fresh-harmonic` go by their index; `prompt` by the square root of the
filter's mean rate; `capture` visits when the chance of a change reaches a threshold. It stays as it is, so
that figures from different times can be compared.
"""

from __future__ import annotations

from math import expm1, log1p, sqrt

import numpy as np

from recrawl.compiled import compiled
from recrawl.model import DAY_S, Floats, Ints
from recrawl.schedule.closed import CAPTURE, PROMPT
from recrawl.simulate.scalar import GOALS, reached_gap
from recrawl.simulate.traces import Traces, Visits
from recrawl.simulate.walk import checked, first_after, grown

SHAPE, SCALE_S, FORGETTING = 0.5, 10 * DAY_S, 0.05


def walk_floor(
    traces: Traces,
    *,
    start_at: float,
    end_at: float,
    first_gap_s: Floats,
    min_gap_s: float,
    max_gap_s: float,
    price: float,
    goal: str,
) -> Visits:
    """The visits that it makes until `end_at`. Of `capture` the price is the odds of the threshold: 1 is a
    chance of one half. All resources count alike."""
    checked(traces, first_gap_s)
    bounds, at = _walked(
        GOALS[goal],
        float(price),
        float(min_gap_s),
        float(max_gap_s),
        traces.bounds,
        traces.at,
        float(start_at),
        float(end_at),
        first_gap_s,
    )
    return Visits(bounds=bounds, at=at)


@compiled
def updated(a: float, b_s: float, gap_s: float, changed: bool) -> tuple[float, float]:
    """The filter's state after a visit: towards the prior, and then what the visit says."""
    a += FORGETTING * (SHAPE - a)
    b_s += FORGETTING * (SCALE_S - b_s)
    if not changed:
        return a, b_s + gap_s
    x = gap_s / b_s
    if x < 1e-6:
        return a + 1.0, b_s  # one sure change: what the moments tend to
    more = log1p(x)
    p = -expm1(-a * more)
    first = a * -expm1(-(a + 1.0) * more) / p
    second = a * (a + 1.0) * -expm1(-(a + 2.0) * more) / p
    scale = first / (second - first * first)
    return first * scale, scale * b_s


@compiled
def floor_gap(goal: int, a: float, b_s: float, price: float, min_gap_s: float, max_gap_s: float) -> float:
    if goal == PROMPT:
        return min(max(sqrt(2.0 * price * b_s / a), min_gap_s), max_gap_s)
    if goal == CAPTURE:  # (b / (b + t))^a falls to 1 / (1 + odds)
        return min(max(b_s * expm1(min(log1p(price) / a, 700.0)), min_gap_s), max_gap_s)
    return reached_gap(goal, a, b_s, 1.0, price, min_gap_s, max_gap_s)


@compiled
def _walked(
    goal: int,
    price: float,
    min_gap_s: float,
    max_gap_s: float,
    bounds: Ints,
    times: Floats,
    start_at: float,
    end_at: float,
    first_gap_s: Floats,
) -> tuple[Ints, Floats]:
    n = len(bounds) - 1
    made = np.zeros(n + 1, np.int64)
    visits = np.empty(4096 + 16 * n)
    n_visits = 0
    for i in range(n):
        a, b_s = SHAPE, SCALE_S
        last = bounds[i + 1]
        change = first_after(times, bounds[i], last, start_at)
        since = start_at
        at = start_at + first_gap_s[i]
        while at < end_at:
            if n_visits == len(visits):
                visits = grown(visits)
            visits[n_visits] = at
            n_visits += 1
            changed = change < last and times[change] <= at
            while change < last and times[change] <= at:
                change += 1
            a, b_s = updated(a, b_s, max(at - since, 1e-3), changed)
            since = at
            at += floor_gap(goal, a, b_s, price, min_gap_s, max_gap_s)
        made[i + 1] = n_visits
    return made, visits[:n_visits].copy()
