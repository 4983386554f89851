"""How long a price takes to find for ten million resources, and to pick what is due next; one core.

    learning    what a visit costs a predictor, many at once and 64 at a time as a run brings them
    repricing   from columns in memory: the predictor's forecasts, the price of a budget of one visit in five
                days and resource, and every gap at it
    due         in memory: the next of ten million in the order of their due times, one after the other, each
                planned anew; in SQLite: claims of 64 from a store with a million

Seconds are of one core of this machine, whatever else it does.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from dataclasses import replace
from heapq import heapify, heapreplace
from pathlib import Path

import numpy as np

from recrawl.contracts import Predictor
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.model import DAY_S, Batch, Floats, NewResource, Plans, Seen
from recrawl.pricing import Asked, priced
from recrawl.remember.sqlite.store import SqliteStore
from recrawl.schedule.budget import price_for
from recrawl.schedule.goals import Capture, Fresh, FreshHarmonic, Prompt
from recrawl.schedule.optimum import optimum
from recrawl.schedule.policies.index import Index

NOW = 1.8e9
PER_HOST = 100
N_LEARNED = 3  # visits of each


def watched(n: int, predictor: Predictor) -> Batch:
    rng = np.random.default_rng(0)
    rate_per_day = np.clip(np.exp(rng.normal(np.log(0.1), 1.5, n)), 1e-4, 20.0)
    a = rng.lognormal(0.5, 0.7, n)
    ids = np.arange(1, n + 1)
    group = 1 + ids % max(1, n // PER_HOST)
    predictor.recall(ids, np.column_stack([a, a / rate_per_day * DAY_S, np.zeros(n)]))
    zeros = np.zeros(n, dtype=np.int64)
    for visits in range(N_LEARNED):
        gap_s = DAY_S * rng.uniform(2.0, 8.0, n)
        at = NOW - DAY_S * (10.0 * (N_LEARNED - visits) + rng.uniform(0.0, 5.0, n))
        changed = (rng.random(n) < -np.expm1(-rate_per_day * gap_s / DAY_S)).astype(np.int8)
        seen = Seen(
            id=ids, since_at=at - gap_s, at=at, changed=changed, event_at=np.full(n, np.nan), group=group
        )
        begun = time.process_time()
        predictor.learn(seen)
        many_s = (time.process_time() - begun) / n
    begun = time.process_time()
    for rows in np.split(rng.permutation(n)[:6_400], 100):
        predictor.learn(replace(seen.pick(rows), since_at=seen.at[rows], at=seen.at[rows] + DAY_S))
    few_s = (time.process_time() - begun) / 6_400
    print(f"  learning: {1e6 * many_s:.1f} microseconds a visit of many, {1e6 * few_s:.1f} of 64 together")
    return Batch(
        id=ids,
        weight=np.ones(n),
        min_gap_s=np.full(n, 3_600.0),
        max_gap_s=np.full(n, 180 * DAY_S),
        since_at=NOW - DAY_S * rng.exponential(5.0, n),
        gap_s=np.full(n, 5 * DAY_S),
        n_informative=zeros + 10,
        n_changes=zeros,
        n_failures=zeros,
        bits=zeros.astype(np.uint64),
        group=group,
    )


def repricing(n: int, predictor: Predictor) -> Floats:
    batch = watched(n, predictor)
    shares = np.random.default_rng(2).random(n)
    for goal in (Fresh(), FreshHarmonic(), Capture(), Prompt()):
        policy = Index(goal, jitter=0.07)
        few = np.arange(0, n, max(1, n // 50_000))
        some = policy.quote(batch.pick(few), predictor.forecast(batch.pick(few), NOW))
        price = price_for(some, len(few) / 5.0)
        # everything was last looked at some time within its gap
        gap_s = policy.quote(batch, predictor.forecast(batch, NOW)).gaps(price)
        batch = replace(batch, since_at=NOW - shares * gap_s)
        for what, guess in (("from nothing", 1.0), ("as it was", price)):
            wall, core = time.perf_counter(), time.process_time()
            forecasts = predictor.forecast(batch, NOW)
            asked = Asked(
                policy=policy, batch=batch, forecasts=forecasts, now=NOW, per_day=n / 5.0, guess=guess
            )
            found = priced(asked)
            wall, core = time.perf_counter() - wall, time.process_time() - core
            print(
                f"  {goal.name:<15} {what:<13} {core:6.2f} s of one core ({wall:.2f} s on the clock), "
                f"{found.demand_per_day / n * 5:.3f} of the budget"
            )
    gibibytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"  most memory, all columns included: {gibibytes:.2f} GiB")
    return batch.since_at + gap_s


def picking(due_at: Floats, n_visits: int = 200_000) -> None:
    begun = time.process_time()
    line = list(zip(due_at.tolist(), range(len(due_at)), strict=True))
    heapify(line)
    print(f"  in memory: the line of {len(due_at):,} is made in {time.process_time() - begun:.1f} s")
    begun = time.process_time()
    for _ in range(n_visits):
        at, row = line[0]
        heapreplace(line, (at + 5 * DAY_S, row))
    per_visit = (time.process_time() - begun) / n_visits
    print(f"  in memory: {1e6 * per_visit:.2f} microseconds a visit")


def claiming(n: int, n_claims: int = 100) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / "store.sqlite")
        for start in range(0, n, 50_000):
            numbers = range(start, start + 50_000)
            store.add(
                (
                    NewResource(url=f"http://h{i % 100_000}.example/{i}", host=f"h{i % 100_000}.example")
                    for i in numbers
                ),
                NOW,
            )
        ids = np.arange(1, n + 1)
        rng = np.random.default_rng(1)
        nothing = np.full(n, np.nan)
        begun = time.process_time()
        store.replan(
            Plans(
                id=ids,
                since_at=nothing,
                due_at=NOW + DAY_S * rng.uniform(0.0, 5.0, n),
                gap_s=np.full(n, 5 * DAY_S),
                p_changed=nothing,
                per_day=nothing,
                bound=np.zeros(n, dtype=np.int8),
                price=1.0,
                rule="index:fresh",
                planned_at=NOW,
            )
        )
        print(f"  SQLite: {n:,} plans are written in {time.process_time() - begun:.1f} s")
        begun, n_claimed = time.process_time(), 0
        for turn in range(n_claims):
            leases = store.claim(now=NOW + 600.0 * (turn + 1), limit=64, lease_s=300.0)
            n_claimed += len(leases)
        per_visit = (time.process_time() - begun) / max(n_claimed, 1)
        print(f"  SQLite: {n_claimed:,} claimed, 64 at a time: {1e3 * per_visit:.3f} milliseconds a visit")
        store.close()


def planning(n: int, n_hosts: int, *, skewed: bool = False) -> None:
    """Skewed: a few hosts have most of the resources, and weights differ as much."""
    rng = np.random.default_rng(0)
    rate = np.clip(np.exp(rng.normal(np.log(0.15), 1.5, n)), 0.0005, 7.0) / DAY_S
    host, weight = rng.integers(0, n_hosts, n), np.ones(n)
    most, per_day = rng.lognormal(1.0, 1.0, n_hosts), n / 5.0
    if skewed:
        host = np.minimum(10.0 * rng.pareto(0.6, n), n_hosts - 1).astype(int)
        weight = rng.pareto(1.5, n) + 0.1
        most, per_day = np.full(n_hosts, max(8.0, n / n_hosts / 15.0)), n / 20.0
    for goal in ("fresh", "fresh-harmonic"):
        begun = time.process_time()
        found = optimum(
            rate,
            per_day,
            goal=goal,
            weight=weight,
            min_gap_s=3_600.0,
            max_gap_s=1e4 * DAY_S,
            host=host,
            host_per_day=most,
        )
        core = time.process_time() - begun
        full = np.bincount(host, DAY_S / found.gap_s, minlength=n_hosts) > 0.999 * most
        print(f"  {goal:<15} {core:5.2f} s of one core; {full.sum():,} of {n_hosts:,} hosts are full")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--resources", type=int, default=10_000_000)
    parser.add_argument("--stored", type=int, default=1_000_000)
    parser.add_argument("--predictor", choices=["gamma", "rhythm"], default="rhythm")
    said = parser.parse_args()
    print(f"repricing {said.resources:,} resources, {PER_HOST} on each host, with predictor {said.predictor}")
    due_at = repricing(said.resources, GammaFilter() if said.predictor == "gamma" else Rhythm())
    print("picking what is due next")
    picking(due_at)
    if said.stored:
        claiming(said.stored)
    print("the exact optimum for 1,000,000 known rates on 50,000 hosts with limits")
    planning(1_000_000, 50_000)
    print("the same where few of 10,000 hosts have most of them")
    planning(1_000_000, 10_000, skewed=True)


if __name__ == "__main__":
    main()
