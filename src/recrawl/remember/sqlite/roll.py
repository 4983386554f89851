"""All that is watched at a glance, out of the file: for lists of a hundred thousand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import inf

import numpy as np

from recrawl.model import Ints, Looked, Plan, Resource, Roll, Standing
from recrawl.remember.roll import roll_of
from recrawl.remember.sqlite.watchlist import SqliteWatchlist, json_ids
from recrawl.remember.told import looked_of, newest_of


class SqliteRoll(SqliteWatchlist):
    def numbers(self, *, tag: str | None = None, host: str | None = None, text: str | None = None) -> Ints:
        wanted = {"tag": tag, "host": host, "text": text, "after": 0, "limit": -1}
        if tag is not None:
            ids = self._db.column("page_of_tag", wanted)
        elif host is not None:
            ids = self._db.column("page_of_host", wanted)
        elif text is not None:
            ids = self._db.column("ids_of_text", wanted)
        else:
            ids = self._db.column("ids_all")
        return np.sort(np.array(ids, np.int64))

    def these(self, ids: Sequence[int]) -> Sequence[tuple[Resource, Standing, Plan | None]]:
        return self._watched(ids)

    def known(self, urls: Sequence[str]) -> frozenset[str]:
        found = self._db.tuples("known_urls", {"urls": json.dumps(list(urls))})
        return frozenset(url for (url,) in found)

    def tags(self) -> Mapping[str, int]:
        return dict(self._db.tuples("tags"))

    def roll(self) -> Roll:
        """The order of the URLs is read after the rest: who came or went in between stands last."""
        return roll_of(self._db.tuples("roll"), self._db.column("ids_by_url"))

    def latest(self, ids: Ints, n_each: int, from_at: float = -inf) -> Looked:
        asked = {"ids": json_ids(np.unique(ids)), "n_before": n_each - 1, "from_at": from_at}
        return newest_of(looked_of(self._db.tuples("latest", asked)), n_each)
