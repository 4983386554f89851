"""Who is kin of whom, found from visits and noted for all workers.

Once a day the newest visits of resources that change are compared, group by group; of very many some groups
a day, one after the other. A predictor that heeds kin goes by what is noted.
"""

from __future__ import annotations

import json
from math import inf
from typing import Protocol, runtime_checkable

import numpy as np

from recrawl.contracts import Predictor, Store
from recrawl.learn.kin.visits import LEAST, MOST, kin_of_visits
from recrawl.learn.rhythms.kin import K
from recrawl.model import Batch, Ints, KinTable

KEY = "kin-found"
N_NEWEST = 128  # visits of each
N_TOGETHER = 2_000  # resources: comparing them takes some seconds at the most


@runtime_checkable
class HeedsKin(Protocol):
    def know_kin(self, table: KinTable) -> None: ...


class Kinship:
    """Keeps a predictor that heeds kin on the newest table; infinite `every_s`: on none."""

    def __init__(self, store: Store, predictor: Predictor, every_s: float) -> None:
        self._store = store
        self._every_s = every_s
        self._predictor = predictor if isinstance(predictor, HeedsKin) and every_s < inf else None
        self._noted: str | None = None  # what was noted when the table was last taken up

    def take_up(self) -> None:
        """Go by what is noted."""
        if self._predictor is None:
            return
        noted = self._store.note(KEY)
        if noted != self._noted:
            self._noted = noted
            self._predictor.know_kin(self._store.kin())

    def renew(self, batch: Batch, now: float) -> None:
        """Go by what is noted, and find it anew where it is old."""
        if self._predictor is None:
            return
        noted = self._store.note(KEY)
        found_at, after = json.loads(noted) if noted else (-inf, 0)
        if not found_at <= now < found_at + self._every_s:
            ids, compared, after = _next_groups(batch, after)
            if len(ids):
                found = self._store.lately(compared, N_NEWEST).folded()
                self._store.note_kin(ids, kin_of_visits(found, K))
            self._store.exchange(KEY, noted, json.dumps([now, after]))
        self.take_up()


def _next_groups(batch: Batch, after: int) -> tuple[Ints, Ints, int]:
    """Of groups after this one, all resources that change, and those of them to compare: the liveliest of
    each group. And the last of those groups; 0: there are no more."""
    rows = np.flatnonzero((batch.n_changes >= LEAST) & (batch.group > after))
    rows = rows[np.lexsort((batch.id[rows], -batch.n_changes[rows], batch.group[rows]))]
    groups, begin, of = np.unique(batch.group[rows], return_index=True, return_inverse=True)
    compared = np.arange(len(rows)) - begin[of] < MOST
    n = np.cumsum(np.bincount(of, weights=compared))
    n_fit = max(int(np.searchsorted(n, N_TOGETHER, side="right")), 1)
    last = int(groups[n_fit - 1]) if n_fit < len(groups) else 0
    return np.sort(batch.id[rows[of < n_fit]]), np.sort(batch.id[rows[(of < n_fit) & compared]]), last
