"""The same things as columns over many resources. One resource is a batch of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen(_Columns):
    """Informative visits, as a predictor learns from them: was there a change in `(since_at, at]`?"""

    id: Ints
    since_at: Floats
    at: Floats
    changed: Bytes8  # 1 or 0; unknown ones never get here
    event_at: Floats  # the change's own time, NaN where not known


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
    bound: Bytes8  # -1 the smallest gap decided, 1 the largest, 0 the policy itself
    price: float
    rule: str
    planned_at: float

    def rows(self) -> Sequence[Plan]:
        """Each as a single plan."""
        return [
            Plan(
                resource_id=int(self.id[i]),
                due_at=float(self.due_at[i]),
                gap_s=float(self.gap_s[i]),
                price=self.price,
                p_changed=float(self.p_changed[i]),
                per_day=float(self.per_day[i]),
                rule=self.rule,
                bound=_BOUNDS[int(self.bound[i])],
                planned_at=self.planned_at,
            )
            for i in range(len(self))
        ]


_BOUNDS = {-1: "min", 0: "", 1: "max"}


def recent_bits(bits: int, changed: bool) -> int:
    """The change bits after one more informative visit: newest lowest, 64 kept."""
    return ((bits << 1) | int(changed)) & 0xFFFF_FFFF_FFFF_FFFF
