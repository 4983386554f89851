"""Learning from one's own first sights: what looked so, changed so often."""

from __future__ import annotations

from collections.abc import Callable

from recrawl.app.quantity import iso
from recrawl.app.rows import Row, number
from recrawl.contracts import Store
from recrawl.errors import BadInputError
from recrawl.learn.sights.model import KEY, Trained
from recrawl.learn.sights.training import FEWEST, MOST, trained
from recrawl.sighted import graph_of, lessons, tell_all

_N_VISITS = 2  # so many are looked at, where somebody asks for it; the loop waits for more

Tell = Callable[[str], object]


def train(store: Store, *, k: int = 4, now: float, tell: Tell = lambda _: None) -> Trained:
    """Learn a model and keep it; all that have a sight get new hunches."""
    tell("reading sights and visits")
    batch, _ = store.batch()
    graph = graph_of(store)
    found = lessons(store, batch, graph, n_visits=_N_VISITS, most=MOST)
    if found.seen.n < FEWEST:
        raise BadInputError(
            f"There is too little to learn from: {found.seen.n} resources have a first sight and were looked "
            f"at again, and {FEWEST} are needed; let `recrawl run` visit more, and try again."
        )
    tell(f"learning from {found.seen.n:,} resources")
    model = trained(found.values, found.seen, found.site, k=k, now=now)
    store.note(KEY, model.written())
    # That all were told is for a run to say, which then also fits its priors to the new hunches.
    tell_all(store, model, graph, now, lambda n: tell(f"{n:,} hunches"))
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
