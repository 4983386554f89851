"""Columns in memory that grow by doubling; row i belongs to resource i + 1."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from recrawl.model import ASKED, Batch, Completion, Effective, Floats, Plan, Plans

_REALS = (
    *("weight", "min_gap_s", "max_gap_s", "since_at", "gap_s", "due_at"),
    *("plan_gap_s", "price", "p_changed", "per_day", "planned_at", "told_at"),
    *("sight_at", "hunch_per_day", "hunch_gap_s"),
)
_COUNTS = ("n_informative", "n_changes", "n_failures", "n_memory", "host_id", "told_by")
Scalar = TypeVar("Scalar", bound=np.generic)
_BOUNDS = np.array(["min", "", "max", "relook"], dtype=object)  # by -1, 0, 1, 2


class Columns:
    """What `Store.batch` returns and what `Store.replan` sets, without a loop over resources."""

    def __init__(self) -> None:
        self.n = 0
        self.active: npt.NDArray[np.bool_] = np.zeros(0, bool)  # watched and not paused
        self.bits: npt.NDArray[np.uint64] = np.zeros(0, np.uint64)
        self.real: dict[str, Floats] = {name: np.zeros(0) for name in _REALS}
        self.count: dict[str, npt.NDArray[np.int64]] = {name: np.zeros(0, np.int64) for name in _COUNTS}
        self.rule = np.zeros(0, object)
        self.bound = np.zeros(0, object)
        self.memory: Floats = np.zeros((0, 0))

    def append(self, plan: Plan) -> None:
        row = self.n
        if row == len(self.active):
            self._grow(max(64, 2 * row))
        self.n += 1
        self.real["since_at"][row] = nan
        self.real["gap_s"][row] = nan
        self.real["told_at"][row] = nan
        self.forget_sight(row + 1)
        self.set_plan(plan)

    def set_effective(self, resource_id: int, host_id: int, effective: Effective) -> None:
        row = resource_id - 1
        self.count["host_id"][row] = host_id
        self.active[row] = not effective.paused
        self.real["weight"][row] = effective.weight
        self.real["min_gap_s"][row] = effective.min_gap_s
        self.real["max_gap_s"][row] = effective.max_gap_s

    def set_plan(self, plan: Plan) -> None:
        row, real = plan.resource_id - 1, self.real
        real["due_at"][row] = plan.due_at
        real["plan_gap_s"][row] = plan.gap_s
        real["price"][row] = plan.price
        real["p_changed"][row] = plan.p_changed
        real["per_day"][row] = plan.per_day
        real["planned_at"][row] = plan.planned_at
        self.rule[row] = plan.rule
        self.bound[row] = plan.bound

    def set_done(self, done: Completion) -> None:
        row, standing = done.lease.resource.id - 1, done.standing
        self.real["since_at"][row] = standing.since_at
        self.real["gap_s"][row] = standing.gap_s
        self.count["n_informative"][row] = standing.n_informative
        self.count["n_changes"][row] = standing.n_changes
        self.count["n_failures"][row] = standing.n_failures
        self.bits[row] = standing.bits
        self.set_memory(done.lease.resource.id, standing.memory)
        self.set_plan(done.plan)

    def set_memory(self, resource_id: int, memory: Sequence[float]) -> None:
        row = resource_id - 1
        self.count["n_memory"][row] = width = len(memory)
        if width > self.memory.shape[1]:
            wider = np.full((len(self.memory), width), nan)
            wider[:, : self.memory.shape[1]] = self.memory
            self.memory = wider
        self.memory[row, :width] = memory
        self.memory[row, width:] = nan

    def set_told(self, resource_id: int, at: float, by: int) -> None:
        self.real["told_at"][resource_id - 1] = at
        self.count["told_by"][resource_id - 1] = by

    def forget_sight(self, resource_id: int) -> None:
        for name in ("sight_at", "hunch_per_day", "hunch_gap_s"):
            self.real[name][resource_id - 1] = nan

    def set_plans(self, plans: Plans) -> None:
        rows, real = plans.id - 1, self.real
        real["due_at"][rows] = plans.due_at
        real["gap_s"][rows] = plans.gap_s
        real["plan_gap_s"][rows] = plans.gap_s
        real["p_changed"][rows] = plans.p_changed
        real["per_day"][rows] = plans.per_day
        real["price"][rows] = plans.price
        real["planned_at"][rows] = plans.planned_at
        self.rule[rows] = plans.rule
        self.bound[rows] = _BOUNDS[plans.bound + 1]

    def bring_inside(self, resource_id: int, now: float) -> None:
        """Move a plan outside the gap bounds to the bound, unless it waits out a failure or was asked for."""
        row, real = resource_id - 1, self.real
        since_at, due_at = real["since_at"][row], real["due_at"][row]
        for name, outside in (
            ("min", due_at < since_at + real["min_gap_s"][row]),
            ("max", due_at > since_at + real["max_gap_s"][row]),
        ):
            if outside and self.count["n_failures"][row] == 0 and self.rule[row] != ASKED:
                real["gap_s"][row] = real["plan_gap_s"][row] = real[f"{name}_gap_s"][row]
                real["due_at"][row] = since_at + real["gap_s"][row]
                real["planned_at"][row] = now
                real["p_changed"][row] = nan  # it was that of another gap
                self.bound[row] = name

    def set_back(self, now: float) -> list[int]:
        """What was visited in the future was visited now, and nothing is due later than after its gap; whom
        that concerns."""
        real, n = self.real, self.n
        gap_s = np.where(self.rule[:n] == ASKED, 0.0, np.nan_to_num(real["plan_gap_s"][:n], posinf=np.inf))
        due_at, latest_at = real["due_at"][:n], now + gap_s
        late = np.isfinite(due_at) & (due_at > latest_at)
        due_at[late] = latest_at[late]
        future = real["since_at"][:n] > now
        real["since_at"][:n][future] = now
        return (np.flatnonzero(late | future) + 1).tolist()

    def plan(self, resource_id: int) -> Plan:
        row, real = resource_id - 1, self.real
        return Plan(
            resource_id=resource_id,
            due_at=float(real["due_at"][row]),
            gap_s=float(real["plan_gap_s"][row]),
            price=float(real["price"][row]),
            p_changed=float(real["p_changed"][row]),
            per_day=float(real["per_day"][row]),
            rule=self.rule[row],
            bound=self.bound[row],
            planned_at=float(real["planned_at"][row]),
        )

    def batch(self, ids: Sequence[int] | None = None) -> tuple[Batch, Floats]:
        """All, or these."""
        rows = np.flatnonzero(self.active[: self.n])
        if ids is not None:
            rows = np.intersect1d(rows, np.array(ids, dtype=np.int64) - 1)
        width = int(self.count["n_memory"][rows].max(initial=0))
        batch = Batch(
            id=rows.astype(np.int64) + 1,
            weight=self.real["weight"][rows],
            min_gap_s=self.real["min_gap_s"][rows],
            max_gap_s=self.real["max_gap_s"][rows],
            since_at=self.real["since_at"][rows],
            gap_s=self.real["gap_s"][rows],
            n_informative=self.count["n_informative"][rows],
            n_changes=self.count["n_changes"][rows],
            n_failures=self.count["n_failures"][rows],
            bits=self.bits[rows],
            group=self.count["host_id"][rows],
            told_at=self.real["told_at"][rows],
            told_by=self.count["told_by"][rows],
            hunch_per_day=self.real["hunch_per_day"][rows],
            hunch_gap_s=self.real["hunch_gap_s"][rows],
        )
        return batch, self.memory[rows, :width]

    def _grow(self, size: int) -> None:
        self.active = _longer(self.active, size)
        self.bits = _longer(self.bits, size)
        self.real = {name: _longer(column, size) for name, column in self.real.items()}
        self.count = {name: _longer(column, size) for name, column in self.count.items()}
        self.rule = _longer(self.rule, size)
        self.bound = _longer(self.bound, size)
        memory = np.full((size, self.memory.shape[1]), nan)
        memory[: self.n] = self.memory[: self.n]
        self.memory = memory


def _longer(column: npt.NDArray[Scalar], size: int) -> npt.NDArray[Scalar]:
    longer = np.zeros(size, column.dtype)
    longer[: len(column)] = column
    return longer
