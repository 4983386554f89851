"""What is watched, in the file: the part of `SqliteStore` that people talk to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from recrawl.errors import NotWatchedError, WatchedAlreadyError
from recrawl.model import (
    SIGHT_FORMAT,
    Effective,
    Lease,
    NewResource,
    Plan,
    Resource,
    Scope,
    ScopeKind,
    Settings,
    Standing,
)
from recrawl.remember.layers import SILENT, merged
from recrawl.remember.sqlite import rows
from recrawl.remember.sqlite.database import Database, paged
from recrawl.remember.sqlite.settings import settings_of, settings_values

_DEFAULTS = settings_values(Effective())
_LAYERS = (ScopeKind.GLOBAL, ScopeKind.HOST, ScopeKind.TAG, ScopeKind.RESOURCE)


class SqliteWatchlist:
    def __init__(self, path: Path) -> None:
        self._db = Database(path)

    def add(self, new: Iterable[NewResource], now: float) -> tuple[int, int]:
        first: dict[str, NewResource] = {}
        tags: list[tuple[str, str]] = []
        n_given = 0
        for item in new:
            n_given += 1
            first.setdefault(item.url, item)
            tags.extend((item.url, tag) for tag in item.tags)
        with self._db.writing():
            self._db.run_many("receive", map(rows.new_values, first.values()))
            self._db.run_many("receive_tag", tags)
            last_id = self._db.column("last_id")[0]
            self._db.run("add_hosts")
            n_added = self._db.run("add_resources", {"now": now})
            self._db.run("deepen")
            self._db.run("hint")
            self._db.run("add_layers", {"last_id": last_id})
            self._db.run("add_tags")
            self._settle(self._db.column("added_or_tagged", {"last_id": last_id}), now)
            self._db.run("forget_incoming")
            self._db.run("forget_incoming_tags")
        return n_added, n_given - n_added

    def remove(self, ids: Sequence[int]) -> int:
        chosen = {"ids": json_ids(ids)}
        with self._db.writing():
            host_ids = self._db.column("hosts_of", chosen)
            self._db.run("remove_layers", chosen)
            n_removed = self._db.run("remove", chosen)
            self._take_turns(host_ids)
            self._db.run("mark_said")
        return n_removed

    def find(self, url: str) -> Resource | None:
        found = self._watched(self._db.column("id_of_url", {"url": url}))
        return found[0][0] if found else None

    def resources(
        self,
        *,
        tag: str | None = None,
        host: str | None = None,
        text: str | None = None,
        limit: int | None = None,
        after: int = 0,
    ) -> Iterator[tuple[Resource, Standing, Plan | None]]:
        query = "page_of_tag" if tag is not None else "page_of_host" if host is not None else "page"
        wanted = {"tag": tag, "host": host, "text": text}

        def page(after: int, n: int) -> list[tuple[int, tuple[Resource, Standing, Plan | None]]]:
            ids = self._db.column(query, {**wanted, "after": after, "limit": n})
            return [(found[0].id, found) for found in self._watched(ids)]

        yield from paged(page, after, limit)

    def say(self, scope: Scope, settings: Settings, now: float, *, forget: Sequence[str] = ()) -> int:
        layer = {"scope": scope.kind.value, "name": scope.name}
        with self._db.writing():
            ids = self._reached(scope)
            row = self._db.row("layer", layer)
            said = merged(SILENT if row is None else settings_of(row), settings, forget)
            if said == SILENT:
                self._db.run("drop_layer", layer)
            else:
                self._db.run("put_layer", {**layer, **settings_values(said)})
            self._settle(ids, now)
        return len(ids)

    def say_each(
        self, ids: Sequence[int], settings: Settings, now: float, *, forget: Sequence[str] = ()
    ) -> int:
        dropped: list[dict[str, object]] = []
        put: list[dict[str, object]] = []
        with self._db.writing():
            found = self._db.mappings("own_layers", {"ids": json_ids(dict.fromkeys(ids))})
            for row in found:
                layer: dict[str, object] = {"scope": ScopeKind.RESOURCE.value, "name": row["resource_url"]}
                said = merged(SILENT if row["scope"] is None else settings_of(row), settings, forget)
                if said == SILENT:
                    dropped.append(layer)
                else:
                    put.append({**layer, **settings_values(said)})
            self._db.run_many("drop_layer", dropped)
            self._db.run_many("put_layer", put)
            self._settle([row["resource_id"] for row in found], now)
        return len(found)

    def said(self, scopes: Sequence[Scope] | None = None) -> Iterator[tuple[Scope, Settings]]:
        if scopes is not None:
            for scope in scopes:
                row = self._db.row("layer", {"scope": scope.kind.value, "name": scope.name})
                if row is not None:
                    yield scope, settings_of(row)
            return
        for kind in _LAYERS:
            found = self._db.rows("layers", {"scope": kind.value})
            yield from ((Scope(kind, row["name"]), settings_of(row)) for row in found)

    def tag(self, ids: Sequence[int], add: Sequence[str], drop: Sequence[str], now: float) -> None:
        chosen = {"ids": json_ids(ids)}
        with self._db.writing():
            self._db.run("untag", {**chosen, "tags": json.dumps(list(drop))})
            self._db.run("tag", {**chosen, "tags": json.dumps(list(add))})
            self._settle(ids, now)

    def move(self, resource_id: int, url: str, host: str, now: float) -> None:
        moved = {"id": resource_id, "url": url, "host": host}
        with self._db.writing():
            if self._db.column("id_of_url", moved):
                raise WatchedAlreadyError(f"{url} is watched already; `recrawl remove` one of the two.")
            left = self._db.column("hosts_of", {"ids": json_ids([resource_id])})
            self._db.run("add_host", moved)
            self._db.run("move_layer", moved)
            if not self._db.run("move", moved):
                raise unknown(resource_id)
            self._settle([resource_id], now)
            self._take_turns(left)

    def moved(self) -> Iterator[tuple[Resource, Standing]]:
        def page(after: int, n: int) -> list[tuple[int, tuple[Resource, Standing]]]:
            ids = self._db.column("page_of_moved", {"after": after, "limit": n})
            return [(resource.id, (resource, standing)) for resource, standing, _ in self._watched(ids)]

        yield from paged(page, 0, None)

    def _watched(self, ids: Sequence[int]) -> list[tuple[Resource, Standing, Plan | None]]:
        """In the order of `ids`; those not watched are left out."""
        found = self._db.mappings("watched", {"ids": json_ids(ids), "format": SIGHT_FORMAT})
        return [(rows.resource_of(row), rows.standing_of(row), rows.plan_of(row)) for row in found]

    def _last_seqs(self, leases: Sequence[Lease]) -> list[int | None]:
        """Of each one's versions; None where the resource was removed, or erased since it was claimed."""
        ids = json_ids(lease.resource.id for lease in leases)
        found = {row[0]: row[1:] for row in self._db.tuples("last_seqs", {"ids": ids})}
        known = [(*found.get(lease.resource.id, (None, None)), lease.claimed_at) for lease in leases]
        return [None if erased_at is not None and erased_at >= at else seq for seq, erased_at, at in known]

    def _reached(self, scope: Scope) -> list[int]:
        name = {"name": scope.name}
        match scope.kind:
            case ScopeKind.GLOBAL:
                return self._db.column("ids_all")
            case ScopeKind.HOST:
                return self._db.column("ids_of_host", name)
            case ScopeKind.TAG:
                return self._db.column("ids_of_tag", name)
            case ScopeKind.RESOURCE:
                ids = self._db.column("id_of_url", {"url": scope.name})
                if not ids:
                    raise NotWatchedError(
                        f"{scope.name} is not being watched; add it with `recrawl add {scope.name}`."
                    )
                return ids

    def _settle(self, ids: Sequence[int], now: float) -> None:
        """After anything that may change what holds for these resources."""
        chosen = {"ids": json_ids(ids)}
        self._db.run("settle", {**chosen, **_DEFAULTS})
        self._db.run("bring_inside", {**chosen, "now": now})
        self._take_turns(self._db.column("hosts_of", chosen))
        self._db.run("mark_said")

    def _take_turns(self, host_ids: Iterable[int]) -> None:
        self._db.run("take_turns", {"host_ids": json_ids(host_ids)})


def unknown(resource_id: int) -> NotWatchedError:
    return NotWatchedError(f"No watched resource has the id {resource_id}; `recrawl list` shows them.")


def json_ids(ids: Iterable[int]) -> str:
    return json.dumps([int(key) for key in ids])
