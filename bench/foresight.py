"""Does a budget buy what `recrawl plan` says, when it is really changed? And how long does a plan take?

    python bench/foresight.py                 10 trials on the living web: some 35 minutes
    python bench/foresight.py --trials 2      a first look
    python bench/foresight.py --large         `recrawl plan` on 100,000 resources and 5,000,000 visits
    python bench/foresight.py --home DIR      leave a home there, with four weeks of visits behind it, to try
                                              `recrawl plan` and `recrawl backtest` on

A living web of pages, feeds and files is served and visited over HTTP with one budget for three weeks, on a
clock that runs fast. Then a plan is made for half of it or for twice as much, the budget is changed, and
after a while in which gaps settle a week is measured against the truth. Trials differ in the web, in the goal
and in the budget. A machine that has much else to do makes hosts seem slow: give the day more seconds then.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from recrawl.app.build import STORE_FILE, House
from recrawl.app.config import Config, Fetching, Gaps, Schedule
from recrawl.app.demo import _true_sights
from recrawl.app.foresight import foreseen, seen_of_late
from recrawl.costs import Costs
from recrawl.evaluate.budgets.achieved import achieved
from recrawl.evaluate.budgets.curve import MEASURES, Bought
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.live.clock import FastClock, WallClock
from recrawl.livingweb import LivingWeb, town
from recrawl.loop import Loop
from recrawl.memories import Memories
from recrawl.model import DAY_S, HOUR_S, Floats, Ints, NewResource, Settings
from recrawl.remember.sqlite.store import SqliteStore
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index
from recrawl.simulate.processes import Poisson
from recrawl.simulate.run import simulate
from recrawl.simulate.traces import Traces, Visits
from recrawl.simulate.worlds import world_of
from recrawl.urls import host_key

START_AT = datetime(2026, 1, 5, tzinfo=UTC).timestamp()  # a Monday
N, PER_DAY = 100, 40.0
LEARNED, SETTLED, MEASURED = 21, 7, 7  # days
MAX_GAP_S = 7 * DAY_S  # so that gaps settle within the time given
TRIALS = [(goal, times) for goal in ("fresh", "prompt", "capture") for times in (2.0, 0.5)]


def trial(goal: str, times: float, *, seed: int, wall_s: float) -> tuple[Bought, dict[str, float], float]:
    """What was expected, what came, and how many visits a day told something."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        return asyncio.run(_lived(Path(folder), goal, times, seed, wall_s))


async def _lived(
    home: Path, goal: str, times: float, seed: int, wall_s: float
) -> tuple[Bought, dict[str, float], float]:
    clock = FastClock(start_at=START_AT, speed=DAY_S / wall_s)
    house = House(home, _config(goal), clock)
    try:
        async with LivingWeb(town(N, seed), clock=clock, seed=seed) as web:
            urls = web.urls()
            private = Settings(allow_private=True)
            new = [NewResource(url=url, host=host_key(url), settings=private) for url in urls]
            house.store.add(new, START_AT)
            await _run(house, PER_DAY, START_AT + LEARNED * DAY_S)
            planned = foreseen(house, budgets=[times * PER_DAY])
            batch, _ = house.store.batch()
            known = set(batch.id[seen_of_late(batch)].tolist())
            urls = tuple(one.url for one, _, _ in house.store.resources() if one.id in known)
            from_at = clock.now() + SETTLED * DAY_S
            until_at = from_at + MEASURED * DAY_S
            await _run(house, times * PER_DAY, until_at)
            truth = web.truth(START_AT, until_at)
        events = [truth.changed_at[url] for url in urls]
        ids, at, *_ = _true_sights(house.store, urls, events)
        real = achieved(
            _traces(events),
            _visits(ids, at, len(urls)),
            start_at=START_AT,
            from_at=from_at,
            until_at=until_at,
        )
        n_useful = int(((at >= from_at) & (at < until_at)).sum())
    finally:
        house.close()
    bought = next(one for one in planned.points if one.per_day == times * PER_DAY)
    return bought, real, n_useful / MEASURED


def _config(goal: str) -> Config:
    return Config.model_construct(
        schedule=Schedule(
            budget=f"{PER_DAY:g}/day", goal=goal, policy="index", predictor="rhythm", reprice_every=DAY_S / 4
        ),
        gaps=Gaps(min_gap=HOUR_S, max_gap=MAX_GAP_S, weight=1.0),
        fetching=Fetching(contact="bench@recrawl.invalid"),  # type: ignore[call-arg]
    )


async def _run(house: House, per_day: float, until_at: float) -> None:
    async with house.fetcher() as fetcher:
        runner = house.runner(house.loop(per_day=per_day), fetcher)
        try:
            await runner.run(until_at=until_at)
        finally:
            await runner.aclose()


