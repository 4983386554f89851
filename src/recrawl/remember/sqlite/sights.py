"""What first visits showed, what was made of it, and who links to whom; in the file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from recrawl.model import FEATURES, SIGHT_FORMAT, Completion, Floats, Hunch, Ints, Sight
from recrawl.remember.sights import finite, old_models
from recrawl.remember.sqlite.database import Database

_N_SIGHTS = 20_000  # in a page
_N_LINKS = 50_000  # in a page: as numbers of Python's they take ten times the room
_N_TOGETHER = 20_000  # hunches or links in a transaction: others want to write too
_FLOAT64 = np.dtype("<f8")


class SqliteSights:
    _db: Database

    def sights(self) -> Iterator[tuple[Ints, Floats]]:
        asked = {"format": SIGHT_FORMAT, "n_bytes": len(FEATURES) * _FLOAT64.itemsize, "limit": _N_SIGHTS}
        after = 0
        while page := self._db.tuples("sights", {"after": after, **asked}):
            after = page[-1][0]
            packed = np.frombuffer(b"".join(row[1] for row in page), _FLOAT64)
            yield (
                np.array([row[0] for row in page], dtype=np.int64),
                packed.reshape(len(page), len(FEATURES)).astype(np.float64),
            )

    def sight(self, resource_id: int) -> Sight | None:
        row = self._db.row("sight", {"id": resource_id})
        if row is None:
            return None
        values = tuple(np.frombuffer(row["features"], _FLOAT64).tolist())
        return Sight(resource_id=resource_id, at=row["at"], format=row["format"], values=values)

    def sighted_at(self, ids: Ints) -> Floats:
        asked = {"ids": json.dumps(ids.tolist()), "format": SIGHT_FORMAT}
        known = dict(self._db.tuples("sighted_at", asked))
        return np.array([known.get(one, np.nan) for one in ids.tolist()], dtype=np.float64)

    def hunches(self, model: str, ids: Ints, per_day: Floats, gap_s: Floats, at: float) -> None:
        told = np.isfinite(per_day) & np.isfinite(gap_s)
        columns = (column[told].tolist() for column in (ids, per_day, gap_s))
        figures = list(zip(*columns, strict=True))
        for start in range(0, len(figures), _N_TOGETHER):
            some = figures[start : start + _N_TOGETHER]
            with self._db.writing():
                self._db.run_many("expect", [(key, model, at, *hunch) for key, *hunch in some])
                self._db.run_many("stand_expected", some)
        newest = {row["model"]: row["at"] for row in self._db.rows("models")}
        if old := old_models(newest, model):
            with self._db.writing():
                self._db.run("drop_hunches", {"models": json.dumps(old)})

    def hunches_of(self, resource_id: int) -> Sequence[tuple[str, float, Hunch]]:
        return [
            (row["model"], row["at"], Hunch(per_day=row["per_day"], gap_s=row["gap_s"]))
            for row in self._db.rows("expected", {"id": resource_id})
        ]

    def connect(self, from_ids: Ints, to_ids: Ints) -> None:
        pairs = list(zip(from_ids.tolist(), to_ids.tolist(), strict=True))
        for start in range(0, len(pairs), _N_TOGETHER):
            with self._db.writing():
                self._db.run_many("connect", pairs[start : start + _N_TOGETHER])

    def links(self) -> tuple[Ints, Ints]:
        pages = [np.empty((0, 2), dtype=np.int64)]
        from_id = to_id = 0
        while page := self._db.tuples("links", {"from_id": from_id, "to_id": to_id, "limit": _N_LINKS}):
            pages.append(np.fromiter(chain.from_iterable(page), np.int64, 2 * len(page)).reshape(-1, 2))
            from_id, to_id = page[-1]
        pairs = np.concatenate(pages)
        return pairs[:, 0].copy(), pairs[:, 1].copy()

    def in_links(self, ids: Ints) -> Ints:
        known = dict(self._db.tuples("in_links", {"ids": json.dumps(ids.tolist())}))
        return np.array([known.get(one, 0) for one in ids.tolist()], dtype=np.int64)

    def _see(self, done: Sequence[Completion]) -> None:
        """Keep what these visits showed; in a transaction of the caller's."""
        sights = [(one.lease.resource.id, one.sight) for one in done if one.sight is not None]
        if sights:
            self._db.run_many(
                "see",
                [
                    (key, sight.at, sight.format, np.array(sight.values, _FLOAT64).tobytes())
                    for key, sight in sights
                ],
            )
        hunches = [
            (one.lease.resource.id, one.model, one.visit.at, one.hunch.per_day, one.hunch.gap_s)
            for one in done
            if one.hunch is not None and finite(one.hunch)
        ]
        if hunches:
            self._db.run_many("expect", hunches)
            self._db.run_many("stand_expected", [(key, *figures) for key, _, _, *figures in hunches])
        links = [(one.lease.resource.id, url) for one in done for url in one.links]
        if links:
            self._db.run_many("connect_watched", links)
