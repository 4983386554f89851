"""What is taken out again, in the file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from math import inf

from recrawl.errors import StoreError
from recrawl.model import Erasure, Lease, Replacement, Version
from recrawl.remember.sqlite import rows
from recrawl.remember.sqlite.database import BUSY_S, paged
from recrawl.remember.sqlite.watchlist import SqliteWatchlist


class _Needed(Exception):  # noqa: N818  # rolls a transaction back
    """A version lies in a file that was to go."""


class SqliteWithdrawal(SqliteWatchlist):
    def wanted(self, leases: Sequence[Lease]) -> list[bool]:
        return [last_seq is not None for last_seq in self._last_seqs(leases)]

    def placed(self, file: str, offset: int | None = None) -> list[Version]:
        query = "placed" if offset is None else "placed_at"
        found = self._db.rows(query, {"file": file, "offset": offset})
        return [rows.version_of(row, resource_id=row["resource_id"]) for row in found]

    def crowded(self) -> Iterator[int]:
        def page(after: int, n: int) -> list[tuple[int, int]]:
            return [(key, key) for key in self._db.column("crowded", {"after": after, "limit": n})]

        yield from paged(page, 0, None)

    def replace(self, made: Replacement) -> bool:
        old = json.dumps(list(made.old))
        try:
            with self._db.writing():
                self._db.run_many(
                    "blank_version" if made.erased else "drop_version",
                    [
                        {"resource_id": v.resource_id, "at": v.at, "file": v.file, "offset": v.offset}
                        for v in made.dropped
                    ],
                )
                self._db.run_many("drop_bag", [(v.resource_id, v.at) for v in made.dropped if not v.flag])
                self._db.run_many("move_payload", made.moved)
                self._db.run_many("hand_on", [(*moved, made.owner_id) for moved in made.handed_on])
                if self._db.column("n_placed", {"names": old})[0]:
                    raise _Needed  # noqa: TRY301  # it must pass through the transaction
                self._db.run_many(
                    "merge_file", [{"name": name, "length": length} for name, length in made.new.items()]
                )
                self._db.run("bury", {"names": json.dumps(list(made.new))})
                self._db.run("doom_files", {"names": old})
                self._db.run("drop_files", {"names": old})
        except _Needed:
            return False
        return True

    def doom(self, names: Sequence[str]) -> None:
        with self._db.writing():
            self._db.run("doom", {"names": json.dumps(list(names))})

    def doomed(self) -> dict[str, str]:
        return {row["name"]: row["address"] for row in self._db.rows("doomed")}

    def bury(self, names: Sequence[str]) -> None:
        with self._db.writing():
            self._db.run("bury", {"names": json.dumps(list(names))})

    def settle(self) -> None:
        """One killed while it committed may have written all to the log and told nobody: for those who live
        it was not recorded, and for whoever comes when all are gone it was. The next commit takes its
        place."""
        with self._db.writing():
            self._db.run("settle_log")

    def begin_erasure(self, url: str, why: str, now: float) -> None:
        with self._db.writing():
            self._db.run("begin_erasure", {"url": url, "at": now, "why": why})
            for resource_id in self._db.column("id_of_url", {"url": url}):
                self._db.run("blank_resource", {"id": resource_id})
                self._db.run("blank_visits", {"id": resource_id})
                for statement in ("unsay", "blank_sight", "blank_hunches", "blank_links"):
                    self._db.run(statement, {"id": resource_id})
                self._db.run("drop_bags", {"id": resource_id, "until_at": inf})

    def end_erasure(
        self, url: str, *, n_records: int, n_bytes: int, shared: Sequence[str] = (), done: bool = True
    ) -> None:
        with self._db.writing():
            n_versions = 0
            for resource_id in self._db.column("id_of_url", {"url": url}):
                self._db.run("blank_versions", {"resource_id": resource_id})
                n_versions = self._db.column("n_erased", {"id": resource_id})[0]
            went = {"n_versions": n_versions, "n_records": n_records, "n_bytes": n_bytes}
            told = {"shared": json.dumps(list(shared)), "done": done}
            self._db.run("end_erasure", {"url": url, **went, **told})

    def erasures(self, url: str | None = None) -> list[Erasure]:
        return [
            Erasure(
                url=row["url"],
                at=row["at"],
                why=row["why"],
                done=bool(row["done"]),
                n_versions=row["n_versions"],
                n_records=row["n_records"],
                n_bytes=row["n_bytes"],
                shared=tuple(json.loads(row["shared"])),
            )
            for row in self._db.rows("erasures" if url is None else "erasures_of", {"url": url})
        ]

    def scrub(self) -> None:
        """Built anew from what it holds: no free page and no log keeps what was blanked."""
        path = self._db.path
        try:
            # A connection of its own: ours keeps temporary tables in memory, and this one needs a disk.
            with closing(sqlite3.connect(path, timeout=BUSY_S, isolation_level=None)) as connection:
                connection.execute("PRAGMA secure_delete = ON")
                connection.execute("VACUUM")
                busy, _, _ = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        except sqlite3.Error as problem:
            raise StoreError(
                f"{path} cannot be built anew ({problem}), so it may still hold what was erased; make room, "
                "stop what else uses it, and erase again."
            ) from problem
        if busy:
            raise StoreError(
                f"{path} is being read, so its log may still hold what was erased; erase again when nothing "
                "else uses it."
            )
