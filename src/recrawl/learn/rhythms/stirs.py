"""When the resources of one group were stirred together.

Files of one repository change in the same minute, pages of one site when it is redesigned, boards when many
people are awake. So a group has a clock that runs faster than real time where its members were seen to change
more than they usually do, slower where less, and as fast ahead, where nobody has looked yet. What one member
shows moves the clock of all, and those who are due by it are looked at.

Time is cut into cells, the last 128 of them, each about an eighth of the usual gap between two visits. The
clock's rate in a cell is Gamma distributed with mean 1 before anything was seen, and 1/alpha as uneven: a
visit without a change adds what was expected of it to the cells it covers, one with a change adds it too and
shares the change out over them. Each group weighs a handful of alphas, steady time among them, by how well
each foretold its visits.
"""

from __future__ import annotations

from math import ceil, exp, expm1, floor, log, log1p
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from recrawl.compiled import quick, total, wide
from recrawl.model import Floats, Ints

Cells = npt.NDArray[np.float32]

N_CELLS = 128
N_ALPHAS = 4  # and steady time
FINEST_S = 900.0  # the narrowest cells; each level is twice as wide
N_LEVELS = 12
CELLS_A_GAP = 8.0
FADING = 0.002  # share of the evidence for each alpha that is let go at each visit
SURE = 1e-4  # no verdict was ever less likely than this, so that one surprise does not decide for ever
PACE = 1.0 / 32.0  # the weight of one visit in the usual gap
ALPHAS = np.array([0.01, 0.05, 0.3, 2.0])


class Stirs(NamedTuple):
    """One row for each group that has several members."""

    level: Ints  # of the cells' width; -1: nothing seen yet
    first: Ints  # the number of the first cell since the epoch
    newest: Ints  # the newest cell that a visit covered
    log_gap: Floats  # log2 of the usual gap, in seconds
    evidence: Floats  # (n, N_ALPHAS + 1), logarithms
    x: Cells  # (n, N_CELLS): changes expected
    n: Cells  # (n, N_ALPHAS, N_CELLS): changes counted
    rate: Cells  # (n, N_CELLS): how fast the clock ran


def no_stirs(n: int) -> Stirs:
    return Stirs(
        level=np.full(n, -1, dtype=np.int64),
        first=np.zeros(n, dtype=np.int64),
        newest=np.zeros(n, dtype=np.int64),
        log_gap=np.zeros(n),
        evidence=np.zeros((n, N_ALPHAS + 1)),
        x=np.zeros((n, N_CELLS), dtype=np.float32),
        n=np.zeros((n, N_ALPHAS, N_CELLS), dtype=np.float32),
        rate=np.ones((n, N_CELLS), dtype=np.float32),
    )


def with_room(stirs: Stirs, n: int) -> Stirs:
    """The same, with room for so many groups."""
    more = no_stirs(n - len(stirs.level))
    return Stirs(*(np.concatenate([old, new]) for old, new in zip(stirs, more, strict=True)))


@quick
def width_s(level: int) -> float:
    return FINEST_S * float(2**level)


@quick
def stirred_s(stirs: Stirs, slot: int, since_at: float, at: float) -> float:
    """How far the group's clock went between two moments."""
    if stirs.level[slot] < 0:
        return at - since_at
    wide_s = width_s(stirs.level[slot])
    first, end = stirs.first[slot], stirs.newest[slot] + 1
    before_s = min(at, first * wide_s) - since_at
    after_s = at - max(since_at, end * wide_s)
    gone_s = max(before_s, 0.0) + max(after_s, 0.0)
    low = max(first, floor(since_at / wide_s))
    high = min(end, floor(at / wide_s) + 1)
    for cell in range(low, high):
        inside_s = min(at, (cell + 1) * wide_s) - max(since_at, cell * wide_s)
        if inside_s > 0.0:
            gone_s += inside_s * wide(stirs.rate[slot, cell - first])
    return float(gone_s)


@quick
def rate_at(stirs: Stirs, slot: int, at: float) -> tuple[float, float]:
    """How fast the clock runs at a moment, and until when it goes on like that."""
    if stirs.level[slot] < 0:
        return 1.0, np.inf
    wide_s = width_s(stirs.level[slot])
    cell, first = floor(at / wide_s), stirs.first[slot]
    if cell > stirs.newest[slot]:
        return 1.0, np.inf
    if cell < first:
        return 1.0, first * wide_s
    return wide(stirs.rate[slot, cell - first]), (cell + 1) * wide_s


