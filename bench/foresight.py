"""Does a budget buy what `recrawl plan` says, when it is really changed? And how long does a plan take?

    python bench/foresight.py                 10 trials on the living web, each some minute and a half
    python bench/foresight.py --trials 2 --jobs 2 --out FILE   two at a time; a line of JSON for each
    python bench/foresight.py --large         `recrawl plan` on 100,000 resources and 5,000,000 visits
    python bench/foresight.py --home DIR      a home with four weeks of visits, to try plan and backtest on

A living web of pages, feeds and files is served and visited over HTTP with one budget for three weeks, on a
clock that jumps to the next moment at which anything is to be done. Then a plan is made for half of it or for
twice as much, the budget is changed, and after a while in which gaps settle a week is measured against the
truth. Trials differ in the web, in the goal and in the budget. An asterisk: outside its interval. A visit
counts as one whether it tells of a change or not: it is the schedule that is measured.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from recrawl.app.budgets import failing
from recrawl.app.build import STORE_FILE, House
from recrawl.app.config import Config, Fetching, Gaps, Schedule
from recrawl.app.foresight import foreseen
from recrawl.costs import Costs
from recrawl.evaluate.budgets.achieved import achieved
from recrawl.evaluate.budgets.curve import MEASURES
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.live.clock import WallClock
from recrawl.livingweb import LivingWeb, town
from recrawl.livingweb.standstill import Standstill
from recrawl.loop import Loop
from recrawl.memories import Memories
from recrawl.model import DAY_S, HOUR_S, Changed, Floats, NewResource, Settings, Visit
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


@dataclass(frozen=True, kw_only=True)
class Tried:
    """What was expected, and what came: of all resources, and without the `n_untold` ones whose visits do not
    tell the changes there are (a server denies them, a stamp counts as noise)."""

    goal: str
    times: float
    seed: int
    expected: dict[str, tuple[float, float, float]]
    of_all: dict[str, float]
    real: dict[str, float]
    told_per_day: float
    n_untold: int
    took_s: float

    def within(self, name: str, real: Mapping[str, float]) -> bool:
        _, low, high = self.expected[name]
        return low <= real[name] <= high


def trial(goal: str, times: float, seed: int) -> Tried:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        clock = Standstill(START_AT)
        return clock.run(_lived(Path(folder), clock, goal, times, seed))


async def _lived(home: Path, clock: Standstill, goal: str, times: float, seed: int) -> Tried:
    begun_s = time.perf_counter()
    house = House(home, _config(goal), clock)
    try:
        async with LivingWeb(town(N, seed), clock=clock, seed=seed) as web:
            private = Settings(allow_private=True)
            new = [NewResource(url=url, host=host_key(url), settings=private) for url in web.urls()]
            house.store.add(new, START_AT)
            await _run(house, PER_DAY, START_AT + LEARNED * DAY_S)
            planned = foreseen(house, budgets=[times * PER_DAY])
            batch, _ = house.store.batch()
            known = set(batch.id[~failing(batch)].tolist())
            from_at = clock.now() + SETTLED * DAY_S
            until_at = from_at + MEASURED * DAY_S
            await _run(house, times * PER_DAY, until_at)
            truth = web.truth(START_AT, until_at)
        looks = {
            one.url: [visit for visit in reversed(list(house.store.visits(one.id))) if visit.informative]
            for one, _, _ in house.store.resources()
            if one.id in known
        }
    finally:
        house.close()
    told = {url: made for url, made in looks.items() if _tells(made, truth.changed_at[url])}
    of_all, real = (
        achieved(
            _traces([truth.changed_at[url] for url in some]),
            _visits(list(some.values())),
            start_at=START_AT,
            from_at=from_at,
            until_at=until_at,
        )
        for some in (looks, told)
    )
    bought = next(one for one in planned.points if one.per_day == times * PER_DAY)
    n_late = sum(visit.at >= from_at for made in looks.values() for visit in made)
    return Tried(
        goal=goal,
        times=times,
        seed=seed,
        expected={name: (one.value, one.low, one.high) for name, one in bought.measures.items()},
        of_all=of_all,
        real=real,
        told_per_day=n_late / MEASURED,
        n_untold=len(looks) - len(told),
        took_s=time.perf_counter() - begun_s,
    )


def _tells(visits: Sequence[Visit], changed_at: Floats) -> bool:
    """Whether visits mostly said so where there had been a change since the one before."""
    pairs = [
        after.changed is Changed.YES
        for before, after in pairwise(visits)
        if np.searchsorted(changed_at, after.at, "right") > np.searchsorted(changed_at, before.at, "right")
    ]
    return 2 * sum(pairs) >= len(pairs)


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


def _visits(looks: list[list[Visit]]) -> Visits:
    return Visits(
        bounds=np.concatenate([[0], np.cumsum([len(made) for made in looks])]),
        at=np.array([visit.at for made in looks for visit in made]),
    )


def trials(n: int, n_jobs: int, out: Path | None) -> None:
    print(f"{N} resources, {PER_DAY:g} visits a day for {LEARNED} days; then another budget, for a week")
    n_within, n_of_all, widths = (dict.fromkeys(MEASURES, 0.0) for _ in range(3))
    with ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn")) as pool:
        for done in as_completed(pool.submit(trial, *TRIALS[i % len(TRIALS)], i + 1) for i in range(n)):
            found = done.result()
            if out is not None:
                with out.open("a") as file:
                    file.write(json.dumps(asdict(found)) + "\n")
            print(
                f"  {found.goal}, {found.times:g} times the budget (web {found.seed}, {found.took_s:.0f} s): "
                f"{found.told_per_day:.0f} visits a day told something; {found.n_untold} resources do not"
            )
            for name, (value, low, high) in found.expected.items():
                fits, all_fit = found.within(name, found.real), found.within(name, found.of_all)
                n_within[name] += fits
                n_of_all[name] += all_fit
                widths[name] += (high - low) / n
                print(
                    f"    {name:<16} {found.real[name]:7.3f}{' ' if fits else '*'}"
                    f" of all {found.of_all[name]:7.3f}{' ' if all_fit else '*'}"
                    f"  expected {value:7.3f} [{low:.3f} to {high:.3f}]",
                    flush=True,
                )
    for whom, counts in (("those whose visits tell", n_within), ("all", n_of_all)):
        print(f"  within, {whom}: " + ", ".join(f"{name} {count:g} of {n}" for name, count in counts.items()))
    print("  width in the mean: " + ", ".join(f"{name} {width:.3f}" for name, width in widths.items()))


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
            maker = str(Path(__file__).with_name("report.py"))
            subprocess.run([sys.executable, maker, "--large", "--keep", str(home)], check=True)
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
    parser.add_argument("--jobs", type=int, default=1, help="how many trials at a time")
    parser.add_argument("--out", type=Path, help="add each trial to this file, as a line of JSON")
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--keep", type=Path, help="make the large store there, or use the one that is there")
    parser.add_argument("--home", type=Path)
    said = parser.parse_args()
    if said.home is not None:
        home_of(said.home)
    elif said.large:
        large(said.keep)
    else:
        trials(said.trials, said.jobs, said.out)


if __name__ == "__main__":
    main()
