"""Visits that were made elsewhere, and come in afterwards."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from recrawl.model import Adoption, Version
from recrawl.remember.adopting import completed
from recrawl.remember.sqlite import rows
from recrawl.remember.sqlite.bags import SqliteBags
from recrawl.remember.sqlite.sights import SqliteSights
from recrawl.remember.sqlite.watchlist import SqliteWatchlist, json_ids


class SqliteAdopting(SqliteSights, SqliteBags, SqliteWatchlist):
    def recorded(self, fetch_ids: Sequence[str]) -> frozenset[str]:
        found = self._db.rows("recorded_among", {"fetch_ids": json.dumps(list(fetch_ids))})
        return frozenset(row["fetch_id"] for row in found)

    def adopt(
        self, past: Sequence[Adoption], *, now: float, files: Mapping[str, int] | None = None
    ) -> list[bool]:
        with self._db.writing():
            accepted = [self._adopted(adoption, now) for adoption in past]
            touched = json_ids(adoption.resource.id for adoption in past)
            self._take_turns(self._db.column("hosts_of", {"ids": touched}))
            self._db.run_many(
                "merge_file", [{"name": name, "length": length} for name, length in (files or {}).items()]
            )
        return accepted

    def _adopted(self, adoption: Adoption, now: float) -> bool:
        resource_id, before = adoption.resource.id, adoption.before
        figures = {"n_informative": before.n_informative, "n_failures": before.n_failures}
        known = self._db.row("stands_so", {"id": resource_id, "last_at": before.last_at, **figures})
        again = self.recorded([visit.fetch_id for visit in adoption.visits])
        if known is None or again or not self._db.run("adopting", {"id": resource_id, "now": now}):
            return False
        self._db.run_many("add_visit", [rows.visit_values(visit) for visit in adoption.visits])
        self._db.run_many("restate_visit", [rows.visit_values(visit) for visit in adoption.restated])
        for version in adoption.versions:
            self._insert(resource_id, version)
        newest = self._db.rows("newest_seq", {"id": resource_id})[0]["seq"]
        last_seq = known["last_seq"] + len(adoption.versions)
        standing = rows.standing_values(completed(adoption), last_seq, newest)
        self._db.run("stand", standing)
        self._db.run("heed", {"id": resource_id, "since_at": standing["since_at"]})
        self._see([completed(adoption)])
        self._keep_bags([(resource_id, bag) for bag in adoption.bags])
        return True

    def _insert(self, resource_id: int, version: Version) -> None:
        seq = self._db.rows("seq_before", {"id": resource_id, "at": version.at})[0]["seq"]
        if self._db.run("make_way", {"id": resource_id, "seq": seq}):
            self._db.run("made_way", {"id": resource_id})
        self._db.run("add_version", rows.version_values(version, resource_id=resource_id, seq=seq + 1))
