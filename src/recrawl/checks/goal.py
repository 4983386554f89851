"""What every goal must do. For plug-in authors: run each of `CHECKS` on a function that makes yours."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from recrawl.contracts import Forecasts, Goal
from recrawl.learn.forecasts import GammaForecasts, MixtureForecasts
from recrawl.model import DAY_S, Floats, Ints
from recrawl.schedule.closed import CODES
from recrawl.schedule.goals import Capture, Fresh, FreshHarmonic, Prompt

MakeGoal = Callable[[], Goal]
_N = 12
_OURS: dict[str, MakeGoal] = {one.name: one for one in (Fresh, FreshHarmonic, Capture, Prompt)}
_CLOSE = 1e-9  # of the worth after the longest time: what cancels out leaves so much of a float


def sample_forecasts() -> Iterator[Forecasts]:
    """Of resources that change from once in three years to twenty times a day, known well and hardly at all.
    The longer nothing happens, the likelier they are slow."""
    per_s = np.geomspace(1e-3, 20.0, _N) / DAY_S
    for shape in (0.3, 1.0, 40.0):
        yield GammaForecasts(np.full(_N, shape), shape / per_s)
    share = np.linspace(0.1, 0.9, _N)
    yield MixtureForecasts(np.column_stack([share, 1.0 - share]), np.column_stack([per_s, 7.0 * per_s]))


def sample_times() -> Floats:
    """From none to more than a year, a row each, for all resources."""
    return np.concatenate([[0.0], np.geomspace(60.0, 400 * DAY_S, 60)])[:, None] * np.ones(_N)


@dataclass(frozen=True, slots=True)
class Never:
    """Forecasts of what is known to stay as it is."""

    def survival(self, t_s: Floats) -> Floats:
        return np.ones_like(t_s)

    def survival_integral(self, t_s: Floats) -> Floats:
        return t_s.copy()

    def survival_slope(self, t_s: Floats) -> Floats:
        return np.zeros_like(t_s)

    def n_expected(self, t_s: Floats) -> Floats:
        return np.zeros_like(t_s)

    def n_expected_integral(self, t_s: Floats) -> Floats:
        return np.zeros_like(t_s)

    def pick(self, rows: Ints) -> Never:  # noqa: ARG002 - all are alike
        return self


def check_it_has_a_name(make: MakeGoal) -> None:
    """It stands in plans behind that of the policy and a colon."""
    name = make().name
    assert name.strip()
    assert name.isprintable()
    assert ":" not in name


def check_a_name_of_ours_means_what_it_means_here(make: MakeGoal) -> None:
    """What has one of these names is not asked where its gaps are known in closed form."""
    goal = make()
    if goal.name not in CODES:
        return
    for forecasts in sample_forecasts():
        times = sample_times()
        if goal.name in _OURS:
            expected = _OURS[goal.name]().worth(forecasts, times)
        else:
            expected = forecasts.n_expected(times)
        assert np.allclose(goal.worth(forecasts, times), expected, rtol=1e-9, atol=0.0)


def check_it_has_a_number_for_every_time(make: MakeGoal) -> None:
    """For one time each, and for many; no time at all is a time too."""
    goal = make()
    for forecasts in sample_forecasts():
        for times in (sample_times(), np.full(_N, DAY_S)):
            worth = goal.worth(forecasts, times)
            assert worth.shape == times.shape
            assert np.isfinite(worth).all()


def check_a_visit_at_once_is_worth_nothing(make: MakeGoal) -> None:
    """Else what is free would be visited again before it was left."""
    goal = make()
    for forecasts in sample_forecasts():
        worth = goal.worth(forecasts, sample_times())
        assert (np.abs(worth[0]) <= _CLOSE * np.abs(worth[-1])).all()


def check_waiting_never_makes_it_worth_less(make: MakeGoal) -> None:
    """Where the hazard only falls. So dearer is never sooner, and a price has one gap."""
    goal = make()
    for forecasts in sample_forecasts():
        worth = goal.worth(forecasts, sample_times())
        assert (np.diff(worth, axis=0) >= -_CLOSE * np.abs(worth[-1])).all()


def check_what_never_changes_is_worth_nothing(make: MakeGoal) -> None:
    """However long nobody has looked; beside a second of anybody's stale time, or a change."""
    assert (np.abs(make().worth(Never(), sample_times())) <= 1e-6).all()


def check_what_may_change_is_worth_something(make: MakeGoal) -> None:
    goal = make()
    for forecasts in sample_forecasts():
        assert (goal.worth(forecasts, sample_times())[-1] > 0.0).all()


def check_a_resource_is_worth_what_it_is_alone(make: MakeGoal) -> None:
    """It does not depend on its company in the batch."""
    goal = make()
    for forecasts in sample_forecasts():
        together = goal.worth(forecasts, sample_times())
        for row in range(_N):
            only = np.array([row])
            alone = goal.worth(forecasts.pick(only), sample_times()[:, only])
            assert np.allclose(alone, together[:, only], rtol=1e-9, atol=_CLOSE * float(together[-1, row]))


def check_asking_changes_nothing(make: MakeGoal) -> None:
    """The same question gets the same answer, and comes back as it was."""
    one, other = make(), make()
    for forecasts in sample_forecasts():
        times = sample_times()
        first = one.worth(forecasts, times).copy()
        assert np.array_equal(times, sample_times())
        one.worth(forecasts, 2.0 * times)
        assert np.array_equal(first, one.worth(forecasts, times))
        assert np.array_equal(first, other.worth(forecasts, times))


CHECKS = [
    check_it_has_a_name,
    check_a_name_of_ours_means_what_it_means_here,
    check_it_has_a_number_for_every_time,
    check_a_visit_at_once_is_worth_nothing,
    check_waiting_never_makes_it_worth_less,
    check_what_never_changes_is_worth_nothing,
    check_what_may_change_is_worth_something,
    check_a_resource_is_worth_what_it_is_alone,
    check_asking_changes_nothing,
]
