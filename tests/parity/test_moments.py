"""Threads tell when somebody spoke: the live shell, the simulator and the columns learn the same from it."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from math import inf

import numpy as np
import pytest
from tests.parity.test_parity import DAY_S, START_AT, Shelf

from recrawl.contracts import Predictor
from recrawl.detect.choose import detector_name
from recrawl.detect.thread import Thread
from recrawl.learn.predictors import thread
from recrawl.learn.predictors.either import Either
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.live.runner import Landed, Runner
from recrawl.live.virtual import VirtualClock
from recrawl.live.worker import Worker
from recrawl.loop import Loop
from recrawl.model import Fetch, Floats, Kind, NewResource, Outcome, Request, Settings, Snapshot, Version
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Prompt
from recrawl.schedule.policies.index import Index
from recrawl.simulate.columns import walk_columns
from recrawl.simulate.run import simulate
from recrawl.simulate.traces import Traces
from recrawl.simulate.worlds import TraceWorld

DAYS, PAST_DAYS = 5.0, 8.0
N = 6
BOUNDS = Settings(kind=Kind.THREAD, min_gap_s=1_800.0, max_gap_s=5 * DAY_S)


class Forum:
    """Threads whose posts come when the world says; takes no time."""

    def __init__(self, world: TraceWorld, clock: VirtualClock) -> None:
        self.world = world
        self.clock = clock
        self.place = {resource.url: i for i, resource in enumerate(world.resources)}

    async def fetch(self, request: Request) -> Fetch:
        now = self.clock.now()
        posts = [
            {
                "id": n,
                "post_number": n + 1,
                "username": "ada",
                "created_at": datetime.fromtimestamp(at, UTC).isoformat(),
                "cooked": f"<p>words of {n}</p>",
            }
            for n, at in enumerate(self.world.moments(self.place[request.url], np.nan, now))
        ]
        body = json.dumps({"id": 1, "title": "T", "post_stream": {"posts": posts}}).encode()
        return Fetch(
            request=request,
            outcome=Outcome.OK,
            url=request.url,
            started_at=now,
            ended_at=now,
            status=200,
            headers=(("Content-Type", "application/json"),),
            body=body,
            wire=body,
        )


class Kept(Shelf):
    def snapshot(self, version: Version) -> Snapshot:
        return Snapshot(body=self.bodies[version.offset], media_type="application/json", at=version.at)


def threads(seed: int = 4) -> TraceWorld:
    """Posts on whole seconds, in bursts; most began before anybody looked."""
    rng = np.random.default_rng(seed)

    def events(per_day: float) -> Floats:
        began = rng.random(rng.poisson(per_day * (DAYS + PAST_DAYS))) * (DAYS + PAST_DAYS)
        bursts = [[day, *(day + np.cumsum(rng.exponential(0.02, rng.poisson(1.0))))] for day in began]
        at = START_AT + DAY_S * (np.sort(np.concatenate([[0.1], *bursts])) - PAST_DAYS)
        return np.unique(np.round(at[at < START_AT + DAYS * DAY_S]))

    return TraceWorld(
        [NewResource(url=f"http://h{i}.test/t/{i}", host=f"h{i}.test", settings=BOUNDS) for i in range(N)],
        [events(per_day) for per_day in np.geomspace(0.2, 2.0, N)],
    )


def loop_of(predictor: Predictor, price: float = 1e4) -> Loop:
    policy = Index(Prompt())
    return Loop(
        store=MemoryStore(),
        predictor=predictor,
        policy=policy,
        rule=policy.name,
        per_day=None,
        free_price=price,
        reprice_every_s=inf,
    )


def lived(world: TraceWorld, loop: Loop, end_at: float) -> list[Landed]:
    clock = VirtualClock(START_AT)
    loop.store.add(world.resources, START_AT)
    landed: list[Landed] = []

    async def main() -> None:
        runner = Runner(
            loop=loop,
            fetcher=Forum(world, clock),
            archive=Kept(),
            detectors={"thread": Thread()},
            choose=detector_name,
            clock=clock,
            min_delay_s=0.0,
            concurrency=64,
            worker=Worker(threads=False),
            look_again_s=inf,
            watch=landed.append,
        )
        await runner.run(until_at=end_at)

    clock.run(main())
    return landed


@pytest.mark.parametrize("predictor", [GammaFilter, Rhythm, thread.Thread, Either])
def test_a_live_thread_is_visited_as_a_simulated_one(
    predictor: type[GammaFilter | Rhythm | thread.Thread | Either],
) -> None:
    world, end_at = threads(), START_AT + DAYS * DAY_S
    live, simulated = loop_of(predictor()), loop_of(predictor())
    landed = lived(world, live, end_at)
    seen = simulate(simulated, world, start_at=START_AT, end_at=end_at, moments=True)
    place = {resource.url: i for i, resource in enumerate(world.resources)}
    assert len(seen) > 6 * N
    assert [place[one.lease.resource.url] for one in landed] == seen.id.tolist()
    assert np.allclose([one.absorbed.visit.at for one in landed], seen.at, rtol=0.0, atol=1e-3)
    for key in range(1, N + 1):
        ours, theirs = ([visit.moments for visit in loop.store.visits(key)] for loop in (live, simulated))
        assert ours == theirs
        assert sum(map(len, ours)) == len(
            world.moments(key - 1, np.nan, live.store.standing(key)[0].since_at)
        )
    ids = np.arange(1, N + 1)
    assert np.allclose(live.predictor.memory(ids), simulated.predictor.memory(ids), rtol=1e-6, equal_nan=True)


def test_columns_learn_the_moments_that_the_loop_does() -> None:
    world, end_at = threads(), START_AT + DAYS * DAY_S
    first_gap_s = DAY_S * np.random.default_rng(1).random(N)
    traces = Traces(
        born_at=np.full(N, START_AT - PAST_DAYS * DAY_S),
        bounds=np.concatenate([[0], np.cumsum([len(at) for at in world.events])]).astype(np.int64),
        at=np.concatenate(world.events),
        digest=np.zeros(sum(map(len, world.events)), dtype=np.uint64),
        first_digest=np.zeros(N, dtype=np.uint64),
        host=np.arange(N),
        weight=np.ones(N),
    )
    price = 1e4
    loop = loop_of(GammaFilter(), price)
    seen = simulate(loop, world, start_at=START_AT, end_at=end_at, first_gap_s=first_gap_s, moments=True)
    found = walk_columns(
        GammaFilter(),
        Index(Prompt()),
        traces,
        start_at=START_AT,
        end_at=end_at,
        first_gap_s=first_gap_s,
        min_gap_s=1_800.0,
        max_gap_s=5 * DAY_S,
        price=price,
        moments=True,
    )
    without = walk_columns(
        GammaFilter(),
        Index(Prompt()),
        traces,
        start_at=START_AT,
        end_at=end_at,
        first_gap_s=first_gap_s,
        min_gap_s=1_800.0,
        max_gap_s=5 * DAY_S,
        price=price,
    )
    later = seen.pick(np.isfinite(seen.since_at))
    for i in range(N):
        assert np.allclose(later.at[later.id == i], found.of(i), rtol=0.0, atol=1e-3)
    assert len(without) != len(found)
