"""What threads have in common: those of each board, and all together. Counts, so that workers can add theirs.

A row has, of each memory of posts and of the beginning, how many posts it brought and how many a unit of it
would have; how many posts came at each hour of the day and on each day of the week; and how far those hours
and days have foretold posts. Row 0 is of all, and for whoever has no group. Every board counts for itself and
leans on all with the weight of some hundred posts.

There are so many rows and no more, whatever number of hosts is watched. A board is its group's number: in a
home of a few dozen hosts each has a row of its own; of more, those whose numbers are alike in their last six
bits share one, and are taken for one board.
"""

from __future__ import annotations

from math import exp, floor, log, log1p

import numpy as np

from recrawl.compiled import quick
from recrawl.learn.rhythms.calendars import Rows, pace_at, shown_at
from recrawl.learn.threads.hawkes import DECAY, N_MEMORIES
from recrawl.learn.threads.profile import EVEN, HOUR_S, N_HOURS, leaning, paced
from recrawl.model import DAY_S, Floats, Ints

N_BOARDS = 64
N_WEIGHTS = 2 * N_MEMORIES
BROUGHT, COULD = 0, N_WEIGHTS  # where the counts of weights begin
HOUR, DAY = 2 * N_WEIGHTS, 2 * N_WEIGHTS + 24
GAINED, LOST = DAY + 7, DAY + 8  # log likelihood, by the profile beside an even week
N_COUNTS = LOST + 1

# Before anything was seen a post brings on another one or two within years, evenly over all lifetimes, and
# so does a beginning; that counts for so many posts of each.
_BEFORE = 5.0
_EACH = 0.2
_WEIGHT = 200.0  # posts that all boards count for in the figures of one
_CAUTION = -2.0  # log odds of a profile before it has foretold anything
_MOST = 3.0  # log likelihood that one post can say for a profile, or against it
_EVEN_CLOCK = np.arange(N_HOURS + 1) * HOUR_S


def nothing_in_common() -> Floats:
    return np.zeros((1 + N_BOARDS, N_COUNTS))


def boards_of(group: Ints) -> Ints:
    """The row of each group's board."""
    return np.where(group > 0, 1 + group % N_BOARDS, 0)


@quick
def weights(counts: Floats, board: int) -> Floats:
    """Of the memories of posts, and of those of the beginning."""
    n = counts[0, BROUGHT:COULD] + _BEFORE
    usual = n / (counts[0, COULD:HOUR] + _BEFORE / _EACH)
    if board == 0:
        return np.asarray(usual)
    lean = _WEIGHT / n.sum() * n
    return np.asarray((counts[board, BROUGHT:COULD] + lean) / (counts[board, COULD:HOUR] + lean / usual))


@quick
def profile_of(counts: Floats, board: int) -> Floats:
    """As the hours and days of its posts have it, whether that foretells anything or not."""
    hourly, daily = leaning(counts[0, HOUR:DAY], EVEN[:24]), leaning(counts[0, DAY:GAINED], EVEN[:7])
    if board > 0:
        hourly, daily = leaning(counts[board, HOUR:DAY], hourly), leaning(counts[board, DAY:GAINED], daily)
    return paced(hourly, daily)


@quick
def belief_in(counts: Floats, board: int) -> float:
    """How far time goes by the profile: as far as that foretold posts better than an even week does."""
    odds = _CAUTION + counts[board, GAINED] - counts[board, LOST]
    return 1.0 / (1.0 + exp(-min(max(odds, -50.0), 50.0)))


@quick
def clock_of(profile: Floats, belief: float) -> Rows:
    """What a clock shows as each hour of the week begins, that goes by the profile so far."""
    shown = np.zeros(N_HOURS + 1)
    shown[1:] = np.cumsum(1.0 - belief + belief * profile) * HOUR_S
    shown[N_HOURS] = _EVEN_CLOCK[N_HOURS]  # to the last digit
    return shown.astype(np.float32)


@quick
def count_hour(counts: Floats, board: int, at: float) -> None:
    """Somebody spoke at this moment."""
    hour, day = floor(at / HOUR_S) % 24, floor(at / DAY_S) % 7
    counts[0, HOUR + hour] += 1.0
    counts[0, DAY + day] += 1.0
    if board > 0:
        counts[board, HOUR + hour] += 1.0
        counts[board, DAY + day] += 1.0


@quick
def judge(
    counts: Floats,
    board: int,
    profile: Floats,
    weight: Floats,
    memory: Floats,
    lively: tuple[float, float],
    moments: tuple[float, float, float, float],
) -> None:
    """Somebody spoke after an hour or more in which nobody did: was that likelier by the profile than in an
    even week? What is said within the hour is in the middle of an exchange, and tells of no hour. `moments`
    are when the thread began, when somebody last spoke in it, until when nobody did, and now."""
    a, b = lively
    wholly, even = clock_of(profile, 1.0), clock_of(profile, 0.0)
    likely = np.zeros(2)
    for k in range(2):
        shown = wholly if k == 0 else even
        born, said, known, now = (
            shown_at(shown, moments[0]),
            shown_at(shown, moments[1]),
            shown_at(shown, moments[2]),
            shown_at(shown, moments[3]),
        )
        rate = due = 0.0
        for j in range(N_MEMORIES):
            fresh = weight[j] * memory[j]
            left, old = exp(-DECAY[j] * (now - said)), exp(-DECAY[j] * (now - born))
            rate += DECAY[j] * (fresh * left + weight[N_MEMORIES + j] * old)
            due += fresh * (exp(-DECAY[j] * (known - said)) - left)
            due += weight[N_MEMORIES + j] * (exp(-DECAY[j] * (known - born)) - old)
        pace = pace_at(shown, now)[0]
        likely[k] = log(max(rate * pace, 1e-300)) - (a + 1.0) * log1p(max(due, 0.0) / b)
    told = min(max(likely[0] - likely[1], -_MOST), _MOST)
    which = GAINED if told > 0.0 else LOST
    counts[0, which] += abs(told)
    if board > 0:
        counts[board, which] += abs(told)
