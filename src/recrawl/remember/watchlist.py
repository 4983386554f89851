"""What is watched, in memory: the part of `MemoryStore` that people talk to."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from math import isnan, nan

from recrawl.errors import NotWatchedError, WatchedAlreadyError
from recrawl.model import (
    Bag,
    Erasure,
    Hunch,
    NewResource,
    Plan,
    Resource,
    Scope,
    ScopeKind,
    Settings,
    Sight,
    Standing,
    Visit,
)
from recrawl.remember.columns import Columns
from recrawl.remember.layers import SILENT, merged
from recrawl.remember.line import Host, Line
from recrawl.remember.payloads import Payloads
from recrawl.remember.watched import Record, Watched


class MemoryWatchlist:
    def __init__(self) -> None:
        self._watched = Watched()
        self._columns = Columns()
        self._line = Line()
        self._fetch_ids: set[str] = set()
        self._visited_at: list[float] = []  # sorted
        self._recorded: list[Visit] = []  # in the order they came
        self._n_versions = 0  # ever
        self._files: dict[str, int] = {}
        self._payloads = Payloads()
        self._facts: dict[str, str] = {}
        self._told_by: dict[int, set[int]] = {}  # of each source, those it told of
        self._sights: dict[int, Sight] = {}
        self._hunches: dict[int, dict[str, tuple[float, Hunch]]] = {}  # by resource and model
        self._links: set[tuple[int, int]] = set()
        self._kin: dict[tuple[int, int], float] = {}
        self._erasures: dict[str, Erasure] = {}
        self._bags: dict[int, dict[float, Bag]] = {}  # by resource, and by when their versions came

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
                self._watched.deepen(self._watched.records[resource_id], item.depth)
                if resource_id not in self._sights:
                    self._watched.hint(self._watched.records[resource_id], item)
            if item.tags:
                self._watched.tag(self._watched.records[resource_id], item.tags, ())
                touched[resource_id] = None
        self._settle(touched, now)
        return n_added, n_known

    def _keep(self, record: Record, visit: Visit) -> None:
        self._fetch_ids.add(visit.fetch_id)
        insort(self._visited_at, visit.at)
        insort(record.visits, visit, key=lambda visit: visit.at)
        self._recorded.append(visit)

    def remove(self, ids: Sequence[int]) -> int:
        gone = [record for key in ids if (record := self._watched.remove(key)) is not None]
        for record in gone:
            self._columns.active[record.resource.id - 1] = False
            self._line.plan(record.host, record.resource.id, None)
            self._fetch_ids.difference_update(visit.fetch_id for visit in record.visits)
            self._payloads.forget(record.versions)
            self._unsay(record.resource.id)
            self._unsee(record.resource.id)
            self._bags.pop(record.resource.id, None)
            self._links = {pair for pair in self._links if record.resource.id not in pair}
            self._kin = {pair: one for pair, one in self._kin.items() if record.resource.id not in pair}
        if any(record.visits for record in gone):
            left = self._watched.records.values()
            self._visited_at = sorted(visit.at for record in left for visit in record.visits)
        self._line.place({record.host for record in gone})
        self._mark_said()
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
        wanted = None if text is None else text.lower()
        matching = (
            resource_id
            for resource_id in sorted(chosen)
            if resource_id > after and (wanted is None or wanted in records[resource_id].resource.url.lower())
        )
        for resource_id in islice(matching, limit):
            yield records[resource_id].resource, self._standing(resource_id), self._columns.plan(resource_id)

    def say(self, scope: Scope, settings: Settings, now: float, *, forget: Sequence[str] = ()) -> int:
        ids = self._watched.reached(scope)
        self._watched.say(scope, settings, forget)
        self._settle(ids, now)
        return len(ids)

    def say_each(
        self, ids: Sequence[int], settings: Settings, now: float, *, forget: Sequence[str] = ()
    ) -> int:
        known = [key for key in dict.fromkeys(ids) if key in self._watched.records]
        merged(SILENT, settings, forget)  # what cannot be said at all is said of none
        for key in known:
            own = Scope(ScopeKind.RESOURCE, self._watched.records[key].resource.url)
            self._watched.say(own, settings, forget)
        self._settle(known, now)
        return len(known)

    def said(self, scopes: Sequence[Scope] | None = None) -> Iterator[tuple[Scope, Settings]]:
        if scopes is not None:
            layers = self._watched.layers
            yield from ((scope, layers[scope]) for scope in scopes if scope in layers)
            return
        widest_first = list(ScopeKind)[::-1]
        yield from sorted(
            self._watched.layers.items(), key=lambda item: (widest_first.index(item[0].kind), item[0].name)
        )

    def tag(self, ids: Sequence[int], add: Sequence[str], drop: Sequence[str], now: float) -> None:
        known = [resource_id for resource_id in ids if resource_id in self._watched.records]
        for resource_id in known:
            self._watched.tag(self._watched.records[resource_id], add, drop)
        self._settle(known, now)

    def move(self, resource_id: int, url: str, host: str, now: float) -> None:
        if url in self._watched.ids:
            raise WatchedAlreadyError(f"{url} is watched already; `recrawl remove` one of the two.")
        record = self._known(resource_id)
        left = record.host
        self._line.leave(left, resource_id)
        self._watched.move(record, url, host)
        self._line.hosts[record.host.id] = record.host
        self._settle([resource_id], now)
        self._line.place([left])

    def moved(self) -> Iterator[tuple[Resource, Standing]]:
        for resource_id, record in self._watched.records.items():
            if record.standing.has_moved and record.standing.moved_to != record.resource.url:
                yield record.resource, self._standing(resource_id)

    def _known(self, resource_id: int) -> Record:
        if resource_id not in self._watched.records:
            raise NotWatchedError(f"No watched resource has the id {resource_id}; `recrawl list` shows them.")
        return self._watched.records[resource_id]

    def _standing(self, resource_id: int) -> Standing:
        real, row = self._columns.real, resource_id - 1
        return replace(
            self._watched.records[resource_id].standing,
            gap_s=float(real["gap_s"][row]),
            due_at=float(real["due_at"][row]),
            told_at=float(real["told_at"][row]),
            told_by=int(self._columns.count["told_by"][row]),
            sight_at=float(real["sight_at"][row]),
            hunch_per_day=float(real["hunch_per_day"][row]),
            hunch_gap_s=float(real["hunch_gap_s"][row]),
        )

    def _settle(self, ids: Iterable[int], now: float) -> None:
        """After anything that may change what holds for these resources."""
        self._mark_said()
        touched: dict[Host, None] = {}
        for resource_id in ids:
            record = self._watched.records[resource_id]
            self._watched.settle(record)
            self._columns.set_effective(resource_id, record.resource.host_id, record.resource.effective)
            self._columns.bring_inside(resource_id, now)
            self._queue(record)
            touched[record.host] = None
        self._line.place(touched)

    def _heeded(self, record: Record) -> None:
        """A signal is heeded by the visit after it."""
        key = record.resource.id
        if self._columns.real["told_at"][key - 1] <= self._columns.real["since_at"][key - 1]:
            self._columns.set_told(key, nan, 0)

    def _unsay(self, source_id: int) -> None:
        """Nobody was told of anything by this one."""
        for resource_id in self._told_by.pop(source_id, ()):
            record = self._watched.records.get(resource_id)
            if record is None:
                continue
            for at in [at for at, signal in record.signals.items() if signal.source_id == source_id]:
                del record.signals[at]
            if self._columns.count["told_by"][resource_id - 1] == source_id:
                self._columns.set_told(resource_id, nan, 0)

    def _unsee(self, resource_id: int) -> None:
        """Nothing of what it showed is known, nor what was made of it."""
        self._sights.pop(resource_id, None)
        self._hunches.pop(resource_id, None)
        self._columns.forget_sight(resource_id)

    def _mark_said(self) -> None:
        self._facts["said"] = str(int(self._facts.get("said", "0")) + 1)

    def _queue(self, record: Record) -> None:
        due_at = float(self._columns.real["due_at"][record.resource.id - 1])
        waits = record.resource.effective.paused or isnan(due_at)
        self._line.plan(record.host, record.resource.id, None if waits else due_at)
