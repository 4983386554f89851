"""Second looks: what they cost is charged, and whoever counts visits counts them."""

from __future__ import annotations

from math import inf

import pytest
from tests.parity.test_parity import Shelf

from recrawl.detect.choose import detector_name
from recrawl.detect.exact import Exact
from recrawl.detect.text import Text
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.live.runner import Runner
from recrawl.live.virtual import VirtualClock
from recrawl.live.worker import Worker
from recrawl.loop import Loop
from recrawl.model import DAY_S, Fetch, NewResource, Outcome, Request
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.policies.uniform import Uniform

START_AT = 1.7e9
URL = "http://a.example/"


class Counting:
    """A page with a counter of its visitors; every answer is longer than the one before."""

    def __init__(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.sent: list[int] = []  # bytes, answer by answer

    async def fetch(self, request: Request) -> Fetch:
        now, n = self.clock.now(), len(self.sent)
        body = f"<p>You are visitor {n}.</p><!--{' ' * 1_000 * n}-->".encode()
        self.sent.append(len(body))
        return Fetch(
            request=request,
            outcome=Outcome.OK,
            url=request.url,
            started_at=now,
            ended_at=now,
            status=200,
            headers=(("Content-Type", "text/html"),),
            body=body,
            wire=body,
        )


def lived(days: float, *, per_day: float | None, bytes_per_day: float | None) -> tuple[Loop, list[int]]:
    clock, store = VirtualClock(START_AT), MemoryStore()
    store.add([NewResource(url=URL, host="a.example")], START_AT)
    loop = Loop(
        store=store,
        predictor=GammaFilter(),
        policy=Uniform(),
        rule="uniform",
        per_day=per_day,
        bytes_per_day=bytes_per_day,
    )
    fetcher = Counting(clock)

    async def main() -> None:
        runner = Runner(
            loop=loop,
            fetcher=fetcher,
            archive=Shelf(),
            detectors={"exact": Exact(), "text": Text()},
            choose=detector_name,
            clock=clock,
            min_delay_s=2.0,
            worker=Worker(threads=False),
            look_again_s=inf,
        )
        await runner.run(until_at=START_AT + days * DAY_S)

    clock.run(main())
    return loop, fetcher.sent


@pytest.mark.parametrize("bytes_per_day", [None, 50_000_000.0])
def test_all_that_was_asked_for_is_a_visit_or_a_second_look(bytes_per_day: float | None) -> None:
    loop, sent = lived(3.0, per_day=4.0, bytes_per_day=bytes_per_day)
    visits = list(loop.store.visits(1))
    second = [visit for visit in visits if visit.second_bytes is not None]
    assert len(second) >= 1
    assert len(visits) + len(second) == len(sent)
    assert sum(visit.n_bytes + (visit.second_bytes or 0) for visit in visits) == sum(sent)
    counts = loop.store.counts(START_AT)
    assert (counts["visits"], counts["second_looks"]) == (len(visits), len(second))
    assert loop.store.n_second_since(START_AT) == len(second)
    assert loop.store.sums(START_AT, inf).n_bytes == sum(sent)


def test_a_second_look_weighs_what_it_brought(monkeypatch: pytest.MonkeyPatch) -> None:
    spent: list[tuple[int, int]] = []
    charge = Loop.charge

    def noted(loop: Loop, n: int, n_bytes: int, now: float) -> None:
        spent.append((n, n_bytes))
        charge(loop, n, n_bytes, now)

    monkeypatch.setattr(Loop, "charge", noted)
    loop, _ = lived(1.0, per_day=None, bytes_per_day=50_000_000.0)
    second = [visit for visit in reversed(list(loop.store.visits(1))) if visit.second_bytes is not None]
    assert sum(n for n, _ in spent) == len(second) >= 1
    assert sum(n_bytes for _, n_bytes in spent) == sum(visit.second_bytes or 0 for visit in second)
    # while it is in the air, what the first look weighed
    assert [n_bytes for n, n_bytes in spent if n] == [visit.n_bytes for visit in second]


def test_its_bytes_are_taken_off_the_allowance() -> None:
    store = MemoryStore()
    loop = Loop(
        store=store,
        predictor=GammaFilter(),
        policy=Uniform(),
        rule="uniform",
        per_day=40.0,
        bytes_per_day=4_000.0,
    )
    assert loop.purse.saved(START_AT) == (10.0, 1_000.0)
    loop.charge(1, 300, START_AT)
    assert loop.purse.saved(START_AT) == (9.0, 700.0)
    loop.charge(0, -100, START_AT)
    assert loop.purse.saved(START_AT) == (9.0, 800.0)
