"""The live shell and the simulator make the very same visits."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from io import BytesIO
from math import inf
from typing import BinaryIO

import numpy as np
import pytest

from recrawl.contracts import Policy
from recrawl.detect.choose import detector_name
from recrawl.detect.exact import Exact
from recrawl.detect.text import Text
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.live.runner import Landed, Runner
from recrawl.live.virtual import VirtualClock
from recrawl.live.worker import Worker
from recrawl.loop import Loop
from recrawl.model import Fetch, Outcome, Request, Snapshot, Version
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Capture, Fresh
from recrawl.schedule.policies.index import Index
from recrawl.schedule.policies.uniform import Uniform
from recrawl.simulate.processes import Daily, Never, Poisson
from recrawl.simulate.run import simulate
from recrawl.simulate.worlds import TraceWorld, world_of

DAY_S = 86_400.0
START_AT = 1.7e9


class WorldFetcher:
    """Answers from a simulated world; takes no time."""

    def __init__(self, world: TraceWorld, clock: VirtualClock) -> None:
        self.world = world
        self.clock = clock
        self.place = {resource.url: i for i, resource in enumerate(world.resources)}

    async def fetch(self, request: Request) -> Fetch:
        now = self.clock.now()
        body = f"version {self.world.version(self.place[request.url], now)}".encode()
        return Fetch(
            request=request,
            outcome=Outcome.OK,
            url=request.url,
            started_at=now,
            ended_at=now,
            status=200,
            headers=(("Content-Type", "application/octet-stream"),),
            body=body,
            wire=body,
        )


class Shelf:
    """An archive in memory."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

    def put(self, fetch: Fetch, version: Version, same_as: Version | None = None) -> Version:
        if same_as is not None:
            return replace(version, file=same_as.file, offset=same_as.offset)
        self.bodies.append(bytes(fetch.body))
        return replace(version, file="shelf", offset=len(self.bodies) - 1)

    def sync(self) -> Mapping[str, int]:
        return {}

    def recording(self) -> AbstractContextManager[None]:
        return nullcontext()

    def recover(
        self,
        committed: Callable[[], Mapping[str, int]],  # noqa: ARG002
        doomed: Callable[[], Container[str]] = tuple,  # noqa: ARG002
    ) -> Sequence[str]:
        return []

    def snapshot(self, version: Version) -> Snapshot:
        return Snapshot(body=self.bodies[version.offset])

    def opened(self, name: str) -> BinaryIO:  # noqa: ARG002
        return BytesIO(b"".join(self.bodies))

    def cdxj(self) -> Iterator[str]:
        return iter(())

    def verify(self, versions: Iterable[Version]) -> Iterator[tuple[Version, str]]:  # noqa: ARG002
        return iter(())

    def close(self) -> None:
        pass


def loop_of(policy: Policy, per_day: float) -> Loop:
    return Loop(
        store=MemoryStore(),
        predictor=GammaFilter(),
        policy=policy,
        rule=policy.name,
        per_day=per_day,
        reprice_every_s=DAY_S / 4,
    )


def live_visits(
    world: TraceWorld, policy: Policy, per_day: float, end_at: float
) -> list[tuple[str, float, int]]:
    clock = VirtualClock(START_AT)
    loop = loop_of(policy, per_day)
    loop.store.add(world.resources, START_AT)
    landed: list[Landed] = []

    async def main() -> None:
        runner = Runner(
            loop=loop,
            fetcher=WorldFetcher(world, clock),
            archive=Shelf(),
            detectors={"exact": Exact(), "text": Text()},
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
    return [
        (one.lease.resource.url, one.absorbed.visit.at, int(one.absorbed.visit.changed)) for one in landed
    ]


def simulated_visits(
    world: TraceWorld, policy: Policy, per_day: float, end_at: float
) -> list[tuple[str, float, int]]:
    seen = simulate(loop_of(policy, per_day), world, start_at=START_AT, end_at=end_at)
    return [
        (world.resources[i].url, float(at), int(changed) if np.isfinite(since) else -1)
        for i, at, changed, since in zip(seen.id, seen.at, seen.changed, seen.since_at, strict=True)
    ]


def mixed_world(n: int, days: float, seed: int) -> TraceWorld:
    rates = np.geomspace(0.02, 12.0, n)
    processes = [
        Never() if i % 5 == 0 else Daily(9.0, jitter_s=3600.0) if i % 7 == 0 else Poisson(rate)
        for i, rate in enumerate(rates)
    ]
    return world_of(processes, start_at=START_AT, end_at=START_AT + days * DAY_S, seed=seed)


@pytest.mark.parametrize(
    ("policy", "days"),
    [(Index(Fresh()), 50.0), (Index(Capture()), 10.0), (Uniform(), 10.0)],
    ids=["fresh-10000", "capture", "uniform"],
)
def test_live_and_simulated_visits_are_the_same_one_by_one(policy: Policy, days: float) -> None:
    per_day = 220.0
    world = mixed_world(200, days, seed=11)
    end_at = START_AT + days * DAY_S
    live = live_visits(world, policy, per_day, end_at)
    simulated = simulated_visits(world, policy, per_day, end_at)
    assert len(simulated) > 200.0 * days  # ten thousand in the longest of them
    assert [(url, changed) for url, _, changed in live] == [(url, changed) for url, _, changed in simulated]
    # the virtual clock adds up waits, the simulator jumps: times agree to what a float can hold
    assert np.allclose([at for _, at, _ in live], [at for _, at, _ in simulated], rtol=0.0, atol=1e-3)
