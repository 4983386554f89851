"""Rates of change from visits, for many resources at once. A rate is in changes per second.

A visit tells whether there was a change in its gap; some tell when the last one was. What was never seen to
change has rate 0, and what changed at every visit (with no time known) rate infinity: that is what plain
estimators say, and why nothing is planned with them. Of what was never visited they know nothing: NaN. A
Gamma prior gives every resource a rate between.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from recrawl.learn.histories import Histories
from recrawl.model import Bools, Floats, Ints

_N_STEPS = 60
_CLOSE = 1e-10  # of the logarithm


@dataclass(frozen=True, slots=True)
class Estimates:
    """`log_error` is the standard error of ln(rate); infinite where the rate is 0, infinite or not known."""

    per_s: Floats
    log_error: Floats


def regular(seen: Histories) -> Floats:
    """Cho and Garcia-Molina's for equal gaps, with their correction: near to unbiased, and finite where every
    visit found a change. Of unequal gaps their mean is taken, which makes it too small."""
    n, x = seen.n_visits, seen.n_changed
    gap_s = seen.sums(seen.gap_s) / np.maximum(n, 1.0)
    with np.errstate(invalid="ignore"):
        return np.where(n > 0, -np.log((n - x + 0.5) / (n + 0.5)) / gap_s, np.nan)


def likeliest(seen: Histories, shape: float | Floats = 0.0, scale_s: float | Floats = 0.0) -> Estimates:
    """The rate that makes what was seen likeliest, with gaps of any lengths.

    With a Gamma prior it is the mode of the logarithm's posterior. Changes whose times are known, and gaps
    without a change, only add to the prior's two numbers; what is left is one root for each resource.
    """
    untimed = seen.untimed
    some = Histories(
        n=seen.n,
        row=seen.row[untimed],
        gap_s=seen.gap_s[untimed],
        changed=seen.changed[untimed],
        after_s=seen.after_s[untimed],
    )
    a = shape + seen.sums(seen.timed.astype(np.float64))
    b_s = scale_s + seen.watched_s

    def excess(per_s: Floats, rows: Histories) -> tuple[Floats, Floats]:
        x = per_s[rows.row] * rows.gap_s
        share = _share(x)
        falls = share - share * share * np.exp(np.minimum(x, 700.0))
        return rows.sums(share), rows.sums(falls)

    # Each untimed change counts for one at most, and for 1 - x / 2 at least: the root lies between.
    x = a + some.n_visits
    with np.errstate(divide="ignore", invalid="ignore"):
        low = x / (b_s + some.sums(some.gap_s) / 2.0)
        high = x / b_s
    per_s = np.where(x == 0.0, 0.0, np.inf)
    per_s[(x == 0.0) & (b_s == 0.0) & (seen.n_visits == 0.0)] = np.nan
    open_ = (x > 0.0) & (b_s > 0.0)
    per_s[open_] = _root(some, a, b_s, low, high, open_, excess)[open_]
    return Estimates(per_s, _log_error(seen, per_s, scale_s))


def matched(seen: Histories) -> Floats:
    """The rate at which as many visits as did would be expected to find a change (method of moments)."""
    n, x = seen.n_visits, seen.n_changed

    def excess(per_s: Floats, rows: Histories) -> tuple[Floats, Floats]:
        y = per_s[rows.row] * rows.gap_s
        return rows.sums(np.exp(-y)), rows.sums(-y * np.exp(-y))

    rate = np.where(n == 0.0, np.nan, np.where(x == 0.0, 0.0, np.inf))
    open_ = (x > 0.0) & (x < n)
    total_s = seen.sums(seen.gap_s)
    shortest_s = np.full(seen.n, np.inf)
    np.minimum.at(shortest_s, seen.row, seen.gap_s)
    with np.errstate(divide="ignore", invalid="ignore"):
        low, high = x / total_s, -np.log1p(-x / n) / shortest_s
    # sum of e^(-rate gap) = visits without a change
    rate[open_] = _root(seen, x - n, np.zeros(seen.n), low, high, open_, excess)[open_]
    return rate


def counted(n_changes: Floats, watched_s: Floats, shape: float = 0.0, scale_s: float = 0.0) -> Floats:
    """Where all changes have times, or their number is told: nothing has to be guessed."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(watched_s + scale_s > 0.0, (shape + n_changes) / (scale_s + watched_s), np.nan)


def corrected(seen: Histories) -> Floats:
    """Cho and Garcia-Molina's for visits that tell when the last change was: changes over the time known to
    be without one, less the bias of few visits. A change whose time is not told counts its whole gap."""
    n, x = seen.n_visits, seen.n_changed
    gap_s = np.where(seen.timed, seen.after_s, seen.gap_s)
    with np.errstate(divide="ignore", invalid="ignore"):
        some = (x - 1.0) - x / (n * np.log1p(-x / n))
        fewer = np.where(x == 0.0, 0.0, np.where(x == n, x - 1.0, some))
        return np.where(n > 0, fewer / seen.sums(gap_s), np.nan)


