"""A group's clock: how far it goes, what its cells keep, and what a visit adds to them."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from recrawl.learn.rhythms import stirs as module
from recrawl.learn.rhythms.stirs import (
    ALPHAS,
    N_ALPHAS,
    N_CELLS,
    N_LEVELS,
    Stirs,
    make_ready,
    n_covered,
    no_stirs,
    rate_at,
    stir,
    stirred_s,
    width_s,
    with_room,
)
from recrawl.model import DAY_S, Floats

START_AT = 1.7e9
SLOT = 1


def visit(
    stirs: Stirs,
    since_at: float,
    at: float,
    changed: bool,
    *,
    per_s: float = 1.0 / DAY_S,
    weight: float = 1.0,
    factor: float = 1.0,
) -> None:
    make_ready(stirs, SLOT, at - since_at, at)
    factors = np.full(max(n_covered(stirs, SLOT, since_at, at), 1), factor)
    stir(stirs, SLOT, since_at, at, changed, per_s, 2.0, 2.0 / per_s, weight, 1.0, factors)


def visited(seed: int, gap_s: float, n: int = 60) -> tuple[Stirs, float]:
    """A group that some members were seen of, about so long apart, and the last moment."""
    rng = np.random.default_rng(seed)
    stirs = no_stirs(3)
    gaps_s = gap_s * rng.uniform(0.2, 2.0, (4, n // 4))
    at = START_AT + gap_s * rng.random((4, 1)) + np.cumsum(gaps_s, axis=1)
    for k in np.argsort(at, axis=None).tolist():
        last_at = float(at.flat[k])
        visit(stirs, last_at - gaps_s.flat[k], last_at, bool(rng.random() < 0.4), per_s=1.0 / gap_s)
    return stirs, last_at


seeds = st.integers(0, 2**32)
gaps_s = st.floats(np.log(120.0), np.log(200 * DAY_S)).map(lambda log_s: float(np.exp(log_s)))
shares = st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3).map(sorted)


def copied(stirs: Stirs) -> Stirs:
    return deepcopy(stirs)


def edges(stirs: Stirs) -> tuple[float, float]:
    """Where the cells begin, and where those that were seen end."""
    wide_s = width_s(int(stirs.level[SLOT]))
    return float(stirs.first[SLOT] * wide_s), float((stirs.newest[SLOT] + 1) * wide_s)


@settings(deadline=None, max_examples=15)
@given(seeds, gaps_s, shares)
def test_the_clock_goes_on_without_a_jump_and_never_back(seed: int, gap_s: float, of: list[float]) -> None:
    stirs, last_at = visited(seed, gap_s)
    begin_at, end_at = edges(stirs)
    low_at, high_at = begin_at - 3 * gap_s, max(end_at, last_at) + 3 * gap_s
    one, two, three = (low_at + share * (high_at - low_at) for share in of)
    whole = stirred_s(stirs, SLOT, one, three)
    assert whole == pytest.approx(
        stirred_s(stirs, SLOT, one, two) + stirred_s(stirs, SLOT, two, three), rel=1e-9, abs=1e-5
    )
    assert whole > 0.0 or one == three
    assert stirred_s(stirs, SLOT, begin_at - gap_s, begin_at) == pytest.approx(gap_s, rel=1e-6)
    assert stirred_s(stirs, SLOT, end_at, end_at + gap_s) == pytest.approx(gap_s, rel=1e-6)


@settings(deadline=None, max_examples=15)
@given(seeds, gaps_s)
def test_how_fast_it_runs_sums_up_to_how_far_it_goes(seed: int, gap_s: float) -> None:
    stirs, _ = visited(seed, gap_s)
    begin_at, end_at = edges(stirs)
    at, until_at, total = begin_at - gap_s, end_at + gap_s, 0.0
    while at < until_at:
        rate, stop_at = rate_at(stirs, SLOT, at)
        stop_at = min(stop_at, until_at)
        total += rate * (stop_at - at)
        at = stop_at
    assert total == pytest.approx(stirred_s(stirs, SLOT, begin_at - gap_s, end_at + gap_s), rel=1e-9)


def test_before_anything_was_seen_it_goes_with_the_world() -> None:
    assert stirred_s(no_stirs(2), SLOT, START_AT, START_AT + 5.0) == 5.0
    assert rate_at(no_stirs(2), SLOT, START_AT) == (1.0, np.inf)


@settings(deadline=None, max_examples=15)
@given(seeds, gaps_s, st.integers(0, 1))
def test_wider_cells_hold_all_that_the_narrow_ones_did(seed: int, gap_s: float, odd: int) -> None:
    stirs, _ = visited(seed, gap_s)
    assume(stirs.level[SLOT] < N_LEVELS - 1)
    if (stirs.first[SLOT] + odd) % 2:
        module._move(stirs, SLOT, 1)
    old = copied(stirs)
    module._widen(stirs, SLOT)
    assert stirs.x[SLOT].sum() == pytest.approx(old.x[SLOT].sum(), rel=1e-5)
    assert stirs.n[SLOT].sum(axis=1) == pytest.approx(old.n[SLOT].sum(axis=1), rel=1e-5)
    begin_at, end_at = edges(stirs)
    at = np.arange(begin_at, end_at + 1.0, width_s(int(stirs.level[SLOT])))
    assert clock(stirs, begin_at, at) == pytest.approx(clock(old, begin_at, at), rel=1e-5)
    assert edges(stirs)[0] <= edges(old)[0]
    assert edges(old)[1] <= end_at


@settings(deadline=None, max_examples=15)
@given(seeds, gaps_s, st.integers(0, 40))
def test_narrower_cells_hold_what_the_wide_ones_did_as_far_back_as_they_reach(
    seed: int, gap_s: float, n: int
) -> None:
    stirs, last_at = visited(seed, gap_s, 20 + n)
    assume(stirs.level[SLOT] > 0)
    old = copied(stirs)
    module._narrow(stirs, SLOT, last_at)
    begin_at, end_at = edges(stirs)
    assert last_at < end_at <= last_at + width_s(int(stirs.level[SLOT]))
    assert begin_at >= edges(old)[0]
    assert begin_at == edges(old)[0] or end_at - begin_at == N_CELLS * width_s(int(stirs.level[SLOT]))
    after = np.arange(1, N_CELLS + 1) + old.first[SLOT] - begin_at / width_s(int(old.level[SLOT]))
    kept = np.clip(after, 0.0, 1.0)  # of one cell it may be half
    assert stirs.x[SLOT].sum() == pytest.approx((kept * old.x[SLOT]).sum(), rel=1e-5)
    assert stirs.n[SLOT].sum(axis=1) == pytest.approx((kept * old.n[SLOT]).sum(axis=1), rel=1e-5)
    assert not stirs.x[SLOT, np.arange(N_CELLS) + stirs.first[SLOT] > stirs.newest[SLOT]].any()
    at = np.linspace(begin_at, last_at, 200)
    assert clock(stirs, begin_at, at) == pytest.approx(clock(old, begin_at, at), rel=1e-9, abs=1e-5)


@settings(deadline=None, max_examples=15)
@given(seeds, gaps_s, st.integers(1, 300))
def test_what_lies_far_back_is_let_go_and_the_rest_stays_where_it_was(
    seed: int, gap_s: float, by: int
) -> None:
    stirs, _ = visited(seed, gap_s)
    old = copied(stirs)
    module._move(stirs, SLOT, by)
    begin_at, end_at = edges(stirs)
    assert begin_at == edges(old)[0] + by * width_s(int(old.level[SLOT]))
    assert end_at >= begin_at
    at = np.linspace(begin_at, begin_at + 300 * gap_s, 200)
    assert clock(stirs, begin_at, at) == pytest.approx(clock(old, begin_at, at), rel=1e-9, abs=1e-5)
    assert stirred_s(stirs, SLOT, begin_at - 7.0, begin_at) == 7.0
    # from before the cells that are left, over those that are gone
    assert stirred_s(stirs, SLOT, edges(old)[0], begin_at + gap_s) == pytest.approx(
        begin_at - edges(old)[0] + stirred_s(stirs, SLOT, begin_at, begin_at + gap_s), rel=1e-9
    )


def clock(stirs: Stirs, since_at: float, at: Floats) -> Floats:
    return np.array([stirred_s(stirs, SLOT, since_at, one) for one in at.tolist()])


@settings(deadline=None, max_examples=15)
@given(seeds, gaps_s, st.floats(0.05, 20.0), st.booleans(), st.floats(0.1, 1.0), st.floats(0.1, 5.0))
def test_a_visit_adds_what_was_expected_and_shares_a_change_out(
    seed: int, gap_s: float, gaps: float, changed: bool, weight: float, factor: float
) -> None:
    stirs, last_at = visited(seed, gap_s)
    since_at, at = last_at - 0.3 * gaps * gap_s, last_at + 0.7 * gaps * gap_s
    per_s = 0.7 / gap_s
    make_ready(stirs, SLOT, gap_s, at)
    old = copied(stirs)
    factors = np.full(max(n_covered(stirs, SLOT, since_at, at), 1), factor)
    stir(stirs, SLOT, since_at, at, changed, per_s, 2.0, 2.0 / per_s, weight, 1.0, factors)
    begin_at = edges(old)[0]
    inside_s, before_s = at - max(since_at, begin_at), max(begin_at - since_at, 0.0)
    x = stirs.x[SLOT].astype(np.float64) - old.x[SLOT]
    rounded = 1e-5 * float(max(old.x[SLOT].max(), old.n[SLOT].max(), 1e-3))  # as 32 bits have it
    assert x.sum() == pytest.approx(weight * per_s * factor * inside_s, rel=1e-3, abs=rounded)
    n = (stirs.n[SLOT].astype(np.float64) - old.n[SLOT]).sum(axis=1)
    if not changed:
        assert not n.any()
        return
    for j in range(N_ALPHAS):
        wide_s = width_s(int(old.level[SLOT]))
        cell = np.arange(N_CELLS) + old.first[SLOT]
        share_s = np.clip(
            np.minimum(at, (cell + 1) * wide_s) - np.maximum(since_at, cell * wide_s), 0.0, None
        )
        rate = (ALPHAS[j] + old.n[SLOT, j]) / (ALPHAS[j] + old.x[SLOT])
        inside = per_s * factor * (share_s * rate).sum()
        told = -np.expm1(-(inside + per_s * before_s))
        assert n[j] == pytest.approx(weight * inside / told, rel=1e-3, abs=rounded)


@settings(deadline=None, max_examples=15)
@given(seeds, gaps_s, gaps_s, st.sampled_from([0.0, 1.0, DAY_S, 30 * DAY_S, 366 * DAY_S, 40 * 365 * DAY_S]))
def test_whatever_the_gaps_and_however_long_nobody_looked_there_are_cells_up_to_now(
    seed: int, gap_s: float, next_s: float, rest_s: float
) -> None:
    stirs, last_at = visited(seed, gap_s)
    at = last_at + rest_s
    for k in range(60):
        visit(stirs, at, at + next_s, k % 3 == 0, per_s=1.0 / next_s)
        at += next_s / 4
        assert 0 <= stirs.level[SLOT] < N_LEVELS
        assert stirs.first[SLOT] <= stirs.newest[SLOT] < stirs.first[SLOT] + N_CELLS
        assert edges(stirs)[0] < at + 0.75 * next_s < edges(stirs)[1]
    for one in (stirs.x, stirs.n, stirs.rate, stirs.evidence):
        assert np.isfinite(one).all()
    assert (stirs.rate > 0.0).all()
    assert (stirs.x >= 0.0).all()
    seen = np.arange(N_CELLS) + stirs.first[SLOT] <= stirs.newest[SLOT]
    assert not stirs.x[SLOT, ~seen].any()
    assert not stirs.n[SLOT][:, ~seen].any()


def test_cells_become_as_wide_as_an_eighth_of_the_usual_gap_within_the_levels() -> None:
    for gap_s, level in (
        (60.0, 0),
        (8 * 900.0 * 1.2, 0),
        (8 * 3_600.0 * 1.2, 2),
        (3_000 * DAY_S, N_LEVELS - 1),
    ):
        stirs = no_stirs(2)
        for k in range(150):
            visit(stirs, START_AT + k * gap_s, START_AT + (k + 1) * gap_s, False)
        assert stirs.level[SLOT] == level
        for k in range(150):  # and follow another one
            visit(stirs, START_AT + 150 * gap_s + k * DAY_S, START_AT + 150 * gap_s + (k + 1) * DAY_S, False)
        assert abs(width_s(int(stirs.level[SLOT])) / (DAY_S / 8) - 1.0) < 1.0


def test_a_visit_from_before_all_cells_changes_no_clock() -> None:
    stirs, last_at = visited(1, DAY_S)
    old = copied(stirs)
    visit(stirs, START_AT - 900 * DAY_S, START_AT - 899 * DAY_S, True)
    assert stirs.x.tolist() == old.x.tolist()
    assert stirs.n.tolist() == old.n.tolist()
    assert edges(stirs)[1] == edges(old)[1]
    at = np.linspace(START_AT - 1e3 * DAY_S, last_at, 99)
    assert clock(stirs, START_AT - 1e3 * DAY_S, at) == pytest.approx(clock(old, START_AT - 1e3 * DAY_S, at))


def test_room_for_more_groups_leaves_those_that_are_there() -> None:
    stirs, _ = visited(1, DAY_S)
    more = with_room(stirs, 9)
    assert len(more.level) == 9
    for name in Stirs._fields:
        assert getattr(more, name)[:3].tolist() == getattr(stirs, name).tolist()
    assert (more.level[3:] == -1).all()


def weights(stirs: Stirs) -> Floats:
    weight = np.exp(stirs.evidence[SLOT] - stirs.evidence[SLOT].max())
    return np.asarray(weight / weight.sum())


def members(change_at: list[Floats], gap_s: float, rng: np.random.Generator) -> Stirs:
    """Looked at in turn, at random moments; each changes at its own times."""
    stirs = no_stirs(2)
    visits = []
    for of in change_at:
        at = START_AT + gap_s * (rng.random() + np.arange(60))
        n = np.searchsorted(of, at, side="right")
        visits += list(zip(at[1:].tolist(), at[:-1].tolist(), (np.diff(n) > 0).tolist(), strict=True))
    for at_, since_at, changed in sorted(visits):
        visit(stirs, since_at, at_, changed, per_s=1.0 / (7 * DAY_S))
    return stirs


def test_a_group_that_changes_together_has_an_uneven_clock_and_one_at_random_a_steady_one() -> None:
    rng = np.random.default_rng(4)
    stirred = START_AT + 7 * DAY_S * np.arange(1, 20) + DAY_S * rng.random(19)
    together = members([stirred + 600.0 * rng.random(19) for _ in range(8)], 2 * DAY_S, rng)
    apart = members([START_AT + np.cumsum(rng.exponential(7 * DAY_S, 40)) for _ in range(8)], 2 * DAY_S, rng)
    assert weights(together)[:3].sum() > 0.95
    assert weights(apart)[:2].sum() < 0.05
    assert together.rate[SLOT].max() > 3.0
    assert together.rate[SLOT].min() < 0.2
    assert abs(apart.rate[SLOT] - 1.0).max() < 0.5
    # the clock runs where the changes were
    wide_s = width_s(int(together.level[SLOT]))
    cell = np.floor(stirred / wide_s).astype(np.int64) - together.first[SLOT]
    inside = cell[(cell >= 0) & (cell < N_CELLS)]
    assert np.median(together.rate[SLOT, inside]) > 3.0
