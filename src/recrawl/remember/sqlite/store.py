"""The `Store` contract on a SQLite file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import inf
from pathlib import Path

from recrawl.errors import NotWatchedError
from recrawl.model import (
    Batch,
    Completion,
    Effective,
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
from recrawl.remember.layers import SILENT, merged
from recrawl.remember.sqlite import rows
from recrawl.remember.sqlite.database import Database, paged

_DEFAULTS = rows.settings_values(Effective())
_LAYERS = (ScopeKind.GLOBAL, ScopeKind.HOST, ScopeKind.TAG, ScopeKind.RESOURCE)


class SqliteStore:
    """One file, opened or created; several processes may have it open at once.

    It may be used from any thread, by one at a time.
    """

    def __init__(self, path: Path) -> None:
        self._db = Database(path)

    # what is watched

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
            self._db.run("add_layers", {"last_id": last_id})
            self._db.run("add_tags")
            self._settle(self._db.column("added_or_tagged", {"last_id": last_id}), now)
            self._db.run("forget_incoming")
            self._db.run("forget_incoming_tags")
        return n_added, n_given - n_added

    def remove(self, ids: Sequence[int]) -> int:
        chosen = {"ids": _json(ids)}
        with self._db.writing():
            host_ids = self._db.column("hosts_of", chosen)
            self._db.run("remove_layers", chosen)
            n_removed = self._db.run("remove", chosen)
            self._take_turns(host_ids)
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
            said = merged(SILENT if row is None else rows.settings_of(row), settings, forget)
            if said == SILENT:
                self._db.run("drop_layer", layer)
            else:
                self._db.run("put_layer", {**layer, **rows.settings_values(said)})
            self._settle(ids, now)
        return len(ids)

    def said(self) -> Iterator[tuple[Scope, Settings]]:
        for kind in _LAYERS:
            found = self._db.rows("layers", {"scope": kind.value})
            yield from ((Scope(kind, row["name"]), rows.settings_of(row)) for row in found)

    def tag(self, ids: Sequence[int], add: Sequence[str], drop: Sequence[str], now: float) -> None:
        chosen = {"ids": _json(ids)}
        with self._db.writing():
            self._db.run("untag", {**chosen, "tags": json.dumps(list(drop))})
            self._db.run("tag", {**chosen, "tags": json.dumps(list(add))})
            self._settle(ids, now)

    # the loop

    def claim(self, *, now: float, limit: int, lease_s: float, only: int | None = None) -> list[Lease]:
        until_at = now + lease_s
        with self._db.writing():
            if only is None:
                self._db.run("line_up", {"now": now})
                taken = self._db.rows("next_in_line", {"now": now, "limit": limit})
            else:
                taken = self._db.rows("only", {"now": now, "only": only})
            tokens = [self._db.column("lease", {"id": row["id"], "until_at": until_at})[0] for row in taken]
            watched = self._watched([row["next_id"] for row in taken])
        return [
            Lease(resource=resource, standing=standing, token=token, claimed_at=now, until_at=until_at)
            for (resource, standing, _), token in zip(watched, tokens, strict=True)
        ]

    def release(self, leases: Sequence[Lease], now: float) -> None:  # noqa: ARG002  # the contract's
        with self._db.writing():
            self._db.run_many(
                "release", [{"id": lease.resource.host_id, "token": lease.token} for lease in leases]
            )

    def complete(
        self,
        done: Sequence[Completion],
        now: float,  # noqa: ARG002  # the contract's: a late completion is refused by its token, not its age
        files: Mapping[str, int] | None = None,
    ) -> list[bool]:
        with self._db.writing():
            accepted = [self._record(completion) for completion in done]
            self._take_turns({completion.lease.resource.host_id for completion in done})
            self._db.run_many(
                "merge_file", [{"name": name, "length": length} for name, length in (files or {}).items()]
            )
        return accepted

    def ready_at(self, now: float) -> float:
        earliest: float | None = self._db.rows("ready_at")[0][0]
        return inf if earliest is None else max(now, earliest)

    def batch(self) -> tuple[Batch, Floats]:
        return rows.batch_of(self._db.tuples("batch"))

    def replan(self, plans: Plans) -> None:
        ids: list[int] = plans.id.tolist()
        bounds = [rows.BOUNDS[bound] for bound in plans.bound.tolist()]
        columns = (plans.due_at, plans.gap_s, plans.p_changed, plans.per_day)
        with self._db.writing():
            self._db.run_many(
                "replan",
                (
                    (*figures, bound, plans.price, plans.rule, plans.planned_at, resource_id)
                    for *figures, bound, resource_id in zip(
                        *(column.tolist() for column in columns), bounds, ids, strict=True
                    )
                ),
            )
            self._take_turns(self._db.column("hosts_of", {"ids": _json(ids)}))

    # what happened

    def visits(self, resource_id: int, limit: int | None = None) -> Iterator[Visit]:
        def page(before: int, n: int) -> list[tuple[int, Visit]]:
            found = self._db.rows("visits", {"resource_id": resource_id, "before": before, "limit": n})
            return [(row["id"], rows.visit_of(row)) for row in found]

        yield from paged(page, (1 << 63) - 1, limit)

    def versions(self, resource_id: int | None = None) -> Iterator[Version]:
        query, key = ("versions", "id") if resource_id is None else ("versions_of", "seq")

        def page(after: int, n: int) -> list[tuple[int, Version]]:
            found = self._db.rows(query, {"resource_id": resource_id, "after": after, "limit": n})
            return [(row[key], rows.version_of(row, resource_id=row["resource_id"])) for row in found]

        yield from paged(page, 0, None)

    def standing(self, resource_id: int) -> tuple[Standing, Plan | None]:
        for _, standing, plan in self._watched([resource_id]):
            return standing, plan
        raise NotWatchedError(f"No watched resource has the id {resource_id}; `recrawl list` shows them.")

    def n_visits_since(self, at: float) -> int:
        return self._db.column("n_visits_since", {"at": at})[0]

    def counts(self, now: float) -> Mapping[str, int]:
        """Now: `resources`, their `hosts`, those `paused`, those `due` (and not paused), hosts `leased`.
        So far, of what is watched: `visits`, those that found `changes`, those that were `failures` (told
        nothing), and `versions` (flagged ones not counted).
        """
        row = self._db.rows("counts", {"now": now})[0]
        return {name: row[name] for name in row.keys()}  # noqa: SIM118  # a Row iterates over its values

    def files(self) -> Mapping[str, int]:
        return {row["name"]: row["length"] for row in self._db.rows("files")}

    def note(self, key: str, value: str | None = None) -> str | None:
        if value is not None:
            with self._db.writing():
                self._db.run("put_fact", {"key": key, "value": value})
            return value
        row = self._db.row("fact", {"key": key})
        return None if row is None else str(row["value"])

    def close(self) -> None:
        self._db.close()

    def _watched(self, ids: Sequence[int]) -> list[tuple[Resource, Standing, Plan | None]]:
        """In the order of `ids`; those not watched are left out."""
        found = self._db.rows("watched", {"ids": _json(ids)})
        return [(rows.resource_of(row), rows.standing_of(row), rows.plan_of(row)) for row in found]

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
        chosen = {"ids": _json(ids)}
        self._db.run("settle", {**chosen, **_DEFAULTS})
        self._db.run("bring_inside", {**chosen, "now": now})
        self._take_turns(self._db.column("hosts_of", chosen))

    def _take_turns(self, host_ids: Iterable[int]) -> None:
        self._db.run("take_turns", {"host_ids": _json(host_ids)})

    def _record(self, done: Completion) -> bool:
        lease = done.lease
        if self._db.rows("recorded", {"fetch_id": done.visit.fetch_id}):
            return True
        present = {"id": lease.resource.host_id, "token": lease.token, "gate_at": done.gate_at}
        if not self._db.run("finish", present):
            return False
        known = self._db.row("last_seq", {"id": lease.resource.id})
        if known is None:  # removed meanwhile; its host was visited all the same, and is free and gated now
            return False
        last_seq, version_seq = known["last_seq"], None
        self._db.run("add_visit", rows.visit_values(done.visit))
        for version in done.versions:
            last_seq += 1
            version_seq = version_seq if version.flag else last_seq
            self._db.run(
                "add_version", rows.version_values(version, resource_id=lease.resource.id, seq=last_seq)
            )
        self._db.run("stand", rows.standing_values(done, last_seq, version_seq))
        return True


def _json(ids: Iterable[int]) -> str:
    return json.dumps([int(key) for key in ids])
