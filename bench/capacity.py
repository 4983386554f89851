"""Do rounds take as long as was estimated? Real rounds on living webs.

    python bench/capacity.py --json rounds.jsonl                 20 rounds on 5 webs: some five minutes
    python bench/capacity.py --json rounds.jsonl --rounds 200    the whole measure: about half an hour

Several webs live at once, each in a process of its own (`--at-once`). Each round is written down as soon as
it is over, a line of JSON; started again with the same file, it goes on with the webs that are not in there.
`--seed` says which webs, so that the measure can be split.

Each web is drawn from the seed: a few hosts or two dozen, with crawl delays from nothing to 20 seconds, slow
servers and quick ones, pages of several kinds and sizes, noise, pages that always fail and pages that fail
now and then. Everything is visited twice to learn from. Then come four rounds, days apart, each with its own
number of workers, too few in every other one: it is estimated, by us and by the paper's formulas, and made,
by `recrawl`'s own runner, store, archive and HTTP client, over loopback.

The clock runs fast. Delays, and what the servers take, are of that clock; what our own machine takes is of
the wall, and so counts many times over, in what is learned and in the round alike: a machine with much else
to do makes this measure harder, not easier. More webs at once on a slower clock need as long and count less
of it. What is judged is our estimate against the time from the first claim to the last record.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from recrawl.app.build import House
from recrawl.app.capacity import capacity
from recrawl.app.config import Config, Fetching, Gaps, Schedule
from recrawl.app.ledger import Sized
from recrawl.app.rounds import run
from recrawl.app.watchlist import Choice
from recrawl.live.clock import FastClock
from recrawl.live.ground import Landed
from recrawl.livingweb import LivingWeb, Script
from recrawl.livingweb.kinds import Form, Noise, Validators
from recrawl.livingweb.script import Document, Host, Robots, Trouble
from recrawl.model import DAY_S, HOUR_S, NewResource, Settings
from recrawl.simulate.processes import Poisson
from recrawl.urls import host_key

START_AT = datetime(2026, 1, 5, tzinfo=UTC).timestamp()
WITHIN = 0.15
N_LEARNED, N_EACH = 2, 4
FORMS = (Form.PAGE, Form.JSON, Form.CSV, Form.TURTLE, Form.RSS)


@dataclass(frozen=True, slots=True)
class Outcome:
    seed: int
    turn: int
    n_urls: int
    n_hosts: int
    n_workers: int
    took_s: float
    ours_s: float
    low_s: float
    high_s: float
    paper_s: float
    n_twice: int  # second looks
    n_failed: int
    own_ms: float  # on the wall, from a claim to the fetch, on average: how busy the machine is

    @property
    def ours(self) -> float:
        return self.ours_s / self.took_s - 1.0

    @property
    def paper(self) -> float:
        return self.paper_s / self.took_s - 1.0

    @property
    def inside(self) -> bool:
        return self.low_s <= self.took_s <= self.high_s


def drawn(seed: int) -> Script:
    rng = np.random.default_rng(seed)
    n_hosts = int(rng.integers(4, 25))
    hosts, entries = [], []
    for h in range(n_hosts):
        name = f"h{h}.localhost"
        delay_s = float(rng.choice([0.0, 0.0, 3.0, 5.0, 10.0, 20.0]))
        robots = Robots(crawl_delay_s=delay_s) if delay_s else None
        hosts.append(Host(name=name, robots=robots, slow_s=float(rng.choice([0.0, 0.5, 1.0, 3.0]))))
        for i in range(int(np.ceil(rng.lognormal(1.8, 0.6)))):
            fault = rng.random()
            troubles: tuple[Trouble, ...] = ()
            if fault < 0.005:
                troubles = (Trouble(status=500),)
            elif fault < 0.015:
                troubles = (Trouble(status=503, starts=Poisson(8.0), lasts_s=HOUR_S),)
            elif fault < 0.04:
                troubles = (Trouble(status=404, starts=Poisson(0.5), lasts_s=DAY_S),)
            form = FORMS[int(rng.integers(len(FORMS)))]
            noise = rng.random()
            entries.append(
                Document(
                    host=name,
                    path=f"/{i}",
                    form=form,
                    process=Poisson(float(np.exp(rng.uniform(np.log(0.05), np.log(10.0))))),
                    noise=Noise.HIDDEN if noise < 0.2 else Noise.NONE,
                    validators=Validators.BOTH if rng.random() < 0.4 else Validators.NONE,
                    troubles=troubles,
                    slow_s=float(rng.exponential(1.0)) if rng.random() < 0.3 else 0.0,
                )
            )
    return Script(tuple(entries), described=tuple(hosts))


class Nights(FastClock):
    """A clock that can be put forward."""

    def skip(self, seconds: float) -> None:
        self._start_at += seconds


def house_at(home: Path, clock: Nights, n_workers: int) -> House:
    return House(
        home,
        Config.model_construct(  # which asks no environment
            schedule=Schedule(budget="1000000/day", goal="fresh", policy="uniform", predictor="gamma"),  # type: ignore[call-arg]
            gaps=Gaps(min_gap=HOUR_S, max_gap=2 * HOUR_S, weight=1.0),
            fetching=Fetching(contact="bench@recrawl.invalid", concurrency=n_workers),  # type: ignore[call-arg]
        ),
        clock,
    )


async def measured(seed: int, speed: float) -> AsyncIterator[Outcome]:
    """The rounds of one web."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        clock = Nights(start_at=START_AT, speed=speed)
        async with LivingWeb(drawn(seed), clock=clock, seed=seed, born_at=START_AT - DAY_S) as web:
            for turn in range(N_LEARNED + N_EACH):
                made = await lived(Path(folder), web, clock, seed, turn)
                if turn >= N_LEARNED:
                    yield made
                clock.skip(2 * DAY_S)


