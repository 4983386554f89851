"""The `Store` contract in memory: the simulator's store, and the quickest to test with. Nothing is kept."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from math import inf, isnan

import numpy as np

from recrawl.errors import NotWatchedError
from recrawl.model import (
    Batch,
    Changed,
    Completion,
    Floats,
    Lease,
    NewResource,
    Plan,
    Plans,
    Resource,
    Scope,
    ScopeKind,
    Settings,
    Standing,
    Version,
    Visit,
)
from recrawl.remember.columns import Columns
from recrawl.remember.line import Host, Line
from recrawl.remember.watched import Record, Watched


class MemoryStore:
    def __init__(self) -> None:
        self._watched = Watched()
        self._columns = Columns()
        self._line = Line()
        self._fetch_ids: set[str] = set()
        self._visited_at: list[float] = []  # sorted
        self._n_versions = 0  # ever
        self._files: dict[str, int] = {}
        self._facts: dict[str, str] = {}

    # what is watched

    def add(self, new: Iterable[NewResource], now: float) -> tuple[int, int]:
        n_added = n_known = 0
        touched: dict[int, None] = {}
        for item in new:
            resource_id = self._watched.ids.get(item.url)
            if resource_id is None:
                n_added += 1
                record = self._watched.add(item, now)
                resource_id = record.resource.id
                self._line.hosts[record.host.id] = record.host
                self._columns.append(
                    Plan(resource_id=resource_id, due_at=now, rule="first-look", planned_at=now)
                )
                touched[resource_id] = None
            else:
                n_known += 1
            if item.tags:
                self._watched.tag(self._watched.records[resource_id], item.tags, ())
                touched[resource_id] = None
        self._settle(touched, now)
        return n_added, n_known

    def remove(self, ids: Sequence[int]) -> int:
        gone = [record for key in ids if (record := self._watched.remove(key)) is not None]
        for record in gone:
            self._columns.active[record.resource.id - 1] = False
            self._line.plan(record.host, record.resource.id, None)
            self._fetch_ids.difference_update(visit.fetch_id for visit in record.visits)
        if any(record.visits for record in gone):
            left = self._watched.records.values()
            self._visited_at = sorted(visit.at for record in left for visit in record.visits)
        self._line.place({record.host for record in gone})
        return len(gone)

    def find(self, url: str) -> Resource | None:
        resource_id = self._watched.ids.get(url)
        return None if resource_id is None else self._watched.records[resource_id].resource

    def resources(
        self,
        *,
        tag: str | None = None,
        host: str | None = None,
        text: str | None = None,
        limit: int | None = None,
        after: int = 0,
    ) -> Iterator[tuple[Resource, Standing, Plan | None]]:
        records = self._watched.records
        chosen = set(records)
        if tag is not None:
            chosen.intersection_update(self._watched.reached(Scope(ScopeKind.TAG, tag)))
        if host is not None:
            chosen.intersection_update(self._watched.reached(Scope(ScopeKind.HOST, host)))
        matching = (
            resource_id
            for resource_id in sorted(chosen)
            if resource_id > after and (text is None or text in records[resource_id].resource.url)
        )
        for resource_id in islice(matching, limit):
            yield records[resource_id].resource, *self.standing(resource_id)

    def say(self, scope: Scope, settings: Settings, now: float, *, forget: Sequence[str] = ()) -> int:
        ids = self._watched.reached(scope)
        self._watched.say(scope, settings, forget)
        self._settle(ids, now)
        return len(ids)

    def said(self) -> Iterator[tuple[Scope, Settings]]:
        widest_first = list(ScopeKind)[::-1]
        yield from sorted(
            self._watched.layers.items(), key=lambda item: (widest_first.index(item[0].kind), item[0].name)
        )

    def tag(self, ids: Sequence[int], add: Sequence[str], drop: Sequence[str], now: float) -> None:
        known = [resource_id for resource_id in ids if resource_id in self._watched.records]
        for resource_id in known:
            self._watched.tag(self._watched.records[resource_id], add, drop)
        self._settle(known, now)

    # the loop

    def claim(self, *, now: float, limit: int, lease_s: float, only: int | None = None) -> list[Lease]:
        if only is None:
            taken = self._line.take(now, limit)
        else:
            record = self._watched.records.get(only)
            taken = [] if record is None or not record.host.free(now) else [(record.host, only)]
        leases: list[Lease] = []
        for host, resource_id in taken:
            host.token += 1
            host.lease_until_at = now + lease_s
            host.in_line = False
            leases.append(
                Lease(
                    resource=self._watched.records[resource_id].resource,
                    standing=self._standing(resource_id),
                    token=host.token,
                    claimed_at=now,
                    until_at=host.lease_until_at,
                )
            )
        self._line.place(host for host, _ in taken)
        return leases

    def release(self, leases: Sequence[Lease], now: float) -> None:  # noqa: ARG002  # the contract's
        for lease in leases:
            host = self._line.hosts[lease.resource.host_id]
            if host.token == lease.token:
                host.lease_until_at = -inf
                self._line.place([host])

    def complete(
        self,
        done: Sequence[Completion],
        now: float,  # noqa: ARG002  # the contract's: a late completion is refused by its token, not its age
        files: Mapping[str, int] | None = None,
    ) -> list[bool]:
        for name, length in (files or {}).items():
            self._files[name] = max(length, self._files.get(name, 0))
        return [self._record(completion) for completion in done]

    def ready_at(self, now: float) -> float:
        return self._line.ready_at(now)

    def batch(self) -> tuple[Batch, Floats]:
        return self._columns.batch()

    def replan(self, plans: Plans) -> None:
        plans = plans.pick((plans.id >= 1) & (plans.id <= self._columns.n))
        self._columns.set_plans(plans)
        active = np.flatnonzero(self._columns.active[plans.id - 1])
        touched: dict[Host, None] = {}
        for resource_id, due_at in zip(plans.id[active].tolist(), plans.due_at[active].tolist(), strict=True):
            host = self._watched.records[resource_id].host
            self._line.plan(host, resource_id, None if isnan(due_at) else due_at)
            touched[host] = None
        self._line.place(touched)

    # what happened

    def visits(self, resource_id: int, limit: int | None = None) -> Iterator[Visit]:
        record = self._watched.records.get(resource_id)
        yield from islice(reversed(record.visits if record else []), limit)

    def versions(self, resource_id: int | None = None) -> Iterator[Version]:
        if resource_id is None:
            records = list(self._watched.records.values())
        else:
            records = [self._watched.records[resource_id]] if resource_id in self._watched.records else []
        ordered = sorted((pair for record in records for pair in record.versions), key=lambda pair: pair[0])
        yield from (version for _, version in ordered)

    def standing(self, resource_id: int) -> tuple[Standing, Plan | None]:
        if resource_id not in self._watched.records:
            raise NotWatchedError(f"No watched resource has the id {resource_id}; `recrawl list` shows them.")
        return self._standing(resource_id), self._columns.plan(resource_id)

    def n_visits_since(self, at: float) -> int:
        return len(self._visited_at) - bisect_left(self._visited_at, at)

    def counts(self, now: float) -> Mapping[str, int]:
        """Now: `resources`, their `hosts`, those `paused`, those `due` (and not paused), hosts `leased`.
        So far, of what is watched: `visits`, those that found `changes`, those that were `failures` (told
        nothing), and `versions` (flagged ones not counted).
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
        }

    def files(self) -> Mapping[str, int]:
        return dict(sorted(self._files.items()))

    def note(self, key: str, value: str | None = None) -> str | None:
        if value is not None:
            self._facts[key] = value
        return self._facts.get(key)

    def close(self) -> None:
        """Nothing to close."""

    def _standing(self, resource_id: int) -> Standing:
        real, row = self._columns.real, resource_id - 1
        return replace(
            self._watched.records[resource_id].standing,
            gap_s=float(real["gap_s"][row]),
            due_at=float(real["due_at"][row]),
        )

    def _settle(self, ids: Iterable[int], now: float) -> None:
        """After anything that may change what holds for these resources."""
        touched: dict[Host, None] = {}
        for resource_id in ids:
            record = self._watched.records[resource_id]
            self._watched.settle(record)
            self._columns.set_effective(resource_id, record.resource.effective)
            self._columns.bring_inside(resource_id, now)
            self._queue(record)
            touched[record.host] = None
        self._line.place(touched)

    def _queue(self, record: Record) -> None:
        due_at = float(self._columns.real["due_at"][record.resource.id - 1])
        waits = record.resource.effective.paused or isnan(due_at)
        self._line.plan(record.host, record.resource.id, None if waits else due_at)

    def _record(self, done: Completion) -> bool:
        lease, host = done.lease, self._line.hosts[done.lease.resource.host_id]
        if done.visit.fetch_id in self._fetch_ids:
            return True
        if host.token != lease.token or host.lease_until_at == -inf:
            return False
        host.lease_until_at = -inf
        host.gate_at = max(host.gate_at, done.gate_at)
        record = self._watched.records.get(lease.resource.id)
        if record is not None:  # else removed meanwhile; its host was visited all the same, and is gated now
            self._fetch_ids.add(done.visit.fetch_id)
            insort(self._visited_at, done.visit.at)
            record.visits.append(done.visit)
            current = record.standing.version
            for version in done.versions:
                self._n_versions += 1
                kept = replace(version, resource_id=lease.resource.id, seq=len(record.versions) + 1)
                record.versions.append((self._n_versions, kept))
                current = current if kept.flag else kept
            record.standing = replace(done.standing, version=current)
            self._columns.set_done(done)
            self._queue(record)
        self._line.place([host])
        return record is not None
