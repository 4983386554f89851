from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from email.utils import format_datetime, formatdate

import pytest

from recrawl.live.clock import FastClock
from recrawl.observe.pacing import Pacer, retry_after_s

NOW = 1_700_000_000.0
N_MANY = 12_000  # hosts
DAY_S = 86_400.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        (None, 0.0),
        ("", 0.0),
        ("120", 120.0),
        (" 7 ", 7.0),
        ("0", 0.0),
        ("-5", 0.0),
        ("1.5", 0.0),
        ("nan", 0.0),
        ("soon", 0.0),
        ("99999999", DAY_S),
        ("9" * 5000, 0.0),
        ("٣", 0.0),
        (formatdate(NOW + 90, usegmt=True), 90.0),
        (formatdate(NOW - 90, usegmt=True), 0.0),
        (format_datetime(datetime.fromtimestamp(NOW + 60, UTC)), 60.0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", DAY_S),
        ("Fri, 99 Foo 9999 99:99:99 GMT", 0.0),
        ("Tue, 15 Nov 2023 08:12:31 +9999", 0.0),
    ],
)
def test_retry_after_is_read_in_both_forms_and_garbage_is_ignored(value: str | None, seconds: float) -> None:
    assert retry_after_s(value, NOW) == pytest.approx(seconds)


class Log:
    """Turns at a host, as (start, end) on the clock."""

    def __init__(self, *, min_delay_s: float) -> None:
        self.clock = FastClock(start_at=NOW, speed=100.0)
        self.pacer = Pacer(clock=self.clock, min_delay_s=min_delay_s)
        self.turns: list[tuple[float, float]] = []

    async def ask(
        self, host: str = "a", *, delay_s: float = 0.0, patience_s: float = 1e6, hold_s: float = 0.0
    ) -> float:
        async with self.pacer.turn(host, delay_s=delay_s, patience_s=patience_s, queue_s=30.0) as turn:
            if turn.left_s == 0.0:
                started_at = self.clock.now()
                await self.clock.sleep(1.0)
                turn.hold_s = hold_s
                self.turns.append((started_at, self.clock.now()))
        return turn.left_s

    def gaps(self) -> list[float]:
        ends = [end for _, end in self.turns[:-1]]
        return [start - end for (start, _), end in zip(self.turns[1:], ends, strict=True)]


def test_a_host_is_asked_by_one_at_a_time_with_the_delay_between() -> None:
    async def run() -> list[float]:
        log = Log(min_delay_s=3.0)
        await asyncio.gather(*(log.ask() for _ in range(5)))
        return log.gaps()

    gaps = asyncio.run(run())
    assert len(gaps) == 4
    assert all(gap >= 3.0 for gap in gaps)


def test_the_longest_of_the_delays_counts() -> None:
    async def run() -> list[float]:
        log = Log(min_delay_s=2.0)
        await log.ask()
        await log.ask(delay_s=6.0)
        await log.ask(delay_s=1.0, hold_s=9.0)
        await log.ask()
        return log.gaps()

    first, second, third = asyncio.run(run())
    assert first >= 6.0
    assert 2.0 <= second < 6.0
    assert third >= 9.0


def test_hosts_do_not_wait_for_each_other() -> None:
    async def run() -> float:
        log = Log(min_delay_s=1000.0)
        await log.ask("a")
        return await log.ask("b", patience_s=0.0)

    assert asyncio.run(run()) == 0.0


def test_a_wait_beyond_ones_patience_is_told_at_once_and_moves_nothing() -> None:
    async def run() -> tuple[float, float, int]:
        log = Log(min_delay_s=1.0)
        await log.ask(hold_s=500.0)
        first, second = await log.ask(patience_s=100.0), await log.ask(patience_s=100.0)
        return first, second, len(log.turns)

    first, second, n_turns = asyncio.run(run())
    assert 400.0 < second <= first <= 500.0
    assert n_turns == 1


def test_a_cancelled_turn_still_counts_and_frees_the_host() -> None:
    async def run() -> list[float]:
        log = Log(min_delay_s=5.0)
        task = asyncio.create_task(log.ask())
        await asyncio.sleep(0.002)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        cancelled_at = log.clock.now()
        await log.ask()
        return [log.turns[0][0] - cancelled_at]

    (gap,) = asyncio.run(run())
    assert gap > 4.0


def test_however_many_hosts_are_asked_at_once_each_new_one_looks_through_few_gates() -> None:
    """Counted in readings of the clock, which every look through them begins with."""

    class Counting:
        speed = 1.0
        at = NOW
        n_read = 0

        def now(self) -> float:
            self.n_read += 1
            return self.at

        async def sleep(self, seconds: float) -> None:
            self.at += seconds

    async def run() -> None:
        for i in range(N_MANY):
            async with pacer.turn(f"h{i}@{clock.at}", delay_s=None, patience_s=0.0, queue_s=1.0):
                pass

    clock = Counting()
    pacer = Pacer(clock=clock, min_delay_s=1.0)
    asyncio.run(run())
    n_turns = clock.n_read
    clock.at += 301.0
    asyncio.run(run())  # with other hosts; those that were asked long ago are let go
    assert n_turns <= 5 * N_MANY + 10
    assert len(pacer._gates) < 2 * N_MANY


def test_a_clock_that_is_set_back_keeps_nobody_waiting_until_the_old_time_comes_round() -> None:
    class Unsteady:
        """Is set back where that is wanted, while somebody sleeps."""

        speed = 1.0
        at = NOW
        slept_s = back_s = 0.0

        def now(self) -> float:
            return self.at

        async def sleep(self, seconds: float) -> None:
            self.slept_s += seconds
            self.at += seconds - self.back_s
            self.back_s = 0.0

    async def waited_s(hold_s: float = 0.0) -> float:
        clock.slept_s = 0.0
        async with pacer.turn("a", delay_s=None, patience_s=1e9, queue_s=1.0) as turn:
            turn.hold_s = hold_s
        return clock.slept_s

    async def run() -> None:
        assert await waited_s() == 0.0
        clock.at -= 1e6
        assert await waited_s(hold_s=60.0) == pytest.approx(3.0)
        clock.at -= 1e6
        assert await waited_s() == pytest.approx(60.0)
        clock.back_s = 5_000.0
        assert await waited_s() == pytest.approx(6.0)  # at worst all of it once more

    clock = Unsteady()
    pacer = Pacer(clock=clock, min_delay_s=3.0)
    asyncio.run(run())


def test_a_clock_that_stands_waits_until_it_is_started() -> None:
    clock = FastClock(start_at=NOW, speed=1e9, standing=True)
    assert [clock.now() for _ in range(2)] == [NOW, NOW]
    clock.start()
    begun_at = clock.now()
    clock.start()  # once is enough
    assert NOW <= begun_at < clock.now()
