"""Measures on histories small enough to work out by hand, and against their definitions."""

from __future__ import annotations

import json
from dataclasses import replace
from math import isnan, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.histories import TIMES, by_definition, history, looks

from recrawl.errors import BadInputError
from recrawl.evaluate.measures import Measured, joined, mean_score, measure
from recrawl.evaluate.plain import plain_score
from recrawl.evaluate.protocol import whole
from recrawl.evaluate.ranking import ranking
from recrawl.simulate.traces import Traces, Visits

DAY_S = 86_400.0
A, B, C = 1, 2, 3
CHANGES = [10 * DAY_S, 12 * DAY_S, 30 * DAY_S]
MANY = settings(max_examples=80, deadline=None)


def example() -> tuple[Traces, Visits]:
    """The example of docs/reference/measures.md: contents A, then B at day 10, A at 12, C at 30."""
    return history([CHANGES], digests=[[B, A, C]], first=[A]), looks([[20 * DAY_S, 40 * DAY_S]])


def test_the_example_of_the_reference_by_hand() -> None:
    traces, visits = example()
    score = measure(traces, visits, whole(1, 0.0, 50 * DAY_S)).total()
    assert (score.resources, score.visits, score.changes, score.observed, score.missed) == (1, 2, 3, 2, 1)
    assert (score.novel, score.novel_observed, score.late) == (2, 1, 0)
    assert score.recall == pytest.approx(2 / 3)
    assert score.precision == 1.0
    assert score.recall_novel == 0.5
    assert score.freshness == pytest.approx(30 / 50)
    assert score.freshness_by_content == pytest.approx(38 / 50)
    assert score.age_days == pytest.approx(100 / 50)
    assert score.harmonic == pytest.approx(24 / 50)
    assert score.behind == pytest.approx(28 / 50)
    assert score.delay_days_mean == pytest.approx(28 / 3)
    assert score.delay_days_p50 == pytest.approx(10, rel=0.005)
    assert score.wait_days_mean == pytest.approx(28 / 3)


def test_a_change_that_nobody_came_to_see_is_counted_apart() -> None:
    traces = history([[*CHANGES, 45 * DAY_S]])
    score = measure(traces, example()[1], whole(1, 0.0, 50 * DAY_S)).total()
    assert score.late == 1
    assert score.delay_days_mean == pytest.approx(28 / 3)
    assert score.wait_days_mean == pytest.approx((28 + 5) / 4)


def test_a_visit_at_the_very_moment_of_a_change_sees_it() -> None:
    score = measure(history([[5.0]]), looks([[5.0]]), whole(1, 0.0, 10.0)).total()
    assert (score.observed, score.freshness, score.delay_days_mean) == (1, 1.0, 0.0)


def test_a_change_as_the_window_begins_is_before_it_and_one_as_it_ends_in_it() -> None:
    score = measure(history([[0.0, 10.0]]), looks([[10.0]]), whole(1, 0.0, 10.0)).total()
    assert (score.changes, score.observed) == (1, 1)


def test_visits_outside_the_window_do_not_count() -> None:
    score = measure(history([[5.0]]), looks([[-1.0, 6.0, 11.0]]), whole(1, 0.0, 10.0)).total()
    assert (score.visits, score.observed) == (1, 1)


def test_an_unknown_content_is_like_no_other() -> None:
    traces = history([[1.0, 2.0]], digests=[[0, 0]], first=[0])
    score = measure(traces, looks([[3.0]]), whole(1, 0.0, 4.0)).total()
    assert (score.novel, score.novel_observed) == (2, 1)
    assert score.freshness_by_content == score.freshness == pytest.approx(2 / 4)


def test_weights_count_in_the_weighted_figures_alone() -> None:
    traces = history([[1.0], []], weight=[3.0, 1.0])
    score = measure(traces, looks([[], [5.0]]), whole(2, 0.0, 10.0)).total()
    assert score.freshness == pytest.approx((1 + 10) / 20)
    assert score.freshness_weighted == pytest.approx((3 * 1 + 10) / 40)
    assert (score.precision, score.recall_weighted) == (0.0, 0.0)


def test_what_is_not_defined_is_null_in_json() -> None:
    score = measure(history([[]]), looks([[]]), whole(1, 0.0, 10.0)).total()
    assert isnan(score.recall)
    document = json.loads(json.dumps(score.document(), allow_nan=False))
    assert document["recall"] is None
    assert document["freshness"] == 1.0


def test_bytes_are_visits_times_sizes() -> None:
    traces, visits = history([[], []]), looks([[1.0, 2.0], [3.0]])
    sized = replace(traces, size_bytes=np.array([100.0, 7.0]))
    score = measure(sized, visits, whole(2, 0.0, 10.0)).total()
    assert score.bytes == 207.0


