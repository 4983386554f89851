"""What first sights say of rates: a model, trained on what was seen of others and noted for all workers.

A sight becomes a hunch in the visit that takes it, so that the first plan is made with it. Once a day the
model is trained anew, and every sight becomes a new hunch. A model that was trained elsewhere and noted is
taken up in the same way. Where scikit-learn is missing none is trained; one that is there is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import inf, nan

import numpy as np

from recrawl.contracts import Store
from recrawl.errors import RecrawlError
from recrawl.finding import Finding
from recrawl.learn.features.graph import Graph
from recrawl.learn.histories import Histories, after, histories
from recrawl.learn.priors import Ratio, kept_apart
from recrawl.learn.sights.model import KEY, Trained
from recrawl.model import DAY_S, FEATURES, Batch, Floats, Hunch, Ints, column

TOLD_KEY = "sight-model-told"  # the name of the model that every sight was last told by
# Below that, a few hosts decide what all pages are taken for; and who was looked at less often says little.
N_ENOUGH, N_VISITS = 50, 5
N_SAMPLED = 2_000  # resources, however many there are: training takes some seconds
N_NEWEST = 64  # visits of each
_FEW = 1_000  # resources: until then a model is trained anew whenever there are twice as many
# A hunch stays within this many times the rates of the fastest and the slowest class.
_BEYOND = 3.0
_SHORTEST_S, _LONGEST_S = 60.0, 400.0 * DAY_S  # a class that never changed has no interval


@dataclass(frozen=True, slots=True)
class Lessons:
    """Sights, and what visits found later, row by row."""

    values: Floats
    seen: Histories
    site: Ints  # the host's number


Study = Callable[[Lessons, float], "Future[Trained | None]"]  # None: too little was to be learned


def can_train() -> bool:
    """Whether the extra `learn` is installed."""
    return find_spec("sklearn") is not None


def graph_of(store: Store) -> Graph:
    return Graph.of(*store.links())


def lessons(store: Store, batch: Batch, graph: Graph, *, n_visits: int, most: int, seed: int = 1) -> Lessons:
    """Of those that have a sight, were looked at so often and are not kept apart; of very many, some."""
    often = np.sort(batch.id[(batch.n_informative >= n_visits) & ~kept_apart(batch.id)])
    lot = np.random.default_rng(seed).permutation(len(often))
    ids, values = np.empty(0, dtype=np.int64), np.empty((0, len(FEATURES)))
    for some, rows in store.sights():
        chosen = np.isin(some, often)
        ids, values = np.concatenate([ids, some[chosen]]), np.concatenate([values, rows[chosen]])
        if len(ids) > most:  # those with the lowest lots so far, so that never all lie in memory
            kept = np.sort(np.argpartition(lot[np.searchsorted(often, ids)], most)[:most])
            ids, values = ids[kept], values[kept]
    # A look tells of what was before it: what is listed there by date must not be learned to foretell itself.
    told = after(store.lately(ids, N_NEWEST), ids, store.sighted_at(ids))
    seen, known = histories(told)
    _, first = np.unique(told.id, return_index=True)
    values = values[np.searchsorted(ids, known)]
    # A first plan is made with what a sight knew of links, later ones with all that came to be known. So half
    # is learned from as it was seen, and a model is as good at both as it says it is.
    later = np.sort(np.random.default_rng(seed).permutation(len(known))[: (len(known) + 1) // 2])
    values[later] = graph.told(values[later], known[later])
    return Lessons(values, seen, told.group[first])


def learned(found: Lessons, now: float) -> Trained | None:
    """None where there is too little to learn from: as well as it goes without."""
    from recrawl.learn.sights.training import trained

    try:
        return trained(found.values, found.seen, found.site, now=now)
    except RecrawlError:
        return None


def at_once(found: Lessons, now: float) -> Future[Trained | None]:
    """Learn while everybody waits."""
    done: Future[Trained | None] = Future()
    done.set_result(learned(found, now))
    return done


def hunches(model: Trained, values: Floats) -> tuple[Floats, Floats]:
    """Changes a day, and the gap between changes; within bounds, so that no guess starves a resource or
    floods it."""
    per_day, gap_s = model.hunches(values)
    interval_s = np.clip(model.classes.interval_s, _SHORTEST_S, _LONGEST_S)
    low, high = DAY_S / interval_s.max() / _BEYOND, DAY_S / interval_s.min() * _BEYOND
    return np.clip(per_day, low, high), np.clip(gap_s, _SHORTEST_S, _LONGEST_S)


def tell_all(
    store: Store, model: Trained, graph: Graph, now: float, tell: Callable[[int], object] = lambda _: None
) -> None:
    """Every sight becomes a hunch of this model; `tell` hears how many there are so far."""
    name, n = model.name, 0
    for ids, values in store.sights():
        store.hunches(name, ids, *hunches(model, graph.told(values, ids)), now)
        n += len(ids)
        tell(n)


class Sighted:
    """Keeps a loop on the newest model; infinite `every_s`: on none. `study` learns one, perhaps somewhere
    else, and then it is taken up at a later pricing."""

    def __init__(self, store: Store, every_s: float, study: Study = at_once) -> None:
        self._store = store
        self._every_s = every_s
        self._study = study
        self._text: str | None = None
        self._model: Trained | None = None
        self._name = ""
        self._tried_at = nan
        self._n_before = 0  # that had a hunch when learning last began
        self._graph: Graph | None = None  # while it is of use
        self._studied: Future[Trained | None] | None = None
        self._before: str | None = None  # what was noted when learning began

    @property
    def ratio(self) -> Ratio | None:
        """How rates lie about hunches; None: there is no model."""
        return None if self._model is None else self._model.ratio

    @property
    def ready(self) -> bool:
        """Whether a model was learned that no pricing knows of yet."""
        return self._studied is not None and self._studied.done()

    def take_up(self) -> None:
        """Go by what is noted."""
        if self._every_s == inf:
            return
        text = self._store.note(KEY)
        if text != self._text:
            self._text, self._model = text, _usable(text)
            self._name = "" if self._model is None else self._model.name

    def expected(self, findings: Sequence[Finding]) -> Sequence[Finding]:
        """Those that come with a sight, with what it cannot show, the links that lead there so far, and with
        a hunch."""
        rows = [i for i, one in enumerate(findings) if one.sight is not None and one.hunch is None]
        if self._every_s == inf or not rows:
            return findings
        sights = [sight for i in rows if (sight := findings[i].sight) is not None]
        values = np.array([sight.values for sight in sights])
        n_links = self._store.in_links(np.array([sight.resource_id for sight in sights], dtype=np.int64))
        linked = n_links > 0
        values[linked, column("in_links")] = n_links[linked]
        found = list(findings)
        for i, sight, row in zip(rows, sights, values.tolist(), strict=True):
            found[i] = replace(found[i], sight=replace(sight, values=tuple(row)))
        if self._model is not None:
            per_day, gap_s = hunches(self._model, values)
            for i, rate, gap in zip(rows, per_day.tolist(), gap_s.tolist(), strict=True):
                found[i] = replace(found[i], hunch=Hunch(per_day=rate, gap_s=gap), model=self._name)
        return found

    def renew(self, batch: Batch, now: float) -> bool:
        """Go by what is noted, and train it anew where it is old; whether there are new hunches."""
        if self._every_s == inf:
            return False
        self.take_up()
        if self._studied is None and self._old(batch, now):
            self._begin(batch, now)
        if self._studied is not None and self._studied.done():
            self._note(self._studied)
        told = self._store.note(TOLD_KEY)
        if self._model is None or told == self._name:
            return False
        graph, self._graph = self._graph, None
        tell_all(self._store, self._model, graph_of(self._store) if graph is None else graph, now)
        # Noted last: whoever is cut off tells all anew. Two workers at once tell the same.
        self._store.exchange(TOLD_KEY, told, self._name)
        return True

    def finish(self, *, wait: bool) -> None:
        """What was learned is noted for those to come."""
        if self._studied is not None and (wait or self._studied.done()):
            self._note(self._studied)
        self._studied = None

    def _old(self, batch: Batch, now: float) -> bool:
        often = batch.n_informative >= N_VISITS
        if now < self._tried_at + self._every_s or int(often.sum()) < N_ENOUGH or not can_train():
            return False
        if self._model is None:
            return True
        then = self._model.trained_at
        # All that have a sight have a hunch as soon as there is a model; and some have an older model's hunch
        # whose sight is of a format that nobody learns from: those are not new.
        n_then = max(int(self._model.report.get("resources", 0)), self._n_before)
        n = _n_hunched(batch)
        return not then <= now < then + self._every_s or (n_then < _FEW and n >= 2.5 * n_then)

    def _begin(self, batch: Batch, now: float) -> None:
        self._tried_at = now
        self._n_before = _n_hunched(batch)
        self._graph = graph_of(self._store)
        found = lessons(self._store, batch, self._graph, n_visits=N_VISITS, most=N_SAMPLED)
        if found.seen.n < N_ENOUGH * 4 // 5:
            self._graph = None
            return
        self._before, self._studied = self._text, self._study(found, now)

    def _note(self, studied: Future[Trained | None]) -> None:
        self._studied, model = None, studied.result()
        if model is None:
            self._graph = None
            return
        self._tried_at = nan  # only a try that failed waits for another day
        # Unless somebody noted another one meanwhile: that is as new.
        self._store.exchange(KEY, self._before, model.written())
        self.take_up()


def _n_hunched(batch: Batch) -> int:
    """How many there are to learn from, by what a batch shows of them."""
    often = batch.n_informative >= N_VISITS
    return int((often & np.isfinite(batch.hunch_per_day) & ~kept_apart(batch.id)).sum())


def _usable(text: str | None) -> Trained | None:
    """A model that cannot be read, or is of other features, is none: the next one takes its place."""
    if text is None:
        return None
    try:
        model = Trained.read(text)
    except RecrawlError:
        return None
    return model if model.present else None