def averaged(seen: Histories, spare: float = 1.0) -> Floats:
    """From the share of visits that found a change, by the law of large numbers. Right where gaps are
    exponentially distributed; O(1) memory. `spare` visits without a change are added."""
    n, x = seen.n_visits, seen.n_changed
    visits_per_s = n / np.maximum(seen.sums(seen.gap_s), 1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(n > 0.0, visits_per_s * x / (n + spare - x), np.nan)


def approached(seen: Histories, decay: float = 0.75) -> Floats:
    """Step by step, by stochastic approximation: step k is (k + 1)^-decay of the way. For exponentially
    distributed gaps; O(1) memory."""
    n = seen.n_visits
    visits_per_s = np.where(n > 0.0, n / np.maximum(seen.sums(seen.gap_s), 1e-300), np.nan)
    order = np.argsort(seen.row, kind="stable")
    row = seen.row[order]
    rank = np.arange(len(row)) - np.searchsorted(row, row)
    per_s = visits_per_s.copy()  # as if half of the visits found a change
    for k in range(int(rank.max(initial=-1)) + 1):
        now = order[rank == k]
        own = seen.row[now]
        aim = np.where(seen.changed[now], per_s[own] + visits_per_s[own], 0.0)
        per_s[own] += (k + 2.0) ** -decay * (aim - per_s[own])
    return per_s


def _root(
    seen: Histories,
    a: Floats,
    b_s: Floats,
    low: Floats,
    high: Floats,
    open_: Bools,
    excess: Callable[[Floats, Histories], tuple[Floats, Floats]],
) -> Floats:
    """Where a - b * rate + excess = 0: Newton's steps in ln(rate), halving where one leaves the bracket.
    Resources that are not `open_` are passed over, and so are those that are done."""
    doing = np.flatnonzero(open_)
    place = np.zeros(seen.n, dtype=np.int64)
    found = np.ones(seen.n)
    u_low, u_high = np.log(low[doing]), np.log(high[doing])
    u = u_low.copy()
    part = _of(seen, doing, place)
    for _ in range(_N_STEPS):
        if not len(doing):
            break
        per_s = np.exp(u)
        value, slope = excess(per_s, part)
        f = a[doing] - b_s[doing] * per_s + value
        u_low = np.where(f >= 0.0, u, u_low)
        u_high = np.where(f <= 0.0, u, u_high)
        with np.errstate(divide="ignore", invalid="ignore"):
            new = u - f / (slope - b_s[doing] * per_s)
        new = np.where((new >= u_low) & (new <= u_high), new, (u_low + u_high) / 2.0)
        done = np.abs(new - u) < _CLOSE
        found[doing[done]] = np.exp(new[done])
        left = ~done
        doing, u, u_low, u_high = doing[left], new[left], u_low[left], u_high[left]
        if done.any():
            part = _of(seen, doing, place)
    found[doing] = np.exp(u)
    return found


def _of(seen: Histories, rows: Ints, place: Ints) -> Histories:
    place[:] = -1
    place[rows] = np.arange(len(rows))
    own = place[seen.row]
    kept = own >= 0
    return Histories(
        n=len(rows),
        row=own[kept],
        gap_s=seen.gap_s[kept],
        changed=seen.changed[kept],
        after_s=seen.after_s[kept],
    )


def _share(x: Floats) -> Floats:
    """x / (e^x - 1), which is 1 at 0: what is left of one change once more may have happened."""
    safe = np.where(x < 1e-8, 1.0, x)
    return np.where(x < 1e-8, 1.0 - x / 2.0, safe / np.expm1(np.minimum(safe, 700.0)))


def _log_error(seen: Histories, per_s: Floats, scale_s: float | Floats) -> Floats:
    """From the Fisher information of ln(rate): x^2 / (e^x - 1) of a visit that tells yes or no, 1 - e^-x of
    one that tells when, with x = rate * gap; and b * rate of the prior."""
    finite = np.isfinite(per_s) & (per_s > 0.0)
    rate = np.where(finite, per_s, 1.0)
    x = np.where(finite[seen.row], rate[seen.row] * seen.gap_s, 0.0)
    told = np.where(seen.timed, -np.expm1(-x), x * _share(x))
    information = seen.sums(told) + scale_s * rate
    with np.errstate(divide="ignore"):
        return np.where(finite, 1.0 / np.sqrt(np.where(finite, information, 1.0)), np.inf)
