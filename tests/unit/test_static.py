"""First sight alone: the forecast is the prior, with the hunch where there is one."""

from __future__ import annotations

from dataclasses import replace
from math import inf

import numpy as np
import pytest
from tests.unit.test_classes import loop_of, seen, visit

from recrawl.checks import predictor as predictor_checks
from recrawl.checks.predictor import sample_batch
from recrawl.learn.predictors.static import Static
from recrawl.model import DAY_S, Priors
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index


@pytest.mark.parametrize("check", predictor_checks.CHECKS)
def test_the_predictor_keeps_the_contract(check: object) -> None:
    check(Static)  # type: ignore[operator]


def test_a_hunch_is_the_mean_rate_and_without_one_the_plain_prior_holds() -> None:
    static, t_s = Static(), np.full(3, DAY_S)
    batch = replace(sample_batch(3), hunch_per_day=np.array([0.1, 4.0, np.nan]))
    plain = Static().forecast(sample_batch(3), 0.0).survival(t_s)
    assert static.forecast(batch, 0.0).survival(t_s) == pytest.approx(plain)  # nobody knows how wrong it is
    hunched = Priors(shape=2.0, scale_s=2.0 * DAY_S)
    static.ground(Priors(shape=0.5, scale_s=10 * DAY_S, hunched=hunched))
    forecasts = static.forecast(batch, 0.0)
    assert forecasts.n_expected(t_s) == pytest.approx([0.1, 4.0, 0.05])
    assert forecasts.a.tolist() == [2.0, 2.0, 0.5]
    assert static.account(batch, 0.0)["prior_shape"].tolist() == [2.0, 2.0, 0.5]


def test_visits_teach_it_nothing() -> None:
    static, batch, t_s = Static(), sample_batch(2), np.full(2, DAY_S)
    before = static.forecast(batch, 0.0).survival(t_s).tolist()
    static.learn(seen([1.0] * 9, [1] * 9))
    assert static.forecast(batch, 0.0).survival(t_s).tolist() == before
    assert static.memory(batch.id).shape == (2, 0)


def test_a_loop_keeps_no_row_of_it_and_takes_it_up_again() -> None:
    loop = loop_of(Index(Fresh()), Static())
    for day in range(4):
        visit(loop, 1.7e9 + day * 3 * DAY_S, True)
    assert isinstance(loop.store, MemoryStore)
    assert len(loop.store.standing(1)[0].memory) == 1  # whose it is
    again = loop_of(Index(Fresh()), Static(), loop.store)
    assert again.reprice(1.7e9 + 20 * DAY_S).price < inf
