"""Leaving hosts alone for as long as they want.

The store's leases keep fetches apart, in this process and in others: each asks the host of its own lease.
The pacer keeps apart what happens inside one fetch, robots.txt and the page and the hops of a redirect. For
hosts that only redirects lead to, an errand asks leave of the gates, where there are any.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from math import inf

from recrawl.contracts import Clock, Gates
from recrawl.model import Hold

MAX_CRAWL_DELAY_S = 300.0  # longer ones are obeyed by not visiting at all
MAX_RETRY_AFTER_S = 86_400.0
MAX_SLOW_S = 60.0  # a slow server is left alone for no longer than this on that account
_MANY_HOSTS = 10_000


@dataclass(slots=True)
class Turn:
    """One's turn to ask a host. Where `left_s` is not zero it has not come: the host must not be asked."""

    left_s: float = 0.0
    waited_s: float = 0.0  # on the clock
    not_after_at: float = inf  # after this instant the host must not be asked any more
    # set by whoever asked
    hold_s: float = 0.0  # how long the answer wants the host left alone
    answered: bool | None = None  # whether there was one that shows the host in good health


@dataclass(slots=True)
class _Gate:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    ended_at: float = -inf  # of the last request
    held_s: float = 0.0  # for how long after that it wants to be left alone, as an answer said
    delay_s: float = 0.0  # what its robots.txt asks for, as far as it was told here


class Pacer:
    """One request in flight a host, and the next no sooner than `min_delay_s` after the end of the last.

    Whoever sends many fetches keeps the same rule between them by leaving a fetch's host alone until
    `fetch.ended_at + max(min_delay_s, fetch.wait_s)`; then nothing waits here but a fetch for itself.
    """

    def __init__(self, *, clock: Clock, min_delay_s: float) -> None:
        self.clock = clock
        self.min_delay_s = min_delay_s
        self._gates: dict[str, _Gate] = {}
        self._n_many = _MANY_HOSTS

    def turn(self, host: str, *, delay_s: float | None, patience_s: float, queue_s: float) -> _Waiting:
        """Wait for one's turn: `delay_s` (None: what was last said) or the own delay after the last.

        Not if that would take longer than `patience_s` on the clock, nor longer than `queue_s` on the wall
        for others that are asking the same host.
        """
        return _Waiting(self, self._gate(host), delay_s, patience_s, queue_s)

    def free_at(self, host: str) -> float:
        """When the host may be asked next, as far as is known here."""
        return self.free_from(self._gate(host))

    def free_from(self, gate: _Gate) -> float:
        # Where the clock was set back, nobody knows how long ago the end was: at worst it is now.
        gate.ended_at = min(gate.ended_at, self.clock.now())
        return gate.ended_at + max(self.min_delay_s, gate.delay_s, gate.held_s)

    def _gate(self, host: str) -> _Gate:
        if len(self._gates) >= self._n_many and host not in self._gates:
            self._forget_idle()
            # Not again before there are twice as many: where most were just asked, every new one would look
            # through all of them.
            self._n_many = max(_MANY_HOSTS, 2 * len(self._gates))
        return self._gates.setdefault(host, _Gate())

    def _forget_idle(self) -> None:
        """Drop the gates that would let anyone through: those that no delay we obey can still concern."""
        long_ago = self.clock.now() - max(self.min_delay_s, MAX_CRAWL_DELAY_S)
        now = self.clock.now()
        self._gates = {
            host: gate
            for host, gate in self._gates.items()
            if gate.lock.locked() or gate.ended_at > long_ago or gate.ended_at + gate.held_s > now
        }


class _Waiting:
    """`async with` it: in the block it is one's turn. A class of its own, since every request passes here and
    a generator would cost as much as all else in it."""

    __slots__ = ("_delay_s", "_gate", "_pacer", "_patience_s", "_queue_s", "_turn")

    def __init__(
        self, pacer: Pacer, gate: _Gate, delay_s: float | None, patience_s: float, queue_s: float
    ) -> None:
        self._pacer = pacer
        self._gate = gate
        self._delay_s = delay_s
        self._patience_s = patience_s
        self._queue_s = queue_s
        self._turn: Turn | None = None  # there is one while the gate is ours

    async def __aenter__(self) -> Turn:
        pacer, gate = self._pacer, self._gate
        try:
            if gate.lock.locked():
                async with asyncio.timeout(self._queue_s):
                    await gate.lock.acquire()
            else:  # taken at once: a timer for it would cost as much as all else here
                await gate.lock.acquire()
        except TimeoutError:
            return Turn(left_s=max(pacer.min_delay_s, self._delay_s or 0.0, 1.0))
        try:
            gate.delay_s = gate.delay_s if self._delay_s is None else self._delay_s
            wait_s = max(0.0, pacer.free_from(gate) - pacer.clock.now())
            if wait_s > self._patience_s:
                gate.lock.release()
                return Turn(left_s=wait_s)
            # a sleep may end a little early
            while (left_s := pacer.free_from(gate) - pacer.clock.now()) > 0.0:
                await pacer.clock.sleep(left_s)
        except BaseException:
            gate.lock.release()
            raise
        self._turn = Turn(waited_s=wait_s)
        return self._turn

    async def __aexit__(self, *_: object) -> None:
        if self._turn is not None:
            gate = self._gate
            before_at, gate.ended_at = gate.ended_at, self._pacer.clock.now()
            gate.held_s = max(before_at + gate.held_s - gate.ended_at, self._turn.hold_s)
            gate.lock.release()


