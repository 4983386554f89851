"""Where payloads are: which version holds one already, and which files were carried away."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from recrawl.model import Version
from recrawl.remember.payloads import unknown_file
from recrawl.remember.sqlite import rows
from recrawl.remember.sqlite.watchlist import SqliteWatchlist


class SqlitePayloads(SqliteWatchlist):
    def holding(self, digests: Sequence[str]) -> Mapping[str, Version]:
        found = self._db.rows("holding", {"digests": json.dumps(list(dict.fromkeys(digests)))})
        return {row["digest"]: rows.version_of(row, resource_id=row["resource_id"]) for row in found}

    def carried(self) -> Mapping[str, str]:
        return {row["name"]: row["address"] for row in self._db.rows("carried")}

    def carry(self, name: str, address: str) -> None:
        with self._db.writing():
            if not self._db.run("carry", {"name": name, "address": address}):
                raise unknown_file(name)
