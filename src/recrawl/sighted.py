"""What first sights say of rates: a model, trained on what was seen of others and noted for all workers.

A sight becomes a hunch in the visit that takes it, so that the first plan is made with it. Once a day the
model is trained anew, and every sight becomes a new hunch. A model that was trained elsewhere and noted is
taken up in the same way. Where scikit-learn is missing none is trained; one that is there is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from math import inf, nan

import numpy as np

from recrawl.contracts import Store
from recrawl.errors import RecrawlError
from recrawl.finding import Finding
from recrawl.learn.features.graph import connected
from recrawl.learn.histories import histories
from recrawl.learn.priors import kept_apart
from recrawl.learn.sights.model import KEY, Trained
from recrawl.model import DAY_S, Batch, Bools, Floats, Hunch, Ints

TOLD_KEY = "sight-model-told"  # the name of the model that every sight was last told by
# Below that, a few hosts decide what all pages are taken for; and who was looked at less often says little.
N_ENOUGH, N_VISITS = 50, 5
N_SAMPLED = 2_000  # resources, however many there are: training takes some seconds
N_NEWEST = 64  # visits of each
_FEW = 1_000  # resources: until then a model is trained anew whenever there are twice as many
# A hunch stays within this many times the rates of the fastest and the slowest class.
_BEYOND = 3.0
_SHORTEST_S, _LONGEST_S = 60.0, 400.0 * DAY_S  # a class that never changed has no interval


def can_train() -> bool:
    """Whether the extra `learn` is installed."""
    return find_spec("sklearn") is not None


def hunches(model: Trained, values: Floats) -> tuple[Floats, Floats]:
    """Changes a day, and the gap between changes; within bounds, so that no guess starves a resource or
    floods it."""
    per_day, gap_s = model.hunches(values)
    interval_s = np.clip(model.classes.interval_s, _SHORTEST_S, _LONGEST_S)
    low, high = DAY_S / interval_s.max() / _BEYOND, DAY_S / interval_s.min() * _BEYOND
    return np.clip(per_day, low, high), np.clip(gap_s, _SHORTEST_S, _LONGEST_S)


class Sighted:
    """Keeps a loop on the newest model; infinite `every_s`: on none."""

    def __init__(self, store: Store, every_s: float) -> None:
        self._store = store
        self._every_s = every_s
        self._text: str | None = None
        self._model: Trained | None = None
        self._name = ""
        self._tried_at = nan

    @property
    def ratio(self) -> tuple[float, float] | None:
        """Shape and scale of rates in multiples of their hunches; None: there is no model."""
        return None if self._model is None else (self._model.ratio_shape, self._model.ratio_scale)

    def take_up(self) -> None:
        """Go by what is noted."""
        if self._every_s == inf:
            return
        text = self._store.note(KEY)
        if text != self._text:
            self._text, self._model = text, _usable(text)
            self._name = "" if self._model is None else self._model.name

    def expected(self, findings: Sequence[Finding]) -> Sequence[Finding]:
        """With hunches for those that come with a sight."""
        rows = [i for i, one in enumerate(findings) if one.sight is not None and one.hunch is None]
        if self._model is None or not rows:
            return findings
        values = np.array([one.sight.values for i in rows if (one := findings[i]).sight is not None])
        per_day, gap_s = hunches(self._model, values)
        found = list(findings)
        for i, rate, gap in zip(rows, per_day.tolist(), gap_s.tolist(), strict=True):
            found[i] = replace(found[i], hunch=Hunch(per_day=rate, gap_s=gap), model=self._name)
        return found

    def renew(self, batch: Batch, now: float) -> bool:
        """Go by what is noted, and train it anew where it is old; whether there are new hunches."""
        if self._every_s == inf:
            return False
        self.take_up()
        if self._old(batch, now):
            self._train(batch, now)
        told = self._store.note(TOLD_KEY)
        if self._model is None or told == self._name:
            return False
        self._tell_all(self._model, now)
        # Noted last: whoever is cut off tells all anew. Two workers at once tell the same.
        self._store.exchange(TOLD_KEY, told, self._name)
        return True

    def _old(self, batch: Batch, now: float) -> bool:
        n = int((batch.n_informative >= N_VISITS).sum())
        if n < N_ENOUGH or now < self._tried_at + self._every_s or not can_train():
            return False
        if self._model is None:
            return True
        then = self._model.trained_at
        n_then = int(self._model.report.get("resources", 0))
        return not then <= now < then + self._every_s or (n_then < _FEW and n >= 2.5 * n_then)

    def _train(self, batch: Batch, now: float) -> None:
        from recrawl.learn.sights.training import trained

        ids, values = self._sample(batch)
        self._tried_at = now
        if len(ids) < N_ENOUGH * 4 // 5:
            return
        told = self._store.lately(ids, N_NEWEST)
        seen, present = histories(told)
        _, first = np.unique(told.id, return_index=True)
        try:
            model = trained(values[np.searchsorted(ids, present)], seen, told.group[first], now=now)
        except RecrawlError:  # too little to learn from: as well as it goes without
            return
        self._tried_at = nan  # only a try that failed waits for another day
        self._text, self._model, self._name = model.written(), model, model.name
        self._store.note(KEY, self._text)

    def _sample(self, batch: Batch) -> tuple[Ints, Floats]:
        """Of those that were looked at often enough and have a sight, some thousand, without those kept
        apart."""
        often = batch.id[(batch.n_informative >= N_VISITS) & ~kept_apart(batch.id)]
        parts = [(ids[known], values[known]) for ids, values, known in _among(self._store, often)]
        ids = np.concatenate([part[0] for part in parts]) if parts else np.empty(0, dtype=np.int64)
        if not len(ids):
            return ids, np.empty((0, 0))
        rows = np.arange(len(ids))
        if len(ids) > N_SAMPLED:
            rows = np.sort(np.random.default_rng(len(ids)).choice(len(ids), N_SAMPLED, replace=False))
        values = np.concatenate([part[1] for part in parts])[rows]
        return ids[rows], connected(values, ids[rows], *self._store.links())

    def _tell_all(self, model: Trained, now: float) -> None:
        links = self._store.links()
        for ids, values in self._store.sights():
            per_day, gap_s = hunches(model, connected(values, ids, *links))
            self._store.hunches(self._name, ids, per_day, gap_s, now)


def _usable(text: str | None) -> Trained | None:
    """A model that cannot be read, or is of other features, is none: the next one takes its place."""
    if text is None:
        return None
    try:
        model = Trained.read(text)
    except RecrawlError:
        return None
    return model if model.present else None


def _among(store: Store, chosen: Ints) -> Sequence[tuple[Ints, Floats, Bools]]:
    found = []
    for ids, values in store.sights():
        known = np.isin(ids, chosen)
        if known.any():
            found.append((ids, values, known))
    return found
