"""Whose turn it is, in memory: heaps whose outdated entries are dropped when they come up.

A host waits by `ready_at` until a claim sees it ready; from then on it stands in line by the due time of its
first resource. So a claim touches as many hosts as it takes, however many are ready or gated.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from math import inf

from recrawl.model import DAY_S

_SLACK = 64  # outdated entries that are not worth clearing away


@dataclass(slots=True, eq=False)
class Host:
    id: int
    name: str
    token: int = 0
    gate_at: float = -inf
    lease_until_at: float = -inf
    by: str = ""  # the process that has or had the lease
    rest_s: float | None = None  # how long it was left alone after the last visit; None: never visited
    n_failures: int = 0  # in a row: how often the host itself was in trouble
    ready_at: float = inf
    in_line: bool = False
    members: set[int] = field(default_factory=set)
    turns: list[tuple[float, int]] = field(default_factory=list)  # heap of (due_at, resource id)

    def free(self, now: float) -> bool:
        return self.gate_at <= now and self.lease_until_at <= now

    def lease(self, until_at: float, by: str) -> int:
        """The token of a new lease. `place` must follow."""
        self.token += 1
        self.lease_until_at = until_at
        self.by = by
        self.in_line = False
        return self.token

    def holds(self, token: int) -> bool:
        """Whether this lease is the present one; it may well have run out."""
        return self.token == token and self.lease_until_at > -inf

    def free_from(self, token: int, gate_at: float) -> bool:
        """Only the present lease ends; released or completed, it is no longer there. `place` must follow."""
        if not self.holds(token):
            return False
        self.lease_until_at = -inf
        self.gate_at = max(self.gate_at, gate_at)
        return True

    def set_back(self, now: float, lease_s: float, rest_s: float) -> None:
        """No gate nor lease lies further ahead than it can. `place` must follow."""
        longest_s = DAY_S if self.n_failures else max(self.rest_s or 0.0, rest_s)
        self.gate_at = min(self.gate_at, now + longest_s)
        self.lease_until_at = min(self.lease_until_at, now + lease_s)


class Line:
    """Hosts by number, and the due times of the resources that may be claimed."""

    def __init__(self) -> None:
        self.hosts: dict[int, Host] = {}
        self.due_at: dict[int, float] = {}
        self._waiting: list[tuple[float, int]] = []  # heap of (ready_at, host id)
        self._standing: list[tuple[float, int, int]] = []  # heap of (due_at, resource id, host id)

    def plan(self, host: Host, resource_id: int, due_at: float | None) -> None:
        """None: it is not to be claimed. `place` must follow."""
        if due_at is None:
            self.due_at.pop(resource_id, None)
        elif self.due_at.get(resource_id) != due_at:
            self.due_at[resource_id] = due_at
            heappush(host.turns, (due_at, resource_id))

    def leave(self, host: Host, resource_id: int) -> None:
        """It goes to another host, where it may well be due at the same time. `place` must follow."""
        self.plan(host, resource_id, None)
        host.turns[:] = [turn for turn in host.turns if turn[1] != resource_id]
        heapify(host.turns)

    def place(self, hosts: Iterable[Host]) -> None:
        """After anything about them may have changed."""
        for host in hosts:
            first = self._first(host)
            host.ready_at = inf if first is None else max(host.gate_at, host.lease_until_at, first[0])
            if first is not None and host.in_line:
                heappush(self._standing, (*first, host.id))
            elif first is not None:
                heappush(self._waiting, (host.ready_at, host.id))
        if len(self._waiting) + len(self._standing) > 4 * len(self.hosts) + _SLACK:
            self._clear()

    def take(self, now: float, limit: int) -> list[tuple[Host, int]]:
        """Hosts whose turn has come, each with its first resource, the longest due first."""
        while self._waiting and self._waiting[0][0] <= now:
            ready_at, host_id = heappop(self._waiting)
            host = self.hosts[host_id]
            first = self._first(host)
            if first is not None and not host.in_line and host.ready_at == ready_at:
                host.in_line = True
                heappush(self._standing, (*first, host_id))
        taken: list[tuple[Host, int]] = []
        while len(taken) < limit and self._head_at(now) <= now:
            _, resource_id, host_id = heappop(self._standing)
            host = self.hosts[host_id]
            host.in_line = False
            taken.append((host, resource_id))
        return taken

    def ready_at(self, now: float) -> float:
        while self._waiting:
            ready_at, host_id = self._waiting[0]
            host = self.hosts[host_id]
            if not host.in_line and host.ready_at == ready_at:
                break
            heappop(self._waiting)
        return max(now, min(self._head_at(now), self._waiting[0][0] if self._waiting else inf))

    def ready_by(self, now: float, due_by: float) -> float:
        """Of hosts that have something due by then."""
        turns = ((host, self._first(host)) for host in self.hosts.values())
        ready = (host.ready_at for host, first in turns if first is not None and first[0] <= due_by)
        return max(now, min(ready, default=inf))

    def _first(self, host: Host) -> tuple[float, int] | None:
        turns = host.turns
        if len(turns) > 2 * len(host.members) + _SLACK:
            turns[:] = [(self.due_at[key], key) for key in host.members if key in self.due_at]
            heapify(turns)
        while turns and self.due_at.get(turns[0][1]) != turns[0][0]:
            heappop(turns)
        return turns[0] if turns else None

    def _head_at(self, now: float) -> float:
        """When the head of the line is due, once outdated entries are out of the way."""
        while self._standing:
            due_at, resource_id, host_id = self._standing[0]
            host = self.hosts[host_id]
            if host.in_line and self._first(host) == (due_at, resource_id):
                if host.free(now):
                    return due_at
                host.in_line = False  # the clock went back: it waits again
                heappush(self._waiting, (host.ready_at, host_id))
            heappop(self._standing)
        return inf

    def _clear(self) -> None:
        self._waiting.clear()
        self._standing.clear()
        for host in self.hosts.values():
            first = self._first(host)
            if first is not None and host.in_line:
                self._standing.append((*first, host.id))
            elif first is not None:
                self._waiting.append((host.ready_at, host.id))
        heapify(self._waiting)
        heapify(self._standing)
