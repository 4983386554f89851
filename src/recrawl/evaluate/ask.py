"""What is asked of a replay."""

from __future__ import annotations

from dataclasses import dataclass, field

from recrawl import registry
from recrawl.errors import BadInputError, UnknownPartError
from recrawl.evaluate.contenders import DEFAULT_PREDICTOR, NAMES
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
    predictor: str = DEFAULT_PREDICTOR
    budget_per_day: float | None = None  # for those that are told how many visits to make
    rank: int | None = None  # how many of a day's visits NDCG looks at; None: no ranking
    changes: str = "any"  # which of the corpus's count
    n_cores: int | None = None
    n_at_once: int = field(default=50_000)  # resources held in memory at a time


def named(text: str, known: tuple[str, ...] = NAMES) -> tuple[str, ...]:
    """Policies from a list with commas; `all` are all that are `known` and not named before it.

    >>> named("week, fix"), named("week,all", known=("fix", "week"))
    (('week', 'fix'), ('week', 'fix'))
    """
    said = [name.strip().lower() for name in text.split(",") if name.strip()]
    names = tuple(dict.fromkeys(one for name in said for one in (known if name == "all" else (name,))))
    if not names:
        raise BadInputError(f"No policy is named; choose some of: {', '.join(known)}.")
    for name in names:
        if name not in known:
            what = "policy" if known is NAMES else "rule"
            why = f"There is no {what} called {name!r}"
            if name not in NAMES and name in map(str.lower, registry.names("policies")):
                why = f"The policy {name!r} can run, not be replayed here"
            raise UnknownPartError(f"{why}; choose some of: {', '.join(known)}.")
    return names
