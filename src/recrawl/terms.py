"""The terms of the last run: what its price was found for. The store keeps them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from math import inf, nan

from recrawl.contracts import Store
from recrawl.model import DAY_S

BUDGETS = "budgets"
N_BUDGETS = 1_000  # that are kept, the newest
BACK_S = 60.0  # clocks are corrected by less all the time, and differ by less: they were not set back


@dataclass(frozen=True, slots=True)
class Terms:
    """`price` is infinite where the largest gaps alone ask for `demand_per_day`, more than the budget has."""

    rule: str  # "index:fresh", "uniform" …
    per_day: float | None
    price: float
    demand_per_day: float
    priced_at: float
    said: str | None  # the store's mark of what was said up to then
    bytes_per_day: float | None = None
    mix: float = 0.0  # how much of a visit's cost is its weight in bytes
    mean_bytes: float = 1.0  # of a visit
    relooks: tuple[float, float] | None = None  # at what was given up: seconds to the second, and to the next
    relooks_at: dict[str, float] = field(default_factory=dict)  # to the next, at full hosts, by their numbers
    dear: dict[str, float] = field(default_factory=dict)  # the prices of full hosts, by their numbers
    busy_s: dict[str, float] = field(default_factory=dict)  # how long a visit keeps those hosts

    def written(self) -> str:
        return json.dumps(asdict(self))


def noted_terms(store: Store) -> Terms | None:
    """The terms that the store was last priced for."""
    kept = store.note("terms")
    return None if kept is None else Terms(**json.loads(kept))


@dataclass(frozen=True, slots=True)
class Granted:
    """The budgets that were in force, each from its moment on; the first one before it too."""

    changes: Sequence[tuple[float, float | None]]  # when, and visits a day from then on; None: no limit

    def visits(self, from_at: float, until_at: float) -> float:
        """What there was for this time; NaN: for some of it no limit, or nothing is known."""
        n, end_at = 0.0 if self.changes else nan, until_at
        for i, (at, per_day) in reversed(list(enumerate(self.changes))):
            begin_at = max(from_at, at if i else -inf)
            if begin_at < end_at:  # a clock that was set back has covered what came after
                n += nan if per_day is None else per_day * (end_at - begin_at) / DAY_S
                end_at = begin_at
        return n

    def changed(self, from_at: float, until_at: float) -> bool:
        return any(from_at < at < until_at for at, _ in self.changes[1:])


def note_budget(store: Store, terms: Terms, before: Terms | None) -> None:
    """Keep when the budget of visits became another one. Where none was noted yet, that of the terms `before`
    held until now."""
    while True:
        noted = store.note(BUDGETS)
        rows = json.loads(noted) if noted else [] if before is None else [[before.priced_at, before.per_day]]
        if not rows or rows[-1][1] != terms.per_day:
            rows.append([terms.priced_at, terms.per_day])
        elif noted:
            return
        if store.exchange(BUDGETS, noted, json.dumps(rows[-N_BUDGETS:])):
            return


def granted(store: Store) -> Granted:
    """By what the store noted; where it noted nothing, the budget of the last run is all that is known."""
    noted, terms = store.note(BUDGETS), noted_terms(store)
    if noted is not None:
        return Granted([(at, per_day) for at, per_day in json.loads(noted)])
    return Granted([] if terms is None else [(terms.priced_at, terms.per_day)])
