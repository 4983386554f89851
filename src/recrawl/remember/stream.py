"""What people ask of the visits of all resources, in memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from math import inf, nan

from recrawl.model import (
    Changed,
    Changer,
    Changes,
    Due,
    Failures,
    HostStanding,
    Outcome,
    Place,
    Resource,
    Sought,
    Sums,
    Visit,
    Which,
)
from recrawl.remember.line import Host
from recrawl.remember.watchlist import MemoryWatchlist

_Failing = tuple[str, Outcome, int | None]


class MemoryStream(MemoryWatchlist):
    def stream(
        self, sought: Sought, *, before: Place | None = None, limit: int, reach: int
    ) -> tuple[Sequence[Visit], Place | None]:
        end: Place = (sought.until_at, 0, "")
        start = end if before is None else min(before, end)
        near = [
            (place, visit, resource)
            for visit, resource in self._all(sought.from_at, inf)
            if _of_its_kind(visit, sought) and (place := _place(visit)) < start
        ]
        near.sort(key=lambda one: one[0], reverse=True)
        found: list[Visit] = []
        for place, visit, resource in near[:reach]:
            if _meant(visit, resource, sought):
                found.append(visit)
                if len(found) == limit:
                    return found, place
        return found, near[reach - 1][0] if len(near) >= reach else None

    def sums(self, from_at: float, until_at: float) -> Sums:
        made = list(self._all(from_at, until_at))
        return Sums(
            n_visits=len(made),
            n_changes=sum(_counts(visit, resource) for visit, resource in made),
            n_failures=sum(not visit.informative for visit, _ in made),
            n_second=sum(visit.second_bytes is not None for visit, _ in made),
            n_bytes=sum(visit.n_bytes + (visit.second_bytes or 0) for visit, _ in made),
        )

    def n_second_since(self, at: float) -> int:
        return self.sums(at, inf).n_second

    def most_changed(self, from_at: float, until_at: float, limit: int) -> Sequence[Changer]:
        n_changes: Counter[int] = Counter()
        n_visits: Counter[int] = Counter()
        last_at: dict[int, float] = {}
        for visit, resource in self._all(from_at, until_at):
            n_visits[resource.id] += 1
            if _counts(visit, resource):
                n_changes[resource.id] += 1
                last_at[resource.id] = max(visit.at, last_at.get(resource.id, -inf))
        found = [
            Changer(
                resource_id=key,
                url=self._watched.records[key].resource.url,
                n_changes=n,
                n_visits=n_visits[key],
                last_at=last_at[key],
            )
            for key, n in n_changes.items()
        ]
        return sorted(found, key=lambda one: (-one.n_changes, -one.last_at, -one.resource_id))[:limit]

    def failures(self, from_at: float, *, host: str | None = None, limit: int) -> Sequence[Failures]:
        n: Counter[_Failing] = Counter()
        last_at: dict[_Failing, float] = {}
        for visit, resource in self._all(from_at, inf):
            if not visit.informative and host in (None, resource.host):
                key = resource.host, visit.outcome, visit.status
                n[key] += 1
                last_at[key] = max(visit.at, last_at.get(key, -inf))
        found = [
            Failures(host=key[0], outcome=key[1], status=key[2], n=n[key], last_at=last_at[key]) for key in n
        ]
        return sorted(found, key=lambda one: (-one.n, -one.last_at, one.host, one.outcome, one.status or 0))[
            :limit
        ]

    def coming(self, from_at: float, until_at: float, limit: int) -> Sequence[Due]:
        due = sorted((at, key) for key, at in self._line.due_at.items() if from_at <= at < until_at)
        return [self._due(at, key) for at, key in due[:limit]]

    def in_turn(self, now: float, limit: int) -> Sequence[Due]:
        first: dict[int, tuple[float, int]] = {}
        for turn in sorted((at, key) for key, at in self._line.due_at.items() if at <= now):
            first.setdefault(self._watched.records[turn[1]].host.id, turn)
        return [self._due(at, key) for at, key in sorted(first.values())[:limit]]

    def _due(self, at: float, resource_id: int) -> Due:
        resource = self._watched.records[resource_id].resource
        return Due(resource_id=resource.id, url=resource.url, host=resource.host, at=at)

    def host_standings(
        self, *, text: str | None = None, after: str = "", limit: int
    ) -> Sequence[HostStanding]:
        named = (
            host for host in self._inhabited() if host.name > after and (text or "").lower() in host.name
        )
        return [self._stands(host) for host in sorted(named, key=lambda host: host.name)[:limit]]

    def host_standing(self, name: str) -> HostStanding | None:
        return next((self._stands(host) for host in self._inhabited() if host.name == name), None)

    def troubled(self, limit: int) -> tuple[Sequence[HostStanding], int]:
        bad = sorted(
            (host for host in self._inhabited() if host.n_failures),
            key=lambda host: (-host.n_failures, host.name),
        )
        return [self._stands(host) for host in bad[:limit]], len(bad)

    def _all(self, from_at: float, until_at: float) -> Iterator[tuple[Visit, Resource]]:
        for record in self._watched.records.values():
            yield from ((one, record.resource) for one in record.visits if from_at <= one.at < until_at)

    def _inhabited(self) -> Iterator[Host]:
        return (host for host in self._watched.hosts.values() if host.members)

    def _stands(self, host: Host) -> HostStanding:
        due_at = [self._line.due_at[key] for key in host.members if key in self._line.due_at]
        return HostStanding(
            id=host.id,
            name=host.name,
            n_resources=len(host.members),
            n_planned=len(due_at),
            gate_at=host.gate_at,
            lease_until_at=host.lease_until_at,
            rest_s=nan if host.rest_s is None else host.rest_s,
            n_failures=host.n_failures,
            due_at=min(due_at, default=nan),
        )


def _place(visit: Visit) -> Place:
    return visit.at, visit.resource_id, visit.fetch_id


def _of_its_kind(visit: Visit, sought: Sought) -> bool:
    return not visit.informative if sought.which is Which.FAILED else visit.changed is Changed.YES


def _meant(visit: Visit, resource: Resource, sought: Sought) -> bool:
    if sought.which is Which.COUNTING and not _counts(visit, resource):
        return False
    if sought.which is Which.SIGNIFICANT and visit.significant is False:
        return False
    return (
        sought.host in (None, resource.host)
        and sought.kind in (None, resource.effective.kind)
        and (sought.text or "").lower() in resource.url.lower()
        and (sought.tag is None or sought.tag in resource.tags)
    )


def _counts(visit: Visit, resource: Resource) -> bool:
    if visit.changed is not Changed.YES:
        return False
    return visit.significant is not False or resource.effective.changes is Changes.ANY
