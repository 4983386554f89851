"""The models of Tan (2012): worked examples, and that nothing which comes later is used."""

from __future__ import annotations

import sys
from dataclasses import replace
from math import exp, log

import numpy as np
import pytest
from tests.unit.threads import MINUTE_S, MONDAY, drawn, thread

from recrawl.errors import BadInputError
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.features import discounted, last_gaps, running_mean, stage, times
from recrawl.learn.threads.models import MODELS, VOCABULARIES, all_predicted, possible, predicted
from recrawl.learn.threads.sgd import fences
from recrawl.learn.threads.svr import Windows
from recrawl.model import Ints

HOURS = [0, 60, 180, 300, 360]  # minutes: gaps of 1, 2, 2 and 1 hours


def three_quarters(threads: Threads) -> Ints:
    return np.asarray(3 * threads.n_posts // 4)


def test_gaps_lead_to_the_next_post_of_the_same_thread() -> None:
    threads = Threads(
        np.array([0, 2, 5]),
        np.array([5.0, 9.0, 1.0, 1.0, 4.0]),
        np.zeros(5, dtype=np.int64),
        None,
        np.array([0, 0]),
    )
    assert threads.gap_s == pytest.approx([4.0, np.nan, 0.0, 3.0, np.nan], nan_ok=True)
    assert threads.row.tolist() == [0, 0, 1, 1, 1]
    assert threads.place.tolist() == [0, 1, 0, 1, 2]
    # the gap after the last post that may be learned from ends with one that may not
    assert threads.known(np.array([2, 2])).tolist() == [True, False, True, False, False]
    assert threads.known(np.array([9, 9])).tolist() == [True, False, True, True, False]
    assert threads.first(np.array([1, 2])).at.tolist() == [5.0, 1.0, 1.0]
    assert threads.pick(np.array([1])).gap_s == pytest.approx([0.0, 3.0, np.nan], nan_ok=True)


@pytest.mark.parametrize(
    ("bounds", "at", "boards", "wrong"),
    [
        ([0, 2], [1.0, 2.0, 3.0], 1, "bounds"),
        ([0, 0, 3], [1.0, 2.0, 3.0], 2, "no post"),
        ([0, 3], [1.0, 2.0, 3.0], 2, "a board"),
        ([0, 3], [1.0, 3.0, 2.0], 1, "order of time"),
        ([0, 3], [1.0, np.nan, 2.0], 1, "order of time"),
    ],
)
def test_what_is_no_thread_is_refused(bounds: list[int], at: list[float], boards: int, wrong: str) -> None:
    with pytest.raises(BadInputError, match=wrong):
        Threads(np.array(bounds), np.array(at), np.zeros(len(at), dtype=np.int64), None, np.arange(boards))


def test_features_of_a_window_by_hand() -> None:
    threads = thread(HOURS)
    hours = last_gaps(threads, 2) / 3600.0
    assert hours == pytest.approx(np.array([[np.nan] * 2, [1, np.nan], [2, 1], [2, 2], [1, 2]]), nan_ok=True)
    assert running_mean(threads) / 3600.0 == pytest.approx([np.nan, 1.0, 1.5, 5 / 3, 1.5], nan_ok=True)


def test_day_and_hour_are_one_bit_each() -> None:
    bits = times(np.array([MONDAY, MONDAY + 6 * 86_400 + 23.99 * 3600, 0.0]))
    assert [np.flatnonzero(row).tolist() for row in bits] == [[0, 7], [6, 7 + 23], [3, 7]]  # 1970: a Thursday


def test_discounted_sums_begin_anew_with_every_thread() -> None:
    at = np.arange(5.0)
    threads = Threads(np.array([0, 3, 5]), at, np.zeros(5, dtype=np.int64), None, np.array([0, 0]))
    sums = discounted(threads, np.array([[4.0], [2.0], [1.0], [8.0], [0.0]]), 0.5)
    assert sums[:, 0].tolist() == [4.0, 4.0, 3.0, 8.0, 4.0]


def test_age_length_and_authors_by_hand() -> None:
    threads = replace(thread([0, 60, 180, 180, 420]), author=np.array([7, 8, 7, 7, 9]))
    found = stage(threads, 3)
    assert found[:, 0] == pytest.approx(np.log1p([0, 1, 3, 3, 7]))
    assert found[:, 1] == pytest.approx(np.log([1, 2, 3, 4, 5]))
    assert found[:, 2] == pytest.approx(np.log([1, 2, 2, 2, 3]))
    assert found[:, 3].tolist() == [1, 2, 2, 2, 2]  # of the last three posts
    assert found[:, 4].tolist() == [0, 0, 0, 1, 0]


def test_baselines_by_hand() -> None:
    threads = thread(HOURS)
    n_train = np.array([3])  # two gaps, of 1 and 2 hours
    hour_s = 3600.0
    assert predicted("fixed", threads, n_train) / hour_s == pytest.approx([1.5] * 5)
    assert predicted("mean", threads, n_train) / hour_s == pytest.approx([1.5, 1.0, 1.5, 5 / 3, 1.5])
    long = thread([0, 10, 30, 60, 100, 150, 210])  # gaps of 10, 20, … 60 minutes
    window = predicted("window-mean", long, np.array([3])) / MINUTE_S
    assert window == pytest.approx([15, 10, 15, 20, 25, 30, 40])


def test_posts_of_one_minute_are_predicted_no_sooner_than_in_a_minute() -> None:
    threads = thread([0, 0, 0, 0])
    assert predicted("window-mean", threads, np.array([4])).tolist() == [60.0] * 4


def test_a_thread_without_a_gap_goes_by_its_own_board() -> None:
    at = np.array([0.0, 600.0, 0.0, 6000.0, 5.0, 7.0])
    threads = Threads(
        np.array([0, 2, 4, 5, 6]), at, np.zeros(6, dtype=np.int64), None, np.array([0, 1, 1, 2])
    )
    told = predicted("mean", threads, np.array([2, 2, 1, 1]))
    assert told[[4, 5]] == pytest.approx([6000.0, 3300.0])  # of a board without any: all boards


def test_the_sigmoid_is_bounded_by_the_fences_of_the_quartiles() -> None:
    low_s, high_s = fences(60.0 * np.array([[10.0, 20.0, 30.0, 40.0], [5.0, np.nan, 5.0, np.nan]]))
    assert low_s / 60.0 == pytest.approx([1.0, 5.0])
    assert high_s / 60.0 == pytest.approx([32.5 + 2.5 * 15.0, 5.0])


def test_the_online_model_by_hand() -> None:
    """Quartiles of 10, 20, 30 and 40 minutes: bounds of 1 and 70. The first prediction is half-way. It was
    25.5 minutes too long; the second post comes at the same hour of the same day, so that three bits of it
    have learned."""
    threads = thread([0, 10, 30, 60, 100, 9999])
    told = predicted("sgd", threads, np.array([5])) / 60.0
    assert told[0] == pytest.approx(35.5)
    weight = 0.01 * (25.5 / 69.0) * 0.25
    assert told[1] == pytest.approx(1.0 + 69.0 / (1.0 + exp(3.0 * weight)))
    clipped = predicted("sgd-clipped", threads, np.array([5])) / 60.0
    assert clipped[1] == pytest.approx(1.0 + 69.0 / (1.0 + exp(300.0 * weight)))


def test_the_online_model_learns_after_what_it_was_fitted_to() -> None:
    slow, fast = thread([0, 10, 30, 60, 100, 900, 1000]), thread([0, 10, 30, 60, 100, 101, 201])
    a, b = (predicted("sgd-clipped", threads, np.array([5])) for threads in (slow, fast))
    assert np.array_equal(a[:5], b[:5])
    assert a[5] > b[5]


def test_a_machine_of_each_thread_is_fitted_to_its_first_part_alone() -> None:
    from sklearn.svm import SVR  # type: ignore[import-untyped]

    threads = drawn(n=3)
    n_train = three_quarters(threads)
    told = predicted("svr", threads, n_train)
    plain = Windows(threads, n_train).plain
    for row in range(threads.n):
        own = threads.row == row
        known = threads.known(n_train)[own]
        x = plain[own]
        x = (x - np.nanmean(x[known], axis=0)) / np.where(
            np.nanstd(x[known], axis=0) > 0, np.nanstd(x[known], axis=0), 1.0
        )
        y = threads.gap_s[own][known]
        unit = np.quantile(y, 0.75) - np.quantile(y, 0.25)
        x = np.where(np.isfinite(x), x, 0.0)
        by_hand = SVR().fit(x[known], y / unit).predict(x) * unit
        assert told[own] == pytest.approx(np.maximum(by_hand, 60.0))


def test_a_machine_finds_words_that_announce_a_long_gap() -> None:
    """After some posts there is silence, and one word says which: only who reads is right about it."""
    rng = np.random.default_rng(5)
    threads = drawn(n=1, n_posts=400)
    n = len(threads.at)
    tired = rng.random(n) < 0.3
    gaps = np.where(tired, 600.0, 10.0) * rng.uniform(0.9, 1.1, n)
    assert threads.bags is not None
    words = [dict(zip(*_words(threads, post), strict=True)) for post in range(n)]
    for post in np.flatnonzero(tired):
        words[post][30] = 1.0
    told = replace(
        threads, at=MONDAY + 60.0 * np.r_[0.0, np.cumsum(gaps[:-1])], bags=type(threads.bags).of(words)
    )
    n_train = three_quarters(told)
    tested = ~told.known(n_train) & np.isfinite(told.gap_s)
    error = {
        name: np.abs(predicted(name, told, n_train) - told.gap_s)[tested].mean()
        for name in ("svr", "discounted-svr")
    }
    assert error["discounted-svr"] < 0.6 * error["svr"]


def test_the_vocabularies_of_the_paper_are_among_the_models() -> None:
    assert VOCABULARIES == (5, 10, 15, 20, 25, 30, 35, 40, 45, 50)
    threads = drawn()
    assert possible(threads) == MODELS
    assert possible(replace(threads, bags=None, tags=None)) == (
        "fixed",
        "mean",
        "window-mean",
        "svr",
        "sgd",
        "sgd-clipped",
    )
    assert "svr-all" not in possible(replace(threads, tags=None))


def test_no_model_uses_what_comes_later() -> None:
    """What is said after a post is the same where the thread ends with that post."""
    threads = drawn()
    n_train = three_quarters(threads)
    whole = dict(all_predicted(MODELS, threads, n_train))
    for n_more in (0, 2):
        kept = threads.first(n_train + n_more)
        cut = dict(all_predicted(MODELS, kept, n_train))
        for name in MODELS:
            told = np.concatenate(
                [whole[name][threads.bounds[i] :][: kept.n_posts[i]] for i in range(threads.n)]
            )
            assert np.isfinite(told).all()
            assert (told >= 60.0).all()
            assert cut[name] == pytest.approx(told, rel=1e-9), name


def test_words_are_needed_for_models_that_read_and_names_for_all() -> None:
    threads = replace(drawn(), bags=None, tags=None)
    with pytest.raises(BadInputError, match="without their words"):
        predicted("svr-words-5", threads, three_quarters(threads))
    with pytest.raises(BadInputError, match="without their parts of speech"):
        predicted("svr-tags", threads, three_quarters(threads))
    with pytest.raises(BadInputError, match=r"no model named oracle.*window-mean"):
        predicted("oracle", threads, three_quarters(threads))


def test_without_scikit_learn_machines_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.svm", None)
    threads = drawn(n=2)
    with pytest.raises(BadInputError, match=r"recrawl\[learn\]"):
        predicted("svr", threads, three_quarters(threads))
    assert log(predicted("sgd", threads, three_quarters(threads)).min()) > 0.0


def _words(threads: Threads, post: int) -> tuple[list[int], list[float]]:
    assert threads.bags is not None
    own = slice(int(threads.bags.bounds[post]), int(threads.bags.bounds[post + 1]))
    return threads.bags.word[own].tolist(), threads.bags.count[own].tolist()
