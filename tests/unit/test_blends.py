"""What our own learner is made of: models for all pages, and blends that answers decide between."""

from __future__ import annotations

import numpy as np
import pytest

from recrawl.errors import BadInputError
from recrawl.learn.experts import Task, foretold
from recrawl.learn.experts.blends import blended, blends, chances, odds
from recrawl.learn.experts.ridge import drawn_through
from recrawl.learn.features.content import Steps
from recrawl.model import Bags, Bools


def certain(
    *p: float, n_pages: int = 8, n_steps: int = 30
) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    """Blends that always say the same."""
    return np.broadcast_to(np.array(p)[:, None, None], (len(p), n_pages, n_steps))


def always(so: bool, n_steps: int = 30) -> Bools:
    return np.full((8, n_steps), so)


def test_the_blend_that_was_right_is_heard() -> None:
    p, at = certain(0.9, 0.5, 0.1), np.arange(30)
    said = blended(p, always(True), always(True), at, 1)
    assert said[0, 0] == pytest.approx(0.5)
    assert said[0, -1] > 0.85


def test_a_blend_that_was_wrong_for_long_comes_back() -> None:
    so = np.concatenate([always(True), always(False)], axis=1)
    said = blended(certain(0.9, 0.1, n_steps=60), so, so | True, np.arange(60), 1)
    assert said[0, 29] > 0.85
    assert said[0, 35] < 0.15


def test_answers_count_from_the_step_at_which_they_are_known() -> None:
    p, at = certain(0.9, 0.1), np.arange(30)
    for ahead in (1, 4):
        said = blended(p, always(True), always(True), at, ahead)
        assert said[0, :ahead] == pytest.approx(np.full(ahead, 0.5))
        assert said[0, ahead] > 0.6
    unknown = blended(p, always(True), always(False), at, 1)
    assert unknown == pytest.approx(np.full((8, 30), 0.5))


def test_blends_are_of_the_models_with_and_without_what_the_page_itself_says() -> None:
    line, trees, own = (odds(np.full((1, 1), p)) for p in (0.2, 0.6, 0.9))
    found = blends(line, trees[None], own)[:, 0, 0]
    assert len(found) == 10
    assert found[:5].min() == pytest.approx(0.2)
    assert found[:5].max() == pytest.approx(0.6)
    assert np.isclose(found, chances((line + trees) / 2.0)).any()
    assert np.isclose(found, chances((2.0 * line + own) / 3.0)).any()
    assert (found[5:] > found[:5]).all()


def test_a_line_finds_what_the_log_odds_were_made_of() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(6_000, 3)) * [1.0, 10.0, 1.0] + [0.0, 50.0, 0.0]
    truth = 1.5 * x[:, 0] - 0.08 * (x[:, 1] - 50.0) + 0.3
    so = rng.random(6_000) < 1.0 / (1.0 + np.exp(-truth))
    line = drawn_through(x, so, np.ones(6_000))
    assert np.abs(line.odds(x) - truth).mean() < 0.15


def test_rows_of_a_line_that_weigh_more_are_as_good_as_more_rows() -> None:
    rng = np.random.default_rng(2)
    x, so = rng.normal(size=(300, 2)), rng.random(300) < 0.4
    x[150:], so[150:] = x[:150], rng.random(150) < 0.8  # the same rows with two answers
    weight = np.repeat([1.9, 0.1], 150)
    told = drawn_through(x, so, weight).odds(x[:150])
    assert told.mean() == pytest.approx(odds(np.average(so, weights=weight)[None])[0], abs=0.1)


def hourly(n_pages: int = 10, n_steps: int = 100) -> Steps:
    """Twelve steps a day, and each page changes at four of them of its own."""
    rng = np.random.default_rng(4)
    hours = np.array([rng.permutation(12)[:4] for _ in range(n_pages)])
    changed = ((np.arange(n_steps) % 12)[None, :, None] == hours[:, None]).any(axis=2)
    changed ^= rng.random(changed.shape) < 0.05
    changed[:, 0] = False
    rows = np.arange(n_pages)[:, None] * n_steps + np.arange(n_steps)
    return Steps(Bags.of({0: 1.0} for _ in range(rows.size)), rows, changed)


def test_ours_knows_the_hours_of_each_page_where_it_is_told_how_long_a_day_is() -> None:
    steps = hourly()
    at = np.arange(80, 99)
    right = {}
    for cycles in ((12,), ()):
        task = Task(steps=steps, pages=np.arange(10), n_train=30, cycles=cycles)
        right[cycles] = (foretold("ours", task, at).yes == task.outcome[:, at]).mean()
    assert right[(12,)] > 0.9
    assert right[(12,)] > right[()] + 0.05


def test_ours_learns_from_all_that_is_known_or_from_as_much_as_it_is_told() -> None:
    steps, at = hourly(), np.array([80])
    told = [
        foretold("ours", Task(steps=steps, pages=np.arange(10), n_train=20, n_past=n), at).said
        for n in (None, 20, 1_000)
    ]
    assert np.array_equal(told[0], told[2])  # there are no more than it knows
    assert not np.array_equal(told[0], told[1])
    with pytest.raises(BadInputError, match="counted from 1"):
        Task(steps=steps, pages=np.arange(3), n_past=0)
