"""When things change: seeded processes that draw event times.

`events(start_at, end_at, rng)` gives the sorted times in `(start_at, end_at]`. Every process is
stationary: what lies in one window has the same law whether or not the time before it was drawn, so a
long life can be drawn window by window.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from recrawl.errors import BadSettingError
from recrawl.model import DAY_S, HOUR_S, Floats

_FADED = 20.0  # mean lifetimes after which a burst has died out: e^-20 of it is left


class Process(Protocol):
    """A way of changing."""

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats: ...


@dataclass(frozen=True, slots=True)
class Never:
    """Nothing ever happens."""

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:  # noqa: ARG002
        return np.empty(0)


@dataclass(frozen=True, slots=True)
class Given:
    """At these times and no others."""

    at: tuple[float, ...]

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:  # noqa: ARG002
        return _within(np.array(self.at, dtype=np.float64), start_at, end_at)


@dataclass(frozen=True, slots=True)
class Poisson:
    """Memoryless, at a constant rate."""

    per_day: float

    def __post_init__(self) -> None:
        _refuse(self.per_day < 0, "per_day", "at least 0")

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:
        span_s = max(0.0, end_at - start_at)
        n = rng.poisson(self.per_day * span_s / DAY_S)
        # `random` lies in [0, 1): counted back from the end it gives (start_at, end_at].
        return np.sort(end_at - span_s * rng.random(n))


@dataclass(frozen=True, slots=True)
class Periodic:
    """Once in every period, up to `jitter_s` late; `phase_s` is counted from 1970-01-01 UTC."""

    period_s: float
    jitter_s: float = 0.0
    phase_s: float = 0.0

    def __post_init__(self) -> None:
        _refuse(self.period_s <= 0, "period_s", "above 0")
        _refuse(self.jitter_s < 0, "jitter_s", "at least 0")

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:
        first = np.ceil((start_at - self.jitter_s - self.phase_s) / self.period_s)
        last = np.floor((end_at - self.phase_s) / self.period_s)
        due_at = np.arange(first, last + 1) * self.period_s + self.phase_s
        return _within(due_at + self.jitter_s * rng.random(len(due_at)), start_at, end_at)


@dataclass(frozen=True, slots=True)
class Daily:
    """Once a day at `hour` UTC, up to `jitter_s` late; on Mondays to Fridays alone where asked."""

    hour: float
    jitter_s: float = 0.0
    weekdays_only: bool = False

    def __post_init__(self) -> None:
        _refuse(not 0 <= self.hour < 24, "hour", "from 0 to below 24")
        _refuse(self.jitter_s < 0, "jitter_s", "at least 0")

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:
        first = np.floor((start_at - self.jitter_s) / DAY_S)
        days = np.arange(first, np.floor(end_at / DAY_S) + 1)
        late_s = self.jitter_s * rng.random(len(days))
        if self.weekdays_only:
            working = (days + 3) % 7 < 5  # day 0, 1970-01-01, was a Thursday
            days, late_s = days[working], late_s[working]
        return _within(days * DAY_S + self.hour * HOUR_S + late_s, start_at, end_at)


@dataclass(frozen=True, slots=True)
class Bursty:
    """Self-exciting (Hawkes with an exponential kernel): one event breeds others soon after.

    `per_day` is the rate in the long run. `branching` is the mean number of events that one event sets
    off directly, each after `decay_s` on average: 0 is Poisson, towards 1 all is bursts.
    """

    per_day: float
    branching: float = 0.8
    decay_s: float = 1_800.0

    def __post_init__(self) -> None:
        _refuse(self.per_day < 0, "per_day", "at least 0")
        _refuse(not 0 <= self.branching < 1, "branching", "from 0 to below 1")
        _refuse(self.decay_s <= 0, "decay_s", "above 0")

    def events(self, start_at: float, end_at: float, rng: np.random.Generator) -> Floats:
        # Drawn as a forest, generation by generation. It starts early, so that bursts already under way
        # at `start_at` are there and the rate is right from the first second.
        early_at = start_at - _FADED * self.decay_s / (1 - self.branching)
        spontaneous = Poisson(self.per_day * (1 - self.branching))
        generation = spontaneous.events(early_at, end_at, rng)
        everyone = [generation]
        while len(generation):
            parents = np.repeat(generation, rng.poisson(self.branching, len(generation)))
            children = parents + rng.exponential(self.decay_s, len(parents))
            generation = children[children <= end_at]
            everyone.append(generation)
        return _within(np.concatenate(everyone), start_at, end_at)


def _within(times_at: Floats, start_at: float, end_at: float) -> Floats:
    return np.sort(times_at[(times_at > start_at) & (times_at <= end_at)])


def _refuse(wrong: bool, name: str, wanted: str) -> None:
    if wrong:
        raise BadSettingError(f"This {name} makes no process; choose one {wanted}.")
