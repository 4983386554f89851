"""Rounds: what was chosen is visited once, politely, and nothing else is."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from math import inf
from pathlib import Path

import pytest
from tests.parity.test_parity import Shelf
from typer.testing import CliRunner

from recrawl.app import ledger, rounds
from recrawl.app.build import open_house
from recrawl.app.config import Config, Fetching, Gaps, Schedule
from recrawl.checks.store.samples import completion
from recrawl.cli.main import app
from recrawl.detect.exact import Exact
from recrawl.errors import StoreError
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.live.clock import FastClock
from recrawl.live.runner import Landed, Runner
from recrawl.live.turns import N_TRIES, Continuous, Round
from recrawl.live.virtual import VirtualClock
from recrawl.live.worker import Worker
from recrawl.livingweb import Document, LivingWeb, Script
from recrawl.livingweb.script import Host, Robots, Trouble
from recrawl.loop import Loop
from recrawl.model import Fetch, Lease, NewResource, Outcome, Request, Settings
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.policies.uniform import Uniform
from recrawl.urls import host_key

START_AT = 1.7e9
TOOK_S, DELAY_S = 2.0, 5.0


class Slow:
    """Answers after two seconds."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock

    async def fetch(self, request: Request) -> Fetch:
        began_at = self.clock.now()
        await self.clock.sleep(TOOK_S)
        return Fetch(
            request=request,
            outcome=Outcome.OK,
            url=request.url,
            started_at=began_at,
            ended_at=self.clock.now(),
            status=200,
            body=b"x",
            wire=b"x",
        )


def made(
    turns: Mapping[str, Sequence[int]],
    *,
    n_each: Mapping[str, int],
    end_s: float = inf,
    n_workers: int = 64,
    before: Callable[[MemoryStore], object] = lambda _: None,
) -> tuple[list[tuple[str, float]], MemoryStore, float]:
    """What a round visits, when each visit ended, and when all was over; ids count from 1, host by host."""
    clock, store, landed = VirtualClock(START_AT), MemoryStore(), list[Landed]()
    urls = [f"http://{host}/{i}" for host, n in n_each.items() for i in range(n)]
    store.add([NewResource(url=url, host=host_key(url)) for url in urls], START_AT)
    before(store)
    loop = Loop(store=store, predictor=GammaFilter(), policy=Uniform(), rule="uniform", per_day=None)

    async def main() -> None:
        runner = Runner(
            loop=loop,
            fetcher=Slow(clock),
            archive=Shelf(),
            detectors={"exact": Exact()},
            choose=lambda *_, **__: "exact",
            clock=clock,
            min_delay_s=DELAY_S,
            worker=Worker(threads=False),
            concurrency=n_workers,
            look_again_s=inf,
            watch=landed.append,
        )
        given = {host: [(START_AT, one) for one in ids] for host, ids in turns.items()}
        await runner.run(turns=Round(loop, given, START_AT, START_AT + end_s))

    clock.run(main())
    seen = [(one.lease.resource.url, one.absorbed.visit.at - START_AT) for one in landed]
    return seen, store, clock.now() - START_AT


def test_only_what_was_chosen_is_visited_each_once_and_politely() -> None:
    seen, store, _ = made({"a": [1, 3], "b": [4]}, n_each={"a": 3, "b": 2})
    assert seen == [("http://a/0", 2.0), ("http://b/0", 2.0), ("http://a/2", 9.0)]
    assert store.counts(START_AT + 9.0)["due"] == 2  # what was not chosen waits as it did


def test_one_worker_takes_one_after_the_other() -> None:
    seen, _, took_s = made({"a": [1, 2], "b": [3, 4]}, n_each={"a": 2, "b": 2}, n_workers=1)
    assert [at for _, at in seen] == [2.0, 4.0, 9.0, 11.0]
    assert took_s == 11.0


def test_nothing_is_begun_after_the_end_and_what_is_in_the_air_comes_down() -> None:
    """The third begins at 7 s, before the end; the fourth could at 9 s, when that has come down."""
    seen, store, took_s = made({"a": [1, 2], "b": [3, 4]}, n_each={"a": 2, "b": 2}, n_workers=1, end_s=8.0)
    assert [at for _, at in seen] == [2.0, 4.0, 9.0]
    assert took_s == 9.0
    assert store.counts(START_AT + 9.0)["leased"] == 0


