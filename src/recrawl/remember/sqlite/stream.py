"""What people ask of the visits of all resources, in the file."""

from __future__ import annotations

from collections.abc import Sequence

from recrawl.model import Changer, Due, Failures, HostStanding, Outcome, Place, Sought, Sums, Visit, Which
from recrawl.remember.sqlite import rows
from recrawl.remember.sqlite.database import Database
from recrawl.remember.sqlite.watchlist import json_ids

_FEWEST = 100  # read at a time: a page's worth, where all are sought


class SqliteStream:
    _db: Database

    def stream(
        self, sought: Sought, *, before: Place | None = None, limit: int, reach: int
    ) -> tuple[Sequence[Visit], Place | None]:
        query = "near_failures" if sought.which is Which.FAILED else "near_changes"
        wanted = {
            "from_at": sought.from_at,
            "tag": sought.tag,
            "host": sought.host,
            "text": sought.text,
            "kind": None if sought.kind is None else sought.kind.value,
        }
        if sought.which is not Which.FAILED:
            wanted["which"] = sought.which.value
        place = self._numbered(before, sought.until_at)
        ids: list[int] = []
        n_read, n_wanted = 0, max(2 * limit, _FEWEST)
        while True:
            n_asked = min(n_wanted, reach - n_read)
            at = dict(zip(("before_at", "before_resource", "before_id"), place, strict=True))
            near = self._db.tuples(query, {**wanted, **at, "limit": n_asked})
            for *found, sought_here in near:
                place = (found[0], found[1], found[2])
                if sought_here:
                    ids.append(found[2])
                    if len(ids) == limit:
                        return self._visits_by_id(ids), self._named(place)
            n_read, n_wanted = n_read + len(near), 4 * n_wanted
            if len(near) < n_asked:
                return self._visits_by_id(ids), None
            if n_read >= reach:
                return self._visits_by_id(ids), self._named(place)

    def _numbered(self, before: Place | None, until_at: float) -> tuple[float, int, int]:
        """A place by the number of its visit here; 0 where that is not there, or any more."""
        end = (until_at, 0, 0)  # before all that were made then
        if before is None:
            return end
        known = self._db.column("visit_id", {"fetch_id": before[2]})
        return min((before[0], before[1], known[0] if known else 0), end)

    def _named(self, place: tuple[float, int, int]) -> Place:
        (visit,) = self._visits_by_id([place[2]])
        return place[0], place[1], visit.fetch_id

    def _visits_by_id(self, ids: Sequence[int]) -> list[Visit]:
        return [rows.visit_of(row) for row in self._db.rows("visits_by_id", {"ids": json_ids(ids)})]

    def sums(self, from_at: float, until_at: float) -> Sums:
        (found,) = self._db.tuples("sums", {"from_at": from_at, "until_at": until_at})
        n_visits, n_changes, n_failures, n_second, n_bytes = found
        return Sums(
            n_visits=n_visits,
            n_changes=n_changes,
            n_failures=n_failures,
            n_second=n_second,
            n_bytes=n_bytes,
        )

    def most_changed(self, from_at: float, until_at: float, limit: int) -> Sequence[Changer]:
        span = {"from_at": from_at, "until_at": until_at, "limit": limit}
        return [
            Changer(resource_id=resource_id, url=url, n_changes=n, n_visits=n_visits, last_at=last_at)
            for resource_id, url, n, n_visits, last_at in self._db.tuples("most_changed", span)
        ]

    def failures(self, from_at: float, *, host: str | None = None, limit: int) -> Sequence[Failures]:
        asked = {"from_at": from_at, "host": host, "limit": limit}
        return [
            Failures(host=name, outcome=Outcome(outcome), status=status, n=n, last_at=last_at)
            for name, outcome, status, n, last_at in self._db.tuples("failures", asked)
        ]

    def coming(self, from_at: float, until_at: float, limit: int) -> Sequence[Due]:
        return self._due("coming", {"from_at": from_at, "until_at": until_at, "limit": limit})

    def in_turn(self, now: float, limit: int) -> Sequence[Due]:
        return self._due("in_turn", {"now": now, "limit": limit})

    def _due(self, query: str, asked: dict[str, float]) -> list[Due]:
        return [
            Due(resource_id=resource_id, url=url, host=host, at=at)
            for resource_id, url, host, at in self._db.tuples(query, asked)
        ]

    def host_standings(
        self, *, text: str | None = None, after: str = "", limit: int
    ) -> Sequence[HostStanding]:
        return self._hosts("host_standings", {"text": text, "after": after, "limit": limit})

    def host_standing(self, name: str) -> HostStanding | None:
        return next(iter(self._hosts("host_standing", {"name": name})), None)

    def troubled(self, limit: int) -> tuple[Sequence[HostStanding], int]:
        return self._hosts("troubled", {"limit": limit}), self._db.column("n_troubled")[0]

    def _hosts(self, query: str, asked: dict[str, object]) -> list[HostStanding]:
        found = self._db.mappings(query, asked)
        reals = ("rest_s", "due_at")
        return [HostStanding(**row | {name: rows.real(row[name]) for name in reals}) for row in found]
