"""Sights as columns, on one scale for those who need it, and the graph of links behind them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.learn.features.graph import Graph, in_links, page_rank
from recrawl.learn.features.static import NAMES, PAPER, columns, matrix, picked, scale
from recrawl.model import FEATURES, SIGHT_FORMAT, Floats, Ints, Sight, column


def places(*numbers: int) -> Ints:
    return np.array(numbers, dtype=np.int64)


def sight(resource_id: int, *, in_format: int = SIGHT_FORMAT, **known: float) -> Sight:
    values = tuple(known.get(feature.name, np.nan) for feature in FEATURES)
    return Sight(resource_id=resource_id, at=0.0, format=in_format, values=values)


def dense(start: Ints, to: Ints, n: int) -> Floats:
    """PageRank as the solution of its equations."""
    follows = np.zeros((n, n))
    for one, other in zip(start.tolist(), to.tolist(), strict=True):
        if one != other:
            follows[other, one] = 1.0
    n_out = follows.sum(axis=0)
    follows[:, n_out == 0] = 1.0
    follows /= follows.sum(axis=0)
    solved: Floats = np.linalg.solve(np.eye(n) - 0.85 * follows, np.full(n, 0.15 / n))
    return solved


def test_a_matrix_has_a_row_for_each_sight_and_the_paper_picks_its_seven_columns() -> None:
    values = matrix([sight(7, links=3, level=2), sight(8, page_rank=0.5)])
    assert values.shape == (2, len(FEATURES))
    assert values[0, column("links")] == 3
    assert values[1, -1] == 0.5
    assert np.isnan(values[1, 0])
    assert columns(PAPER).tolist() == [0, 1, 2, 3, 4, 5, 6]
    np.testing.assert_array_equal(picked(values, ("level", "links"))[0], [2, 3])
    assert matrix([]).shape == (0, len(FEATURES))


def test_of_a_sight_in_another_format_nothing_is_known() -> None:
    old = sight(1, in_format=SIGHT_FORMAT + 1, links=3)
    short = Sight(resource_id=2, at=0.0, values=(1.0, 2.0))
    values = matrix([old, short, sight(3, links=4)])
    assert np.isnan(values[:2]).all()
    assert values[2, 0] == 4


def test_on_one_scale_counts_count_by_their_logarithm_and_the_unknown_is_marked() -> None:
    values = matrix(
        [sight(1, links=0, etag=1, level=1), sight(2, links=99, level=1), sight(3, links=9, etag=0)]
    )
    before = values.copy()
    made = scale(values, ("links", "etag", "level", "depth"))
    assert made.names == ("links", "etag")  # the others tell nobody apart
    scaled = made.of(values)
    assert scaled.shape == (3, 3)  # etag is not always known
    logarithms = np.log1p([0, 99, 9])
    np.testing.assert_allclose(scaled[:, 0], (logarithms - logarithms.mean()) / logarithms.std())
    np.testing.assert_array_equal(scaled[:, 2], [0, 1, 0])
    assert scaled[1, 1] == pytest.approx(0)  # halfway between the two that are known
    np.testing.assert_array_equal(values, before)  # trees read the raw ones


def test_what_was_always_known_may_be_missing_later_and_nothing_known_gives_no_columns() -> None:
    made = scale(matrix([sight(1, links=1), sight(2, links=7)]))
    assert made.names == ("links",)
    later = made.of(matrix([sight(3)]))
    assert np.isfinite(later).all()
    nothing = scale(matrix([sight(1), sight(2)]), NAMES)
    assert nothing.of(matrix([sight(3, links=1)])).shape == (1, 0)


def test_in_links_count_others_once() -> None:
    start, to = places(0, 0, 1, 2, 2), places(1, 1, 1, 1, 0)
    assert in_links(start, to, 4).tolist() == [1, 2, 0, 0]
    assert in_links(places(), places(), 2).tolist() == [0, 0]


def test_page_rank_of_known_graphs() -> None:
    np.testing.assert_allclose(page_rank(places(0, 1, 2), places(1, 2, 0), 3), 1 / 3)  # a ring
    # A star: 1, 2 and 3 link to 0, which links nowhere. r0 = d (3 r1 + r0 / 4) + (1 - d) / 4,
    # r1 = d r0 / 4 + (1 - d) / 4 and r0 + 3 r1 = 1, so that r0 = (1 + 2.55) / (4 + 2.55).
    star = page_rank(places(1, 2, 3), places(0, 0, 0), 4)
    np.testing.assert_allclose(star, [3.55 / 6.55, 1 / 6.55, 1 / 6.55, 1 / 6.55], atol=1e-9)
    np.testing.assert_allclose(page_rank(places(), places(), 5), 0.2)
    assert page_rank(places(), places(), 0).tolist() == []


@given(st.integers(1, 12), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=60))
@settings(max_examples=100, deadline=None)
def test_page_rank_solves_its_equations(n: int, links: list[tuple[int, int]]) -> None:
    start, to = places(*(one % n for one, _ in links)), places(*(other % n for _, other in links))
    rank = page_rank(start, to, n)
    np.testing.assert_allclose(rank, dense(start, to, n), atol=1e-8)
    assert rank.sum() == pytest.approx(1)
    assert (in_links(start, to, n) <= n - 1).all()


def test_a_long_chain_with_dead_ends_converges() -> None:
    n = 20_000
    rank = page_rank(np.arange(n - 1), np.arange(1, n), n)
    assert rank.sum() == pytest.approx(1)
    assert (np.diff(rank) >= -1e-12).all()


def test_sights_learn_what_the_graph_says_of_collected_resources_alone() -> None:
    values = matrix([sight(30, links=1), sight(10), sight(99, in_links=5)])
    ids, start, to = places(30, 10, 99), places(10, 20, 20), places(30, 30, 10)
    found = Graph.of(start, to).told(values, ids)
    assert found[:2, column("in_links")].tolist() == [2, 1]
    assert found[2, column("in_links")] == 5  # as it was: the links say nothing of it
    # 10 is node 0, 20 node 1, 30 node 2; ranks are multiples of the mean.
    ranks = dense(places(0, 1, 1), places(2, 2, 0), 3) * 3
    np.testing.assert_allclose(found[:2, column("page_rank")], ranks[[2, 0]], atol=1e-5)
    assert np.isnan(found[2, column("page_rank")])
    assert np.isnan(values[0, column("in_links")])  # the raw ones stay as they were
    np.testing.assert_array_equal(Graph.of(places(), places()).told(values, ids), values)
