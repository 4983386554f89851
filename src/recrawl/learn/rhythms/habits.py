"""What resources do after a change, learned from all of them together.

Some change again at once, in bursts; others rest for about as long as they did before. Both show in one
table: how many times their own mean rate resources change at, by how long ago the last change was seen, in
units of their own mean time between changes. There is a row for each way that the three visits before
that change went, and one for all, which the others begin from.

A visit says only whether there was a change since the last one. The change is then shared out over the bins
that the gap covers, as the present table has it (one step of expectation-maximisation a visit), and what was
expected there is counted too: the factor is the first over the second, drawn towards 1 by a few changes that
nobody saw.
"""

from __future__ import annotations

from math import expm1, frexp, ldexp, log1p
from typing import NamedTuple

import numpy as np

from recrawl.compiled import quick
from recrawl.model import Floats

N_BINS = 12  # each twice as long as the one before …
FINEST = 6  # … the first ends 2^-6 mean gaps after the change
N_ROWS = 9
DOUBT = (
    20.0  # changes: so many must be expected in a bin before its own count weighs as much as what is usual
)
LEAST, MOST = 0.05, 20.0


class Habits(NamedTuple):
    """Changes counted, changes expected and their ratio; row 0 is for all, and of whoever never changed."""

    n: Floats
    x: Floats
    factor: Floats


def no_habits() -> Habits:
    return Habits(np.zeros((N_ROWS, N_BINS)), np.zeros((N_ROWS, N_BINS)), np.ones((N_ROWS, N_BINS)))


def counted(n: Floats, x: Floats) -> Habits:
    """What these counts come to."""
    usual = (DOUBT + n[0]) / (DOUBT + x[0])
    factor = (DOUBT * usual + n) / (DOUBT + x)
    factor[0] = usual
    return Habits(n.copy(), x.copy(), np.clip(factor, LEAST, MOST))


@quick
def row_after(verdicts: int) -> int:
    """The row for a change that these three verdicts (bits, the newest lowest) came before."""
    return 1 + (verdicts & 7)


@quick
def end_of(bin_: int) -> float:
    """Where a bin ends, in mean gaps; the last goes on for ever."""
    return ldexp(1.0, bin_ - FINEST)


@quick
def bin_of(age: float) -> int:
    """The bin of an age in mean gaps, whatever number that is."""
    if not age >= 1.0 / 64.0:
        return 0
    return frexp(age)[1] + FINEST if age < end_of(N_BINS - 2) else N_BINS - 1


@quick
def count(habits: Habits, row: int, bin_: int, expected: float, share: float) -> None:
    """So many changes were expected in this bin by the mean rate; `share` times the habit's own were there
    (0 after a visit without a change)."""
    n = expected * habits.factor[row, bin_] * share
    habits.x[0, bin_] += expected
    habits.n[0, bin_] += n
    if row:
        habits.x[row, bin_] += expected
        habits.n[row, bin_] += n


@quick
def happened(habits: Habits, row: int, bin_: int, share: float) -> None:
    """So much of a change was in this bin: its moment is known."""
    habits.n[0, bin_] += share
    if row:
        habits.n[row, bin_] += share


@quick
def settle(habits: Habits, row: int, bin_: int) -> None:
    """Bring the factor up to what was counted."""
    usual = (DOUBT + habits.n[0, bin_]) / (DOUBT + habits.x[0, bin_])
    habits.factor[0, bin_] = min(max(usual, LEAST), MOST)
    if row:
        own = (DOUBT * usual + habits.n[row, bin_]) / (DOUBT + habits.x[row, bin_])
        habits.factor[row, bin_] = min(max(own, LEAST), MOST)


@quick
def known_after(own_s: float, changed: bool, a: float, b_s: float) -> tuple[float, float]:
    """After a visit to a resource whose rate was Gamma(a, b_s): what its mean rate is believed to be now, and
    how many times the changes that are expected at that there were.

    Taking the rate for known would not do: a mean rate foretells more gaps with a change than its mixture of
    rates does, and the habits of everybody would seem to be slower than they are.
    """
    grown = log1p(own_s / b_s)
    if not changed:
        return a / (b_s + own_s), 0.0
    per_s = a / b_s * -expm1(-(a + 1.0) * grown) / max(-expm1(-a * grown), 1e-300)
    return per_s, 1.0 / max(-expm1(-(a + 1.0) * grown), 1e-300)
