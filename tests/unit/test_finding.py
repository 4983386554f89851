"""What a visit means for its host."""

from __future__ import annotations

import pytest

from recrawl.finding import Finding, keep_busy
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.live.gates import answered
from recrawl.loop import Loop
from recrawl.model import Fetch, Hop, Lease, NewResource, Outcome, Request, Visit
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index
from recrawl.schedule.retry import host_gap_s

NOW = 1.7e9
DAY_S = 86_400.0
HOST = "h.example"


def loop_on_one_host(n: int) -> Loop:
    store = MemoryStore()
    store.add([NewResource(url=f"http://{HOST}/{i}", host=HOST) for i in range(n)], NOW)
    loop = Loop(store=store, predictor=GammaFilter(), policy=Index(Fresh()), rule="index", per_day=None)
    loop.start(NOW)
    return loop


def visit(loop: Loop, at: float, answered: bool | None) -> Lease:
    """One more visit to the host, which goes as said; the lease it was made with."""
    (lease,) = loop.due(at, 1)
    outcome = Outcome.OK if answered else Outcome.NET_ERROR
    made = Visit(fetch_id=f"at {at}", resource_id=lease.resource.id, at=at, outcome=outcome)
    loop.absorb([Finding(lease=lease, visit=made, gate_at=at + 2.0, answered=answered)], at)
    return lease


def test_each_trouble_in_a_row_doubles_the_rest_of_the_host_and_an_answer_ends_it() -> None:
    loop = loop_on_one_host(10)
    at, rests = NOW, []
    for trouble in (False, False, False, None, True, False):
        visit(loop, at, trouble)
        rests.append(loop.store.gate_at(HOST) - at)
        at = loop.store.gate_at(HOST)
    first = host_gap_s(1, HOST)
    assert rests == pytest.approx([first, 2 * first, 4 * first, 2.0, 2.0, first], abs=1e-3)


def test_the_rest_of_a_host_is_spread_by_its_name_and_ends_at_a_day() -> None:
    gaps = [host_gap_s(1, f"h{i}.example") for i in range(200)]
    assert 60.0 <= min(gaps) < 62.0
    assert 73.0 < max(gaps) <= 75.0
    assert host_gap_s(1, HOST) == host_gap_s(1, HOST)
    assert host_gap_s(50, HOST) == DAY_S


def test_what_the_server_asks_for_counts_where_it_is_longer() -> None:
    loop = loop_on_one_host(2)
    (lease,) = loop.due(NOW, 1)
    made = Visit(fetch_id="x", resource_id=lease.resource.id, at=NOW, outcome=Outcome.HTTP_ERROR, status=503)
    loop.absorb([Finding(lease=lease, visit=made, gate_at=NOW + 3_600.0, answered=False)], NOW)
    assert loop.store.gate_at(HOST) == NOW + 3_600.0


def test_one_visit_that_was_held_up_for_hours_does_not_make_its_host_seem_full() -> None:
    loop = loop_on_one_host(1)
    (lease,) = loop.due(NOW, 1)
    busy_s: dict[int, float] = {}

    def took(seconds: float) -> float:
        made = Visit(fetch_id="x", resource_id=lease.resource.id, at=NOW + seconds, outcome=Outcome.OK)
        keep_busy(busy_s, [Finding(lease=lease, visit=made, gate_at=NOW + seconds, answered=True)])
        return busy_s[lease.resource.host_id]

    assert took(2.0) == 2.0
    assert took(7_200.0) < 4.0  # the process slept
    for _ in range(20):
        took(60.0)
    assert took(60.0) > 50.0  # the host is slow now


@pytest.mark.parametrize(
    ("outcome", "status", "expected"),
    [
        (Outcome.OK, 200, True),
        (Outcome.NOT_MODIFIED, 304, True),
        (Outcome.GONE, 404, True),
        (Outcome.HTTP_ERROR, 403, True),
        (Outcome.TRUNCATED, 200, True),
        (Outcome.HTTP_ERROR, 429, False),
        (Outcome.HTTP_ERROR, 503, False),
        (Outcome.NET_ERROR, None, False),
        (Outcome.BLOCKED, None, None),
    ],
)
def test_a_host_is_in_trouble_where_it_gives_no_answer_or_a_bad_one(
    outcome: Outcome, status: int | None, expected: bool | None
) -> None:
    def fetch(url: str, *hops: Hop) -> Fetch:
        request = Request(url=f"http://{HOST}/")
        return Fetch(
            request=request, outcome=outcome, url=url, started_at=0.0, ended_at=0.0, status=status, hops=hops
        )

    away = Hop(url=f"http://{HOST}/", status=302, location="http://other.example/")
    assert answered(fetch(f"http://{HOST}/"), HOST) is expected
    assert answered(fetch("http://other.example/", away), HOST) is True  # what came then is another's
