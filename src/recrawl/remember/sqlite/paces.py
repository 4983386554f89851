"""How long visits took and what is due when, as columns."""

from __future__ import annotations

from recrawl.model import Hosts, Planned, Took
from recrawl.remember.paces import hosts_of, planned_of, took_of
from recrawl.remember.sqlite.database import Database


class SqlitePaces:
    _db: Database

    def took(self, limit: int) -> Took:
        return took_of(self._db.tuples("took", {"limit": limit}))

    def hosts(self) -> Hosts:
        return hosts_of(self._db.tuples("hosts"))

    def planned(self) -> Planned:
        return planned_of(self._db.tuples("planned"))
