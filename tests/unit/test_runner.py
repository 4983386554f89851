"""The live shell: one page that is hard to judge holds up nobody else."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from tests.parity.test_parity import Shelf

from recrawl.detect.exact import Exact
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.live.clock import WallClock
from recrawl.live.ground import Brought, Ground
from recrawl.live.runner import Landed, Runner
from recrawl.loop import Loop
from recrawl.model import Fetch, NewResource, Outcome, Part, Request, Snapshot, Verdict, column
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.policies.uniform import Uniform

HARD_S = 2.0


class Instant:
    """Answers at once."""

    async def fetch(self, request: Request) -> Fetch:
        now = WallClock().now()
        return Fetch(
            request=request,
            outcome=Outcome.OK,
            url=request.url,
            started_at=now,
            ended_at=now,
            status=200,
            headers=(("Content-Type", "text/plain"),),
            body=request.url.encode(),
            wire=request.url.encode(),
        )


class Pondering:
    """Takes its time over what comes from the hard host."""

    name = "exact"

    def fingerprint(self, snapshot: Snapshot) -> str:
        if b"hard" in bytes(snapshot.body):
            time.sleep(HARD_S)
        return Exact().fingerprint(snapshot)

    def compare(self, before: Snapshot, after: Snapshot) -> Verdict:
        return Exact().compare(before, after)

    def differing(self, before: Snapshot, after: Snapshot) -> Sequence[Part]:
        return Exact().differing(before, after)


def test_a_page_that_is_hard_to_judge_holds_up_nobody_else() -> None:
    store = MemoryStore()
    hosts = ["hard", *(f"easy{i}" for i in range(30))]
    store.add([NewResource(url=f"http://{host}/", host=host) for host in hosts], WallClock().now())
    landed: list[tuple[float, Landed]] = []
    began = time.monotonic()

    async def main() -> None:
        runner = Runner(
            loop=Loop(store=store, predictor=GammaFilter(), policy=Uniform(), rule="uniform", per_day=None),
            fetcher=Instant(),
            archive=Shelf(),
            detectors={"exact": Pondering(), "text": Pondering()},
            choose=lambda *_, **__: "exact",
            clock=WallClock(),
            min_delay_s=0.0,
            watch=lambda one: landed.append((time.monotonic() - began, one)),
        )
        try:
            await runner.run(once=True)
        finally:
            await runner.aclose()

    asyncio.run(main())
    when = {one.lease.resource.host: at for at, one in landed}
    assert set(when) == set(hosts)
    assert when["hard"] >= HARD_S
    assert max(at for host, at in when.items() if host != "hard") < HARD_S / 2


def test_a_run_that_ends_says_so_to_the_loop() -> None:
    class Ending(Loop):
        n_visits: int | None = None
        waits = False

        def finish(self, *, wait: bool = False) -> None:
            self.n_visits, self.waits = self.store.counts(WallClock().now())["visits"], wait
            super().finish(wait=wait)

    store = MemoryStore()
    store.add([NewResource(url=f"http://h{i}/", host=f"h{i}") for i in range(3)], WallClock().now())
    loop = Ending(store=store, predictor=GammaFilter(), policy=Uniform(), rule="uniform", per_day=None)

    async def main() -> None:
        detectors = {"exact": Exact(), "text": Exact()}
        runner = Runner(
            loop=loop,
            fetcher=Instant(),
            archive=Shelf(),
            detectors=detectors,
            choose=lambda *_, **__: "exact",
            clock=WallClock(),
            min_delay_s=0.0,
        )
        try:
            await runner.run(once=True)
        finally:
            await runner.aclose()

    asyncio.run(main())
    assert loop.n_visits == 3  # after the last of them
    assert loop.waits  # nobody stopped it
    ((ids, values),) = store.sights()  # and each was looked at closely
    assert ids.tolist() == [1, 2, 3]
    assert values[:, column("plain")].tolist() == [1.0] * 3


class Strange(Pondering):
    """Says that it takes no time, and fails over some."""

    def at_once(self, snapshot: Snapshot) -> bool:
        return b"slow" not in bytes(snapshot.body)

    def fingerprint(self, snapshot: Snapshot) -> str:
        if b"strange" in bytes(snapshot.body):
            raise RuntimeError
        return Exact().fingerprint(snapshot)


def test_a_page_that_cannot_be_judged_takes_none_of_those_that_came_with_it_along() -> None:
    store, now = MemoryStore(), WallClock().now()
    hosts = ["strange", "plain", "slow"]
    store.add([NewResource(url=f"http://{host}/", host=host) for host in hosts], now)
    loop = Loop(store=store, predictor=GammaFilter(), policy=Uniform(), rule="uniform", per_day=None)
    ground = Ground(
        loop=loop,
        archive=Shelf(),
        detectors={"exact": Strange(), "text": Strange()},
        choose=lambda *_, **__: "exact",
        min_delay_s=0.0,
    )
    loop.start(now)
    brought: list[Brought] = []
    for lease in loop.due(now, 9):
        fetch = asyncio.run(Instant().fetch(Request(url=lease.resource.url)))
        quick = ground.quick(lease, fetch)
        assert quick is (lease.resource.host != "slow")
        brought.append((lease, fetch, None if quick else ground.judged(lease, fetch)))
    landed, lost = ground.take_in(brought, now)
    assert {one.lease.resource.host for one in landed} == {"plain", "slow"}
    [((lease, _, _), problem)] = lost
    assert (lease.resource.host, type(problem)) == ("strange", RuntimeError)
    assert ground.take_in([lost[0][0]], now)[0] == []  # alone it is none either
