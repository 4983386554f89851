"""What a predictor begins from: priors fitted to a sample of what was seen, noted for all workers.

Memory rows hold what visits added, apart from the prior, so that priors can be exchanged at any time and two
workers may for a while go by different ones.
"""

from __future__ import annotations

from math import inf

import numpy as np

from recrawl.contracts import Predictor, Store
from recrawl.learn.histories import histories
from recrawl.learn.priors import Grounded, fitted
from recrawl.model import Batch, Priors

KEY = "priors"
N_SAMPLED = 4_000  # resources
N_NEWEST = 32  # visits of each
_FEW = 1_000  # resources: until then they are fitted anew whenever there are twice as many


def noted_priors(store: Store) -> Priors | None:
    kept = store.note(KEY)
    return None if kept is None else Priors.read(kept)


class Grounds:
    """Keeps a predictor on the newest priors; infinite `every_s`: on its own."""

    def __init__(self, store: Store, predictor: Predictor, every_s: float) -> None:
        self._store = store
        self._every_s = every_s
        self._predictor = predictor if isinstance(predictor, Grounded) and every_s < inf else None
        self._priors: Priors | None = None

    def take_up(self) -> None:
        """Begin from what was last noted."""
        if self._predictor is not None and (priors := noted_priors(self._store)) is not None:
            self._ground(priors)

    def grounded(self, other: Predictor) -> Predictor:
        """Another predictor of the same kind, put on the same ground."""
        if self._priors is not None and isinstance(other, Grounded):
            other.ground(self._priors)
        return other

    def renew(self, batch: Batch, now: float) -> None:
        """Go by what is noted, and fit it anew where it is old."""
        if self._predictor is None:
            return
        priors = noted_priors(self._store)
        if priors is None or self._old(priors, batch, now):
            priors = sampled_priors(self._store, batch, now)
            self._store.note(KEY, priors.written())
        self._ground(priors)

    def _ground(self, priors: Priors) -> None:
        if self._predictor is not None:
            self._priors = priors
            self._predictor.ground(priors)

    def _old(self, priors: Priors, batch: Batch, now: float) -> bool:
        if not priors.fitted_at <= now < priors.fitted_at + self._every_s:
            return True
        n_telling = int((batch.n_informative > 1).sum())
        return priors.n_resources < _FEW and n_telling >= max(2 * priors.n_resources, 10)


def sampled_priors(store: Store, batch: Batch, now: float) -> Priors:
    """Fitted to the newest visits of some thousand resources, however many there are."""
    rows = np.flatnonzero(batch.n_informative > 1)
    if len(rows) > N_SAMPLED:
        chosen = np.random.default_rng(len(rows)).choice(len(rows), N_SAMPLED, replace=False)
        rows = rows[np.sort(chosen)]
    told = store.lately(batch.id[rows], N_NEWEST)
    seen, _ = histories(told)
    _, first = np.unique(told.id, return_index=True)
    return fitted(seen, told.group[first], now=now)
