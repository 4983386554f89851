"""The setting that LambdaCrawl's authors learn in, as a bar: rates unknown, one visit a day for every five.

    python bench/synthetic.py              10 seeds, 5,000 resources, two predictors: 40 minutes of a core
    python bench/synthetic.py --seeds 2    a first look

Importance is heavy-tailed, rates are log-normal and unknown, changes are Poisson, the budget is 0.2 visits a
day for each resource. Three weeks are run and the last one is scored: the time average of importance times
the harmonic number of unseen changes (harmonic), or times whether there is one (binary), in the mean over
resources.

Ours is the loop itself, with a store in memory, the budget and its price: goals `fresh-harmonic` and `fresh`.
Beside it stand the rates that LambdaCrawl learns (Kolobov et al., NeurIPS 2019), written anew from its
formulas: as published, with visits at random (Poisson), and spaced evenly, which is the fair bar.

As shares of what evenly spaced LambdaCrawl costs, with 95 % intervals over pairs of the same seed (those of
gamma are older):

    rhythm    harmonic 0.993 ± 0.011 (6 seeds)    binary 0.991 ± 0.012 (6 seeds)
    gamma     harmonic 1.002 ± 0.018 (4 seeds)    binary 0.988 ± 0.035 (4 seeds)
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import entry_points

import numpy as np

from recrawl.evaluate.measures import measure
from recrawl.evaluate.protocol import Window
from recrawl.loop import Loop
from recrawl.model import DAY_S, Bools, Floats, Ints, NewResource, Settings
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.policies.index import Index
from recrawl.simulate.run import simulate
from recrawl.simulate.traces import Traces, Visits
from recrawl.simulate.worlds import TraceWorld

DAYS, SCORED_DAYS, TICKS_PER_DAY = 21, 7, 100
SHARE_PER_DAY = 0.2
LEAST_RATE, MOST_RATE = 0.0005, 7.0  # a day
IMAGINED_DAYS = 0.5  # a gap with a change and one without, which every estimate begins with
MEASURES = ("harmonic", "binary")


def world(n: int, seed: int) -> Traces:
    rng = np.random.default_rng(seed)
    weight = np.ceil(rng.pareto(1.3, n) * 50 + 1)
    rate = np.clip(np.exp(rng.normal(np.log(0.15), 1.5, n)), LEAST_RATE, MOST_RATE)
    at = [np.sort(rng.uniform(0.0, DAYS * DAY_S, k)) for k in rng.poisson(rate * DAYS)]
    return Traces(
        born_at=np.full(n, -1.0),
        bounds=np.cumsum([0, *map(len, at)]),
        at=np.concatenate(at),
        digest=np.arange(1, sum(map(len, at)) + 1, dtype=np.uint64),
        first_digest=np.zeros(n, dtype=np.uint64),
        host=np.arange(n),
        weight=weight,
    )


def first_gaps(n: int, seed: int) -> Floats:
    """Everybody is held at the start, and looked at once in the days that one round takes."""
    return np.random.default_rng([seed, 1]).random(n) * DAY_S / SHARE_PER_DAY


def ours(traces: Traces, seed: int, *, goal: str, predictor: str) -> Visits:
    made, goals = (entry_points(group=f"recrawl.{kind}") for kind in ("predictors", "goals"))
    resources = [
        NewResource(
            url=f"http://h{i}.test/",
            host=f"h{i}.test",
            settings=Settings(
                min_gap_s=DAY_S / TICKS_PER_DAY, max_gap_s=365 * DAY_S, weight=float(traces.weight[i])
            ),
        )
        for i in range(len(traces))
    ]
    loop = Loop(
        store=MemoryStore(),
        predictor=made[predictor].load()(),
        policy=Index(goals[goal].load()()),
        rule=f"index:{goal}",
        per_day=SHARE_PER_DAY * len(traces),
        fit_priors_every_s=DAY_S,
    )
    seen = simulate(
        loop,
        TraceWorld(resources, [traces.of(i) for i in range(len(traces))]),
        start_at=0.0,
        end_at=DAYS * DAY_S,
        first_gap_s=first_gaps(len(traces), seed),
    )
    told = np.isfinite(seen.since_at)  # else it is the copy held at the start
    return visits_of(seen.id[told], seen.at[told], len(traces))


def visits_of(row: Ints, at: Floats, n: int) -> Visits:
    order = np.lexsort((at, row))
    bounds = np.searchsorted(row[order], np.arange(n + 1)).astype(np.int64)
    return Visits(bounds=bounds, at=at[order])


def lambda_crawl(traces: Traces, *, even: bool, seed: int) -> Visits:
    """Each day rates of visiting are planned with what is believed, and beliefs found anew from all visits.

    Even: a visit falls due whenever the planned rate, summed up since the last one, comes to one.
    """
    n = len(traces)
    rng = np.random.default_rng([seed, 2 + even])
    rate = np.ones(n)  # of change, believed, a day
    owed = rng.random(n)
    seen_at, version = np.zeros(n), np.zeros(n, dtype=np.int64)
    rows: list[Ints] = []
    times: list[Floats] = []
    gaps: list[Floats] = []
    changes: list[Bools] = []
    for tick in range(1, DAYS * TICKS_PER_DAY + 1):
        now_days = tick / TICKS_PER_DAY
        if tick % TICKS_PER_DAY == 1:
            if rows:
                rate = estimated(np.concatenate(rows), np.concatenate(gaps), np.concatenate(changes), n)
            visiting = planned(rate, traces.weight, SHARE_PER_DAY * n) / TICKS_PER_DAY
        if even:
            owed += visiting
            due = np.flatnonzero(owed >= 1.0)
            owed[due] -= 1.0
        else:
            due = np.flatnonzero(rng.random(n) < -np.expm1(-visiting))
        if not len(due):
            continue
        found = np.array(
            [int(np.searchsorted(traces.of(i), now_days * DAY_S, "right")) for i in due.tolist()]
        )
        rows.append(due)
        times.append(np.full(len(due), min(now_days, DAYS - 1e-9) * DAY_S))
        gaps.append(now_days - seen_at[due])
        changes.append(found > version[due])
        seen_at[due], version[due] = now_days, found
    return visits_of(np.concatenate(rows), np.concatenate(times), n)


def planned(rate: Floats, weight: Floats, per_day: float) -> Floats:
    """Rates of visiting that are best for harmonic cost if visits are Poisson; halving finds the price."""
    low, high = -60.0, 60.0  # logarithms of the price
    for _ in range(100):
        price = np.exp((low + high) / 2)
        visiting = (-rate + np.sqrt(rate**2 + 4.0 * weight * rate / price)) / 2.0
        low, high = ((low + high) / 2, high) if visiting.sum() > per_day else (low, (low + high) / 2)
    return np.asarray(visiting)


def estimated(row: Ints, gap_days: Floats, changed: Bools, n: int) -> Floats:
    """Most likely rates from all visits and two imagined ones, within bounds: by halving, all together."""
    still = np.bincount(row[~changed], weights=gap_days[~changed], minlength=n) + IMAGINED_DAYS
    row, gap_days = row[changed], gap_days[changed]
    low, high = np.full(n, np.log(LEAST_RATE)), np.full(n, np.log(MOST_RATE))
    for _ in range(40):
        rate = np.exp((low + high) / 2)
        slope = np.bincount(row, weights=gap_days / np.expm1(rate[row] * gap_days), minlength=n)
        slope += IMAGINED_DAYS / np.expm1(rate * IMAGINED_DAYS) - still
        low, high = (
            np.where(slope > 0.0, (low + high) / 2, low),
            np.where(slope > 0.0, high, (low + high) / 2),
        )
    return np.asarray(np.exp((low + high) / 2))


def cost(traces: Traces, visits: Visits) -> dict[str, float]:
    """In the last week: what has been summed up by its end, less what had been at its beginning."""
    total = dict.fromkeys(MEASURES, 0.0)
    for sign, end_at in ((1.0, DAYS * DAY_S), (-1.0, (DAYS - SCORED_DAYS) * DAY_S)):
        rows = np.repeat(np.arange(len(traces)), np.diff(visits.bounds))
        kept = visits.at < end_at
        window = Window(
            start_at=0.0, end_at=end_at, rows=np.arange(len(traces)), first_gap_s=np.zeros(len(traces))
        )
        found = measure(traces, visits_of(rows[kept], visits.at[kept], len(traces)), window)
        total["harmonic"] += sign * float(traces.weight @ found.harmonic_s)
        total["binary"] += sign * float(traces.weight @ (found.window_s - found.fresh_s))
    scale = len(traces) * SCORED_DAYS * DAY_S
    return {name: value / scale for name, value in total.items()}


PUBLISHED, EVEN = "LambdaCrawl, as published", "LambdaCrawl, evenly spaced"
GOALS = {"harmonic": "fresh-harmonic", "binary": "fresh"}  # by what they are for


def policies(predictors: Sequence[str]) -> dict[str, Callable[[Traces, int], Visits]]:
    found: dict[str, Callable[[Traces, int], Visits]] = {
        PUBLISHED: lambda traces, seed: lambda_crawl(traces, even=False, seed=seed),
        EVEN: lambda traces, seed: lambda_crawl(traces, even=True, seed=seed),
    }
    for predictor in predictors:
        for goal in GOALS.values():
            found[f"{goal}, {predictor}"] = partial(ours, goal=goal, predictor=predictor)
    return found


@dataclass(frozen=True, slots=True)
class Run:
    seed: int
    n_visits: dict[str, float]  # a day, in the scored week
    costs: dict[str, dict[str, float]]


def run(n: int, seed: int, predictors: Sequence[str]) -> Run:
    traces = world(n, seed)
    n_visits, costs = {}, {}
    for name, policy in policies(predictors).items():
        visits = policy(traces, seed)
        costs[name] = cost(traces, visits)
        n_visits[name] = float((visits.at >= (DAYS - SCORED_DAYS) * DAY_S).sum()) / SCORED_DAYS
    return Run(seed, n_visits, costs)


def paired(runs: list[Run], name: str, against: str, measure_: str) -> tuple[float, float]:
    """The mean ratio over seeds, and half the width of its 95 % interval."""
    ratios = np.array([one.costs[name][measure_] / one.costs[against][measure_] for one in runs])
    if len(ratios) < 2:
        return float(ratios.mean()), float("nan")
    # of Student's distribution, 97.5 %, by degrees of freedom up to 9
    t = (12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)[min(len(ratios) - 2, 8)]
    return float(ratios.mean()), float(t * ratios.std(ddof=1) / len(ratios) ** 0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--resources", type=int, default=5_000)
    parser.add_argument("--predictors", nargs="+", default=["rhythm", "gamma"])
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--json", action="store_true")
    said = parser.parse_args()
    begun = time.perf_counter()
    jobs = ((said.resources, seed, said.predictors) for seed in range(1, said.seeds + 1))
    with ProcessPoolExecutor(said.cores) as pool:
        runs = list(pool.map(run, *zip(*jobs, strict=True)))
    ratios = {
        (predictor, what): paired(runs, f"{goal}, {predictor}", EVEN, what)
        for predictor in said.predictors
        for what, goal in GOALS.items()
    }
    if said.json:
        told = [
            {"predictor": predictor, "cost": what, "to_even": r} for (predictor, what), r in ratios.items()
        ]
        print(json.dumps({"runs": [asdict(one) for one in runs], "ratios": told}))
        return
    print(f"{said.resources:,} resources, {said.seeds} seeds, the last {SCORED_DAYS} days; less is better")
    print(f"  {'policy':28}{'visits/day':>11}{'harmonic':>10}{'binary':>9}")
    for name in policies(said.predictors):
        per_day = np.mean([one.n_visits[name] for one in runs])
        costs = (float(np.mean([one.costs[name][what] for one in runs])) for what in MEASURES)
        print(f"  {name:28}{per_day:>11,.0f}{next(costs):>10.1f}{next(costs):>9.1f}")
    print("beside evenly spaced LambdaCrawl, pairs of the same seed, with 95 % intervals")
    for (predictor, what), (ratio, half) in ratios.items():
        name = f"{GOALS[what]}, {predictor}"
        print(f"  {name:28}{what:>10} cost {ratio:.3f} ± {half:.3f}  {'kept' if ratio <= 1.0 else 'MISSED'}")
    print(f"  {time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