@quick
def stir(
    stirs: Stirs,
    slot: int,
    since_at: float,
    at: float,
    changed: bool,
    per_s: float,
    a: float,
    b_s: float,
    weight: float,
    due: float,
    factor: Floats,
    exact: bool = False,
) -> None:
    """Take in a visit of a member whose own rate is `per_s`, or rather Gamma(a, b_s); what is `exact` changed
    at the end of the gap and not before.

    `factor` is how many times that rate its habit has in each cell that the gap covers, from
    `first_cell` on; `weight` is how much the member heeds the group, `due` how far a change was its own.
    """
    first = stirs.first[slot]
    wide_s = width_s(stirs.level[slot])
    low, high = first_cell(stirs, slot, since_at), floor(at / wide_s) + 1
    own_s = np.zeros(N_ALPHAS + 1)
    own_s += max(0.0, min(at, first * wide_s) - since_at)  # what lies before all cells went as usual
    for cell in range(low, high):
        inside_s = factor[cell - low] * _inside_s(cell, wide_s, since_at, at)
        own_s[N_ALPHAS] += inside_s
        for j in range(N_ALPHAS):
            own_s[j] += inside_s * _rate(stirs, slot, j, cell - first)
    moment = max(ceil(at / wide_s) - 1, low) if exact else low - 1  # the cell that an exact change is in
    weights = _weighed(stirs, slot, own_s, changed, exact, a, b_s, moment - first)
    for cell in range(low, high):
        inside_s = factor[cell - low] * _inside_s(cell, wide_s, since_at, at)
        if inside_s <= 0.0 and cell != moment:
            continue
        k = cell - first
        if cell == moment:
            for j in range(N_ALPHAS):
                stirs.n[slot, j, k] = wide(stirs.n[slot, j, k]) + due * weight
        elif changed and not exact:
            for j in range(N_ALPHAS):
                expected = per_s * inside_s * _rate(stirs, slot, j, k)
                share = expected / max(-expm1(-per_s * own_s[j]), 1e-300)
                stirs.n[slot, j, k] = wide(stirs.n[slot, j, k]) + due * weight * share
        stirs.x[slot, k] = wide(stirs.x[slot, k]) + weight * per_s * inside_s
        rate = weights[N_ALPHAS]
        for j in range(N_ALPHAS):
            rate += weights[j] * _rate(stirs, slot, j, k)
        stirs.rate[slot, k] = rate
    stirs.newest[slot] = max(stirs.newest[slot], high - 1)


@quick
def first_cell(stirs: Stirs, slot: int, since_at: float) -> int:
    return int(max(stirs.first[slot], floor(since_at / width_s(stirs.level[slot]))))


@quick
def n_covered(stirs: Stirs, slot: int, since_at: float, at: float) -> int:
    return floor(at / width_s(stirs.level[slot])) + 1 - first_cell(stirs, slot, since_at)


