"""A rule: which step it takes, with which numbers, from which gap on and within which bounds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recrawl.errors import BadSettingError
from recrawl.model import Floats
from recrawl.schedule.policies.rules.readers import N_KEPT
from recrawl.schedule.policies.rules.step import (
    AGREED,
    AUTO_TTL,
    CHAINED,
    CLIMBED,
    COMMAFEED,
    FIXED,
    MINIFLUX,
    SYNCHRONISED,
    WINDOWED,
)
from recrawl.schedule.policies.rules.umbrich import rung

_WIDTH = {AGREED: 2, WINDOWED: 3, SYNCHRONISED: 4, CLIMBED: 2} | dict.fromkeys(
    (MINIFLUX, COMMAFEED, AUTO_TTL), 2 + N_KEPT
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """`own` are the numbers that its step takes beside the bounds. With `foresight` its gaps come from the
    time to come, so that only a simulation can follow it. A rule that `answers_largest` takes its largest gap
    for an answer ("look in a day, as nothing came"), not only for an end that it may run into."""

    name: str
    code: int
    start_gap_s: float  # what it asks for before it has seen anything; a fixed gap is its own
    min_gap_s: float
    max_gap_s: float
    own: tuple[float, ...] = ()
    foresight: bool = False
    answers_largest: bool = False

    def __post_init__(self) -> None:
        if not 0.0 < self.min_gap_s <= self.max_gap_s:
            raise BadSettingError(
                f"The smallest gap ({self.min_gap_s:g} s) must be above 0 and no longer than the largest "
                f"({self.max_gap_s:g} s); choose others."
            )

    @property
    def numbers(self) -> tuple[float, ...]:
        return (self.min_gap_s, self.max_gap_s, *self.own)

    @property
    def width(self) -> int:
        """How many numbers it keeps of each resource."""
        if self.code == CHAINED:
            n_states = 1 << int(self.own[0])
            return 2 + (rung(self.max_gap_s, self.numbers) + 1) * 2 * n_states
        return _WIDTH.get(self.code, 1)

    def rows(self, n: int) -> Floats:
        """What it knows of resources that it knows nothing of."""
        rows = np.zeros((n, self.width))
        begun_s = self.own[0] if self.code == FIXED and self.own else self.start_gap_s
        rows[:, 0] = min(max(begun_s, self.min_gap_s), self.max_gap_s)
        return rows

    def bounded(self, min_gap_s: float, max_gap_s: float, start_gap_s: float | None = None) -> Rule:
        """The same rule within other bounds, as an experiment sets them for all. A largest gap that is an
        answer stays what it is, as far as these bounds allow it."""
        start_s = self.start_gap_s if start_gap_s is None else start_gap_s
        if self.answers_largest:
            max_gap_s = max(min_gap_s, min(self.max_gap_s, max_gap_s))
        return replace(self, min_gap_s=min_gap_s, max_gap_s=max_gap_s, start_gap_s=start_s)
