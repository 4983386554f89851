"""The loop and what visits tell of others: those are planned anew at once, and learned from as told of."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from math import isnan, nan
from pathlib import Path

import numpy as np
import pytest

from recrawl.contracts import Store
from recrawl.finding import Finding
from recrawl.learn.forecasts import GammaForecasts
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.loop import Loop
from recrawl.model import (
    DAY_S,
    HOUR_S,
    Batch,
    Changed,
    NewResource,
    Outcome,
    Scope,
    ScopeKind,
    Seen,
    Settings,
    Telling,
    Visit,
)
from recrawl.remember.memory import MemoryStore
from recrawl.remember.sqlite import SqliteStore
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index

NOW = 1.7e9
URLS = ["http://map.example/sitemap.xml", *(f"http://h{i}.example/" for i in range(30))]
MAP, ONE, TWO = 1, 2, 3


class Credulous(GammaFilter):
    """Whoever was told of changes a hundred times as often; and it keeps what it learned from."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Seen] = []

    def learn(self, seen: Seen) -> None:
        self.seen.append(seen)
        super().learn(seen)

    def forecast(self, batch: Batch, now: float) -> GammaForecasts:  # noqa: ARG002
        shape, scale_s = self.state(batch.id, batch.group)
        return GammaForecasts(np.where(np.isfinite(batch.told_at), 100.0, 1.0) * shape, scale_s)


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    made: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "store.db")
    with closing(made):
        yield made


@pytest.fixture
def loop(store: Store) -> Loop:
    """All were visited twice."""
    store.add([NewResource(url=url, host=url.split("/")[2]) for url in URLS], NOW)
    loop = Loop(
        store=store,
        predictor=Credulous(),
        policy=Index(Fresh()),
        rule="index:fresh",
        per_day=None,
        free_price=10_000.0,
    )
    loop.start(NOW)
    for at in (NOW, NOW + DAY_S):
        loop.absorb([found(loop, key, at) for key in range(1, len(URLS) + 1)], at)
    loop.reprice(NOW + DAY_S)
    return loop


def found(
    loop: Loop,
    key: int,
    at: float,
    *tells: str,
    outcome: Outcome = Outcome.OK,
) -> Finding:
    lease = loop.claim(key, at)
    assert lease is not None
    verdict = Changed.YES if tells else Changed.UNKNOWN if isnan(lease.standing.since_at) else Changed.NO
    visit = Visit(
        fetch_id=f"{key}@{at}",
        resource_id=key,
        at=at,
        since_at=lease.standing.since_at,
        outcome=outcome,
        changed=verdict if outcome.informative else Changed.UNKNOWN,
    )
    return Finding(lease=lease, visit=visit, gate_at=at, tells=tuple(map(Telling, tells)))


def due(loop: Loop, key: int) -> float:
    return loop.store.standing(key)[0].due_at


def test_whoever_is_told_of_is_due_sooner_at_once_and_nobody_else(loop: Loop) -> None:
    before = [due(loop, key) for key in (ONE, TWO)]
    at = NOW + 1.2 * DAY_S
    loop.absorb([found(loop, MAP, at, URLS[ONE - 1])], at)
    standing, plan = loop.store.standing(ONE)
    assert plan is not None
    assert standing.due_at < before[0] - HOUR_S
    assert (plan.planned_at, plan.rule) == (at, "index:fresh")
    assert due(loop, TWO) == before[1]
    assert [lease.resource.id for lease in loop.due(standing.due_at, 9)] == [ONE]


def test_the_smallest_gap_holds_whatever_is_told(loop: Loop) -> None:
    loop.store.say(Scope(ScopeKind.RESOURCE, URLS[ONE - 1]), Settings(min_gap_s=0.8 * DAY_S), NOW)
    at = NOW + 1.2 * DAY_S
    loop.absorb([found(loop, MAP, at, URLS[ONE - 1])], at)
    standing, plan = loop.store.standing(ONE)
    assert plan is not None
    assert (standing.due_at, plan.bound) == (NOW + 1.8 * DAY_S, "min")


def test_a_retry_backs_off_whatever_is_told(loop: Loop) -> None:
    at = NOW + 1.2 * DAY_S
    loop.absorb([found(loop, ONE, at, outcome=Outcome.NET_ERROR)], at)
    before = due(loop, ONE)
    loop.absorb([found(loop, MAP, at + 1.0, URLS[ONE - 1])], at + 1.0)
    standing, plan = loop.store.standing(ONE)
    assert plan is not None
    assert (standing.due_at, plan.rule, standing.told_by) == (before, "retry", MAP)


def test_the_next_visit_is_learned_from_as_told_of_and_ends_it(loop: Loop) -> None:
    predictor = loop.predictor
    assert isinstance(predictor, Credulous)
    at = NOW + 1.2 * DAY_S
    loop.absorb([found(loop, MAP, at, URLS[ONE - 1])], at)
    both = [found(loop, ONE, at + HOUR_S), found(loop, TWO, at + HOUR_S)]
    loop.absorb(both, at + HOUR_S)
    last = predictor.seen[-1]
    assert last.told_by.tolist() == [MAP, 0]
    assert np.array_equal(last.told_at, [at, nan], equal_nan=True)
    assert due(loop, ONE) > at + DAY_S  # it is told of no more
    assert loop.store.standing(ONE)[0].told_by == 0
    # whoever learns anew learns the same
    (page,) = loop.store.told()
    kept = page.pick(page.at == at + HOUR_S)
    assert dict(zip(kept.id.tolist(), kept.told_by.tolist(), strict=True)) == {ONE: MAP, TWO: 0}


def test_a_pricing_goes_by_what_was_told_before(loop: Loop) -> None:
    at = NOW + 1.2 * DAY_S
    loop.absorb([found(loop, MAP, at, URLS[ONE - 1])], at)
    loop.reprice(at + 60.0)
    assert due(loop, ONE) < min(due(loop, key) for key in range(TWO, len(URLS) + 1))
