"""What is asked of a replay."""

from __future__ import annotations

from dataclasses import dataclass, field

from recrawl.errors import BadInputError, UnknownPartError
from recrawl.evaluate.contenders import NAMES
from recrawl.evaluate.protocol import N_DRAWS
from recrawl.model import DAY_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    policies: tuple[str, ...]
    days: float
    min_gap_s: float = DAY_S
    max_gap_s: float = 180 * DAY_S
    n_draws: int = N_DRAWS
    seed: int = 1
    goal: str = "fresh"
    predictor: str = "gamma"
    budget_per_day: float | None = None  # for those that are told how many visits to make
    n_cores: int | None = None
    n_at_once: int = field(default=50_000)  # resources held in memory at a time


def named(text: str) -> tuple[str, ...]:
    """Policies from a list with commas; `all` are all.

    >>> named("week, fix")
    ('week', 'fix')
    """
    if text.strip() == "all":
        return NAMES
    names = tuple(dict.fromkeys(name.strip().lower() for name in text.split(",") if name.strip()))
    if not names:
        raise BadInputError(f"No policy is named; choose some of: {', '.join(NAMES)}.")
    for name in names:
        if name not in NAMES:
            raise UnknownPartError(f"There is no policy called {name!r}; choose some of: {', '.join(NAMES)}.")
    return names
