"""Goals keep their contract, and twins that are wrong in one way each are caught."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from recrawl.checks import goal as checks
from recrawl.checks import policy as policy_checks
from recrawl.checks.goal import MakeGoal
from recrawl.contracts import Forecasts, Goal
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.model import DAY_S, Floats
from recrawl.registry import made, names
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index


@pytest.mark.parametrize("check", checks.CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@pytest.mark.parametrize("name", names("goals"))
def test_goals_keep_the_contract(name: str, check: Callable[[MakeGoal], None]) -> None:
    check(lambda: made("goals", name))


class Own(Fresh):
    """A goal of somebody's, like ours but for its name, so that it is asked itself."""

    name = "own"


def test_a_goal_of_ones_own_is_what_the_index_goes_by() -> None:
    for check in policy_checks.CHECKS:
        check(lambda: Index(Own()), GammaFilter())


class Nameless(Own):
    name = " "


class Borrowed(Own):
    name = "prompt"


class Expected(Own):
    name = "expected"  # which `proportional` goes by


class Endless(Own):
    def worth(self, forecasts: Forecasts, t_s: Floats) -> Floats:
        with np.errstate(invalid="ignore"):
            return super().worth(forecasts, t_s) * (t_s / t_s)


class Alone(Own):
    """Cannot be asked of a grid."""

    def worth(self, forecasts: Forecasts, t_s: Floats) -> Floats:
        worth = super().worth(forecasts, t_s)
        return worth if worth.ndim > 1 else worth[:1]


class Eager(Own):
    def worth(self, forecasts: Forecasts, t_s: Floats) -> Floats:
        likely = 1.0 - forecasts.survival(np.full_like(t_s, DAY_S))
        return np.asarray(np.maximum(super().worth(forecasts, t_s), 3_600.0 * likely))


class Impatient(Own):
    def worth(self, forecasts: Forecasts, t_s: Floats) -> Floats:
        return np.asarray(super().worth(forecasts, t_s) * np.exp(-t_s / DAY_S))


class Restless(Own):
    def worth(self, forecasts: Forecasts, t_s: Floats) -> Floats:
        return super().worth(forecasts, t_s) + t_s


class Indifferent(Own):
    def worth(self, forecasts: Forecasts, t_s: Floats) -> Floats:
        return np.zeros_like(super().worth(forecasts, t_s))


class Comparing(Own):
    def worth(self, forecasts: Forecasts, t_s: Floats) -> Floats:
        worth = super().worth(forecasts, t_s)
        return np.asarray(worth + worth.mean(axis=-1, keepdims=True))


class Overwriting(Own):
    def worth(self, forecasts: Forecasts, t_s: Floats) -> Floats:
        worth = super().worth(forecasts, t_s)
        t_s += 1.0
        return worth


class Learning(Own):
    def __init__(self) -> None:
        self.longest_s = 0.0

    def worth(self, forecasts: Forecasts, t_s: Floats) -> Floats:
        self.longest_s = max(self.longest_s, float(t_s.max()))
        return super().worth(forecasts, t_s) * self.longest_s


@pytest.mark.parametrize(
    ("twin", "caught_by"),
    [
        (Own, None),
        (Nameless, checks.check_it_has_a_name),
        (Borrowed, checks.check_a_name_of_ours_means_what_it_means_here),
        (Expected, checks.check_a_name_of_ours_means_what_it_means_here),
        (Endless, checks.check_it_has_a_number_for_every_time),
        (Alone, checks.check_it_has_a_number_for_every_time),
        (Eager, checks.check_a_visit_at_once_is_worth_nothing),
        (Impatient, checks.check_waiting_never_makes_it_worth_less),
        (Restless, checks.check_what_never_changes_is_worth_nothing),
        (Indifferent, checks.check_what_may_change_is_worth_something),
        (Comparing, checks.check_a_resource_is_worth_what_it_is_alone),
        (Overwriting, checks.check_asking_changes_nothing),
        (Learning, checks.check_asking_changes_nothing),
    ],
)
def test_a_goal_that_is_wrong_in_one_way_is_caught(
    twin: Callable[[], Goal], caught_by: Callable[[MakeGoal], None] | None
) -> None:
    failed = []
    for check in checks.CHECKS:
        try:
            check(twin)
        except AssertionError:
            failed.append(check)
    if twin is Endless:  # a number that is none is neither nothing nor more than before
        assert caught_by in failed
    else:
        assert failed == ([] if caught_by is None else [caught_by])