@quick
def make_ready(stirs: Stirs, slot: int, gap_s: float, at: float, exact: bool = False) -> None:
    """Cells of the right width, up to this moment. Visits have gaps, of which the width is made; what is
    `exact` was no visit."""
    log_gap = log(max(gap_s, CELLS_A_GAP * FINEST_S if exact else 1.0)) / log(2.0)
    if stirs.level[slot] < 0:
        stirs.log_gap[slot] = log_gap
        stirs.level[slot] = _level(log_gap)
        stirs.first[slot] = floor(at / width_s(stirs.level[slot])) - N_CELLS // 2
        stirs.newest[slot] = stirs.first[slot] - 1
    if not exact:
        stirs.log_gap[slot] += PACE * (log_gap - stirs.log_gap[slot])
    wanted = stirs.log_gap[slot] - log(CELLS_A_GAP * FINEST_S) / log(2.0)
    if wanted > stirs.level[slot] + 1.5 and stirs.level[slot] < N_LEVELS - 1:
        _widen(stirs, slot)
    elif wanted < stirs.level[slot] - 0.5 and stirs.level[slot] > 0:
        _narrow(stirs, slot, at)
    beyond = floor(at / width_s(stirs.level[slot])) - stirs.first[slot] - N_CELLS + 1
    if beyond > 0:
        _move(stirs, slot, beyond + N_CELLS // 4)


@quick
def _level(log_gap: float) -> int:
    level = floor(log_gap - log(CELLS_A_GAP * FINEST_S) / log(2.0))
    return min(max(level, 0), N_LEVELS - 1)


@quick
def _inside_s(cell: int, wide_s: float, since_at: float, at: float) -> float:
    return max(0.0, min(at, (cell + 1) * wide_s) - max(since_at, cell * wide_s))


@quick
def _rate(stirs: Stirs, slot: int, j: int, k: int) -> float:
    return float((ALPHAS[j] + wide(stirs.n[slot, j, k])) / (ALPHAS[j] + wide(stirs.x[slot, k])))


@quick
def _weighed(
    stirs: Stirs, slot: int, own_s: Floats, changed: bool, exact: bool, a: float, b_s: float, k: int
) -> Floats:
    """The weight of each alpha, after what it foretold of this visit was taken in; `k` is the place of the
    cell that an exact change was in."""
    evidence = stirs.evidence[slot]
    for j in range(N_ALPHAS + 1):
        longer = log1p(own_s[j] / b_s)
        quiet = min(max(exp(-a * longer), SURE), 1.0 - SURE)
        told = log(1.0 - quiet if changed else quiet)
        if exact:  # how dense changes are there
            pace = _rate(stirs, slot, j, k) if j < N_ALPHAS and 0 <= k < N_CELLS else 1.0
            told = min(max(log(max(pace, SURE)) - (a + 1.0) * longer, log(SURE)), -log(SURE))
        evidence[j] = (1.0 - FADING) * evidence[j] + told
    weights, most = np.empty(N_ALPHAS + 1), evidence.max()
    for j in range(N_ALPHAS + 1):  # one by one: NumPy's own way with many differs in the last bit
        weights[j] = exp(evidence[j] - most)
    weights /= total(weights)
    return weights


@quick
def unevenness(evidence: Floats) -> float:
    """How sure it is that a group is stirred at all: the weight of all alphas but steady time's."""
    most = evidence.max()
    whole, steady = 0.0, exp(evidence[N_ALPHAS] - most)
    for j in range(N_ALPHAS + 1):
        whole += exp(evidence[j] - most)
    return float(1.0 - steady / whole)


@quick
def _widen(stirs: Stirs, slot: int) -> None:
    first = stirs.first[slot]
    start = floor(first / 2.0)
    x, n, rate = stirs.x[slot].copy(), stirs.n[slot].copy(), stirs.rate[slot].copy()
    stirs.x[slot] = 0.0
    stirs.n[slot] = 0.0
    stirs.rate[slot] = 1.0
    for k in range(N_CELLS):
        to = (first + k) // 2 - start
        stirs.x[slot, to] = wide(stirs.x[slot, to]) + wide(x[k])
        stirs.rate[slot, to] = wide(stirs.rate[slot, to]) + (wide(rate[k]) - 1.0) / 2.0
        for j in range(N_ALPHAS):
            stirs.n[slot, j, to] = wide(stirs.n[slot, j, to]) + wide(n[j, k])
    stirs.level[slot] += 1
    stirs.first[slot] = start
    stirs.newest[slot] = floor(stirs.newest[slot] / 2.0)


@quick
def _narrow(stirs: Stirs, slot: int, at: float) -> None:
    """What the newest cell tells is of its first half alone, where nobody has looked beyond that: else cells
    that are made narrower again and again would end up ahead of all visits."""
    first, newest = stirs.first[slot], stirs.newest[slot]
    end = max(min(floor(at / width_s(stirs.level[slot] - 1)), 2 * newest + 1), 2 * newest)
    start = max(2 * first, end + 1 - N_CELLS)
    x, n, rate = stirs.x[slot].copy(), stirs.n[slot].copy(), stirs.rate[slot].copy()
    for k in range(N_CELLS):
        cell = start + k
        of = cell // 2 - first
        share = 0.5
        if cell // 2 == newest and end == 2 * newest:
            share = 1.0 if cell == end else 0.0
        stirs.x[slot, k] = share * x[of]
        stirs.rate[slot, k] = rate[of] if cell <= end else 1.0
        for j in range(N_ALPHAS):
            stirs.n[slot, j, k] = share * n[j, of]
    stirs.level[slot] -= 1
    stirs.first[slot] = start
    stirs.newest[slot] = end


@quick
def _move(stirs: Stirs, slot: int, by: int) -> None:
    """Let the oldest cells go."""
    kept = max(N_CELLS - by, 0)
    for k in range(kept):
        stirs.x[slot, k] = stirs.x[slot, k + by]
        stirs.rate[slot, k] = stirs.rate[slot, k + by]
        for j in range(N_ALPHAS):
            stirs.n[slot, j, k] = stirs.n[slot, j, k + by]
    stirs.x[slot, kept:] = 0.0
    stirs.rate[slot, kept:] = 1.0
    for j in range(N_ALPHAS):
        stirs.n[slot, j, kept:] = 0.0
    stirs.first[slot] += by
    stirs.newest[slot] = max(stirs.newest[slot], stirs.first[slot] - 1)
