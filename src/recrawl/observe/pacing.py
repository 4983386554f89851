"""Leaving hosts alone for as long as they want.

The store's leases keep workers apart; this keeps apart what happens inside one process, and inside one fetch:
robots.txt and the page, the hops of a redirect, and hosts that only redirects lead to.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from math import inf

from recrawl.contracts import Clock

MAX_CRAWL_DELAY_S = 300.0  # longer ones are obeyed by not visiting at all
MAX_RETRY_AFTER_S = 86_400.0
_MANY_HOSTS = 10_000


@dataclass(slots=True)
class Turn:
    """One's turn to ask a host. Where `left_s` is not zero it has not come: the host must not be asked."""

    left_s: float = 0.0
    waited_s: float = 0.0  # on the clock
    hold_s: float = 0.0  # set by whoever asked: how long the answer wants the host left alone


@dataclass(slots=True)
class _Gate:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    ended_at: float = -inf
    held_until_at: float = -inf


class Pacer:
    """One request in flight a host, and the next no sooner than `min_delay_s` after the end of the last.

    Whoever sends many fetches keeps the same rule between them by leaving a fetch's host alone until
    `fetch.ended_at + max(min_delay_s, fetch.wait_s)`; then nothing waits here but a fetch for itself.
    """

    def __init__(self, *, clock: Clock, min_delay_s: float) -> None:
        self._clock = clock
        self._min_delay_s = min_delay_s
        self._gates: dict[str, _Gate] = {}

    @asynccontextmanager
    async def turn(
        self, host: str, *, delay_s: float, patience_s: float, queue_s: float
    ) -> AsyncIterator[Turn]:
        """Wait for one's turn, which comes `delay_s` or the own delay after the last.

        Not if that would take longer than `patience_s` on the clock, nor longer than `queue_s` on the wall
        for others that are asking the same host.
        """
        gate = self._gate(host)
        try:
            async with asyncio.timeout(queue_s):
                await gate.lock.acquire()
        except TimeoutError:
            yield Turn(left_s=max(self._min_delay_s, delay_s, 1.0))
            return
        try:
            start_at = max(gate.ended_at + max(self._min_delay_s, delay_s), gate.held_until_at)
            wait_s = max(0.0, start_at - self._clock.now())
            if wait_s > patience_s:
                yield Turn(left_s=wait_s)
                return
            while (left_s := start_at - self._clock.now()) > 0.0:  # a sleep may end a little early
                await self._clock.sleep(left_s)
            turn = Turn(waited_s=wait_s)
            try:
                yield turn
            finally:
                gate.ended_at = self._clock.now()
                gate.held_until_at = max(gate.held_until_at, gate.ended_at + turn.hold_s)
        finally:
            gate.lock.release()

    def _gate(self, host: str) -> _Gate:
        if len(self._gates) >= _MANY_HOSTS and host not in self._gates:
            self._forget_idle()
        return self._gates.setdefault(host, _Gate())

    def _forget_idle(self) -> None:
        """Drop the gates that would let anyone through: those that no delay we obey can still concern."""
        long_ago = self._clock.now() - max(self._min_delay_s, MAX_CRAWL_DELAY_S)
        now = self._clock.now()
        self._gates = {
            host: gate
            for host, gate in self._gates.items()
            if gate.lock.locked() or gate.ended_at > long_ago or gate.held_until_at > now
        }


def retry_after_s(value: str | None, now: float) -> float:
    """What a Retry-After header asks for, in seconds or as a date; at most a day, nothing for garbage."""
    said = (value or "").strip()
    if re.fullmatch(r"[0-9]{1,18}", said):
        return min(float(said), MAX_RETRY_AFTER_S)
    try:
        date = parsedate_to_datetime(said)
        at = (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return 0.0
    return min(max(0.0, at - now), MAX_RETRY_AFTER_S)
