"""Kin by links, by content and by how words come and go, beside the plainest way to work them out."""

import math

import numpy as np
import pytest

from recrawl.learn.kin import Kin, totals, warping
from recrawl.learn.kin.content import alike
from recrawl.learn.kin.correlation import correlated
from recrawl.learn.kin.dynamics import Dynamics
from recrawl.learn.kin.graph import linked
from recrawl.learn.kin.kin import highest
from recrawl.learn.kin.warping import warped
from recrawl.model import Bags, Floats, Ints

Told = list[list[dict[int, float] | None]]  # of each page, at each step: its words; None: not known


def steps(told: Told) -> tuple[Bags, Ints]:
    rows = [words for page in told for words in page if words is not None]
    known = np.array([[words is not None for words in page] for page in told])
    return Bags.of(rows), np.where(known, np.cumsum(known).reshape(known.shape) - 1, -1)


def dynamics(told: Told) -> Dynamics:
    return Dynamics.of(*steps(told))


def story(seed: int, n_pages: int = 14, n_steps: int = 20, n_words: int = 9) -> Told:
    rng = np.random.default_rng(seed)
    shown = rng.random((n_pages, n_steps, n_words)) < 0.4
    shown[:, :, 0] = True  # one word everywhere, and one that never moves
    count = rng.integers(1, 5, shown.shape)
    count[:, :, 1], shown[: n_pages // 2, :, 1] = 2, True
    return [
        [{w: float(count[p, t, w]) for w in np.flatnonzero(shown[p, t]).tolist()} for t in range(n_steps)]
        for p in range(n_pages)
    ]


def series(told: Told, page: int, word: int) -> list[float]:
    return [float((words or {}).get(word, 0)) for words in told[page]]


def tf_idf(told: Told, page: int, word: int) -> float:
    documents = [words or {} for other in told for words in other]
    showing = sum(word in words for words in documents)
    return series(told, page, word)[-1] * math.log(len(documents) / showing)


def best_correlation(a: list[float], b: list[float], lags: range) -> float:
    n, mean_a, mean_b = len(a), sum(a) / len(a), sum(b) / len(b)
    spread = math.sqrt(sum((x - mean_a) ** 2 for x in a) / n) * math.sqrt(
        sum((x - mean_b) ** 2 for x in b) / n
    )
    return max(
        sum((a[i] - mean_a) * (b[i - d] - mean_b) for i in range(n) if 0 <= i - d < n) / (n * spread)
        for d in lags
    )


def shape(a: list[float]) -> list[float]:
    mean = sum(a) / len(a)
    length = math.sqrt(sum((x - mean) ** 2 for x in a))
    return [(x - mean) / length for x in a]


def time_warped(a: list[float], b: list[float]) -> float:
    n = len(a)
    cost = {(-1, -1): 0.0}
    for i in range(n):
        for j in range(n):
            near = min(cost.get(at, math.inf) for at in [(i - 1, j), (i, j - 1), (i - 1, j - 1)])
            cost[i, j] = abs(a[i] - b[j]) + near
    return cost[n - 1, n - 1]


def literal(told: Told, way: str, lags: range) -> Floats:
    """Word by word, as it is defined, with the page's own score for 1."""
    n, words = len(told), {word for page in told for shown in page for word in shown or {}}
    score = np.zeros((n, n))
    for p in range(n):
        whole = 0.0
        for word in words:
            mine = series(told, p, word)
            if len(set(mine)) == 1:
                continue
            whole += tf_idf(told, p, word)
            for e in range(n):
                theirs = series(told, e, word)
                if e != p and len(set(theirs)) > 1:
                    if way == "correlation":
                        similar = best_correlation(mine, theirs, lags)
                    else:
                        similar = 1 / (1 + time_warped(shape(mine), shape(theirs)))
                    score[p, e] += tf_idf(told, p, word) * similar
        score[p] /= whole or 1.0
    return score


def assert_highest(kin: Kin, score: Floats) -> None:
    k = kin.of.shape[1]
    np.testing.assert_allclose(kin.weight, np.maximum(-np.sort(-score, axis=1)[:, :k], 0), atol=2e-6)
    for p, (of, weight) in enumerate(zip(kin.of, kin.weight, strict=True)):
        assert p not in of
        assert len(set(of[of >= 0])) == (of >= 0).sum()
        assert ((of >= 0) == (weight > 0)).all()
        np.testing.assert_allclose(score[p, of[of >= 0]], weight[of >= 0], atol=2e-6)


@pytest.mark.parametrize("compiles", [True, False])
@pytest.mark.parametrize("lags", [range(-7, 8), range(1, 4), range(1)])
def test_correlation_is_what_its_definition_says(
    lags: range, compiles: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(totals, "can_compile", lambda: compiles)
    told = story(1)
    score = literal(told, "correlation", lags)
    assert_highest(correlated(dynamics(told), 5, lags), score)
    everybody = np.tile(np.arange(14), (14, 1))
    assert_highest(correlated(dynamics(told), 5, lags, among=everybody), score)


@pytest.mark.parametrize("compiles", [True, False])
def test_warping_is_what_its_definition_says(compiles: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warping, "can_compile", lambda: compiles)
    told = story(2, n_pages=6)
    assert_highest(warped(dynamics(told), 3), literal(told, "warping", range(1)))


@pytest.mark.parametrize("compiles", [True, False])
def test_a_band_keeps_steps_that_are_far_apart_from_being_matched(
    compiles: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warping, "can_compile", lambda: compiles)
    early, late = np.zeros(20, np.float32), np.zeros(20, np.float32)
    early[4], late[9] = 1.0, 1.0
    move, one, two = np.stack([early, late]), np.array([0]), np.array([1])
    apart = [float(warping.distance(move, one, two, band)[0]) for band in (0, 4, 5, 20)]
    assert apart == [2.0, 2.0, 0.0, 0.0]


def test_someone_who_leads_has_a_lag_above_zero() -> None:
    def says(step: int) -> list[dict[int, float] | None]:
        return [{0: 3.0} if step <= t < step + 4 else {} for t in range(12)]

    told: Told = [says(8), says(5), [{1: 1.0}] * 12]
    leads = [correlated(dynamics(told), 1, range(d, d + 1)).weight[0, 0] for d in range(-4, 5)]
    assert int(np.argmax(leads)) - 4 == 3
    assert correlated(dynamics(told), 1, range(1, 8)).of.tolist() == [
        [1],
        [-1],
        [-1],
    ]  # page 1 shows it no more


def test_a_step_that_is_not_known_shows_what_was_last_seen() -> None:
    told: Told = story(3)
    gaps, filled = [list(page) for page in told], [list(page) for page in told]
    for p, t in [(0, 5), (0, 6), (3, 19), (4, 1)]:
        gaps[p][t] = None
        filled[p][t] = filled[p][t - 1]
    np.testing.assert_array_equal(dynamics(gaps).move, dynamics(filled).move)
    np.testing.assert_array_equal(dynamics(gaps).weight, dynamics(filled).weight)


def test_that_two_pages_appear_at_the_same_time_says_nothing() -> None:
    late: list[dict[int, float] | None] = [None] * 5 + [{0: 1.0, 1: 1.0}] * 5
    kin = correlated(dynamics([late, list(late), [{}] * 10]), 2)
    assert (kin.of == -1).all()
    assert (kin.weight == 0).all()
    late[7] = {0: 4.0}
    move = dynamics([late, [{}] * 10]).move
    assert (move[:, :5] == 0).all()
    np.testing.assert_allclose(move[0, 5:] @ [1, 1, 1, 1, 1], 0, atol=1e-6)


def test_kin_of_some_pages_are_those_among_all() -> None:
    moves = dynamics(story(4, n_pages=30))
    everybody, some = correlated(moves, 6, n_threads=2), np.array([7, 29, 3])
    np.testing.assert_array_equal(correlated(moves, 6, pages=some).of, everybody.of[some])
    np.testing.assert_array_equal(
        correlated(moves, 6, pages=some, among=everybody.of[some]).of, everybody.of[some]
    )


def test_only_those_that_are_named_are_compared_and_each_once() -> None:
    moves = dynamics(story(5))
    among = np.full((14, 4), -1)
    among[:, :3] = [[2, 9, 2]]
    for kin in (correlated(moves, 4, among=among), warped(moves, 4, among=among)):
        assert {tuple(np.sort(row).tolist()) for row in kin.of} == {
            (-1, -1, 2, 9),
            (-1, -1, -1, 9),
            (-1, -1, -1, 2),
        }
        assert ((kin.of >= 0) == (kin.weight > 0)).all()


def test_content_is_the_cosine_of_bags() -> None:
    rows: list[dict[int, float]] = [{0: 3, 1: 4}, {0: 4, 1: 3}, {1: 5}, {7: 1}, {}]
    kin = alike(Bags.of(rows), 3)
    assert kin.of.tolist() == [[1, 2, -1], [0, 2, -1], [0, 1, -1], [-1, -1, -1], [-1, -1, -1]]
    np.testing.assert_allclose(kin.weight[:3, :2], [[0.96, 0.8], [0.96, 0.6], [0.8, 0.6]], atol=1e-6)


def test_links_count_in_both_directions_and_once() -> None:
    kin = linked(np.array([0, 1, 0, 3, 2]), np.array([1, 0, 2, 3, 4]), 6, 2)
    assert kin.of.tolist() == [[1, 2], [0, -1], [0, 4], [-1, -1], [2, -1], [-1, -1]]
    assert kin.weight.tolist() == [[1, 1], [1, 0], [1, 1], [0, 0], [1, 0], [0, 0]]
    with pytest.raises(ValueError, match="only links between them"):
        linked(np.array([0]), np.array([6]), 6, 2)


def test_the_highest_are_found_however_many_there_are() -> None:
    rng = np.random.default_rng(6)
    for n, k in [(1, 3), (40, 3), (1000, 20), (1000, 400), (7, 0)]:
        score = np.round(rng.normal(size=(9, n)), 1).astype(np.float32)  # many are equal
        order = np.argsort(-score, axis=1, kind="stable")[:, :k]
        top = np.take_along_axis(score, order, axis=1)
        kin = highest(score, k)
        assert kin.of.shape == (9, k)
        np.testing.assert_array_equal(kin.of[:, : order.shape[1]], np.where(top > 0, order, -1))
        np.testing.assert_array_equal(kin.weight[:, : order.shape[1]], np.maximum(top, 0))


def test_nothing_to_compare_gives_no_kin() -> None:
    nothing: list[Told] = [[], [[{}], [{}]], [[{0: 1.0}], [{0: 2.0}]], [[None, None], [{0: 1.0}, {}]]]
    for told in nothing:
        bags, at = steps(told) if told else (Bags.of([]), np.empty((0, 3), dtype=np.int64))
        moves = Dynamics.of(bags, at)
        for kin in (correlated(moves, 2), warped(moves, 2), alike(Bags.of([{}] * len(told)), 2)):
            assert (kin.of == -1).all()
            assert kin.of.shape[1] == 2


def test_lags_without_gaps_are_asked_for() -> None:
    with pytest.raises(ValueError, match="range"):
        correlated(dynamics(story(1)), 3, range(0, 8, 2))
    with pytest.raises(ValueError, match="beyond the 20 steps"):
        correlated(dynamics(story(1)), 3, range(20, 30))
    far = correlated(dynamics(story(1)), 3, range(-30, 31))
    np.testing.assert_array_equal(far.of, correlated(dynamics(story(1)), 3, 19).of)
