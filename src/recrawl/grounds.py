"""What a predictor begins from: priors fitted to a sample of what was seen, noted for all workers.

Memory rows hold what visits added, apart from the prior, so that priors can be exchanged at any time and two
workers may for a while go by different ones.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from recrawl.contracts import Predictor, Store
from recrawl.learn.histories import histories
from recrawl.learn.priors import Grounded, fitted, foretold, kept_apart, scaled
from recrawl.model import Batch, Bools, Priors, Seen

Ratio = tuple[float, float]  # shape and scale

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

    def renew(self, batch: Batch, now: float, ratio: Ratio | None = None, *, anew: bool = False) -> None:
        """Go by what is noted, and fit it anew where it is old, or `anew`. `ratio` is the distribution of
        rates in multiples of hunches that they are thought to have, where there are hunches."""
        if self._predictor is None:
            return
        priors = noted_priors(self._store)
        if priors is None or anew or self._old(priors, batch, now):
            priors = sampled_priors(self._store, batch, now, ratio)
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


def sampled_priors(store: Store, batch: Batch, now: float, ratio: Ratio | None = None) -> Priors:
    """Fitted to the newest visits of some thousand resources, however many there are."""
    told = _sampled(store, batch, batch.n_informative > 1)
    seen, _ = histories(told)
    _, first = np.unique(told.id, return_index=True)
    priors = fitted(seen, told.group[first], now=now)
    if ratio is None:
        return priors
    # Only those that the model was not trained on show how far rates are from hunches.
    apart = (batch.n_informative > 1) & np.isfinite(batch.hunch_per_day) & kept_apart(batch.id)
    return replace(priors, hunched=hunched_priors(_sampled(store, batch, apart), priors, *ratio, now=now))


def _sampled(store: Store, batch: Batch, chosen: Bools) -> Seen:
    rows = np.flatnonzero(chosen)
    if len(rows) > N_SAMPLED:
        some = np.random.default_rng(len(rows)).choice(len(rows), N_SAMPLED, replace=False)
        rows = rows[np.sort(some)]
    return store.lately(batch.id[rows], N_NEWEST)


def hunched_priors(told: Seen, plain: Priors, shape: float, scale: float, *, now: float) -> Priors | None:
    """Of rates in multiples of their hunches, which are thought to lie about them with this shape and scale;
    never firmer than that, but of a group that has told how it differs from the hunches. None where the plain
    priors foretell the same visits better: no hunch is heeded then."""
    told = told.pick(np.isfinite(told.hunch_per_day))
    seen, _ = histories(told)
    _, first = np.unique(told.id, return_index=True)
    per_day, group = told.hunch_per_day[first], told.group[first]
    own_time = scaled(seen, per_day)
    found = _no_firmer(fitted(own_time, group, shape=shape, scale_days=scale, now=now), shape)
    if len(seen):
        # a change whose time is known is a density there, and time was stretched
        stretched = seen.sums(seen.timed.astype(np.float64)) * np.log(per_day)
        gained = foretold(own_time, *found.of(group)) + stretched - foretold(seen, *plain.of(group))
        if gained.sum() <= 0.0:
            return None
    return found


def _no_firmer(found: Priors, shape: float) -> Priors:
    most = min(1.0, shape / found.shape)
    groups = np.minimum(1.0, 2.0 * shape / found.shapes)
    return replace(
        found,
        shape=found.shape * most,
        scale_s=found.scale_s * most,
        shapes=found.shapes * groups,
        scales_s=found.scales_s * groups,
    )
