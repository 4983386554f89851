"""How well visits followed threads: delays, and the two families of misses and false alarms.

A thread is watched from the last of its posts that may be learned from to its last post: that is its life. It
was visited when that began, which nobody counts; visits after the end do not count either, and what no visit
has fetched by then is fetched at the end.

Everything is a figure of each thread; a table shows the mean of the threads that have the figure.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from recrawl.compiled import compiled
from recrawl.model import Floats, Ints

MINUTE_S = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """Threads with the posts that were to be fetched, and the visits to them."""

    start_at: Floats  # of each thread
    end_at: Floats  # of its last post
    bounds: Ints
    at: Floats  # posts after the start, in the order of time
    visit_bounds: Ints
    visit_at: Floats  # after the start and not after the end, rising

    @property
    def n(self) -> int:
        return len(self.start_at)

    @property
    def n_posts(self) -> Ints:
        return np.diff(self.bounds)

    @property
    def n_visits(self) -> Ints:
        return np.diff(self.visit_bounds)

    @property
    def row(self) -> Ints:
        """Of each post: its thread."""
        return np.repeat(np.arange(self.n), self.n_posts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """Of each thread; NaN: it has no such figure."""

    pr_miss: Floats
    pr_fa: Floats
    pr_error: Floats
    p_miss_norm: Floats
    p_fa_norm: Floats
    p_error_norm: Floats
    t_score_min: Floats
    posts: Floats
    visits: Floats


NAMES = tuple(field.name for field in fields(Figures))


def figures(watched: Watched) -> Figures:
    delay_s = delays_s(watched)
    miss, alarm = windows(watched)
    p_miss, p_fa = normalised(watched, delay_s)
    return Figures(
        pr_miss=miss,
        pr_fa=alarm,
        pr_error=(miss + alarm) / 2.0,
        p_miss_norm=p_miss,
        p_fa_norm=p_fa,
        p_error_norm=(p_miss + p_fa) / 2.0,
        t_score_min=np.bincount(watched.row, delay_s, watched.n) / watched.n_posts / MINUTE_S,
        posts=watched.n_posts.astype(np.float64),
        visits=watched.n_visits.astype(np.float64),
    )


def delays_s(watched: Watched) -> Floats:
    """Of each post: how long it waited for the first visit at or after it, or for the end."""
    delay_s = np.empty(len(watched.at))
    ends = watched.bounds, watched.at, watched.visit_bounds, watched.visit_at, watched.end_at
    _delays(*ends, delay_s)
    return delay_s


def normalised(watched: Watched, delay_s: Floats) -> tuple[Floats, Floats]:
    """P_miss = T / T_max and P_FA = visits / (life - posts), life in minutes.

    T_max is the T-score of nobody who comes before the end. A thread whose posts all come at its end has no
    P_miss; one with as many posts as minutes has no P_FA.
    """
    spent_s = np.bincount(watched.row, delay_s, watched.n)
    most_s = np.bincount(watched.row, watched.end_at[watched.row] - watched.at, watched.n)
    spare_min = (watched.end_at - watched.start_at) / MINUTE_S - watched.n_posts
    return _ratio(spent_s, most_s), _ratio(watched.n_visits, spare_min)


def windows(watched: Watched) -> tuple[Floats, Floats]:
    """Pr_miss and Pr_fa, from every k events in a row. Events are posts and visits in the order of time, a
    post before a visit of the same moment.

    A window with more posts than visits has missed some: Pr_miss is the share of such among those with a
    post. One with more visits than posts is a false alarm: Pr_fa is their share of all. k is half the mean
    number of events from one post to the next, to the nearest even number above 0: an odd number of events
    cannot be as many posts as visits.
    """
    per_post = (watched.n_posts + watched.n_visits) / watched.n_posts
    k = 2 * np.maximum(np.floor(per_post / 4.0 + 0.5), 1.0).astype(np.int64)
    counts = np.zeros((4, watched.n), dtype=np.int64)  # missed, false, with a post, all
    _slide(watched.bounds, watched.at, watched.visit_bounds, watched.visit_at, k, counts)
    missed, false, spoken, n = counts
    return _ratio(missed, spoken), _ratio(false, n)


def mape(actual_s: Floats, predicted_s: Floats, row: Ints, n: int) -> Floats:
    """Of each thread: the mean of |actual - predicted| / actual. Times are known to the minute: what is
    shorter counts as one."""
    actual_s = np.maximum(actual_s, MINUTE_S)
    share = np.abs(actual_s - predicted_s) / actual_s
    return _ratio(np.bincount(row, share, n), np.bincount(row, minlength=n))


def _ratio(above: Floats | Ints, below: Floats | Ints) -> Floats:
    return np.asarray(np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0))


@compiled
def _delays(
    bounds: Ints, at: Floats, visit_bounds: Ints, visit_at: Floats, end_at: Floats, delay_s: Floats
) -> None:
    for row in range(len(bounds) - 1):
        visit, last = visit_bounds[row], visit_bounds[row + 1]
        for post in range(bounds[row], bounds[row + 1]):
            while visit < last and visit_at[visit] < at[post]:
                visit += 1
            delay_s[post] = (visit_at[visit] if visit < last else end_at[row]) - at[post]


@compiled
def _slide(bounds: Ints, at: Floats, visit_bounds: Ints, visit_at: Floats, k: Ints, counts: Ints) -> None:
    for row in range(len(bounds) - 1):
        post, last = bounds[row], bounds[row + 1]
        visit, end = visit_bounds[row], visit_bounds[row + 1]
        n = last - post + end - visit
        spoke = np.zeros(n + 1, dtype=np.int64)  # posts among the first so many events
        for event in range(n):
            is_post = visit >= end or (post < last and at[post] <= visit_at[visit])
            spoke[event + 1] = spoke[event] + is_post
            post += is_post
            visit += not is_post
        for first in range(n - k[row] + 1):
            n_posts = spoke[first + k[row]] - spoke[first]
            counts[0, row] += 2 * n_posts > k[row]
            counts[1, row] += 2 * n_posts < k[row]
            counts[2, row] += n_posts > 0
            counts[3, row] += 1
