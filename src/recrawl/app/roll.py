"""Which of all that is watched a list shows, and in what order.

Columns are chosen from and sorted; only what is on the page is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import nan
from urllib.parse import quote

import numpy as np

from recrawl.app.chances import Chances
from recrawl.app.names import host_named
from recrawl.app.rows import Row, number, resource_row
from recrawl.contracts import Store
from recrawl.errors import BadInputError
from recrawl.model import DAY_S, Bools, Floats, Ints, Kind, Looked, Plan, Resource, Roll, Standing

STRIP_S = 90 * DAY_S  # how far back a strip of visits goes …
N_MARKS = 64  # … and at most so many of them
_ASCII = "".join(map(chr, range(33, 127)))  # what stands in a URL as it was typed


class State(StrEnum):
    DUE = "due"  # its next visit is due
    PAUSED = "paused"
    FAILING = "failing"  # its last visit told nothing
    SILENT = "silent"
    UNSEEN = "unseen"  # no visit has told anything yet
    GONE = "gone"


class Order(StrEnum):
    NEXT = "next"
    RATE = "rate"
    CHANGED = "changed"
    CHANCE = "chance"
    URL = "url"
    ADDED = "added"


DOWN = frozenset({Order.RATE, Order.CHANGED, Order.CHANCE, Order.ADDED})  # most, or newest, come first


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What somebody wants to see; all of it holds at once."""

    text: str = ""
    tag: str = ""
    host: str = ""
    kind: Kind | None = None
    state: State | None = None
    order: Order = Order.NEXT
    down: bool = False

    @property
    def by_chance(self) -> bool:
        """Whether it takes what is believed at this moment."""
        return self.order is Order.CHANCE or self.state is State.SILENT


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One resource of a list."""

    resource: Resource
    standing: Standing
    plan: Plan | None
    looked: Looked  # its visits of late
    p_changed: float = nan

    @property
    def changed_at(self) -> float:
        version = self.standing.version
        return version.at if version and self.standing.n_changes else nan

    def row(self) -> Row:
        known = resource_row(self.resource, self.standing, self.plan)
        per_day = self.plan.per_day if self.plan else nan
        return {
            "id": self.resource.id,
            **known,
            "changes_per_day": number(per_day),
            "p_changed_now": number(self.p_changed),
        }


def found(store: Store, roll: Roll, wanted: Wanted, now: float, chances: Chances | None = None) -> Ints:
    """The numbers of those that are wanted, in the order that is."""
    chosen = roll.pick(_chosen(store, roll, wanted, now, chances))
    values = _values(chosen, wanted.order, chances)
    rows = np.lexsort((chosen.id, -values if wanted.down else values))  # NaN is last either way
    return chosen.id[rows]


def _chosen(store: Store, roll: Roll, wanted: Wanted, now: float, chances: Chances | None) -> Bools:
    chosen = np.ones(len(roll), np.bool_)
    if wanted.text or wanted.tag or wanted.host:
        chosen &= np.isin(roll.id, _named(store, wanted), assume_unique=True)
    if wanted.kind is not None:
        chosen &= roll.kind == list(Kind).index(wanted.kind)
    match wanted.state:
        case State.DUE:
            chosen &= ~roll.paused & (roll.due_at <= now)
        case State.PAUSED:
            chosen &= roll.paused
        case State.FAILING:
            chosen &= roll.n_failures > 0
        case State.UNSEEN:
            chosen &= roll.n_informative == 0
        case State.GONE:
            chosen &= roll.gone
        case State.SILENT:
            chosen &= chances.silent_of(roll.id) if chances else False
    return chosen


def _named(store: Store, wanted: Wanted) -> Ints:
    try:
        host = host_named(wanted.host) if wanted.host else None
    except BadInputError:  # nobody is on a host that cannot be; half a name may become one
        return np.empty(0, np.int64)
    text = quote(wanted.text, safe=_ASCII)
    return store.numbers(text=text or None, tag=wanted.tag or None, host=host)


def _values(roll: Roll, order: Order, chances: Chances | None) -> Floats:
    match order:
        case Order.NEXT:
            return np.where(roll.paused, np.nan, roll.due_at)
        case Order.RATE:
            return roll.per_day
        case Order.CHANGED:
            return roll.changed_at
        case Order.CHANCE:
            return chances.p_of(roll.id) if chances else np.full(len(roll), np.nan)
        case Order.URL:
            return roll.place.astype(np.float64)
        case Order.ADDED:
            return roll.id.astype(np.float64)  # numbers are given out in the order of time


def lines(
    store: Store, ids: Sequence[int], now: float, chances: Chances | None = None, *, visits: bool = True
) -> list[Line]:
    """Those of these that are still watched, in this order; with their visits of late where wanted."""
    numbers = np.array(ids, np.int64)
    looked = store.latest(numbers if visits else numbers[:0], N_MARKS, now - STRIP_S)
    begin, end = (np.searchsorted(looked.id, numbers, side) for side in ("left", "right"))
    rows = {key: np.arange(first, last) for key, first, last in zip(ids, begin, end, strict=True)}
    p = dict(zip(ids, chances.p_of(numbers).tolist(), strict=True)) if chances else {}
    return [
        Line(
            resource=resource,
            standing=standing,
            plan=plan,
            looked=looked.pick(rows[resource.id]),
            p_changed=p.get(resource.id, nan),
        )
        for resource, standing, plan in store.these(ids)
    ]
