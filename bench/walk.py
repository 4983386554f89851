"""How many visits a second the fast path makes, one core; and the loop itself on the same history.

Seconds are of one core of this machine, whatever else it does; the ratio was measured in one run.
"""

from __future__ import annotations

import time
from math import inf

import numpy as np

from recrawl.evaluate.contenders import NAMES, contender
from recrawl.evaluate.protocol import Window
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.loop import Loop
from recrawl.model import DAY_S, NewResource, Settings
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.policies.rules.named import RULES
from recrawl.schedule.policies.rules.policy import Ruled
from recrawl.simulate.run import simulate
from recrawl.simulate.traces import Traces
from recrawl.simulate.worlds import TraceWorld

N, N_LOOP, DAYS = 20_000, 200, 1_095
MIN_S, MAX_S = DAY_S, 180 * DAY_S


def town(n: int) -> tuple[Traces, Window]:
    rng = np.random.default_rng(1)
    rates = np.clip(np.exp(rng.normal(np.log(0.08), 1.5, n)), 0.0005, 7)
    events = [np.sort(rng.uniform(0, DAYS * DAY_S, rng.poisson(rate * DAYS))) for rate in rates]
    at = np.concatenate(events)
    traces = Traces(
        born_at=np.full(n, -1.0),
        bounds=np.cumsum([0, *map(len, events)]),
        at=at,
        digest=np.arange(1, len(at) + 1, dtype=np.uint64),
        first_digest=np.zeros(n, dtype=np.uint64),
        host=np.arange(n),
        weight=np.ones(n),
    )
    first_gap_s = 7 * DAY_S * rng.random(n)
    return traces, Window(start_at=0.0, end_at=DAYS * DAY_S, rows=np.arange(n), first_gap_s=first_gap_s)


def looped(traces: Traces, window: Window) -> float:
    """Visits a second that the loop makes by `fix`, with a store in memory."""
    world = TraceWorld(
        [
            NewResource(
                url=f"http://h{i}.test/",
                host=f"h{i}.test",
                settings=Settings(min_gap_s=MIN_S, max_gap_s=MAX_S),
            )
            for i in range(len(traces))
        ],
        [traces.of(i) for i in range(len(traces))],
    )
    loop = Loop(
        store=MemoryStore(),
        predictor=GammaFilter(),
        policy=Ruled(RULES["fix"].bounded(MIN_S, MAX_S)),
        rule="fix",
        per_day=None,
        reprice_every_s=inf,
    )
    begun = time.process_time()
    seen = simulate(
        loop, world, start_at=0.0, end_at=window.end_at, first_gap_s=window.first_gap_s, limit=N_LOOP
    )
    return len(seen) / (time.process_time() - begun)


def main() -> None:
    traces, window = town(N)
    begun = time.process_time()
    contender("fix", min_gap_s=MIN_S, max_gap_s=MAX_S).visits(*town(10))
    print(f"the first walk of all, compiled or loaded: {time.process_time() - begun:.2f} s")
    print(f"{N:,} resources, {len(traces.at):,} changes, {DAYS} days, gaps of 1 to 180 days; one core")
    per_s = {}
    for name in NAMES:
        one = contender(name, min_gap_s=MIN_S, max_gap_s=MAX_S)
        price = one.price(traces, window, N * 150) if one.priced else None
        one.visits(traces, window, price=price)
        begun = time.process_time()
        n_visits = len(one.visits(traces, window, price=price))
        per_s[name] = n_visits / (time.process_time() - begun)
        print(f"  {name:<17} {n_visits:>10,} visits {per_s[name] / 1e6:7.1f} million a second")
    slow = looped(*town(N_LOOP))
    times = per_s["fix"] / slow
    print(f"the loop itself, fix: {slow:,.0f} visits a second; the fast path {times:,.0f} times that")


if __name__ == "__main__":
    main()