class Errand:
    """One fetch's way from host to host.

    A host that the caller's lease does not cover is entered before it is first asked and held to the end of
    the errand: robots.txt and the page belong together, and what the one asks for holds for the other.
    """

    def __init__(
        self,
        pacer: Pacer,
        gates: Gates | None,
        *,
        leased_host: str,
        patience_s: float,
        not_after_at: float = inf,
    ) -> None:
        self.patience_s = patience_s  # of waiting for turns that is left, on the clock
        self._pacer = pacer
        self._gates = gates
        self._leased_host = leased_host
        self._not_after_at = not_after_at
        self._holds: dict[str, Hold] = {}
        self._answered: dict[str, bool | None] = {}

    def turn(self, host: str, *, delay_s: float | None, queue_s: float) -> _Entering:
        """As `Pacer.turn`, once the host is ours to ask."""
        return _Entering(self, host, delay_s, queue_s)

    async def enter(self, host: str) -> float:
        """Make a host ours that is not; for how long it must not be asked, where that cannot be."""
        if self._gates is None or host == self._leased_host or host in self._holds:
            return 0.0
        began_at = self._pacer.clock.now()
        holding = {self._leased_host, *self._holds}
        entered = await self._gates.enter(host, holding=holding, patience_s=self.patience_s)
        if not isinstance(entered, Hold):
            return max(entered, self._pacer.min_delay_s, 1.0)
        self._holds[host] = entered
        self.patience_s -= self._pacer.clock.now() - began_at
        return 0.0

    def waiting(self, host: str, delay_s: float | None, queue_s: float) -> _Waiting:
        return self._pacer.turn(host, delay_s=delay_s, patience_s=self.patience_s, queue_s=queue_s)

    def begin(self, host: str, turn: Turn, entered_s: float) -> None:
        self.patience_s -= turn.waited_s
        turn.waited_s += entered_s
        hold = self._holds.get(host)
        turn.not_after_at = min(self._not_after_at, hold.not_after_at if hold else inf)

    def heard(self, host: str, turn: Turn) -> None:
        if turn.answered is not None:
            self._answered[host] = turn.answered

    async def end(self) -> None:
        """Let go of all hosts. Each is left alone from then on for as long as it wants."""
        while self._gates is not None and self._holds:
            host, hold = self._holds.popitem()
            await self._gates.leave(hold, self._pacer.free_at(host), self._answered.get(host))


class _Entering:
    """`async with` it, as `_Waiting`: the gate of a host, and then the turn."""

    __slots__ = ("_delay_s", "_errand", "_host", "_queue_s", "_turn", "_waiting")

    def __init__(self, errand: Errand, host: str, delay_s: float | None, queue_s: float) -> None:
        self._errand = errand
        self._host = host
        self._delay_s = delay_s
        self._queue_s = queue_s
        self._waiting: _Waiting | None = None

    async def __aenter__(self) -> Turn:
        errand, host = self._errand, self._host
        before_s = errand.patience_s
        if (left_s := await errand.enter(host)) > 0.0:
            return Turn(left_s=left_s)
        entered_s = before_s - errand.patience_s
        self._waiting = errand.waiting(host, self._delay_s, self._queue_s)
        self._turn = await self._waiting.__aenter__()
        errand.begin(host, self._turn, entered_s)
        return self._turn

    async def __aexit__(self, *what: object) -> None:
        if self._waiting is not None:
            self._errand.heard(self._host, self._turn)
            await self._waiting.__aexit__(*what)


def slow_s(server_s: float, factor: float) -> float:
    """How long a server that took `server_s` over a request is left alone on that account."""
    return min(server_s * factor, MAX_SLOW_S)


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
