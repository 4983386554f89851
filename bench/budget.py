"""Does a live run keep to its budget, day by day, while what it watches comes, goes and changes its ways?

    python bench/budget.py                        two weeks, goals fresh and prompt: some ten minutes
    python bench/budget.py --predictors gamma     by another predictor

A living web is served, and `recrawl run` visits it: the command itself, in a process of its own, over HTTP,
with its store and its archive. Only the clock that it is given runs fast. Resources are added and removed by
`recrawl add` and `recrawl remove` meanwhile, and from one day on many change often and others fall silent.

What is counted is visits, and second looks, which cost a visit too, as the server saw them; robots.txt and
the steps of a redirect cost nothing. Days begin at midnight of the fast clock. It takes some of its hours to
start, so that the first day is no whole one, and a new home begins with a quarter of a day's visits saved up;
the days after it should have the budget. The price is read about once an hour.

A machine that has much else to do makes every host seem slow, since its seconds are hours here: where visits
take long, hosts are full, the price falls to 0, and the figures say nothing. Give the day more seconds then.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from recrawl.app.build import open_house
from recrawl.live.clock import FastClock
from recrawl.livingweb import LivingWeb, Script, serving, town
from recrawl.livingweb.script import Document
from recrawl.livingweb.server import Served
from recrawl.model import DAY_S
from recrawl.simulate.processes import Given
from recrawl.terms import noted_terms

START_AT = datetime(2026, 1, 5, tzinfo=UTC).timestamp()  # a Monday
DAYS, N, PER_DAY = 14, 900, 400.0
N_BEFORE = 600  # of N, at first …
ADDED, REMOVED, TURNED = 4, 7, 10  # … the rest comes on this day; some go on this one; some turn on this one
N_REMOVED, N_WAKING, N_RESTING = 150, 100, 50
OFF = 0.02  # a day may differ by this share
REDIRECTS = {301, 302, 303, 307, 308}


@dataclass(frozen=True, slots=True)
class Day:
    number: int
    n_visits: int  # with second looks
    n_second: int
    took_s: float  # nine in ten visits no longer, on the fast clock: of a slow machine hosts seem slow
    prices: tuple[float, ...]

    @property
    def share(self) -> float:
        return self.n_visits / PER_DAY


def story(seed: int) -> Script:
    """The town; a hundred of its pages wake up on one day, and fifty that were busy until then rest."""
    script = town(N, seed)
    rng = np.random.default_rng(seed)
    pages = [
        i for i, entry in enumerate(script.entries) if isinstance(entry, Document) and "/" in entry.path[1:]
    ]
    chosen = rng.permutation(pages)[: N_WAKING + N_RESTING]
    entries = list(script.entries)
    for k, i in enumerate(chosen.tolist()):
        often = np.cumsum(rng.exponential(DAY_S / 6.0, 12 * DAYS))
        seldom = np.cumsum(rng.exponential(60 * DAY_S, DAYS))
        first, then = (seldom, often) if k < N_WAKING else (often, seldom)
        turn_s = TURNED * DAY_S
        at = START_AT + np.concatenate([first[first < turn_s], turn_s + then])
        document = entries[i]
        assert isinstance(document, Document)
        entries[i] = replace(document, process=Given(tuple(at.tolist())))
    return Script(tuple(entries), described=script.described)


class Shell:
    """`recrawl`, on a fast clock that all its processes share."""

    def __init__(self, home: Path, speed: float, **env: str) -> None:
        self.home, self.speed = home, speed
        self.began_s = time.monotonic()
        self.env = {**os.environ, **{f"RECRAWL_{name}": value for name, value in env.items()}}

    def clock(self) -> FastClock:
        passed_s = (time.monotonic() - self.began_s) * self.speed
        return FastClock(start_at=START_AT + passed_s, speed=self.speed)

    def words(self, *words: str) -> list[str]:
        told = (repr(self.began_s), repr(self.speed))
        return [sys.executable, __file__, "--as-recrawl", *told, *words, "--home", str(self.home)]

    def do(self, *words: str) -> None:
        subprocess.run(self.words(*words), env=self.env, check=True, capture_output=True)

    @contextmanager
    def running(self, *words: str) -> Iterator[subprocess.Popen[str]]:
        with (self.home / "visits.jsonl").open("w") as out, (self.home / "talk.txt").open("w") as talk:
            process = subprocess.Popen(self.words(*words), env=self.env, stdout=out, stderr=talk, text=True)
            try:
                yield process
            finally:
                process.terminate()
                process.wait()


def as_recrawl(began_s: float, speed: float, words: Sequence[str]) -> None:
    """The command, as its entry point calls it; it asks another clock what time it is."""
    from recrawl.app import build
    from recrawl.cli import main as cli

    passed_s = (time.monotonic() - began_s) * speed
    clock = FastClock(start_at=START_AT + passed_s, speed=speed)
    setattr(build, "WallClock", lambda: clock)  # noqa: B010 - a type checker minds it otherwise
    sys.argv = ["recrawl", *words]
    cli.main()


def run(goal: str, predictor: str, *, seed: int, wall_s: float) -> list[Day]:
    """`wall_s` is how long a day takes here."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        base = Path(folder)
        (base / "home").mkdir()
        shell = Shell(
            base / "home",
            DAY_S / wall_s,
            SCHEDULE__PREDICTOR=predictor,
            SCHEDULE__BUDGET=f"{PER_DAY:g}/day",
            SCHEDULE__GOAL=goal,
            FETCHING__CONTACT="bench@recrawl.invalid",
        )
        with serving(story(seed), clock=shell.clock(), seed=seed, born_at=START_AT - DAY_S) as web:
            return lived(shell, web, base)


