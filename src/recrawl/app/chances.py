"""How likely each resource has changed by now, and who has fallen silent: of all at once, as columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.app.beliefs import Beliefs
from recrawl.app.build import House
from recrawl.app.silence import silences
from recrawl.contracts import Alert, Shared
from recrawl.model import Bools, Floats, Ints

N_HEARD = 20_000  # of all groups' newest visits: more would take seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Chances:
    """Of all that are not paused, in the order of their numbers, as it was believed `at` that moment."""

    at: float
    id: Ints
    p_changed: Floats  # since the last visit that told something; NaN: there was none
    silent: Bools

    def p_of(self, ids: Ints) -> Floats:
        """NaN of whoever is not among them."""
        p = np.full(len(ids), np.nan)
        rows, there = self._rows(ids)
        p[there] = self.p_changed[rows]
        return p

    def silent_of(self, ids: Ints) -> Bools:
        silent = np.zeros(len(ids), np.bool_)
        rows, there = self._rows(ids)
        silent[there] = self.silent[rows]
        return silent

    def _rows(self, ids: Ints) -> tuple[Ints, Ints]:
        """Where those that are here stand here, and there."""
        rows = np.searchsorted(self.id, ids)
        there = np.flatnonzero(rows < len(self.id))
        there = there[self.id[rows[there]] == ids[there]]
        return rows[there], there


def chances(house: House) -> Chances:
    """A silence is asked for before the newest visits are heard, as everywhere else."""
    now = house.clock.now()
    beliefs = Beliefs(house)
    batch = beliefs.all()
    silent = np.zeros(len(batch), np.bool_)
    if isinstance(beliefs.predictor, Alert):
        silent[silences(beliefs, batch, now)[0]] = True
    if isinstance(beliefs.predictor, Shared):
        n = min(N_HEARD, beliefs.predictor.n_heard)
        beliefs.predictor.overhear(house.store.heard(0, n)[0])
    passed_s = np.maximum(now - batch.since_at, 0.0)
    p = 1.0 - beliefs.predictor.forecast(batch, now).survival(np.nan_to_num(passed_s))
    p[np.isnan(batch.since_at)] = np.nan
    return Chances(at=now, id=batch.id, p_changed=p, silent=silent)
