"""How fast visits are measured, beside NumPy's way of doing the few measures of the demo; and the limits.

Seconds are of one core of this machine, whatever else it does; the ratio was measured in one run.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf

import numpy as np

from recrawl.evaluate.limits import known_rates, omniscient, omniscient_within
from recrawl.evaluate.measures import measure
from recrawl.evaluate.plain import plain_score
from recrawl.evaluate.protocol import Window
from recrawl.model import DAY_S
from recrawl.schedule.optimum import optimum
from recrawl.simulate.traces import Traces

N, DAYS, N_VISITS = 1_000, 1_095, 100_000


def seconds(work: Callable[[], object], n: int = 3) -> float:
    best = inf
    for _ in range(n):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    return best


def town() -> tuple[Traces, Window]:
    rng = np.random.default_rng(1)
    rates = np.clip(np.exp(rng.normal(np.log(0.08), 1.5, N)), 0.0005, 7)
    events = [np.sort(rng.uniform(0, DAYS * DAY_S, rng.poisson(rate * DAYS))) for rate in rates]
    at = np.concatenate(events)
    traces = Traces(
        born_at=np.full(N, -1.0),
        bounds=np.cumsum([0, *map(len, events)]),
        at=at,
        digest=rng.integers(1, 2**63, len(at), dtype=np.uint64),
        first_digest=np.zeros(N, dtype=np.uint64),
        host=np.arange(N),
        weight=np.ones(N),
    )
    first_gap_s = 7 * DAY_S * rng.random(N)
    return traces, Window(start_at=0.0, end_at=DAYS * DAY_S, rows=np.arange(N), first_gap_s=first_gap_s)


def main() -> None:
    traces, window = town()
    bounds = (DAY_S, 180 * DAY_S)
    visits, _ = known_rates(traces, window, N_VISITS, min_gap_s=bounds[0], max_gap_s=bounds[1])
    begun = time.process_time()
    measure(traces, visits, window, n_bins=100)
    print(f"the first measure of all, compiled or loaded: {time.process_time() - begun:.2f} s")
    n = len(traces.at) + len(visits)
    plain_s = seconds(lambda: measure(traces, visits, window))
    sliced_s = seconds(lambda: measure(traces, visits, window, n_bins=100))
    events = [traces.of(i) for i in range(N)]
    ids = np.repeat(np.arange(N), np.diff(visits.bounds))
    numpy_s = seconds(lambda: plain_score(events, ids, visits.at, start_at=0.0, end_at=window.end_at))
    print(f"{N:,} resources, {len(traces.at):,} events, {len(visits):,} visits, {DAYS} days")
    print(f"all measures               {n / plain_s / 1e6:6.0f} million events and visits a second, one core")
    print(f"  and 100 slices of time   {n / sliced_s / 1e6:6.0f} million")
    ratio = numpy_s / plain_s
    print(f"the demo's few, in NumPy   {n / numpy_s / 1e6:6.0f} million; ours {ratio:.0f} times that")
    free_s = seconds(lambda: omniscient(traces, window, N_VISITS), 1)
    within_s = seconds(
        lambda: omniscient_within(traces, window, N_VISITS, min_gap_s=bounds[0], max_gap_s=bounds[1]), 1
    )
    print(f"omniscient limits {free_s:.2f} s, within gap bounds {within_s:.2f} s")
    rng = np.random.default_rng(2)
    rates = np.clip(np.exp(rng.normal(np.log(0.15), 1.5, 1_000_000)), 0.0005, 7) / DAY_S
    for goal in ("fresh", "fresh-harmonic"):
        known_s = seconds(lambda goal=goal: optimum(rates, 200_000.0, goal=goal), 1)  # type: ignore[misc]
        print(f"best gaps of 1,000,000 known rates, {goal}: {known_s:.2f} s")


if __name__ == "__main__":
    main()