def test_what_another_process_has_visited_meanwhile_or_removed_is_left_out() -> None:
    def meanwhile(store: MemoryStore) -> None:
        store.remove([1])
        (lease,) = store.claim(now=START_AT, limit=1, lease_s=60.0, only=2)
        assert store.complete([completion(lease, START_AT + 0.5, gate_s=0.0)]) == [True]

    seen, store, took_s = made({"a": [1, 2, 3]}, n_each={"a": 3}, before=meanwhile)
    assert [url for url, _ in seen] == ["http://a/2"]
    assert took_s == pytest.approx(0.5 + (N_TRIES + 1) * 0.2 + TOOK_S)
    assert store.counts(START_AT + 20.0)["leased"] == 0


def test_what_happens_while_the_runner_asks_whose_turn_it_is_is_not_slept_through() -> None:
    class Waiting(Continuous):
        def wake_at(self, now: float) -> float:  # noqa: ARG002 - never by itself
            runner.stop()
            return inf

        def over(self, began_at: float, now: float) -> bool:  # noqa: ARG002
            return False

    clock, store = VirtualClock(START_AT), MemoryStore()
    loop = Loop(store=store, predictor=GammaFilter(), policy=Uniform(), rule="uniform", per_day=None)
    runner = Runner(
        loop=loop,
        fetcher=Slow(clock),
        archive=Shelf(),
        detectors={"exact": Exact()},
        choose=lambda *_, **__: "exact",
        clock=clock,
        min_delay_s=DELAY_S,
        worker=Worker(threads=False),
        look_again_s=3_600.0,
    )
    clock.run(runner.run(turns=Waiting(loop), until_at=START_AT + 9_000.0))
    assert clock.now() == START_AT


def test_a_store_in_trouble_loses_nobody_their_turn() -> None:
    class Troubled(Loop):
        n = 0

        def claim(self, resource_id: int, now: float) -> Lease | None:
            self.n += 1
            if self.n in (1, 3):
                raise StoreError("The store is busy; try again.")
            return super().claim(resource_id, now)

    store = MemoryStore()
    store.add([NewResource(url=f"http://{host}/", host=host) for host in "abc"], START_AT)
    loop = Troubled(store=store, predictor=GammaFilter(), policy=Uniform(), rule="uniform", per_day=None)
    turns = Round(loop, {host: [(START_AT, i)] for i, host in enumerate("abc", 1)}, START_AT, inf)
    with pytest.raises(StoreError):
        turns.due(START_AT, 9)
    claims = [[lease.resource.host for lease in turns.due(START_AT, 9)] for _ in range(3)]
    assert claims == [["a"], ["b", "c"], []]


def test_the_ledger_keeps_the_newest_rounds() -> None:
    store = MemoryStore()
    figures = {"every_s": 60.0, "n_due": 9, "n_chosen": 5, "low_s": 1.0, "middle_s": 3.0, "high_s": 4.0}
    for i in range(ledger.N_KEPT + 3):
        ledger.keep(store, ledger.Sized(began_at=float(i), took_s=2.0, **figures))  # type: ignore[arg-type]
    kept = ledger.past(store)
    assert [one.began_at for one in kept] == [float(i) for i in range(3, ledger.N_KEPT + 3)]
    assert kept[0].error == 0.5


def test_rounds_that_took_longer_than_estimated_make_the_interval_wider() -> None:
    def sized(took_s: float, **said: object) -> ledger.Sized:
        figures = {"began_at": 0.0, "every_s": 60.0, "n_due": 9, "n_chosen": 5, "n_visits": 5}
        estimate = {"low_s": 9.0, "middle_s": 10.0, "high_s": 11.0, "took_s": took_s}
        return ledger.Sized(**(figures | estimate | said))  # type: ignore[arg-type]

    assert ledger.spread([sized(12.0), sized(20.0)]) == (1.0, 1.0), "too few to tell"
    assert ledger.spread([sized(12.0)] * 3) == pytest.approx((1.0, 1.2))
    assert ledger.spread([sized(8.0)] * 3) == pytest.approx((0.8, 1.0))
    told_nothing = [sized(90.0, guessed=True), sized(90.0, n_visits=4)] * 9
    assert ledger.spread([*told_nothing, *[sized(12.0)] * 3]) == pytest.approx((1.0, 1.2))


