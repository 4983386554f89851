"""Visiting: rounds until told to stop, or one resource now."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from recrawl.app.carriage import carrying
from recrawl.app.keeping import keeping
from recrawl.errors import NotWatchedError
from recrawl.model import Changed, Resource

if TYPE_CHECKING:
    from recrawl.app.build import House
    from recrawl.live.runner import Landed, Runner
    from recrawl.loop import Loop

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True)
class Tally:
    """What a run has done so far."""

    began_at: float
    n_visits: int = 0
    n_changes: int = 0
    n_first: int = 0
    n_failures: int = 0
    n_bytes: int = 0
    stopped: bool = False  # by a signal, before its time

    def count(self, landed: Landed) -> None:
        visit = landed.absorbed.visit
        self.n_visits += 1
        self.n_changes += visit.changed is Changed.YES
        self.n_first += visit.informative and landed.lease.standing.n_informative == 0
        self.n_failures += not visit.informative
        self.n_bytes += visit.n_bytes


async def run(
    house: House,
    *,
    for_s: float = inf,
    once: bool = False,
    policy: str | None = None,
    goal: str | None = None,
    per_day: float | None = None,
    bytes_per_day: float | None = None,
    allow_private: bool = False,
    watch: Callable[[Landed, Tally], object] = lambda *_: None,
    begun: Callable[[Loop, Tally], object] = lambda *_: None,
    tell: Callable[[str], object] = lambda _: None,
) -> Tally:
    """Visit what is due, for this long or until a signal; what is in the air then still comes down. `tell`
    takes sentences about trouble of our own."""
    now = house.clock.now()
    if house.store.counts(now)["resources"] == 0:
        raise NotWatchedError("Nothing is being watched yet; add something with `recrawl add URL`.")
    tally = Tally(now)
    loop = house.loop(policy=policy, goal=goal, per_day=per_day, bytes_per_day=bytes_per_day)

    def landed(one: Landed) -> None:
        if one.absorbed.accepted:
            tally.count(one)
            watch(one, tally)

    async with house.fetcher() as fetcher, keeping(house, tell):
        runner = house.runner(loop, fetcher, allow_private=allow_private, watch=landed, tell=tell)
        try:
            with _stopping(runner, tally), carrying(house, tell) as carriage:
                begun(loop, tally)
                await runner.run(until_at=now + for_s, once=once)
                if carriage is not None:
                    await carriage.finish(lambda: tally.stopped)
        finally:
            await runner.aclose()
    return tally


async def visit(house: House, resource: Resource, *, allow_private: bool = False) -> Landed:
    """Look at this resource now, as soon as its host may be asked."""
    async with house.fetcher() as fetcher:
        runner = house.runner(house.loop(as_last=True), fetcher, allow_private=allow_private)
        try:
            return await runner.visit(resource)
        finally:
            await runner.aclose()


@contextmanager
def _stopping(runner: Runner, tally: Tally) -> Iterator[None]:
    """The first signal ends the run in good order; a second one ends it at once."""
    loop = asyncio.get_running_loop()

    def stop() -> None:
        tally.stopped = True
        runner.stop()
        restore()

    def restore() -> None:
        for number in _SIGNALS:
            loop.remove_signal_handler(number)

    for number in _SIGNALS:
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        restore()
