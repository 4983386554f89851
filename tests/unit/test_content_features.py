"""Worked by hand, for features of pages at steps; and none of them knows what is to come."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest

from recrawl.learn.experts.signs import signs
from recrawl.learn.experts.tasks import Task
from recrawl.learn.features.content import Steps, dots, frequency, own, own_blocks, unigrams
from recrawl.learn.features.relation import relation, relation_blocks
from recrawl.learn.kin import Kin
from recrawl.model import Bags, Floats

# page 0: {0: 2} {0: 2, 1: 1} {0: 2, 1: 1} {1: 4};  page 1: {0: 1} {0: 1} {1: 3} {1: 3}
BAGS = Bags.of([{0: 2}, {0: 2, 1: 1}, {1: 4}, {0: 1}, {1: 3}])
STEPS = Steps(
    BAGS,
    np.array([[0, 1, 1, 2], [3, 3, 4, 4]]),
    np.array([[False, True, False, True], [False, False, True, False]]),
)


def test_products_of_rows_are_of_the_words_they_share() -> None:
    assert dots(BAGS, np.array([0, 1, 0, -1, 2]), np.array([1, 1, 2, 1, -1])).tolist() == [4, 5, 0, 0, 0]


def test_frequency_is_the_share_of_the_last_steps_or_of_as_many_as_there_are() -> None:
    changed = np.array([[False, True, False, True, True]])
    assert frequency(changed, 1).tolist() == [[0, 1, 0, 1, 1]]
    assert frequency(changed, 2).tolist() == [[0, 1, 0.5, 0.5, 1]]
    assert frequency(changed, 100).tolist() == [[0, 1, 0.5, 2 / 3, 0.75]]


def test_own_features_of_a_window_of_one() -> None:
    values = own(STEPS)
    assert values.shape == (2, 4, 4)
    # how often; how far from the step before; how far that one from the one before it; the newest bit
    assert values[0].tolist() == [
        [0, 0, 0, 0],
        [1, 1, 0, 1],
        [0, 0, 1, 0],
        [1, pytest.approx(sqrt(4 + 9)), 0, 1],
    ]
    assert values[1, 2].tolist() == [1, pytest.approx(sqrt(1 + 9)), 0, 1]
    assert own_blocks(1).tolist() == [0, 1, 2, 3]


def test_own_features_of_a_wider_window_further_ahead() -> None:
    values = own(STEPS, back=2, ahead=2)[0, 3]
    far = sqrt(4 + 16)
    assert values.tolist() == [
        pytest.approx(0.5),  # bits of steps 3 and 2
        pytest.approx(sqrt(13)),  # step 3 beside 2
        pytest.approx(sqrt(13)),  # step 3 beside 1
        pytest.approx(1.0),  # step 2 beside 0
        0,  # step 1 beside what is not known
        1,
        0,
    ]
    assert far != values[1]
    assert own_blocks(2).tolist() == [0, 1, 1, 2, 2, 3, 3]
    assert own(STEPS, back=2, ahead=2, pages=np.array([1]))[0].tolist() == own(STEPS, 2, 2)[1].tolist()


def test_unigrams_are_shares_of_the_bag() -> None:
    assert unigrams(BAGS).count.tolist() == pytest.approx([1, 2 / 3, 1 / 3, 1, 1, 1])
    assert not unigrams(Bags.of([{}, {}])).count.size


def test_relation_of_two_pages() -> None:
    values = relation(STEPS, np.array([0]), np.array([1]))[0]
    assert relation_blocks(1).tolist() == [0, 1, 2]
    # step 2: A = (2, 1), B went from (1, 0) to (0, 3); A stood still
    assert values[2].tolist() == pytest.approx([1 / sqrt(5), 1 / (sqrt(10) * sqrt(5)), 0])
    # step 3: A went from (2, 1) to (0, 4), B stood still
    assert values[3].tolist() == pytest.approx([1, 0, 0])
    # step 1: B stood still; at step 0 nothing had moved
    assert values[1].tolist() == pytest.approx([2 / sqrt(5), 0, 0])
    assert values[0].tolist() == pytest.approx([1, 0, 0])


def test_relation_of_changes_of_both_over_a_wider_window() -> None:
    values = relation(STEPS, np.array([0]), np.array([1]), back=2)[0, 3]
    # since step 1: A (2, 1) -> (0, 4), B (1, 0) -> (0, 3): (-2, 3) and (-1, 3)
    together = (2 + 9) / (sqrt(13) * sqrt(10))
    assert values.tolist() == pytest.approx(
        [1, 1 / sqrt(5), 0, 12 / (sqrt(10) * 4), 0, together]
    )  # cos at 3 and 2; delta B since 2 and 1 beside A; delta B beside delta A since 2 and 1


def test_what_is_not_known_has_no_words_and_did_not_move() -> None:
    steps = Steps(BAGS, np.array([[-1, -1, 1, 2], [3, 3, 4, 4]]), np.zeros((2, 4), dtype=bool))
    assert own(steps)[0, :3].tolist() == [[0, 0, 0, 0]] * 3
    assert relation(steps, np.array([0, 1]), np.array([1, 0]))[:, :2].tolist() == [[[0, 0, 0]] * 2] * 2
    assert steps.judged.tolist() == [[False, False, False, True], [False, True, True, True]]


def drawn(n_pages: int = 8, n_steps: int = 40, seed: int = 1) -> Steps:
    rng = np.random.default_rng(seed)
    bags = Bags.of(
        {int(w): int(n) for w, n in zip(rng.permutation(12)[:4], rng.integers(1, 5, 4), strict=True)}
        for _ in range(60)
    )
    changed = rng.random((n_pages, n_steps)) < 0.5
    changed[:, 0] = False
    return Steps(bags, np.cumsum(changed, axis=1) + rng.integers(0, 20, (n_pages, 1)), changed)


def other_after(steps: Steps, t: int) -> Steps:
    """The same up to t; after it everything is otherwise."""
    rng = np.random.default_rng(2)
    at, changed = steps.at.copy(), steps.changed.copy()
    at[:, t + 1 :] = rng.integers(0, len(steps.bags), at[:, t + 1 :].shape)
    changed[:, t + 1 :] = ~changed[:, t + 1 :]
    return Steps(steps.bags, at, changed)


def kin_of(n_pages: int, k: int = 3) -> Kin:
    of = (np.arange(n_pages)[:, None] + np.arange(1, k + 1)) % n_pages
    return Kin(of, np.broadcast_to(np.linspace(1.0, 0.5, k), of.shape).copy())


def knows_the_future(features: Callable[[Steps], Floats], t: int = 21) -> bool:
    steps = drawn()
    return not np.array_equal(features(steps)[:, : t + 1], features(other_after(steps, t))[:, : t + 1])


def of_signs(steps: Steps) -> Floats:
    pages = np.arange(steps.n_pages)
    kin = kin_of(steps.n_pages)
    return signs(Task(steps=steps, pages=pages, kin=kin, n_train=12, cycles=(7,), group=pages % 2)).astype(
        float
    )


def leaky(steps: Steps) -> Floats:
    """As if the change to be foretold were known already."""
    return own(Steps(steps.bags, np.roll(steps.at, -1, axis=1), np.roll(steps.changed, -1, axis=1)))


def test_no_feature_knows_what_is_to_come() -> None:
    assert not knows_the_future(lambda steps: own(steps, 3, 2))
    pairs = np.arange(8), (np.arange(8) + 3) % 8
    assert not knows_the_future(lambda steps: relation(steps, *pairs, 3))
    assert not knows_the_future(of_signs)


def test_a_feature_that_knows_what_is_to_come_is_found_out() -> None:
    assert knows_the_future(leaky)
    assert knows_the_future(lambda steps: own(steps)[:, 1:])