def test_rounds_on_a_living_web_are_sized_made_and_kept(tmp_path: Path) -> None:
    """The slow host's twenty pages do not fit into one round. The first one knows nothing of its delay, and
    ends with some that were not begun; the second chooses no more than fit."""
    clock = FastClock(start_at=START_AT, speed=100.0)
    entries = [Document(host="slow.localhost", path=f"/{i}") for i in range(20)]
    entries += [Document(host="quick.localhost", path=f"/{i}") for i in range(3)]
    slow = Host(name="slow.localhost", robots=Robots(crawl_delay_s=20.0))
    config = Config.model_construct(
        schedule=Schedule(budget="100000/day", policy="uniform", predictor="gamma"),  # type: ignore[call-arg]
        gaps=Gaps(min_gap=86_400.0, max_gap=86_400.0),  # type: ignore[call-arg]
        fetching=Fetching(contact="tests@recrawl.invalid"),  # type: ignore[call-arg]
    )
    made: list[ledger.Sized] = []

    async def main() -> None:
        async with LivingWeb(Script(tuple(entries), described=(slow,)), clock=clock) as web:
            with open_house(tmp_path, config=config, clock=clock) as house:
                allowed = Settings(allow_private=True)
                house.store.add(
                    [NewResource(url=url, host=host_key(url), settings=allowed) for url in web.urls()],
                    START_AT,
                )
                with pytest.raises(StopAsyncIteration):
                    await rounds.run(house, every_s=150.0, rounded=until(2))

    def until(n: int) -> Callable[[ledger.Sized], object]:
        def rounded(one: ledger.Sized) -> None:
            made.append(one)
            if len(made) == n:
                raise StopAsyncIteration

        return rounded

    asyncio.run(main())
    first, second = made
    assert (first.n_due, first.n_chosen) == (23, 23)
    assert 3 < first.n_visits <= 11, "two of three seconds are the host's rest"
    assert second.n_due == 23 - first.n_visits, "what was not begun waits for the next"
    assert 0 < second.n_visits <= second.n_chosen <= 8
    assert all(one.low_s <= one.middle_s <= one.high_s <= 150.0 for one in made)
    shown = CliRunner().invoke(app, ["capacity", "--past", "--json", "--home", str(tmp_path)])
    assert [row["n_visits"] for row in json.loads(shown.stdout)] == [one.n_visits for one in made]
    status = CliRunner().invoke(app, ["status", "--home", str(tmp_path)])
    assert f"last round  {json.loads(shown.stdout)[-1]['began_at']}" in status.stdout


def test_a_page_that_failed_comes_last_of_its_host_in_the_next_round(tmp_path: Path) -> None:
    """It was due first; but the host is left alone after a failure, and the others would wait for that."""
    clock = FastClock(start_at=START_AT, speed=10_000.0)
    broken = Document(host="one.localhost", path="/0", troubles=(Trouble(status=500),))
    entries = [broken, *(Document(host="one.localhost", path=f"/{i}") for i in range(1, 4))]
    config = Config.model_construct(
        schedule=Schedule(budget="100000/day", policy="uniform", predictor="gamma"),  # type: ignore[call-arg]
        gaps=Gaps(min_gap=3600.0, max_gap=3600.0),  # type: ignore[call-arg]
        fetching=Fetching(contact="tests@recrawl.invalid"),  # type: ignore[call-arg]
    )
    order: list[str] = []

    async def main() -> None:
        async with LivingWeb(Script(tuple(entries)), clock=clock) as web:
            with open_house(tmp_path, config=config, clock=clock) as house:
                new = [
                    NewResource(url=url, host=host_key(url), settings=Settings(allow_private=True))
                    for url in web.urls()
                ]
                house.store.add(new, START_AT)
                for rest_s in (7200.0, 0.0):
                    order.clear()
                    await rounds.run(
                        house,
                        every_s=7200.0,
                        once=True,
                        watch=lambda landed, _: order.append(landed.lease.resource.url),
                    )
                    await clock.sleep(rest_s)

    asyncio.run(main())
    assert len(order) == 4
    assert order[-1].endswith("/0")
