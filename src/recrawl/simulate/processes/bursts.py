"""Processes in which one event breeds others."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recrawl.model import Floats
from recrawl.simulate.processes.columns import (
    Drawn,
    Number,
    Rated,
    in_order,
    least,
    most,
    of_rows,
    one,
    refuse,
)
from recrawl.simulate.processes.lives import Ageing, Drifting, Dying
from recrawl.simulate.processes.steady import Poisson

_FADED = 20.0  # mean lifetimes after which a burst has died out: e^-20 of it is left


@dataclass(frozen=True, slots=True)
class Bursty:
    """Self-exciting (Hawkes with an exponential kernel): one event breeds others soon after.

    `per_day` is the rate in the long run. `branching` is the mean number of events that one event sets
    off directly, each after `decay_s` on average: 0 is Poisson, towards 1 all is bursts.
    """

    per_day: Number
    branching: Number = 0.8
    decay_s: Number = 1_800.0

    def __post_init__(self) -> None:
        refuse(least(self.per_day) < 0, "per_day", "at least 0")
        refuse(least(self.branching) < 0 or most(self.branching) >= 1, "branching", "from 0 to below 1")
        refuse(least(self.decay_s) <= 0, "decay_s", "above 0")

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:
        return one(self, start_at, end_at, rng)

    def draw(self, start_at: Floats, end_at: Floats, rng: np.random.Generator) -> Drawn:
        spontaneous = Poisson(self.per_day * (1 - self.branching))
        return Bred(spontaneous, self.branching, self.decay_s).draw(start_at, end_at, rng)

    def at_rates(self, per_day: Floats) -> Bursty:
        return replace(self, per_day=per_day)


@dataclass(frozen=True, slots=True)
class Bred:
    """Bursts that another process sets off: its events breed as those of `Bursty` do.

    Its rate is that of `of` over 1 - `branching`. It is stationary where `of` is; where `of` begins with a
    birth, so do the bursts.
    """

    of: Rated
    branching: Number = 0.5
    decay_s: Number = 1_800.0

    def __post_init__(self) -> None:
        refuse(least(self.branching) < 0 or most(self.branching) >= 1, "branching", "from 0 to below 1")
        refuse(least(self.decay_s) <= 0, "decay_s", "above 0")

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:
        return one(self, start_at, end_at, rng)

    def draw(self, start_at: Floats, end_at: Floats, rng: np.random.Generator) -> Drawn:
        # Drawn as a forest, generation by generation. It starts early, so that bursts already under way
        # at `start_at` are there and the rate is right from the first second.
        early_at = start_at
        if not isinstance(self.of, Ageing | Drifting | Dying):
            early_at = start_at - _FADED * self.decay_s / (1 - self.branching)
        bounds, at = self.of.draw(early_at, end_at, rng)
        row = np.repeat(np.arange(len(start_at)), np.diff(bounds))
        rows, times = [row], [at]
        while len(row):
            children = rng.poisson(of_rows(self.branching, row), len(row))
            row, parents = np.repeat(row, children), np.repeat(at, children)
            at = parents + rng.exponential(of_rows(self.decay_s, row), len(row))
            in_time = at <= end_at[row]
            row, at = row[in_time], at[in_time]
            rows.append(row)
            times.append(at)
        row, at = np.concatenate(rows), np.concatenate(times)
        kept = at > start_at[row]
        return in_order(row[kept], at[kept], len(start_at))

    def at_rates(self, per_day: Floats) -> Bred:
        return replace(self, of=self.of.at_rates(per_day * (1 - self.branching)))
