"""The plan as the web face asks for it: what budgets buy, what one would change, policies replayed."""

from __future__ import annotations

from math import inf

from recrawl.app.build import House
from recrawl.app.foresight import Foresight, budgets_of, foreseen, share_of
from recrawl.app.quantity import seconds, visits_per_day
from recrawl.errors import BadInputError, ConflictError
from recrawl.evaluate.ask import named
from recrawl.evaluate.own.backtest import Wanted, backtest
from recrawl.evaluate.own.results import Backtest

GOALS = ("fresh", "fresh-harmonic", "capture", "prompt")
N_DRAWS = 4
MOST_POLICIES = 6
MOST_DAYS = 3_660.0


def plan(house: House, budgets: str = "", goal: str = "", within: str = "", share: str = "") -> Foresight:
    """Each as on the command line; empty: as usual."""
    within_s = seconds(within) if within else None
    if within_s is not None and within_s <= 0.0:
        raise BadInputError("Nothing is known within no time; say how soon, such as 2h.")
    if share and within_s is None:
        raise ConflictError("A share is of changes known in time; say within what time, such as 2h.")
    return foreseen(
        house,
        budgets=budgets_of(budgets) if budgets else (),
        goal=goal or None,
        within_s=within_s,
        share=share_of(share) if share else 0.95,
    )


def beside(house: House, other: str, goal: str = "") -> Foresight:
    """The budget in force and another one."""
    return foreseen(house, budgets=[visits_per_day(other)], goal=goal or None)


def replayed(house: House, policies: str, goal: str = "", days: float = inf, budget: str = "") -> Backtest:
    """Policies over one's own past, with as many visits as were made or as this budget has."""
    names = named(policies)
    if len(names) > MOST_POLICIES:
        raise BadInputError(f"At most {MOST_POLICIES} policies at once; leave some out.")
    gaps = house.config.gaps
    wanted = Wanted(
        policies=names,
        goal=goal or house.config.schedule.goal,
        predictor=house.config.schedule.predictor,
        min_gap_s=gaps.min_gap,
        max_gap_s=gaps.max_gap,
        days=days,
        budget_per_day=visits_per_day(budget) if budget else None,
        n_draws=N_DRAWS,
    )
    return backtest(house.store.told(), wanted, lambda *_: None)
