"""Whose turn it is, where hosts are down and where the clock is set back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from pathlib import Path
from time import time

import pytest
from tests.parity.test_parity import Shelf
from typer.testing import CliRunner

from recrawl.app.build import open_house
from recrawl.checks.store.samples import resource_scope
from recrawl.cli.main import app
from recrawl.detect.exact import Exact
from recrawl.errors import StoreError
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.live.runner import Runner
from recrawl.live.turns import PATIENCE_S, Round
from recrawl.live.virtual import VirtualClock
from recrawl.live.worker import Worker
from recrawl.loop import Loop
from recrawl.model import GLOBAL, Fetch, Lease, NewResource, Outcome, Request, Settings
from recrawl.observe.pacing import MAX_CRAWL_DELAY_S
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.policies.uniform import Uniform
from recrawl.urls import host_key

START_AT = 1.7e9
HOUR_S = 3_600.0


class Asked:
    """Answers after two seconds; the host `down` never does. Somebody may meddle while it is asked."""

    def __init__(self, clock: VirtualClock, meddle: Callable[[Request], object] = lambda _: None) -> None:
        self.clock, self.meddle = clock, meddle

    async def fetch(self, request: Request) -> Fetch:
        began_at = self.clock.now()
        await self.clock.sleep(1.0)
        self.meddle(request)
        await self.clock.sleep(1.0)
        down = host_key(request.url) == "down"
        return Fetch(
            request=request,
            outcome=Outcome.NET_ERROR if down else Outcome.OK,
            url=request.url,
            started_at=began_at,
            ended_at=self.clock.now(),
            status=None if down else 200,
            body=b"" if down else b"x",
            wire=b"" if down else b"x",
        )


def loop_of(*urls: str, settings: Settings | None = None) -> Loop:
    store = MemoryStore()
    store.add([NewResource(url=url, host=host_key(url)) for url in urls], START_AT)
    if settings is not None:
        store.say(GLOBAL, settings, START_AT)
    return Loop(store=store, predictor=GammaFilter(), policy=Uniform(), rule="uniform", per_day=None)


def runner_of(loop: Loop, fetcher: Asked, *, look_again_s: float = 2.0, concurrency: int = 64) -> Runner:
    return Runner(
        loop=loop,
        fetcher=fetcher,
        archive=Shelf(),
        detectors={"exact": Exact()},
        choose=lambda *_, **__: "exact",
        clock=fetcher.clock,
        min_delay_s=5.0,
        worker=Worker(threads=False),
        look_again_s=look_again_s,
        concurrency=concurrency,
    )


def test_what_is_due_is_not_waited_for_all_day_where_its_host_is_down() -> None:
    """Others that come due again and again meanwhile keep nobody waiting for it either."""
    clock = VirtualClock(START_AT)
    often = Settings(min_gap_s=60.0, max_gap_s=60.0)
    loop = loop_of(*(f"http://down/{i}" for i in range(30)), "http://up/", settings=often)
    clock.run(runner_of(loop, Asked(clock)).run(once=True, until_at=START_AT + 48 * HOUR_S))
    took_s = clock.now() - START_AT
    # after 1, 2, 4 and 8 minutes it is asked again, each with up to a quarter more; 16 are too many
    assert PATIENCE_S <= took_s < 1.25 * PATIENCE_S + 60.0
    counts = loop.store.counts(START_AT)
    assert (counts["failures"], counts["due"]) == (5, 25)
    assert loop.store.gate_at("down") > clock.now() + PATIENCE_S


def test_a_run_says_what_is_left_of_what_was_due_and_why(tmp_path: Path) -> None:
    home = ["--home", str(tmp_path)]
    for i in range(3):
        url = f"http://127.0.0.1:9/{i}"
        assert CliRunner().invoke(app, ["add", url, "--allow-private", *home]).exit_code == 0
    with open_house(tmp_path) as house:
        hold = house.store.hold("127.0.0.1:9", now=time(), lease_s=1.0)
        assert hold is not None
        house.store.let_go(hold, gate_at=time() + 20 * HOUR_S, n_host_failures=9)
    done = CliRunner().invoke(app, ["run", "--once", *home])
    assert done.exit_code == 0
    assert "Left of what was due: 3; hosts are in trouble, or asked to be left alone, until " in done.stderr
    spent = CliRunner().invoke(app, ["run", "--once", "--budget", "1/day", *home])
    assert "Left of what was due: 3; hosts" in spent.stderr
    with open_house(tmp_path) as house:
        house.store.note("allowance", f"0.0|{time()}")
    spent = CliRunner().invoke(app, ["run", "--once", "--budget", "1/day", *home])
    assert "Left of what was due: 3; the budget has no visit free until " in spent.stderr


@pytest.mark.parametrize("back_s", [30.0, HOUR_S, 300 * HOUR_S])
def test_a_round_goes_on_where_the_clock_is_set_back_during_a_fetch(back_s: float) -> None:
    """What waits for a gate of before waits for as long as a host may want its rest, and no longer."""
    clock = VirtualClock(START_AT)
    loop = loop_of("http://a/0", "http://a/1", "http://b/0", "http://b/1", "http://b/2")

    def set_back(request: Request) -> None:
        if request.url == "http://b/0":  # while the other waits for its host's gate
            clock._now -= back_s

    turns = {"a": [(START_AT, 1), (START_AT, 2)], "b": [(START_AT, 3), (START_AT, 4), (START_AT, 5)]}
    runner = runner_of(loop, Asked(clock, set_back), look_again_s=inf, concurrency=1)
    clock.run(runner.run(turns=Round(loop, turns, START_AT, inf)))
    assert loop.store.counts(START_AT)["visits"] == 5
    assert clock.now() <= START_AT + (30.0 if back_s == 30.0 else 30.0 + MAX_CRAWL_DELAY_S - back_s)


def test_a_round_outlives_a_store_that_fails_while_something_is_given_back() -> None:
    class Failing(MemoryStore):
        fails = 1

        def release(self, leases: Sequence[Lease], gate_at: float) -> None:
            if self.fails:
                self.fails -= 1
                raise StoreError("The disk is full; make room.")
            super().release(leases, gate_at)

    store = Failing()
    urls = ["http://a.test/1", "http://b.test/1"]
    store.add([NewResource(url=url, host=host_key(url)) for url in urls], START_AT)
    store.say(resource_scope(urls[0]), Settings(paused=True), START_AT)  # after the round was made
    loop = Loop(store=store, predictor=GammaFilter(), policy=Uniform(), rule="uniform", per_day=100.0)
    turns = {"a.test": [(START_AT, 1)], "b.test": [(START_AT + 1.0, 2)]}
    made = Round(loop, turns, began_at=START_AT, end_at=inf)
    with pytest.raises(StoreError):
        made.due(START_AT + 2.0, 10)
    assert [lease.resource.id for lease in made.due(START_AT + 3.0, 10)] == [2]
