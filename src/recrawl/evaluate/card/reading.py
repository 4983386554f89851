"""The report card of a store."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from math import inf, nan

import numpy as np

from recrawl.contracts import Store
from recrawl.evaluate.card.card import card
from recrawl.evaluate.card.figures import Card
from recrawl.evaluate.card.past import Past
from recrawl.model import DAY_S, HOUR_S, Looked
from recrawl.remember.told import looked_of
from recrawl.terms import granted, noted_terms

MOST_READ = 100_000  # visits that are read one by one; of more, those of some resources
Tell = Callable[[str], object]


def read_card(store: Store, now: float, days: float, tell: Tell = lambda _: None) -> Card:
    return card(*read_past(store, now, days, tell))


def read_past(store: Store, now: float, days: float, tell: Tell = lambda _: None) -> tuple[Past, list[str]]:
    """Of the visits in so many days up to now, or up to the last one where there is none in them; of fewer
    days, where the first visit of all was later. With what is to be said of that."""
    prospects, notes = store.prospects(), []
    from_at, until_at = now - days * DAY_S, now
    n = store.n_visits_since(from_at)
    if not n and np.isfinite(prospects.since_at).any():
        until_at = float(np.nextafter(np.nanmax(prospects.since_at), inf))
        from_at = until_at - days * DAY_S
        n = store.n_visits_since(from_at)
        notes.append(
            f"No visit told anything in the last {days:g} days: this is of those up to the last one."
        )
    every = -(-n // MOST_READ) or 1
    looked = _all(store, from_at, until_at, every, tell)
    if len(looked) and looked.at[0] > from_at + HOUR_S and next(store.looked(-inf, from_at), None) is None:
        from_at = float(looked.at[0])
        notes.append("The first visit of all was later than so many days ago: the card begins with it.")
    terms = noted_terms(store)
    past = Past(
        looked=looked,
        tally=store.tally(from_at, until_at, DAY_S),
        prospects=prospects,
        hosts=store.hosts(),
        from_at=from_at,
        until_at=until_at,
        rule="" if terms is None else terms.rule,
        per_day=nan if terms is None or terms.per_day is None else terms.per_day,
        granted=granted(store),
        every=every,
    )
    if past.granted.changed(from_at, until_at):
        notes.append("The budget changed in that time: each day is held against what there was for it.")
    return past, notes


def _all(store: Store, from_at: float, until_at: float, every: int, tell: Tell) -> Looked:
    pages, n = [looked_of(())], 0
    for page in store.looked(from_at, until_at, every=every):
        pages.append(page)
        n += len(page)
        tell(f"Reading … {n:,} visits so far")
    return Looked(
        **{f.name: np.concatenate([getattr(page, f.name) for page in pages]) for f in fields(Looked)}
    )