def _traces(events: list[Floats]) -> Traces:
    n = len(events)
    at = np.concatenate(events)
    return Traces(
        born_at=np.full(n, START_AT),
        bounds=np.concatenate([[0], np.cumsum([len(one) for one in events])]).astype(np.int64),
        at=at,
        digest=np.zeros(len(at), dtype=np.uint64),
        first_digest=np.zeros(n, dtype=np.uint64),
        host=np.zeros(n, dtype=np.int64),
        weight=np.ones(n),
    )


def _visits(ids: Ints, at: Floats, n: int) -> Visits:
    order = np.lexsort((at, ids))
    return Visits(bounds=np.searchsorted(ids[order], np.arange(n + 1)).astype(np.int64), at=at[order])


def trials(n: int, wall_s: float) -> None:
    print(f"{N} resources, {PER_DAY:g} visits a day for {LEARNED} days; then another budget, for a week")
    n_within = dict.fromkeys(MEASURES, 0)
    for i in range(n):
        goal, times = TRIALS[i % len(TRIALS)]
        bought, real, per_day = trial(goal, times, seed=i + 1, wall_s=wall_s)
        print(f"  {goal}, {times:g} times the budget: {per_day:.0f} visits a day told something", flush=True)
        for name in MEASURES:
            found = bought.measures[name]
            within = found.low <= real[name] <= found.high
            n_within[name] += within
            print(
                f"    {name:<16} {real[name]:7.3f}   expected {found.value:7.3f} "
                f"[{found.low:.3f} to {found.high:.3f}]{'' if within else '  outside'}",
                flush=True,
            )
    print("  within: " + ", ".join(f"{name} {count} of {n}" for name, count in n_within.items()))


def home_of(folder: Path) -> None:
    """A home as if its resources had been watched for four weeks until now, without any page."""
    folder.mkdir(parents=True, exist_ok=True)
    now = WallClock().now()
    start_at = now - 28 * DAY_S
    rates = np.geomspace(0.02, 4.0, 300)
    world = world_of([Poisson(rate) for rate in rates], start_at=start_at, end_at=now, seed=1)
    bounded = Settings(min_gap_s=HOUR_S, max_gap_s=30 * DAY_S)
    world = replace(world, resources=[replace(one, settings=bounded) for one in world.resources])
    with closing(SqliteStore(folder / STORE_FILE)) as store:
        loop = Loop(
            store=store,
            predictor=Rhythm(),
            policy=Index(Fresh(), jitter=0.07),
            rule="index:fresh",
            per_day=150.0,
            fit_priors_every_s=DAY_S,
        )
        simulate(loop, world, start_at=start_at, end_at=now)
        loop.finish()


def large(keep: Path | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = keep or Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        path = home / STORE_FILE
        if not path.exists():
            maker = [
                sys.executable,
                str(Path(__file__).with_name("report.py")),
                "--large",
                "--keep",
                str(home),
            ]
            subprocess.run(maker, check=True)
        _remember(path)
        script = "import sys; from recrawl.live.clock import WallClock; WallClock.now = lambda self: 1.8e9; "
        script += "from recrawl.cli.main import main; sys.argv = ['recrawl', *sys.argv[1:]]; main()"
        for words in (["plan"], ["plan", "--within", "2h", "--share", "95%"], ["plan", "--json"]):
            command = [sys.executable, "-c", script, "--home", str(home), *words]
            begun = time.perf_counter()
            shown = subprocess.run(command, capture_output=True, text=True, check=True)
            took_s = time.perf_counter() - begun
            print(f"  recrawl {' '.join(words)}, start and all: {took_s:.2f} s on the clock", flush=True)
            if words == ["plan"]:
                print(shown.stderr + shown.stdout)


def _remember(path: Path) -> None:
    """What a predictor would keep of these resources, who are visited as often as they change needs it."""
    with closing(SqliteStore(path)) as store:
        connection = store._db._connection
        rows = connection.execute("SELECT id, per_day FROM resource WHERE per_day > 0").fetchall()
        ids, per_day = np.array([row[0] for row in rows]), np.array([row[1] for row in rows])
        predictor = Rhythm()
        predictor.recall(ids, np.column_stack([np.full(len(ids), 8.0), 8.0 / per_day * DAY_S, 0.0 * per_day]))
        kept = Memories(predictor, Index(Fresh()), Costs()).rows(ids)
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany(
            "UPDATE resource SET memory = ?, bits = ? WHERE id = ?",
            (
                (np.array(row, "<f8").tobytes(), -1 if fast else 0, key)
                for row, fast, key in zip(kept, (per_day > 1.0).tolist(), ids.tolist(), strict=True)
            ),
        )
        connection.execute("COMMIT")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--day", type=float, default=6.0, help="how many seconds a day takes")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--keep", type=Path, help="make the large store there, or use the one that is there")
    parser.add_argument("--home", type=Path)
    said = parser.parse_args()
    if said.home is not None:
        home_of(said.home)
    elif said.large:
        print("100,000 resources, 5,000,000 visits")
        large(said.keep)
    else:
        trials(said.trials, said.day)


if __name__ == "__main__":
    main()
