"""Visiting: whatever is due until told to stop, in rounds where that is wanted, or one resource now."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import inf
from typing import TYPE_CHECKING

from recrawl.app.carriage import carrying
from recrawl.app.dispatch import Dispatch
from recrawl.app.heeding import heeding
from recrawl.app.keeping import keeping
from recrawl.app.quantity import Budget
from recrawl.errors import NotWatchedError
from recrawl.model import DAY_S, Changed, Resource

if TYPE_CHECKING:
    from recrawl.app.build import House
    from recrawl.app.ledger import Sized
    from recrawl.live.runner import Landed, Runner
    from recrawl.live.turns import Turns
    from recrawl.loop import Loop

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True, slots=True)
class Left:
    """What was due when a run began, and could not be visited soon."""

    n: int
    ready_at: float  # when the first of it can be
    poor: bool  # the budget has no visit free; else its hosts are to be left alone


@dataclass(slots=True)
class Tally:
    """What a run has done so far."""

    began_at: float
    n_visits: int = 0
    n_changes: int = 0
    n_first: int = 0
    n_failures: int = 0
    n_second: int = 0  # second looks
    n_bytes: int = 0  # with theirs
    stopped: bool = False  # by a signal, before its time
    left: Left | None = None

    def count(self, landed: Landed) -> None:
        visit = landed.absorbed.visit
        self.n_visits += 1
        self.n_changes += visit.counted(landed.lease.resource.effective.changes) is Changed.YES
        self.n_first += visit.informative and landed.lease.standing.n_informative == 0
        self.n_failures += not visit.informative
        self.n_second += visit.second_bytes is not None
        self.n_bytes += visit.n_bytes + (visit.second_bytes or 0)


async def run(
    house: House,
    *,
    for_s: float = inf,
    once: bool = False,
    every_s: float | None = None,
    policy: str | None = None,
    goal: str | None = None,
    per_day: float | None = None,
    bytes_per_day: float | None = None,
    allow_private: bool = False,
    watch: Callable[[Landed, Tally], object] = lambda *_: None,
    begun: Callable[[Loop, Tally], object] = lambda *_: None,
    tell: Callable[[str], object] = lambda _: None,
    rounded: Callable[[Sized], object] = lambda _: None,
    turns: Callable[[Loop], Turns] | None = None,
) -> Tally:
    """Visit what is due, for this long or until a signal; what is in the air then still comes down. With
    `every_s` in rounds that begin so often; `rounded` hears of each. With `turns` of its own, until those are
    over. `tell` takes sentences about trouble of our own."""
    now = house.clock.now()
    if house.store.counts(now)["resources"] == 0:
        raise NotWatchedError("Nothing is being watched yet; add something with `recrawl add URL`.")
    tally = Tally(now)
    loop = house.loop(policy=policy, goal=goal, per_day=per_day, bytes_per_day=bytes_per_day)

    def landed(one: Landed) -> None:
        if one.absorbed.accepted:
            tally.count(one)
            watch(one, tally)

    said = Budget(per_day, bytes_per_day)
    async with house.fetcher() as fetcher, keeping(house, tell), heeding(house, loop, said, tell):
        dispatch = Dispatch(house, tell)
        runner = house.runner(loop, fetcher, allow_private=allow_private, watch=landed, tell=dispatch.trouble)
        try:
            with _stopping(runner, tally), dispatch, carrying(house, dispatch.trouble) as carriage:
                begun(loop, tally)
                if every_s is None:
                    chosen = None if turns is None else turns(loop)
                    await runner.run(until_at=now + for_s, once=once, turns=chosen)
                    if once and chosen is None and not tally.stopped:
                        tally.left = await house.worker.call(_left, loop, now, house.clock.now())
                else:
                    await _rounds(house, runner, tally, every_s, now + for_s, once, rounded)
                if carriage is not None:
                    await carriage.finish(lambda: tally.stopped)
                await dispatch.finish(lambda: tally.stopped)
        finally:
            await runner.aclose()
    return tally


def _left(loop: Loop, began_at: float, now: float) -> Left | None:
    ready_at = loop.store.ready_at(now, due_by=began_at)
    poor = loop.n_free(now) == 0
    if ready_at == inf or (ready_at <= now and not poor):  # nothing, or only because the time was up
        return None
    if poor:
        ready_at = max(ready_at, loop.purse.ready_at(now))
    return Left(loop.store.counts(began_at)["due"], ready_at, poor)


async def _rounds(
    house: House,
    runner: Runner,
    tally: Tally,
    every_s: float,
    until_at: float,
    once: bool,
    rounded: Callable[[Sized], object],
) -> None:
    """One after the other. Where one takes longer than it should, nothing new is begun in it, and the next
    begins when all has come down."""
    from recrawl.app import ledger, sizing

    def over() -> bool:
        return tally.stopped or house.clock.now() >= until_at

    await house.worker.call(runner.loop.start, house.clock.now())
    asked_at = -inf  # when robots.txt files were last asked for
    while not over():
        asks = house.clock.now() - asked_at >= DAY_S
        made, turns = await house.worker.call(sizing.sized, house, runner.loop, every_s, asks_robots=asks)
        asked_at = made.began_at if asks else asked_at
        if made.n_chosen:
            n_before, begun_at = tally.n_visits, house.clock.now()
            await runner.run(until_at=until_at, once=once, turns=turns)
            if over():
                return  # cut short: it says nothing about the estimate
            took_s = house.clock.now() - begun_at
            made = replace(made, n_visits=tally.n_visits - n_before, took_s=took_s)
            await house.worker.call(ledger.keep, house.store, made)
        rounded(made)
        if once:
            return
        await runner.rest(min(made.began_at + every_s, until_at))


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
