from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from recrawl.model import DAY_S, HOUR_S
from recrawl.simulate.blocks import Piece
from recrawl.simulate.contents import contents, digests
from recrawl.simulate.processes import Poisson
from recrawl.simulate.recipes import Ingredient, Recipe, Text
from recrawl.simulate.texts import counts_of, lexicon, words_of
from recrawl.simulate.worlds import Quarter, World


def piece(n: int, *ingredients: Ingredient, days: float = 200) -> Piece:
    recipe = Recipe(ingredients=ingredients, start_at=0.0, end_at=days * DAY_S)
    return next(World([Quarter(recipe, n)], seed=1).pieces(n))


def test_contents_go_back_to_the_one_before() -> None:
    # The second resource's only change has nothing to go back to, and the third has none.
    back = [[0, 0, 1, 1, 0, 1], [1], [], [0, 1, 1]]
    found = contents(np.array([0, 6, 7, 7, 10]), np.concatenate(back).astype(bool))
    assert found.tolist() == [*[1, 2, 1, 2, 3, 2], *[1], *[1, 0, 1]]


def test_flapping_is_between_two_contents_and_every_event_is_a_change() -> None:
    traces = piece(60, Ingredient(law=Poisson(0.3), p_back=1.0)).traces
    for i in range(60):
        own = np.concatenate(
            [traces.first_digest[i : i + 1], traces.digest[traces.bounds[i] : traces.bounds[i + 1]]]
        )
        assert len(set(own.tolist())) == 2
        assert np.all(own[1:] != own[:-1])


def test_some_changes_go_back_and_the_others_bring_something_new() -> None:
    made = piece(1000, Ingredient(law=Poisson(0.3), p_back=0.25))
    traces = made.traces
    n_contents = len(np.unique(np.concatenate([traces.digest, traces.first_digest])))
    # A first change cannot go back.
    assert 1 - (n_contents - 1000) / len(traces.at) == pytest.approx(
        0.25 * (1 - 1000 / len(traces.at)), abs=0.01
    )
    assert np.all(
        np.diff(traces.digest.astype(object))[np.diff(np.repeat(np.arange(1000), traces.n_changes)) == 0] != 0
    )


def test_digests_are_never_nought_and_no_two_contents_share_one() -> None:
    resource, content = np.divmod(np.arange(400_000), 400)
    found = digests(3, resource, content)
    assert len(np.unique(found)) == 400_000
    assert np.all(found != 0)
    assert not np.array_equal(found, digests(4, resource, content))


def test_a_noisy_resource_differs_between_looks_that_are_far_enough_apart() -> None:
    made = piece(100, Ingredient(law=Poisson(0.05), p_noisy=0.5, p_back=0.9, noise_s=6 * HOUR_S), days=40)
    traces = made.traces
    row = np.repeat(np.arange(100), traces.n_changes)
    n_noise = np.bincount(row[made.noise], minlength=100)
    noisy = n_noise > 0
    assert 30 < noisy.sum() < 70
    assert np.all(n_noise[noisy] >= 158)
    for i in np.flatnonzero(noisy).tolist():
        own = traces.digest[traces.bounds[i] : traces.bounds[i + 1]]
        assert len(np.unique(own)) == len(own)
        assert max(later - at for at, later in pairwise(traces.of(i))) <= 6 * HOUR_S + 1
    real = np.bincount(row[~made.noise], minlength=100)
    assert real.mean() == pytest.approx(2.0, abs=0.5)


def test_successive_texts_differ_by_the_share_that_was_asked_for() -> None:
    text = Text(n_words=100, changed=0.2)
    made = piece(150, Ingredient(law=Poisson(0.2)))
    shares = []
    for row in range(150):
        words = words_of(text, made, row, row, seed=1)
        assert len(words) == made.traces.n_changes[row] + 1
        differ = words[1:] != words[:-1]
        assert np.all(differ.any(axis=1))
        shares.extend(differ.mean(axis=1))
    # Some words are drawn as they had been, and one is always another.
    assert np.mean(shares) == pytest.approx(0.2, abs=0.02)
    assert np.std(shares) > 0.15  # most are small and some are large


def test_a_text_comes_back_with_its_content_and_noise_changes_one_word() -> None:
    text = Text(n_words=50)
    made = piece(
        40,
        Ingredient(law=Poisson(0.3), p_back=1.0, share=0.5),
        Ingredient(law=Poisson(0.0), p_noisy=1.0, share=0.5),
    )
    for row in range(40):
        words = words_of(text, made, row, row, seed=1)
        if made.ingredient[row] == 0:
            assert len(words) == 2
        else:
            assert np.array_equal((words[1:] != words[:-1]).sum(axis=1), np.ones(len(words) - 1))


def test_words_are_the_same_wherever_the_piece_was_cut() -> None:
    made, text = piece(20, Ingredient(law=Poisson(0.2))), Text()
    cut = made.pick(np.arange(7, 12))
    assert np.array_equal(words_of(text, made, 9, 9, seed=4), words_of(text, cut, 2, 9, seed=4))
    assert not np.array_equal(words_of(text, made, 9, 9, seed=4)[0], words_of(text, made, 9, 9, seed=5)[0])


def test_counts_are_of_the_words_and_words_are_spelt_apart() -> None:
    words = np.array([[4, 4, 2, 9], [4, 7, 7, 7]])
    counted = [(term.tolist(), count.tolist()) for term, count in counts_of(words, np.array([0, 1, 0]))]
    assert counted == [([2, 4, 9], [1, 2, 1]), ([4, 7], [1, 3]), ([2, 4, 9], [1, 2, 1])]
    assert len(set(lexicon(5000))) == 5000