def test_visits_of_another_population_are_refused() -> None:
    with pytest.raises(BadInputError, match="population"):
        measure(history([[], []]), looks([[]]), whole(2, 0.0, 1.0))


CASES = st.lists(st.tuples(TIMES, TIMES, st.lists(st.integers(0, 3), min_size=9, max_size=9)), max_size=4)


def drawn(cases: list[tuple[list[int], list[int], list[int]]]) -> tuple[Traces, Visits]:
    return (
        history(
            [changes for changes, _, _ in cases],
            digests=[names[: len(changes)] for changes, _, names in cases],
            first=[names[8] for _, _, names in cases],
            weight=[1.0 + i for i in range(len(cases))],
        ),
        looks([visits for _, visits, _ in cases]),
    )


@MANY
@given(CASES, st.booleans(), st.integers(0, 12), st.integers(13, 26))
def test_every_column_is_what_its_definition_says(
    cases: list[tuple[list[int], list[int], list[int]]], held: bool, start: int, end: int
) -> None:
    traces, visits = drawn(cases)
    found = measure(traces, visits, whole(len(cases), float(start), float(end)), held=held)
    for i, (changes, looked, names) in enumerate(cases):
        wanted = by_definition(changes, names[: len(changes)], names[8], looked, start, end, held)
        for name, value in wanted.items():
            assert getattr(found, name)[i] == pytest.approx(value), name


@MANY
@given(CASES, st.booleans())
def test_the_demo_figures_are_those_of_a_run_that_holds_no_copies_at_first(
    cases: list[tuple[list[int], list[int], list[int]]], shuffled: bool
) -> None:
    traces, visits = drawn(cases)
    score = measure(traces, visits, whole(len(cases), 0.0, 25.0), held=False).total()
    ids = np.repeat(np.arange(len(cases)), np.diff(visits.bounds))
    order = np.random.default_rng(0).permutation(len(ids)) if shuffled else np.arange(len(ids))
    events = [traces.of(i) for i in range(len(cases))]
    n_visits = score.visits
    plain = plain_score(events, ids[order], visits.at[order], start_at=0.0, end_at=25.0, n_visits=n_visits)
    for name in ("visits", "changes", "observed", "recall", "precision", "freshness", "delay_days_mean"):
        wanted = getattr(score, name)
        assert getattr(plain, name) == pytest.approx(0.0 if isnan(wanted) else wanted), name


@MANY
@given(CASES, st.integers(1, 7), st.booleans())
def test_slices_of_time_add_up_to_the_whole(
    cases: list[tuple[list[int], list[int], list[int]]], n_bins: int, held: bool
) -> None:
    traces, visits = drawn(cases)
    window = whole(len(cases), 0.0, 21.0)
    found = measure(traces, visits, window, n_bins=n_bins, held=held)
    slices = found.slices
    assert slices is not None
    for b in range(n_bins):
        low, high = slices.edges_at[b], slices.edges_at[b + 1]
        changes = (traces.at > max(low, 0.0)) & (traces.at <= high + 1e-9 * (b == n_bins - 1))
        if n_bins in (1, 3, 7):  # the edges are whole numbers
            assert slices.changes[b] == changes.sum()
    assert slices.visits.sum() == found.n_visits.sum()
    assert slices.changes.sum() == found.n_changes.sum()
    assert slices.observed.sum() == found.n_observed.sum()
    assert slices.fresh_s.sum() == pytest.approx(found.fresh_s.sum())
    assert (slices.fresh_s <= len(cases) * 21.0 / n_bins * (1 + 1e-9)).all()


def test_freshness_in_each_slice_by_hand() -> None:
    traces, visits = example()
    slices = measure(traces, visits, whole(1, 0.0, 50 * DAY_S), n_bins=5).slices
    assert slices is not None
    assert slices.freshness().tolist() == pytest.approx([1, 0, 1, 0, 1])
    assert slices.freshness(cumulative=True).tolist() == pytest.approx([1, 0.5, 2 / 3, 0.5, 0.6])
    # changes at 10, 12 and 30 lie in the slices that end at 10, 20 and 30
    assert slices.changes.tolist() == [1, 1, 1, 0, 0]
    assert slices.recall().tolist() == pytest.approx([0, 1 / 2, 1 / 3, 2 / 3, 2 / 3])
    assert slices.precision(cumulative=False)[[1, 3]].tolist() == [1, 1]


