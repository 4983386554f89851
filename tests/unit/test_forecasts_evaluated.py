"""Forecasts before every visit, and what became of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.histories import history, looks

from recrawl.corpora.builtin import builtin
from recrawl.errors import UnknownPartError
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.forecasts import evaluate, foretold
from recrawl.evaluate.pieces import Population
from recrawl.evaluate.protocol import whole
from recrawl.learn.forecasts import GammaForecasts
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.model import DAY_S, Batch, Seen

ASK = Ask(policies=(), days=365.0, n_draws=2, seed=3)


def quiet(share: float, what: str) -> None:
    assert 0.0 <= share <= 1.0 + 1e-9
    assert what


class Diary(GammaFilter):
    """Writes down in which order it is asked and taught."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[tuple[str, list[int], list[float]]] = []

    def forecast(self, batch: Batch, now: float) -> GammaForecasts:
        self.lines.append(("asked", batch.id.tolist(), [now / DAY_S]))
        return super().forecast(batch, now)

    def learn(self, seen: Seen) -> None:
        self.lines.append(("taught", seen.id.tolist(), (seen.at / DAY_S).tolist()))
        super().learn(seen)


def population() -> Population:
    traces = history([[2.5 * DAY_S], []])
    return Population(draw=0, traces=traces, window=whole(2, 0.0, 10 * DAY_S), group=np.arange(2))


def test_every_visit_is_forecast_before_it_is_learned_from() -> None:
    diary = Diary()
    visits = looks([[2 * DAY_S, 4 * DAY_S], [2.5 * DAY_S, 9 * DAY_S]])
    said = foretold(diary, population(), visits, replace(ASK, min_gap_s=DAY_S))
    assert diary.lines == [
        ("asked", [1, 2], [2.0]),
        ("taught", [1, 2], [2.0, 2.5]),
        ("asked", [1], [4.0]),
        ("taught", [1], [4.0]),
        ("asked", [2], [9.0]),
        ("taught", [2], [9.0]),
    ]
    assert said.changed.tolist() == [False, False, True, False]
    assert said.late.tolist() == [False, False, False, True]
    prior = GammaFilter()
    first = prior.forecast(_batch(), 0.0)
    assert said.p[:2] == pytest.approx(1.0 - first.survival(np.array([2.0, 2.5]) * DAY_S))
    assert said.p[2] < 1.0 - first.survival(np.array([2.0, 2.0]) * DAY_S)[0]  # it saw nothing happen


def _batch() -> Batch:
    two = np.ones(2)
    whole_numbers = np.ones(2, dtype=np.int64)
    return Batch(
        id=np.array([1, 2]),
        weight=two,
        min_gap_s=two,
        max_gap_s=two,
        since_at=0.0 * two,
        gap_s=two,
        n_informative=whole_numbers,
        n_changes=whole_numbers,
        n_failures=whole_numbers,
        bits=whole_numbers.astype(np.uint64),
    )


def test_visits_of_one_resource_are_never_taken_together() -> None:
    diary = Diary()
    visits = looks([[1.0, 2.0, 3.0], [1.5]])
    foretold(diary, population(), visits, replace(ASK, min_gap_s=DAY_S))
    assert [ids for what, ids, _ in diary.lines if what == "taught"] == [[1, 2], [1], [1]]


class Deaf(GammaFilter):
    def learn(self, seen: Seen) -> None:
        pass


def test_who_learns_forecasts_better_on_the_same_visits(monkeypatch: pytest.MonkeyPatch) -> None:
    made = {"gamma": GammaFilter, "deaf": Deaf}
    monkeypatch.setattr("recrawl.evaluate.forecasts.predictor_named", lambda name: made[name]())
    few = builtin("wiki", n_resources=60, years=3)
    judged = evaluate("c", few, ASK, quiet, predictors=("gamma", "deaf"))
    rows = {(row.schedule, row.part, row.predictor): row for row in judged.rows}
    assert len(rows) == 8
    for schedule in ("week", "index"):
        for part in ("all", "late"):
            ours, deaf = rows[schedule, part, "gamma"], rows[schedule, part, "deaf"]
            assert ours.n_visits == deaf.n_visits > 0
            assert ours.share_changed == deaf.share_changed
            assert ours.differences["brier"].value == 0.0
            assert deaf.differences["brier"].low > 0.0
            assert deaf.scores["log_loss"].value > ours.scores["log_loss"].value
            assert sum(one.n for one in ours.curve) == ours.n_visits
        assert rows[schedule, "late", "gamma"].n_visits < rows[schedule, "all", "gamma"].n_visits


def test_an_unknown_predictor_is_refused_before_the_work() -> None:
    with pytest.raises(UnknownPartError, match="no predictor called 'oracle'"):
        evaluate("c", builtin("wiki", n_resources=20), ASK, quiet, predictors=("gamma", "oracle"))