async def lived(home: Path, web: LivingWeb, clock: Nights, seed: int, turn: int) -> Outcome:
    rng = np.random.default_rng((seed, turn))
    n_workers = int(rng.integers(2, 6)) if turn % 2 else 64
    house = house_at(home, clock, n_workers)
    try:
        if not turn:
            house.store.add(
                [
                    NewResource(url=url, host=host_key(url), settings=Settings(allow_private=True))
                    for url in web.urls()
                ],
                clock.now(),
            )
        ours = capacity(house, choice=Choice(everything=True))
        paper = capacity(house, choice=Choice(everything=True), method="paper")
        made: list[Sized] = []
        seen: list[Landed] = []
        await run(
            house,
            every_s=2 * DAY_S,
            once=True,
            rounded=made.append,
            watch=lambda landed, _: seen.append(landed),
        )
        if not made:
            raise SystemExit("Stopped before the round was over.")
    finally:
        house.close()
    return Outcome(
        seed=seed,
        turn=turn,
        n_urls=made[0].n_visits,
        n_hosts=len(web.script.hosts),
        n_workers=n_workers,
        took_s=made[0].took_s,
        ours_s=ours["seconds"],
        low_s=ours["low_s"],
        high_s=ours["high_s"],
        paper_s=paper["seconds"],
        n_twice=sum(one.fetch.ended_at > one.absorbed.visit.at for one in seen),
        n_failed=sum((one.fetch.status or 599) >= 500 for one in seen),
        own_ms=float(
            np.mean([one.fetch.started_at - one.lease.claimed_at for one in seen]) / clock.speed * 1e3
        ),
    )


async def tell(seed: int, speed: float) -> None:
    """One web, for whoever started this process: a line for each round."""
    async for made in measured(seed, speed):
        print(json.dumps(asdict(made)), flush=True)


def kept(path: Path | None, seeds: range) -> list[Outcome]:
    """What was written down of these webs before; those that were not ended are made anew."""
    if path is None or not path.exists():
        return []
    found = [Outcome(**json.loads(line)) for line in path.read_text().splitlines()]
    n_of = Counter(one.seed for one in found)
    whole = [one for one in found if n_of[one.seed] >= N_EACH or one.seed not in seeds]
    path.write_text("".join(f"{json.dumps(asdict(one))}\n" for one in whole))
    return [one for one in whole if one.seed in seeds]


async def told(seeds: range, speed: float, n_at_once: int, path: Path | None) -> list[Outcome]:
    found = kept(path, seeds)
    left = [seed for seed in seeds if seed not in {one.seed for one in found}]
    n_rounds, room = N_EACH * len(seeds), asyncio.Semaphore(n_at_once)
    if found:
        print(f"{len(found)} of {n_rounds} rounds were made before")

    async def one_web(seed: int) -> None:
        async with room:
            words = [sys.executable, __file__, "--only-web", str(seed), "--speed", str(speed)]
            child = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
            assert child.stdout is not None
            try:
                async for line in child.stdout:
                    made = Outcome(**json.loads(line))
                    found.append(made)
                    if path is not None:
                        with path.open("a") as file:
                            file.write(f"{json.dumps(asdict(made))}\n")
                    print(f"{len(found):4}/{n_rounds}  {_line(made)}", flush=True)
                if await child.wait():
                    raise SystemExit(f"Web {seed} broke down; see above, and start again with the same file.")
            finally:
                if child.returncode is None:
                    child.kill()

    await asyncio.gather(*map(one_web, left))
    return found


def _line(made: Outcome) -> str:
    return (
        f"web {made.seed:3} round {made.turn}  {made.n_urls:4} URLs {made.n_hosts:3} hosts "
        f"{made.n_workers:3} workers  took {made.took_s:7.1f} s  ours {made.ours:+6.1%} "
        f"({'in' if made.inside else 'out of'} the interval)  paper {made.paper:+7.1%}  "
        f"{made.n_twice} looked at twice, {made.n_failed} failed, {made.own_ms:.0f} ms of our own"
    )


def summed(found: list[Outcome]) -> None:
    for name in ("ours", "paper"):
        off = np.array([getattr(one, name) for one in found])
        low, q1, middle, q3, high = np.quantile(off, [0.0, 0.25, 0.5, 0.75, 1.0])
        print(
            f"{name:6}{np.mean(np.abs(off) <= WITHIN):6.0%} of {len(found)} rounds within {WITHIN:.0%}; "
            f"off by {low:+.0%} to {high:+.0%}, half of them {q1:+.0%} to {q3:+.0%}, middle {middle:+.0%}"
        )
    print(f"interval of nine in ten: held {np.mean([one.inside for one in found]):.0%}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=20, help=f"{N_EACH} on each web")
    parser.add_argument("--seed", type=int, default=1, help="of the first web; the others follow")
    parser.add_argument("--speed", type=float, default=10.0, help="of the clock")
    parser.add_argument("--at-once", type=int, default=6, help="webs")
    parser.add_argument("--json", type=Path, help="write each round there, and go on from there")
    parser.add_argument("--only-web", type=int, help=argparse.SUPPRESS)
    said = parser.parse_args()
    if said.only_web is not None:
        asyncio.run(tell(said.only_web, said.speed))
        return
    seeds = range(said.seed, said.seed + -(-said.rounds // N_EACH))
    summed(asyncio.run(told(seeds, said.speed, said.at_once, said.json)))


if __name__ == "__main__":
    main()
