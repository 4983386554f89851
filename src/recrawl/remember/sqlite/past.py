"""The past of a resource, by time."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

from recrawl.model import Version
from recrawl.remember.sqlite import rows
from recrawl.remember.sqlite.database import Database


class SqlitePast:
    """What replay asks the store for."""

    _db: Database

    def history(
        self,
        resource_id: int,
        *,
        from_at: float = -inf,
        until_at: float = inf,
        newest_first: bool = False,
        limit: int,
    ) -> Sequence[Version]:
        query = "history_back" if newest_first else "history"
        span = {"resource_id": resource_id, "from_at": from_at, "until_at": until_at, "limit": limit}
        return [rows.version_of(row, resource_id=resource_id) for row in self._db.rows(query, span)]
