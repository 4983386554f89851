"""Kin of many pages: candidates, sums kept up to date step by step, and PyTorch."""

import sys
from functools import cache

import numpy as np
import pytest

from recrawl.errors import BadInputError
from recrawl.learn.kin import accelerated
from recrawl.learn.kin.candidates import heaviest, likely
from recrawl.learn.kin.correlation import correlated
from recrawl.learn.kin.dynamics import Dynamics
from recrawl.learn.kin.kin import Kin
from recrawl.learn.kin.running import Running
from recrawl.learn.kin.warping import warped
from recrawl.model import Bags, Ints
from recrawl.simulate.kindred import Kindred, Telling, kindred


@cache
def world() -> tuple[Kindred, Dynamics]:
    made = kindred(Telling(n_pages=1_500, n_words=600, n_subjects=30), np.random.default_rng(1))
    return made, Dynamics.of(made.bags, made.at)


def found(kin: Kin, pages: Ints) -> float:
    """The share of a page's true family that is among its kin."""
    family = world()[0].family
    same = (family[kin.of] == family[pages][:, None]) & (kin.of >= 0)
    return float(same.sum() / (np.bincount(family)[family[pages]] - 1).sum())


def test_pages_of_a_family_tell_the_same_stories_at_their_lags() -> None:
    telling = Telling(n_pages=20, n_words=100, n_subjects=2, n_staying=0, n_own=0)
    made = kindred(telling, np.random.default_rng(2))
    assert np.bincount(made.family).tolist() == [5] * 4
    for page in range(20):
        for other in np.flatnonzero(made.family == made.family[page]):
            later = int(made.lag[other] - made.lag[page])
            if later > 0:
                one = made.bags.pick(made.at[page, 10:30])
                two = made.bags.pick(made.at[other, 10 + later : 30 + later])
                np.testing.assert_array_equal(one.word, two.word)
                np.testing.assert_array_equal(one.count, two.count)
                np.testing.assert_array_equal(one.bounds, two.bounds)
    assert len({tuple(made.bags.pick(made.at[page]).word) for page in range(20)}) > 4


def test_true_kin_are_chosen_by_correlation_and_by_warping() -> None:
    _, moves = world()
    pages = np.arange(0, 1_500, 10)
    assert found(correlated(moves, 20, pages=pages), pages) > 0.9
    among = likely(moves, 100, pages=pages)
    assert found(warped(moves, 20, pages=pages, among=among), pages) > 0.9


def test_nearly_all_of_the_nearest_are_among_the_candidates() -> None:
    _, moves = world()
    exact = correlated(moves, 20)
    among = likely(moves, 100, n_threads=2)
    assert among.shape == (1_500, 100)
    nearly = correlated(moves, 20, among=among)
    hits = [np.isin(of[of >= 0], also).sum() for of, also in zip(exact.of, nearly.of, strict=True)]
    assert sum(hits) > 0.95 * (exact.of >= 0).sum()
    both = (exact.of == nearly.of) & (exact.of >= 0)
    np.testing.assert_allclose(nearly.weight[both], exact.weight[both], atol=2e-6)


def test_candidates_of_some_pages_are_those_among_all() -> None:
    _, moves = world()
    some = np.array([77, 3, 1_499])
    np.testing.assert_array_equal(likely(moves, 30, pages=some), likely(moves, 30)[some])


def test_the_heaviest_words_make_up_the_share() -> None:
    weight = np.array([0.5, 0.3, 0.2, 0.0, 1.0], dtype=np.float32)
    page = np.array([0, 0, 0, 0, 1])
    moves = Dynamics(2, np.arange(6), page, weight, np.zeros((5, 3), dtype=np.float32))
    assert heaviest(moves, 0.5).tolist() == [True, False, False, False, True]
    assert heaviest(moves, 0.6).tolist() == [True, True, False, False, True]
    assert heaviest(moves, 1.0).tolist() == [True, True, True, False, True]


def test_sums_kept_step_by_step_say_what_all_steps_together_say() -> None:
    made, _ = world()
    n, n_steps = 60, 30
    at = made.at[np.argsort(made.family, kind="stable")[:n], :n_steps].copy()
    page, other = np.divmod(np.arange(n * n), n)
    running = Running(n, page, other, lags=4)
    for step in range(n_steps):
        told = at[:, step].copy()
        if step and step % 3 == 0:  # some are not looked at, and are taken as they were
            at[::7, step], told[::7] = at[::7, step - 1], -1
        running.step(made.bags, told)
        if step in (2, 11, n_steps - 1):
            so_far = Dynamics.of(made.bags, at[:, : step + 1])
            exact = correlated(so_far, n, 4, among=np.tile(np.arange(n), (n, 1)))
            score = running.scores().reshape(n, n)
            np.fill_diagonal(score, 0)
            kept = exact.of >= 0
            np.testing.assert_allclose(
                np.take_along_axis(score, exact.of, 1)[kept], exact.weight[kept], atol=2e-6
            )
            assert kept.sum() == (score > 1e-6).sum()
            assert kept.any()


def test_what_is_kept_does_not_grow_with_the_steps() -> None:
    made, _ = world()
    running = Running(2, np.array([0]), np.array([1]))
    for _ in range(40):
        for row in (made.at[:2, 0], made.at[:2, 20]):
            running.step(made.bags, row)
    words = set(made.bags.pick(made.at[:2, [0, 20]].ravel()).word.tolist())
    held = sum(value.size for value in vars(running).values() if isinstance(value, np.ndarray))
    assert held < 2 * len(words) * (2 * 7 + 6) + len(words) * (2 * 7 + 4) + 10


def test_the_first_step_says_what_every_page_shows() -> None:
    running = Running(2, np.array([0]), np.array([1]))
    with pytest.raises(ValueError, match="every page"):
        running.step(Bags.of([{0: 1.0}]), np.array([0, -1]))


def test_without_pytorch_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(BadInputError, match=r"recrawl\[gpu\]"):
        accelerated.correlated(world()[1], 20)


@pytest.mark.parametrize("lags", [7, range(1, 4)])
def test_pytorch_gives_what_columns_give(lags: int | range, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    monkeypatch.setattr(accelerated, "ROOM", 500)  # so that a word takes several turns
    made = kindred(Telling(n_pages=150, n_words=200, n_subjects=3), np.random.default_rng(3))
    moves = Dynamics.of(made.bags, made.at)
    exact = correlated(moves, 20, lags)
    quick = accelerated.correlated(moves, 20, lags, device="cpu", block=40)
    np.testing.assert_allclose(quick.weight, exact.weight, atol=5e-6)
    assert (quick.of == exact.of).mean() > 0.99  # others are equal but for rounding
    some = np.array([5, 140])
    np.testing.assert_allclose(
        accelerated.correlated(moves, 200, lags, pages=some, device="cpu").weight,
        correlated(moves, 200, lags, pages=some).weight,
        atol=5e-6,
    )
