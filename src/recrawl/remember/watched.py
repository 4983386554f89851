"""What is watched, in memory: resources by number, URL, host and tag, and what was said about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import nan

from recrawl.errors import NotWatchedError
from recrawl.model import (
    GLOBAL,
    Effective,
    NewResource,
    Resource,
    Scope,
    ScopeKind,
    Settings,
    Signal,
    Standing,
    Version,
    Visit,
    settled,
)
from recrawl.remember.layers import SILENT, merged
from recrawl.remember.line import Host


@dataclass(slots=True)
class Record:
    """One resource. Its plan, and of its standing `gap_s` and `due_at`, are in the columns."""

    resource: Resource
    host: Host
    standing: Standing = field(default_factory=Standing)
    visits: list[Visit] = field(default_factory=list)
    versions: list[tuple[int, Version]] = field(default_factory=list)  # with their order over all resources
    signals: dict[float, Signal] = field(default_factory=dict)  # by when they were heard
    # of its visits, by fetch: what their plans had said of the chance of a change, and of changes a day
    foreseen: dict[str, tuple[float, float]] = field(default_factory=dict)

    def told(self, since_at: float, at: float) -> tuple[float, int]:
        """The first signal after the one moment and until the other, and whose; NaN and 0 where none is."""
        first = min((heard for heard in self.signals if since_at < heard <= at), default=nan)
        return first, self.signals[first].source_id if first in self.signals else 0

    @property
    def last_seq(self) -> int:
        return self.versions[-1][1].seq if self.versions else 0  # the newest is never dropped


class Watched:
    def __init__(self) -> None:
        self.records: dict[int, Record] = {}
        self.ids: dict[str, int] = {}
        self.hosts: dict[str, Host] = {}  # never dropped: the token and the gate outlive the resources
        self.tagged: dict[str, set[int]] = {}
        self.layers: dict[Scope, Settings] = {}
        self._last_id = 0

    def host(self, name: str) -> Host:
        return self.hosts.setdefault(name, Host(len(self.hosts) + 1, name))

    def add(self, item: NewResource, now: float) -> Record:
        self._last_id += 1  # a number is never used twice: leases and archives outlive a removal
        host = self.host(item.host)
        said = merged(SILENT, item.settings)
        resource = Resource(
            id=self._last_id,
            url=item.url,
            host_id=host.id,
            host=host.name,
            added_at=now,
            settings=said,
            depth=item.depth,
            changefreq=item.changefreq,
            lastmod_at=item.lastmod_at,
        )
        if said != SILENT:
            self.layers[Scope(ScopeKind.RESOURCE, item.url)] = said
        host.members.add(resource.id)
        self.ids[resource.url] = resource.id
        self.records[resource.id] = record = Record(resource, host)
        return record

    def deepen(self, record: Record, depth: int | None) -> None:
        """A shorter way there was found, or the first."""
        known = record.resource.depth
        if depth is not None and (known is None or depth < known):
            record.resource = replace(record.resource, depth=depth)

    def hint(self, record: Record, item: NewResource) -> None:
        """The newest word of a sitemap."""
        known = record.resource
        record.resource = replace(
            known,
            changefreq=item.changefreq or known.changefreq,
            lastmod_at=known.lastmod_at if item.lastmod_at is None else item.lastmod_at,
        )

    def remove(self, resource_id: int) -> Record | None:
        record = self.records.pop(resource_id, None)
        if record is not None:
            resource = record.resource
            record.host.members.remove(resource_id)
            del self.ids[resource.url]
            self.layers.pop(Scope(ScopeKind.RESOURCE, resource.url), None)
            for tag in resource.tags:
                self.tagged[tag].remove(resource_id)
        return record

    def move(self, record: Record, url: str, host: str) -> None:
        before = record.resource
        record.host.members.remove(before.id)
        record.host = self.host(host)
        record.host.members.add(before.id)
        del self.ids[before.url]
        self.ids[url] = before.id
        if (said := self.layers.pop(Scope(ScopeKind.RESOURCE, before.url), None)) is not None:
            self.layers[Scope(ScopeKind.RESOURCE, url)] = said
        record.resource = replace(before, url=url, host_id=record.host.id, host=host)
        record.standing = replace(record.standing, moved_to=None, moved_since_at=nan)

    def tag(self, record: Record, add: Iterable[str], drop: Iterable[str]) -> None:
        before = set(record.resource.tags)
        after = before.difference(drop).union(add)
        for tag in before - after:
            self.tagged[tag].remove(record.resource.id)
        for tag in after - before:
            self.tagged.setdefault(tag, set()).add(record.resource.id)
        record.resource = replace(record.resource, tags=tuple(sorted(after)))

    def say(self, scope: Scope, settings: Settings, forget: Sequence[str]) -> None:
        said = merged(self.layers.get(scope, SILENT), settings, forget)
        self.layers[scope] = said
        if said == SILENT:
            del self.layers[scope]

    def settle(self, record: Record) -> None:
        """Ask all layers again."""
        resource = record.resource
        own = Scope(ScopeKind.RESOURCE, resource.url)
        asked = (
            own,
            *(Scope(ScopeKind.TAG, tag) for tag in resource.tags),
            Scope(ScopeKind.HOST, resource.host),
        )
        said = tuple(self.layers[scope] for scope in asked if scope in self.layers)
        effective = _effective(said, self.layers.get(GLOBAL, SILENT))
        record.resource = replace(resource, settings=self.layers.get(own, SILENT), effective=effective)

    def reached(self, scope: Scope) -> list[int]:
        match scope.kind:
            case ScopeKind.GLOBAL:
                return list(self.records)
            case ScopeKind.HOST:
                return sorted(self.hosts[scope.name].members) if scope.name in self.hosts else []
            case ScopeKind.TAG:
                return sorted(self.tagged.get(scope.name, ()))
            case ScopeKind.RESOURCE:
                if scope.name not in self.ids:
                    raise NotWatchedError(
                        f"{scope.name} is not being watched; add it with `recrawl add {scope.name}`."
                    )
                return [self.ids[scope.name]]


@lru_cache(maxsize=4096)  # many resources, few ways of saying things
def _effective(layers: tuple[Settings, ...], default: Settings) -> Effective:
    return settled(layers, default)
