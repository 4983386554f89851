"""The `Store` contract on a SQLite file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from math import inf

from recrawl.model import DAY_S, Batch, Completion, Floats, Hold, Lease, Plan, Plans, Standing, Version, Visit
from recrawl.remember.sqlite import rows
from recrawl.remember.sqlite.adopting import SqliteAdopting
from recrawl.remember.sqlite.bags import SqliteBags
from recrawl.remember.sqlite.database import paged
from recrawl.remember.sqlite.kin import SqliteKin
from recrawl.remember.sqlite.paces import SqlitePaces
from recrawl.remember.sqlite.past import SqlitePast
from recrawl.remember.sqlite.payloads import SqlitePayloads
from recrawl.remember.sqlite.roll import SqliteRoll
from recrawl.remember.sqlite.sights import SqliteSights
from recrawl.remember.sqlite.signals import SqliteSignals, with_told
from recrawl.remember.sqlite.stream import SqliteStream
from recrawl.remember.sqlite.watchlist import json_ids, unknown
from recrawl.remember.sqlite.withdrawal import SqliteWithdrawal


class SqliteStore(
    SqlitePayloads,
    SqliteAdopting,
    SqlitePast,
    SqliteStream,
    SqlitePaces,
    SqliteSignals,
    SqliteSights,
    SqliteBags,
    SqliteKin,
    SqliteWithdrawal,
    SqliteRoll,
):
    """One file, opened or created; several processes may have it open at once.

    It may be used from any thread, by one at a time.
    """

    # the loop

    def claim(
        self, *, now: float, limit: int, lease_s: float, only: int | None = None, by: str = ""
    ) -> list[Lease]:
        until_at = now + lease_s
        with self._db.writing():
            if only is None:
                self._db.run("line_up", {"now": now})
                taken = self._db.tuples("next_in_line", {"now": now, "limit": limit})
            else:
                taken = self._db.tuples("only", {"now": now, "only": only})
            lease = {"until_at": until_at, "by": by, "ids": json_ids(host_id for host_id, _ in taken)}
            hosts = {host_id: leased for host_id, *leased in self._db.tuples("lease", lease)}
            watched = self._watched([resource_id for _, resource_id in taken])
            bases = self._bases([resource_id for _, resource_id in taken])
        return [
            Lease(
                resource=resource,
                standing=standing,
                token=hosts[host_id][0],
                claimed_at=now,
                until_at=until_at,
                n_host_failures=hosts[host_id][1],
                base=bases.get(resource.id),
            )
            for (resource, standing, _), (host_id, _) in zip(watched, taken, strict=True)
        ]

    def release(self, leases: Sequence[Lease], gate_at: float) -> None:
        with self._db.writing():
            self._db.run_many(
                "release",
                [
                    {"id": lease.resource.host_id, "token": lease.token, "gate_at": gate_at}
                    for lease in leases
                ],
            )

    def hold(self, host: str, *, now: float, lease_s: float, by: str = "") -> Hold | None:
        until_at = now + lease_s
        with self._db.writing():
            self._db.run("add_host", {"host": host})
            row = self._db.row("hold", {"name": host, "now": now, "until_at": until_at, "by": by})
        if row is None:
            return None
        return Hold(host=host, token=row["token"], until_at=until_at, n_host_failures=row["n_failures"])

    def let_go(self, hold: Hold, *, gate_at: float, n_host_failures: int) -> None:
        present = {"name": hold.host, "token": hold.token, "gate_at": gate_at}
        with self._db.writing():
            self._db.run("let_go", {**present, "n_host_failures": n_host_failures})

    def abandon(self, by: Sequence[str], *, now: float, rest_s: float) -> int:
        with self._db.writing():
            return self._db.run("abandon", {"by": json.dumps(list(by)), "now": now, "rest_s": rest_s})

    def set_back(self, now: float, *, lease_s: float, rest_s: float) -> int:
        rests = {"lease_s": lease_s, "rest_s": rest_s, "longest_s": DAY_S}
        with self._db.writing():
            self._db.run("set_back_hosts", {"now": now, **rests})
            host_ids = self._db.column("set_back_resources", {"now": now})
            self._take_turns(set(host_ids))
        return len(host_ids)

    def gate_at(self, host: str) -> float:
        row = self._db.row("gate_at", {"name": host})
        return -inf if row is None else float(row["gate_at"])

    def complete(self, done: Sequence[Completion], files: Mapping[str, int] | None = None) -> list[bool]:
        with self._db.writing():
            accepted = self._record(done)
            self._take_turns({completion.lease.resource.host_id for completion in done})
            # where it was moved to another host meanwhile, that one's turn changed too
            self._take_turns(
                self._db.column("hosts_of", {"ids": json_ids(c.lease.resource.id for c in done)})
            )
            self._db.run_many(
                "merge_file", [{"name": name, "length": length} for name, length in (files or {}).items()]
            )
        return accepted

    def ready_at(self, now: float, *, due_by: float = inf) -> float:
        query, values = ("ready_at", {}) if due_by == inf else ("ready_by", {"due_by": due_by})
        earliest: float | None = self._db.rows(query, values)[0][0]
        return inf if earliest is None else max(now, earliest)

    def held(self, leases: Sequence[Lease]) -> list[bool]:
        ids = json_ids({lease.resource.host_id for lease in leases})
        present = dict(self._db.tuples("present_leases", {"ids": ids}))
        return [present.get(lease.resource.host_id) == lease.token for lease in leases]

    def batch(self) -> tuple[Batch, Floats]:
        batch, memory = rows.batch_of(self._db.tuples("batch"))
        return with_told(batch, self._db.tuples("pending")), memory

    def replan(self, plans: Plans) -> None:
        ids: list[int] = plans.id.tolist()
        bounds = [rows.BOUNDS[bound] for bound in plans.bound.tolist()]
        columns = (plans.due_at, plans.gap_s, plans.p_changed, plans.per_day, plans.prices)
        with self._db.writing():
            self._db.run_many(
                "replan",
                (
                    (*figures, bound, price, plans.rule, plans.planned_at, resource_id, since_at)
                    for *figures, price, bound, resource_id, since_at in zip(
                        *(column.tolist() for column in columns),
                        bounds,
                        ids,
                        plans.since_at.tolist(),
                        strict=True,
                    )
                ),
            )
            self._take_turns(self._db.column("hosts_of", {"ids": json_ids(ids)}))

    # what happened

    def visits(
        self,
        resource_id: int,
        limit: int | None = None,
        *,
        from_at: float = -inf,
        until_at: float = inf,
    ) -> Iterator[Visit]:
        def page(before: tuple[float, int], n: int) -> list[tuple[tuple[float, int], Visit]]:
            key = {"from_at": from_at, "before_at": before[0], "before_id": before[1]}
            found = self._db.rows("visits", {"resource_id": resource_id, **key, "limit": n})
            return [((row["at"], row["id"]), rows.visit_of(row)) for row in found]

        yield from paged(page, (until_at, 0), limit)  # no visit has the number 0

    def versions(self, resource_id: int | None = None) -> Iterator[Version]:
        query, key = ("versions", "id") if resource_id is None else ("versions_of", "seq")

        def page(after: int, n: int) -> list[tuple[int, Version]]:
            found = self._db.rows(query, {"resource_id": resource_id, "after": after, "limit": n})
            return [(row[key], rows.version_of(row, resource_id=row["resource_id"])) for row in found]

        yield from paged(page, 0, None)

    def version(self, resource_id: int, seq: int) -> Version | None:
        row = self._db.row("versions_of", {"resource_id": resource_id, "after": seq - 1, "limit": 1})
        return None if row is None or row["seq"] != seq else rows.version_of(row, resource_id=resource_id)

    def standing(self, resource_id: int) -> tuple[Standing, Plan | None]:
        for _, standing, plan in self._watched([resource_id]):
            return standing, plan
        raise unknown(resource_id)

    def n_visits_since(self, at: float) -> int:
        return self._db.column("n_visits_since", {"at": at})[0]

    def n_second_since(self, at: float) -> int:
        return self._db.column("n_second_since", {"at": at})[0]

    def counts(self, now: float) -> Mapping[str, int]:
        """Now: `resources`, their `hosts`, those `paused`, those `due` (and not paused), hosts `leased`.
        So far, of what is watched: `visits`, those that found `changes`, those that were `failures` (told
        nothing), those with `second_looks`, and `versions` (flagged ones not counted).
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

    def exchange(self, key: str, expected: str | None, value: str) -> bool:
        with self._db.writing():
            row = self._db.row("fact", {"key": key})
            if (None if row is None else str(row["value"])) != expected:
                return False
            self._db.run("put_fact", {"key": key, "value": value})
        return True

    def together(self) -> AbstractContextManager[None]:
        return self._db.together()

    def until(self, over: Callable[[], bool]) -> AbstractContextManager[None]:
        return self._db.until(over)

    def close(self) -> None:
        self._db.close()

    def _record(self, done: Sequence[Completion]) -> list[bool]:
        recorded = set(self.recorded([completion.visit.fetch_id for completion in done]))
        accepted: list[bool] = []
        taken: list[tuple[Completion, int]] = []
        for completion, last_seq in zip(done, self._last_seqs([one.lease for one in done]), strict=True):
            again = completion.visit.fetch_id in recorded
            # Whose resource was removed or erased meanwhile is not recorded; its host was visited all the
            # same, and is gated now.
            ok = not again and self._finish(completion) and last_seq is not None
            if ok and last_seq is not None:
                recorded.add(completion.visit.fetch_id)
                taken.append((completion, last_seq))
            accepted.append(again or ok)
        self._write(taken)
        return accepted

    def _finish(self, done: Completion) -> bool:
        present = {"id": done.lease.resource.host_id, "token": done.lease.token, "gate_at": done.gate_at}
        rest = {"n_host_failures": done.n_host_failures, "rest_s": max(0.0, done.gate_at - done.visit.at)}
        return bool(self._db.run("finish", present | rest))

    def _write(self, taken: Sequence[tuple[Completion, int]]) -> None:
        versions: list[dict[str, object]] = []
        standings: list[dict[str, object]] = []
        for done, last_seq in taken:
            resource_id, seq, version_seq = done.lease.resource.id, last_seq, None
            for seq, version in enumerate(done.versions, last_seq + 1):
                version_seq = version_seq if version.flag else seq
                versions.append(rows.version_values(version, resource_id=resource_id, seq=seq))
            standings.append(rows.standing_values(done, seq, version_seq))
        self._db.run_many("add_visit", [rows.visit_values(done.visit) for done, _ in taken])
        self._db.run_many("add_version", versions)
        self._db.run_many("stand", standings)
        self._db.run_many("heed", [{"id": row["id"], "since_at": row["since_at"]} for row in standings])
        self._hear([done for done, _ in taken])
        self._see([done for done, _ in taken])
        self._keep_bags([(done.lease.resource.id, bag) for done, _ in taken for bag in done.bags])