@MANY
@given(CASES, st.integers(0, 4))
def test_chunks_join_to_the_same_as_one_piece(
    cases: list[tuple[list[int], list[int], list[int]]], cut: int
) -> None:
    window = whole(len(cases), 0.0, 25.0)
    parts = []
    for part in (cases[:cut], cases[cut:]):
        traces, visits = drawn(part)
        parts.append(measure(traces, visits, whole(len(part), 0.0, 25.0), n_bins=3))
    traces, visits = drawn(cases)
    weight = np.concatenate([part.weight for part in parts])
    at_once = measure(replace(traces, weight=weight), visits, window, n_bins=3)
    together = joined(parts)
    assert str(together.total()) == str(at_once.total())
    assert together.slices is not None
    assert at_once.slices is not None
    assert together.slices.fresh_s.tolist() == pytest.approx(at_once.slices.fresh_s.tolist())
    assert together.slices.n_resources == len(cases)


@pytest.mark.parametrize("scale", [10.0, 1e5, 1e8])
def test_quantiles_of_the_delay_are_within_a_percent(scale: float) -> None:
    rng = np.random.default_rng(1)
    changes = np.sort(rng.uniform(0, 100 * scale, 4_000))
    visits = np.sort(rng.uniform(0, 100 * scale, 300))
    found = measure(history([list(changes)]), looks([list(visits)]), whole(1, 0.0, 100 * scale))
    place = np.searchsorted(visits, changes)
    delays = (visits[place[place < 300]] - changes[place < 300]) / DAY_S
    for share in (0.05, 0.5, 0.95):
        true = np.quantile(delays, share, method="inverted_cdf")
        assert found.delay_days(share) == pytest.approx(true, rel=0.01)


def test_the_mean_over_draws_leaves_out_what_is_not_defined() -> None:
    scores = [
        measure(history([changes]), looks([[9.0]]), whole(1, 0.0, 10.0)).total()
        for changes in ([], [4.0], [8.0])
    ]
    mean = mean_score(scores)
    assert mean.recall == 1.0
    assert mean.changes == 1
    assert mean.freshness == pytest.approx((1 + 0.5 + 0.9) / 3)


def test_a_measure_without_that_name_is_refused() -> None:
    found: Measured = measure(history([[]]), looks([[]]), whole(1, 0.0, 1.0))
    with pytest.raises(BadInputError, match="freshness"):
        found.ratio("beauty")


def test_change_rate_and_ndcg_by_hand() -> None:
    # in one day two changes of the first resource, none of the second, one of the third;
    # the second is visited, then the first
    traces = history([[1.0, 2.0], [], [3.0]])
    found = ranking(traces, looks([[50.0], [40.0], []]), whole(3, 0.0, DAY_S), k=2)
    assert found.change_rate == 0.5
    assert found.ndcg.tolist() == pytest.approx([(2 / log(3)) / (2 + 1 / log(3))])
    plain = ranking(traces, looks([[50.0], [40.0], []]), whole(3, 0.0, DAY_S), k=2, graded=False)
    assert plain.ndcg.tolist() == pytest.approx([(1 / log(3)) / (1 + 1 / log(3))])


def test_changes_wait_for_the_period_in_which_they_are_found() -> None:
    day = DAY_S
    traces = history([[0.5 * day], [0.6 * day, 2.5 * day]])
    visits = looks([[1.5 * day], [0.7 * day, 2.9 * day]])
    found = ranking(traces, visits, whole(2, 0.0, 3.0 * day), k=1)
    assert found.n_visited.tolist() == [1, 1, 1]
    assert found.n_changed.tolist() == [1, 1, 1]
    assert found.ndcg.tolist() == [1, 1, 1]
    late = ranking(traces, looks([[2.2 * day], [2.4 * day]]), whole(2, 0.0, 3.0 * day), k=1)
    assert late.n_visited.tolist() == [0, 0, 2]
    assert late.n_changed.tolist() == [0, 0, 2]
    assert late.ndcg[2] == pytest.approx(1 / 2)  # the first visited had one change, the other two


def test_periods_longer_than_the_window_are_refused() -> None:
    with pytest.raises(BadInputError, match="period"):
        ranking(history([[]]), looks([[]]), whole(1, 0.0, DAY_S), k=1, period_days=2.0)


def test_some_of_the_resources_have_their_own_ratios_and_no_quantiles() -> None:
    found = measure(history([[1.0], [4.0], []]), looks([[2.0], [], []]), whole(3, 0.0, 10.0), n_bins=2)
    some = found.pick(np.array([1, 2]))
    assert len(some) == 2
    assert some.value("freshness") == pytest.approx((4 + 10) / 20)
    assert some.value("recall") == 0.0
    assert isnan(some.total().delay_days_p50)
    assert some.slices is None
