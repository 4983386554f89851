"""What a predictor begins from: priors fitted to a sample of what was seen, noted for all workers.

Memory rows hold what visits added, apart from the prior, so that priors can be exchanged at any time and two
workers may for a while go by different ones.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np

from recrawl.contracts import Predictor, Store
from recrawl.learn.histories import after, histories
from recrawl.learn.hunches import Fit, Hunched
from recrawl.learn.priors import Grounded, Ratio, doubted, fitted, foretold, kept_apart
from recrawl.learn.sights.splits import by_resource, standard_error
from recrawl.model import Batch, Bools, Priors, Seen

KEY = "priors"
N_SAMPLED = 4_000  # resources
N_NEWEST = 32  # visits of each
_FEW = 1_000  # resources: until then they are fitted anew whenever there are twice as many
_N_JUDGES = 10  # resources: what fewer of them say of hunches is chance


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

    @property
    def heeds_hunches(self) -> bool:
        """Whether a hunch makes a difference; False where visits did not bear hunches out."""
        return self._predictor is None or (self._priors is not None and self._priors.hunched is not None)

    def grounded(self, other: Predictor) -> Predictor:
        """Another predictor of the same kind, put on the same ground."""
        if self._priors is not None and isinstance(other, Grounded):
            other.ground(self._priors)
        return other

    def renew(self, batch: Batch, now: float, ratio: Ratio | None = None, *, anew: bool = False) -> None:
        """Go by what is noted, and fit it anew where it is old, or `anew`. `ratio` is the distribution of
        rates in multiples of hunches that a model says they have, where there is one."""
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
    """Fitted to the newest visits of some thousand resources, however many there are, and doubted."""
    told = _sampled(store, batch, batch.n_informative > 1)
    seen, _ = histories(told)
    _, first = np.unique(told.id, return_index=True)
    priors = fitted(seen, told.group[first], now=now)
    if ratio is None:
        return doubted(priors)
    # Only those that the model was not trained on show how far rates are from hunches.
    apart = (batch.n_informative > 1) & np.isfinite(batch.hunch_per_day) & kept_apart(batch.id)
    told = _sampled(store, batch, apart)
    ids = np.unique(told.id)
    # by visits after the look: one that lists its past by date would be borne out by that past
    hunched = hunched_priors(after(told, ids, store.sighted_at(ids)), priors, *ratio, now=now)
    return replace(doubted(priors), hunched=hunched)


def _sampled(store: Store, batch: Batch, chosen: Bools) -> Seen:
    rows = np.flatnonzero(chosen)
    if len(rows) > N_SAMPLED:
        some = np.random.default_rng(len(rows)).choice(len(rows), N_SAMPLED, replace=False)
        rows = rows[np.sort(some)]
    return store.lately(batch.id[rows], N_NEWEST)


def hunched_priors(
    told: Seen, plain: Priors, shape: float, scale: float, proven: bool = False, *, now: float
) -> Priors | None:
    """Of rates in multiples of their hunches, which are thought to lie about them with this shape and scale;
    never firmer than that in all, but of a group that has told how it differs from the hunches.

    None: no hunch is heeded. They are where these visits were foretold better with them than by the plain
    priors, by more than a standard error; each half of the resources by what the other half taught. Where
    there are hardly any, they are only if the model has `proven` the same on what it held out.
    """
    told = told.pick(np.isfinite(told.hunch_per_day))
    seen, _ = histories(told)
    _, first = np.unique(told.id, return_index=True)
    per_day, group = told.hunch_per_day[first], told.group[first]
    some = Hunched.of(seen, group, per_day)
    fit = Fit(shape=shape, scale_days=scale, firmest=shape, now=now)
    if seen.n < _N_JUDGES:
        return fit.about(some) if proven else None
    n_bands, with_hunches = fit.banded(some, by_resource(seen.n, 2))
    # a change whose time is known is a density there, and time was stretched
    with_hunches = with_hunches + seen.sums(seen.timed.astype(np.float64)) * np.log(per_day)
    gained = with_hunches - foretold(seen, *plain.of(group))
    return fit.about(some, n_bands) if gained.sum() > standard_error(gained, group) else None
