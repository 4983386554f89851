"""The `Store` contract in memory: the simulator's store, and the quickest to test with. Nothing is kept."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import islice
from math import inf, isnan

import numpy as np

from recrawl.model import (
    ASKED,
    Batch,
    Changed,
    Completion,
    Floats,
    Hold,
    Lease,
    Plan,
    Plans,
    Standing,
    Version,
    Visit,
)
from recrawl.remember.adopting import MemoryAdopting
from recrawl.remember.bags import MemoryBags
from recrawl.remember.kin import MemoryKin
from recrawl.remember.line import Host
from recrawl.remember.paces import MemoryPaces
from recrawl.remember.payloads import unknown_file
from recrawl.remember.roll import MemoryRoll
from recrawl.remember.sights import MemorySights
from recrawl.remember.signals import MemorySignals
from recrawl.remember.stream import MemoryStream
from recrawl.remember.told import MemoryTold
from recrawl.remember.withdrawal import MemoryWithdrawal


class MemoryStore(
    MemoryWithdrawal,
    MemoryAdopting,
    MemoryTold,
    MemoryStream,
    MemorySignals,
    MemorySights,
    MemoryBags,
    MemoryKin,
    MemoryPaces,
    MemoryRoll,
):
    # the loop

    def claim(
        self, *, now: float, limit: int, lease_s: float, only: int | None = None, by: str = ""
    ) -> list[Lease]:
        if only is None:
            taken = self._line.take(now, limit)
        else:
            record = self._watched.records.get(only)
            taken = [] if record is None or not record.host.free(now) else [(record.host, only)]
        leases: list[Lease] = []
        for host, resource_id in taken:
            leases.append(
                Lease(
                    resource=self._watched.records[resource_id].resource,
                    standing=self._standing(resource_id),
                    token=host.lease(now + lease_s, by),
                    claimed_at=now,
                    until_at=now + lease_s,
                    n_host_failures=host.n_failures,
                    base=self.base(resource_id),
                )
            )
        self._line.place(host for host, _ in taken)
        return leases

    def release(self, leases: Sequence[Lease], gate_at: float) -> None:
        hosts = [self._line.hosts[lease.resource.host_id] for lease in leases]
        for host, lease in zip(hosts, leases, strict=True):
            host.free_from(lease.token, gate_at)
        self._line.place(hosts)

    def hold(self, host: str, *, now: float, lease_s: float, by: str = "") -> Hold | None:
        known = self._watched.host(host)
        self._line.hosts[known.id] = known
        if not known.free(now):
            return None
        until_at = now + lease_s
        token = known.lease(until_at, by)
        self._line.place([known])
        return Hold(host=host, token=token, until_at=until_at, n_host_failures=known.n_failures)

    def abandon(self, by: Sequence[str], *, now: float, rest_s: float) -> int:
        dead = [host for host in self._line.hosts.values() if host.lease_until_at > now and host.by in by]
        for host in dead:
            host.lease(-inf, "")
            host.gate_at = max(host.gate_at, now + (rest_s if host.rest_s is None else host.rest_s))
        self._line.place(dead)
        return len(dead)

    def let_go(self, hold: Hold, *, gate_at: float, n_host_failures: int) -> None:
        host = self._watched.host(hold.host)
        if host.free_from(hold.token, gate_at):
            host.n_failures = n_host_failures
            self._line.place([host])

    def set_back(self, now: float, *, lease_s: float, rest_s: float) -> int:
        for host in self._watched.hosts.values():
            host.set_back(now, lease_s, rest_s)
        moved, n = frozenset(self._columns.set_back(now)), 0
        for resource_id, record in self._watched.records.items():
            stands = record.standing
            if resource_id in moved or stands.last_at > now:
                since_at, last_at = (min(at, now) for at in (stands.since_at, stands.last_at))  # NaN stays
                record.standing = replace(stands, since_at=since_at, last_at=last_at)
                self._queue(record)
                n += 1
        self._line.place(self._line.hosts.values())
        return n

    def gate_at(self, host: str) -> float:
        return self._watched.hosts[host].gate_at if host in self._watched.hosts else -inf

    def complete(self, done: Sequence[Completion], files: Mapping[str, int] | None = None) -> list[bool]:
        for name, length in (files or {}).items():
            self._files[name] = max(length, self._files.get(name, 0))
        known = self.recorded([completion.visit.fetch_id for completion in done])
        accepted = [self._record(completion) for completion in done]
        new = [one for one, ok in zip(done, accepted, strict=True) if ok and one.visit.fetch_id not in known]
        self._hear([completion for completion in new if completion.tells])
        self._see(new)
        self._bag(new)
        return accepted

    def ready_at(self, now: float, *, due_by: float = inf) -> float:
        return self._line.ready_at(now) if due_by == inf else self._line.ready_by(now, due_by)

    def held(self, leases: Sequence[Lease]) -> list[bool]:
        return [self._line.hosts[lease.resource.host_id].holds(lease.token) for lease in leases]

    def batch(self) -> tuple[Batch, Floats]:
        return self._columns.batch()

    def replan(self, plans: Plans) -> None:
        plans = plans.pick((plans.id >= 1) & (plans.id <= self._columns.n))
        rows = plans.id - 1
        # visited since, in vain too: a retry backs off
        unvisited = plans.since_at == self._columns.real["since_at"][rows]
        unvisited &= self._columns.count["n_failures"][rows] == 0
        stands = (self._columns.rule[rows] == ASKED) & (plans.rule != ASKED)
        plans = plans.pick((np.isnan(plans.since_at) | unvisited) & ~stands)
        self._columns.set_plans(plans)
        active = np.flatnonzero(self._columns.active[plans.id - 1])
        touched: dict[Host, None] = {}
        for resource_id, due_at in zip(plans.id[active].tolist(), plans.due_at[active].tolist(), strict=True):
            host = self._watched.records[resource_id].host
            self._line.plan(host, resource_id, None if isnan(due_at) else due_at)
            touched[host] = None
        self._line.place(touched)

    # what happened

    def visits(
        self,
        resource_id: int,
        limit: int | None = None,
        *,
        from_at: float = -inf,
        until_at: float = inf,
    ) -> Iterator[Visit]:
        record = self._watched.records.get(resource_id)
        within = (one for one in reversed(record.visits if record else []) if from_at <= one.at < until_at)
        yield from islice(within, limit)

    def versions(self, resource_id: int | None = None) -> Iterator[Version]:
        if resource_id is None:
            records = self._watched.records.values()
            ordered = sorted(
                (pair for record in records for pair in record.versions), key=lambda pair: pair[0]
            )
        else:
            known = self._watched.records.get(resource_id)
            ordered = list(known.versions) if known else []
        yield from (version for _, version in ordered)

    def version(self, resource_id: int, seq: int) -> Version | None:
        return next((one for one in self.versions(resource_id) if one.seq == seq), None)

    def history(
        self,
        resource_id: int,
        *,
        from_at: float = -inf,
        until_at: float = inf,
        newest_first: bool = False,
        limit: int,
    ) -> Sequence[Version]:
        known = [version for version in self.versions(resource_id) if not version.flag]
        found = sorted(
            (version for version in known if from_at <= version.at < until_at),
            key=lambda version: (version.at, version.seq),
            reverse=newest_first,
        )
        return found[:limit]

    def standing(self, resource_id: int) -> tuple[Standing, Plan | None]:
        self._known(resource_id)
        return self._standing(resource_id), self._columns.plan(resource_id)

    def n_visits_since(self, at: float) -> int:
        return len(self._visited_at) - bisect_left(self._visited_at, at)

    def counts(self, now: float) -> Mapping[str, int]:
        """Now: `resources`, their `hosts`, those `paused`, those `due` (and not paused), hosts `leased`.
        So far, of what is watched: `visits`, those that found `changes`, those that were `failures` (told
        nothing), those with `second_looks`, and `versions` (flagged ones not counted).
        """
        visits = [visit for record in self._watched.records.values() for visit in record.visits]
        n_active = int(self._columns.active.sum())
        return {
            "resources": len(self._watched.records),
            "hosts": sum(1 for host in self._line.hosts.values() if host.members),
            "paused": len(self._watched.records) - n_active,
            "due": sum(1 for due_at in self._line.due_at.values() if due_at <= now),
            "leased": sum(1 for host in self._line.hosts.values() if host.lease_until_at > now),
            "visits": len(visits),
            "changes": sum(1 for visit in visits if visit.changed is Changed.YES),
            "failures": sum(1 for visit in visits if not visit.informative),
            "versions": sum(1 for version in self.versions() if not version.flag),
            "second_looks": sum(1 for visit in visits if visit.second_bytes is not None),
        }

    def files(self) -> Mapping[str, int]:
        return dict(sorted(self._files.items()))

    def holding(self, digests: Sequence[str]) -> Mapping[str, Version]:
        return self._payloads.holding(digests)

    def carried(self) -> Mapping[str, str]:
        return dict(sorted(self._payloads.addresses.items()))

    def carry(self, name: str, address: str) -> None:
        if name not in self._files:
            raise unknown_file(name)
        self._payloads.addresses.pop(name, None)
        if address:
            self._payloads.addresses[name] = address

    def note(self, key: str, value: str | None = None) -> str | None:
        if value is not None:
            self._facts[key] = value
        return self._facts.get(key)

    def exchange(self, key: str, expected: str | None, value: str) -> bool:
        if self._facts.get(key) != expected:
            return False
        self._facts[key] = value
        return True

    def together(self) -> AbstractContextManager[None]:
        return nullcontext()

    def until(self, over: Callable[[], bool]) -> AbstractContextManager[None]:  # noqa: ARG002 - it is quick
        return nullcontext()

    def close(self) -> None:
        """Nothing to close."""

    def _record(self, done: Completion) -> bool:
        lease, host = done.lease, self._line.hosts[done.lease.resource.host_id]
        if done.visit.fetch_id in self._fetch_ids:
            return True
        if not host.free_from(lease.token, done.gate_at):
            return False
        host.n_failures = done.n_host_failures
        host.rest_s = max(0.0, done.gate_at - done.visit.at)
        record = self._watched.records.get(lease.resource.id)
        if not self._wants(lease):
            record = None  # removed or erased meanwhile; its host was visited all the same, and is gated now
        if record is not None:
            self._keep(record, done.visit)
            self._foresee(record, done)
            current = record.standing.version
            for version in done.versions:
                self._n_versions += 1
                kept = replace(version, resource_id=lease.resource.id, seq=record.last_seq + 1)
                record.versions.append((self._n_versions, kept))
                self._payloads.keep(self._n_versions, kept)
                current = current if kept.flag else kept
            record.standing = replace(done.standing, version=current)
            self._columns.set_done(done)
            self._heeded(record)
            self._queue(record)
            self._line.place([record.host])  # another one, where the resource was moved meanwhile
        self._line.place([host])
        return record is not None
