"""The same things as columns over many resources. One resource is a batch of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from recrawl.model.visit import Plan

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Bytes8 = npt.NDArray[np.int8]
Bits = npt.NDArray[np.uint64]


class _Columns:
    """Shared by all column values: a length, and rows picked out by index or mask."""

    __slots__ = ()

    def __len__(self) -> int:
        first = fields(self)[0].name  # type: ignore[arg-type]  # every subclass is a dataclass
        return len(getattr(self, first))

    def pick(self, rows: Ints | Bools) -> Self:
        return type(self)(**{f.name: _rows(getattr(self, f.name), rows) for f in fields(self)})  # type: ignore[arg-type]


def _rows(column: object, rows: Ints | Bools) -> object:
    return column[rows] if isinstance(column, np.ndarray) else column


def _unsaid() -> Ints:
    return np.empty(0, dtype=np.int64)


def _untold() -> Floats:
    return np.empty(0)


def _filled(columns: Batch | Seen) -> None:
    """Where nobody said which group they are of, all are of none; nobody was told of, and nobody has a
    hunch."""
    n = len(columns.id)
    if n and not len(columns.group):
        object.__setattr__(columns, "group", np.zeros(n, dtype=np.int64))
    if n and not len(columns.told_at):
        object.__setattr__(columns, "told_at", np.full(n, np.nan))
    if n and not len(columns.told_by):
        object.__setattr__(columns, "told_by", np.zeros(n, dtype=np.int64))
    if n and not len(columns.hunch_per_day):
        object.__setattr__(columns, "hunch_per_day", np.full(n, np.nan))
    if n and not len(columns.hunch_gap_s):
        object.__setattr__(columns, "hunch_gap_s", np.full(n, np.nan))
    if isinstance(columns, Seen) and not len(columns.visit_at):
        object.__setattr__(columns, "visit_at", columns.at)
    if isinstance(columns, Seen) and not len(columns.before_at):
        object.__setattr__(columns, "before_at", columns.since_at)


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch(_Columns):
    """What is known of many resources before their next visits."""

    id: Ints
    weight: Floats
    min_gap_s: Floats
    max_gap_s: Floats
    since_at: Floats  # last informative visit; NaN: none yet
    gap_s: Floats  # the present gap; NaN: none yet
    n_informative: Ints
    n_changes: Ints
    n_failures: Ints  # in a row, up to now
    bits: Bits  # recent change bits, newest lowest
    cost: Floats | float = 1.0  # of a visit, beside others: bytes, say
    # the host's number, or another's for those that are alike; 0: of no group
    group: Ints = field(default_factory=_unsaid)
    # the first signal since the last informative visit; NaN: none
    told_at: Floats = field(default_factory=_untold)
    told_by: Ints = field(default_factory=_unsaid)  # the source's number; 0: none
    # changes a day, and the gap between changes, that first sight makes us expect; NaN: nothing
    hunch_per_day: Floats = field(default_factory=_untold)
    hunch_gap_s: Floats = field(default_factory=_untold)

    def __post_init__(self) -> None:
        _filled(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen(_Columns):
    """Informative visits, as a predictor learns from them: was there a change in `(since_at, at]`?

    A visit that tells when each thing was said has a row for each of these moments, as if somebody had looked
    just then, and one for the time since the last: `visit_at` is the visit itself, `before_at` the one before
    it (NaN: there was none). In the row of a moment `event_at` is `at`: until then nothing happened.
    """

    id: Ints
    since_at: Floats
    at: Floats
    changed: Bytes8  # 1 or 0; unknown ones never get here
    event_at: Floats  # the change's own time, NaN where not known; of several the last
    group: Ints = field(default_factory=_unsaid)  # as in a batch
    told_at: Floats = field(default_factory=_untold)  # the first signal between the visits; NaN: none
    told_by: Ints = field(default_factory=_unsaid)  # the source's number; 0: none
    hunch_per_day: Floats = field(default_factory=_untold)  # as in a batch
    hunch_gap_s: Floats = field(default_factory=_untold)
    visit_at: Floats = field(default_factory=_untold)  # where nobody says: `at`
    before_at: Floats = field(default_factory=_untold)  # where nobody says: `since_at`

    def __post_init__(self) -> None:
        _filled(self)

    @property
    def momentary(self) -> Bools:
        """Which rows are of moments: nothing happened before them, and something did just then."""
        return np.asarray((self.changed == 1) & (self.event_at == self.at))

    @property
    def n_visits(self) -> int:
        return len(np.unique(self.id + 1j * self.visit_at))

    def folded(self) -> Seen:
        """One row for each visit that had one before it, whatever it told of moments: for whoever counts
        visits. In the order of their times where any had moments, else as it is."""
        if ((self.at == self.visit_at) & (self.since_at == self.before_at)).all():
            return self
        rows = self.pick(np.lexsort((self.at, self.id, self.visit_at)))
        new = (np.diff(rows.id) != 0) | (np.diff(rows.visit_at) != 0)
        begin = np.flatnonzero(np.r_[True, new])
        first, last = rows.pick(begin), rows.pick(np.r_[begin[1:], len(rows)] - 1)
        whole = replace(
            last,
            since_at=last.before_at,
            at=last.visit_at,
            changed=np.maximum.reduceat(rows.changed, begin),
            event_at=np.fmax.reduceat(rows.event_at, begin),
            told_at=first.told_at,
            told_by=first.told_by,
        )
        return whole.pick(np.isfinite(whole.since_at))

    def turns(self) -> list[Ints]:
        """Row numbers, split so that each turn holds every resource at most once, in order of time."""
        if (np.diff(self.id) > 0).all():
            return [np.arange(len(self))]
        order = np.lexsort((self.at, self.id))
        ids = self.id[order]
        first = np.r_[True, ids[1:] != ids[:-1]]
        start = np.maximum.accumulate(np.where(first, np.arange(len(ids)), 0))
        rank = np.arange(len(ids)) - start
        sizes = np.bincount(rank)
        return np.split(order[np.argsort(rank, kind="stable")], np.cumsum(sizes)[:-1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Plans(_Columns):
    """When to look again, over many resources; `rule` names the policy for all of them.

    `since_at` is the visit that the gap counts from. A plan does not hold for a resource that was visited
    again meanwhile; NaN: it holds whatever happened.
    """

    id: Ints
    since_at: Floats
    due_at: Floats
    gap_s: Floats
    p_changed: Floats
    per_day: Floats
    bound: Bytes8  # -1 the smallest gap decided, 1 the largest, 2 that it is a relook, 0 the policy itself
    price: Floats | float  # of each, or of all
    rule: str
    planned_at: float

    @property
    def prices(self) -> Floats:
        """One for each."""
        return np.broadcast_to(np.asarray(self.price, dtype=np.float64), len(self.id))

    def rows(self) -> Sequence[Plan]:
        """Each as a single plan."""
        prices = self.prices
        return [
            Plan(
                resource_id=int(self.id[i]),
                due_at=float(self.due_at[i]),
                gap_s=float(self.gap_s[i]),
                price=float(prices[i]),
                p_changed=float(self.p_changed[i]),
                per_day=float(self.per_day[i]),
                rule=self.rule,
                bound=_BOUNDS[int(self.bound[i])],
                planned_at=self.planned_at,
            )
            for i in range(len(self))
        ]


_BOUNDS = {-1: "min", 0: "", 1: "max", 2: "relook"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked(_Columns):
    """Visits of any outcome, with what the plans that led to them had forecast."""

    id: Ints
    since_at: Floats  # NaN: the first
    at: Floats
    due_at: Floats
    informative: Bools
    changed: Bytes8  # 1, 0, or -1: unknown
    event_at: Floats  # the change's own time, NaN where not known
    p_changed: Floats  # by `due_at`; NaN: no forecast led to it
    per_day: Floats  # changes until then


@dataclass(frozen=True, slots=True, kw_only=True)
class Prospects(_Columns):
    """What the present plans say of all that is watched, in the order of their numbers."""

    id: Ints
    group: Ints  # the host's number
    weight: Floats
    min_gap_s: Floats
    max_gap_s: Floats
    paused: Bools
    since_at: Floats  # last informative visit; NaN: none yet
    gap_s: Floats  # of the plan; NaN: none yet
    p_changed: Floats  # NaN: the plan is no forecast's
    per_day: Floats


def recent_bits(bits: int, changed: bool) -> int:
    """The change bits after one more informative visit: newest lowest, 64 kept."""
    return ((bits << 1) | int(changed)) & 0xFFFF_FFFF_FFFF_FFFF
