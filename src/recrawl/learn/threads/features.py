"""What is known of a thread just after each of its posts, as columns over posts. Nothing that came later
counts."""

from __future__ import annotations

import numpy as np

from recrawl.learn.threads.board import Threads
from recrawl.model import DAY_S, HOUR_S, Floats

N_TIMES = 7 + 24
_FIRST_DAY = 3  # 1 January 1970 was a Thursday; Monday is 0


def last_gaps(threads: Threads, w: int) -> Floats:
    """The w gaps before each post in seconds, the newest first; NaN where the thread has not had as many."""
    gaps = np.full((len(threads.at), w), np.nan)
    place = threads.place
    step_s = np.diff(threads.at, prepend=np.nan)
    for j in range(w):
        old = np.flatnonzero(place > j)
        gaps[old, j] = step_s[old - j]
    return gaps


def running_mean(threads: Threads) -> Floats:
    """The mean of all gaps before each post; NaN at the first."""
    age_s = threads.at - threads.at[threads.bounds[:-1]][threads.row]
    place = threads.place
    return np.where(place > 0, age_s / np.maximum(place, 1), np.nan)


def times(at: Floats) -> Floats:
    """Day of the week (UTC, Monday first) and hour of the day: 7 and 24 columns, of each one is 1."""
    day = (np.floor_divide(at, DAY_S).astype(np.int64) + _FIRST_DAY) % 7
    hour = np.floor_divide(at % DAY_S, HOUR_S).astype(np.int64)
    bits = np.zeros((len(at), N_TIMES))
    rows = np.arange(len(at))
    bits[rows, day] = 1.0
    bits[rows, 7 + hour] = 1.0
    return bits


def discounted(threads: Threads, values: Floats, alpha: float) -> Floats:
    """X'_t = X_t + alpha X'_(t-1), over all posts of the thread up to each."""
    sums = values.astype(np.float64)
    start, n_posts = threads.bounds[:-1], threads.n_posts
    for place in range(1, int(n_posts.max(initial=0))):
        post = start[n_posts > place] + place
        sums[post] += alpha * sums[post - 1]
    return sums


def stage(threads: Threads, w: int) -> Floats:
    """Five columns: the thread's age (ln of 1 + hours), its length (ln of posts), how many have spoken in it
    (ln; those who are not known count as one), how many in the last w posts, and whether the last two posts
    are by the same one."""
    row, place = threads.row, threads.place
    age_s = threads.at - threads.at[threads.bounds[:-1]][row]
    order = np.lexsort((place, threads.author, row))
    again = np.zeros(len(row), dtype=np.bool_)  # said something before
    same = (row[order][1:] == row[order][:-1]) & (threads.author[order][1:] == threads.author[order][:-1])
    again[order[1:]] = same
    before = np.full(len(row), -1)  # the place of the author's last post before
    before[order[1:]] = np.where(same, place[order[:-1]], -1)
    voices = np.cumsum(~again, dtype=np.int64)
    first = threads.bounds[:-1][row]
    voices = voices - voices[first] + 1
    near = np.zeros(len(row))
    for j in range(w):
        there = np.flatnonzero(place >= j)
        # whoever spoke earlier within the window counts there
        near[there] += before[there - j] < np.maximum(place[there] - w + 1, 0)
    alone = (place > 0) & (before == place - 1)
    return np.column_stack(
        [np.log1p(age_s / HOUR_S), np.log(place + 1.0), np.log(voices), near, alone.astype(np.float64)]
    )
