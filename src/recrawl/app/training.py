"""Learning from one's own first sights: what looked so, changed so often."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from recrawl.app.quantity import iso
from recrawl.app.rows import Row, number
from recrawl.contracts import Store
from recrawl.errors import BadInputError
from recrawl.learn.features.graph import connected
from recrawl.learn.histories import Histories, histories
from recrawl.learn.priors import kept_apart
from recrawl.learn.sights.model import KEY, Trained
from recrawl.learn.sights.training import FEWEST, MOST, trained
from recrawl.model import Floats, Ints
from recrawl.model.sight import FEATURES
from recrawl.sighted import hunches

N_NEWEST = 64  # visits of each resource

Tell = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Lessons:
    """Sights, and what visits found later, row by row."""

    values: Floats
    seen: Histories
    site: Ints  # the host's number


def lessons(store: Store, *, seed: int = 1) -> Lessons:
    """Of all that have a first sight and were looked at again; of very many, some."""
    batch, _ = store.batch()
    again = batch.id[(batch.n_informative > 1) & ~kept_apart(batch.id)]  # those judge what is learned here
    sighted = [ids[np.isin(ids, again)] for ids, _ in store.sights()]
    ids = np.sort(np.concatenate(sighted)) if sighted else np.empty(0, dtype=np.int64)
    if len(ids) > MOST:
        ids = np.sort(np.random.default_rng(seed).choice(ids, MOST, replace=False))
    values = np.full((len(ids), len(FEATURES)), np.nan)
    for some, rows in store.sights():
        mine = np.isin(some, ids)
        values[np.searchsorted(ids, some[mine])] = rows[mine]
    values = connected(values, ids, *store.links())
    told = store.lately(ids, N_NEWEST)
    seen, known = histories(told)
    _, first = np.unique(told.id, return_index=True)
    return Lessons(values[np.searchsorted(ids, known)], seen, told.group[first])


def train(store: Store, *, k: int = 4, now: float, tell: Tell = lambda _: None) -> Trained:
    """Learn a model and keep it; all that have a sight get new hunches."""
    tell("reading sights and visits")
    found = lessons(store)
    if found.seen.n < FEWEST:
        raise BadInputError(
            f"There is too little to learn from: {found.seen.n} resources have a first sight and were looked "
            f"at again, and {FEWEST} are needed; let `recrawl run` visit more, and try again."
        )
    tell(f"learning from {found.seen.n:,} resources")
    model = trained(found.values, found.seen, found.site, k=k, now=now)
    store.note(KEY, model.written())
    links, n = store.links(), 0
    for ids, values in store.sights():
        store.hunches(model.name, ids, *hunches(model, connected(values, ids, *links)), now)
        n += len(ids)
        tell(f"{n:,} hunches")
    # That all were told is for a run to say, which then also fits its priors to the new hunches.
    return model


def present(store: Store) -> Trained:
    """The model that is kept."""
    kept = store.note(KEY)
    if kept is None:
        raise BadInputError("Nothing was learned from first sights yet; do it with `recrawl train`.")
    return Trained.read(kept)


def row(model: Trained) -> Row:
    return {
        "name": model.name,
        "trained_at": iso(model.trained_at),
        "of_present_sights": model.present,
        "ratio_shape": number(model.ratio_shape),
        **model.report,
    }
