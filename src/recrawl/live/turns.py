"""Whose turn it is: whatever is due, or what a round was made of; at a price that is found anew in time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from math import inf
from typing import Protocol

from recrawl.contracts import Clock
from recrawl.errors import StoreError
from recrawl.loop import Loop
from recrawl.model import Lease
from recrawl.terms import BACK_S

N_TRIES = 50  # at a host that another process has
TRY_AGAIN_S = 0.2
# What is due and cannot be had before then is left: a host that is down may be so for days.
PATIENCE_S = 900.0
# As many times as long as finding the price took, until it is found anew: a tenth of the time goes there.
N_REST = 10.0


class Turns(Protocol):
    """Asked in the worker's thread."""

    def due(self, now: float, limit: int) -> list[Lease]: ...
    def wake_at(self, now: float) -> float: ...  # when there may next be something to do
    # nothing is left of what was due then, or nothing that can be had soon
    def over(self, began_at: float, now: float) -> bool: ...


class Continuous:
    """Whatever is due, for ever."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    def due(self, now: float, limit: int) -> list[Lease]:
        return self._loop.due(now, limit)

    def wake_at(self, now: float) -> float:
        return self._loop.wake_at(now)

    def over(self, began_at: float, now: float) -> bool:
        if self._loop.n_free(now) == 0:
            return True
        return self._loop.store.ready_at(now, due_by=began_at) > now + PATIENCE_S


class Repriced:
    """The same turns, at a price that is found anew in time; yet not so often that visits starve while it is
    looked for. That matters on a clock that runs fast, and where very many are watched."""

    def __init__(self, turns: Turns, loop: Loop, clock: Clock) -> None:
        self._turns, self._loop, self._clock = turns, loop, clock
        self._took_s = 0.0  # the last pricing, on this clock

    def due(self, now: float, limit: int) -> list[Lease]:
        if self._loop.must_reprice(now):
            begun_at = self._clock.now()
            self._loop.reprice(now)
            took_s = max(0.0, self._clock.now() - begun_at)
            # the shorter of two: one alone may have waited for a compiler, or for a clock that was put right
            self._loop.rest(N_REST * min(took_s, self._took_s))
            self._took_s = took_s
        return self._turns.due(now, limit)

    def wake_at(self, now: float) -> float:
        return self._turns.wake_at(now)

    def over(self, began_at: float, now: float) -> bool:
        return self._turns.over(began_at, now)


@dataclass(slots=True)
class _Host:
    name: str
    left: list[tuple[float, int]]  # due times and resources, the last one's turn first
    n_tries: int = 0


@dataclass(slots=True)
class Round:
    """These resources and no others, each once, until `end_at`: what is not begun by then stays due.

    `turns` has of each host its resources' due times and numbers, in order.
    """

    loop: Loop
    turns: Mapping[str, Sequence[tuple[float, int]]]
    began_at: float
    end_at: float
    speed: float = 1.0
    n_begun: int = field(default=0, init=False)
    _waiting: list[tuple[float, str]] = field(init=False)  # heap of (ready_at, host)
    _line: list[tuple[float, int, str]] = field(
        default_factory=list, init=False
    )  # heap of (due_at, id, host)
    _hosts: dict[str, _Host] = field(init=False)
    _out: dict[str, Lease] = field(default_factory=dict, init=False)
    _latest_at: float = field(default=-inf, init=False)  # that it was asked about

    def __post_init__(self) -> None:
        self._hosts = {name: _Host(name, list(reversed(left))) for name, left in self.turns.items() if left}
        self._waiting = [(-inf, name) for name in self._hosts]
        heapify(self._waiting)

    def due(self, now: float, limit: int) -> list[Lease]:
        if now < self._latest_at - BACK_S:  # the clock was set back: gates that were far ahead are not now
            self._waiting = [(self.loop.store.gate_at(name), name) for _, name in self._waiting]
            heapify(self._waiting)
            self._latest_at = now
        self._latest_at = max(self._latest_at, now)
        self._come_back()
        if now >= self.end_at:
            return []
        while self._waiting and self._waiting[0][0] <= now:
            host = self._hosts[heappop(self._waiting)[1]]
            heappush(self._line, (*host.left[-1], host.name))
        leases: list[Lease] = []
        while self._line and len(leases) < limit:
            host = self._hosts[heappop(self._line)[-1]]
            try:
                lease = self._claimed(host, now)
            except StoreError:
                if host.left:
                    heappush(self._waiting, (now, host.name))
                if not leases:
                    raise
                break  # else nobody would hold those; the trouble shows again at the next turn
            leases += [lease] if lease is not None else []
        self.n_begun += len(leases)
        return leases

    def wake_at(self, now: float) -> float:
        if now >= self.end_at:
            return inf  # what is in the air makes itself heard when it comes down
        ready_at = now if self._line else self._waiting[0][0] if self._waiting else inf
        return max(now, min(ready_at, self.end_at))

    def over(self, began_at: float, now: float) -> bool:  # noqa: ARG002 - it has its own beginning
        self._come_back()
        return now >= self.end_at or not (self._waiting or self._line or self._out)

    def _come_back(self) -> None:
        """A host whose visit is recorded, or was given up, is no longer leased for it. Moments do not tell:
        the clock may have been set back meanwhile."""
        if not self._out:
            return
        for name, held in zip(list(self._out), self.loop.store.held(list(self._out.values())), strict=True):
            if not held:
                del self._out[name]
                if self._hosts[name].left:
                    heappush(self._waiting, (self.loop.store.gate_at(name), name))

    def _claimed(self, host: _Host, now: float) -> Lease | None:
        _, resource_id = host.left[-1]
        lease = self.loop.claim(resource_id, now)
        if lease is None:
            self._put_off(host, now)
            return None
        host.left.pop()
        host.n_tries = 0
        if lease.standing.last_at > self.began_at or lease.resource.effective.paused:
            self.loop.release([lease], now, now)  # another process has just visited it, or people paused it
            if host.left:
                heappush(self._waiting, (now, host.name))
            return None
        self._out[host.name] = lease
        return lease

    def _put_off(self, host: _Host, now: float) -> None:
        """Its host has a gate, or another process has it; or the resource is gone, which looks the same."""
        gate_at = self.loop.store.gate_at(host.name)
        host.n_tries += gate_at <= now
        if host.n_tries > N_TRIES:
            host.left.pop()
            host.n_tries = 0
        if host.left:
            heappush(self._waiting, (max(gate_at, now + TRY_AGAIN_S * self.speed), host.name))