def lived(shell: Shell, web: LivingWeb, base: Path) -> list[Day]:
    urls = list(web.urls())
    np.random.default_rng(1).shuffle(urls)
    lists = {"first": urls[:N_BEFORE], "more": urls[N_BEFORE:], "gone": urls[:N_REMOVED]}
    for name, some in lists.items():
        (base / name).write_text("\n".join(some))
    shell.do("add", "--allow-private", str(base / "first"))
    clock = shell.clock()
    acts = [
        (ADDED, ("add", "--allow-private", str(base / "more"))),
        (REMOVED, ("remove", "--yes", *lists["gone"])),
    ]
    prices: dict[float, float] = {}
    with (
        shell.running("run", "--json", "--for", f"{DAYS}d") as process,
        open_house(shell.home, clock=clock, reading=True) as house,
    ):
        while process.poll() is None:
            if acts and clock.now() >= START_AT + acts[0][0] * DAY_S:
                shell.do(*acts.pop(0)[1])
            if (terms := noted_terms(house.store)) is not None:
                prices[terms.priced_at] = terms.price
            time.sleep(0.2)
    assert process.returncode == 0, (shell.home / "talk.txt").read_text()
    rows = [json.loads(line) for line in (shell.home / "visits.jsonl").read_text().splitlines()]
    return counted(web.log, rows, prices)


def counted(log: Sequence[Served], visits: Sequence[dict[str, Any]], prices: dict[float, float]) -> list[Day]:
    def day_of(at: float) -> int:
        return int((at - START_AT) // DAY_S)

    asked = Counter(
        day_of(one.started_at) for one in log if one.path != "/robots.txt" and one.status not in REDIRECTS
    )
    made: Counter[int] = Counter()
    took_s: dict[int, list[float]] = {}
    vain: Counter[int] = Counter()  # the host was not even asked, since its robots.txt could not be had
    for visit in visits:
        day = day_of(datetime.fromisoformat(visit["at"]).timestamp())
        made[day] += 1
        took_s.setdefault(day, []).append(visit["duration_s"])
        vain[day] += visit["status"] is None
    return [
        Day(
            day + 1,
            asked[day] + vain[day],
            asked[day] + vain[day] - made[day],
            float(np.quantile(took_s.get(day, [0.0]), 0.9)),
            tuple(price for at, price in sorted(prices.items()) if day_of(at) == day),
        )
        for day in range(DAYS)
    ]


def told(goal: str, predictor: str, days: Sequence[Day]) -> None:
    print(f"goal {goal}, predictor {predictor}: {PER_DAY:g} visits a day for {N_BEFORE} resources,")
    print(f"  {N - N_BEFORE} added on day {ADDED + 1}, {N_REMOVED} removed on day {REMOVED + 1},")
    print(f"  {N_WAKING} waking and {N_RESTING} resting from day {TURNED + 1} on")
    columns = (f"{word:>12}" for word in ("of budget", "second looks", "took", "price", "lowest", "highest"))
    print(f"  {'day':>4}{'visits':>8}{' '.join(columns)}")
    for day in days:
        prices = np.array(day.prices or (np.nan,))
        mark = " not whole" if day.number == 1 else "" if abs(day.share - 1.0) <= OFF else " off"
        print(
            f"  {day.number:>4}{day.n_visits:>8,}{day.share:>12.1%} {day.n_second:>12} {day.took_s:>10,.0f} s"
            f" {np.median(prices):>12,.4g} {prices.min():>12,.4g} {prices.max():>12,.4g}{mark}"
        )
    later = [abs(day.share - 1.0) for day in days[1:]]
    print(
        f"  from the second day on: at most {max(later):.1%} off, {np.mean(later):.1%} in the mean",
        flush=True,
    )


def main() -> None:
    if sys.argv[1:2] == ["--as-recrawl"]:
        as_recrawl(float(sys.argv[2]), float(sys.argv[3]), sys.argv[4:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--goals", nargs="+", default=["fresh", "prompt"])
    parser.add_argument("--predictors", nargs="+", default=["rhythm"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--day", type=float, default=20.0, help="how many seconds a day takes")
    parser.add_argument("--json", action="store_true")
    said = parser.parse_args()
    for predictor in said.predictors:
        for goal in said.goals:
            days = run(goal, predictor, seed=said.seed, wall_s=said.day)
            if said.json:
                rows = [asdict(day) for day in days]
                print(json.dumps({"goal": goal, "predictor": predictor, "days": rows}), flush=True)
            else:
                told(goal, predictor, days)


if __name__ == "__main__":
    main()
