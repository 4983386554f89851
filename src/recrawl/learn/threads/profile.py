"""The hours and days at which people speak on a board.

A profile has a number for each hour of the week (UTC, the first hour being that of 1970 began with), 1 on the
average: how many times the mean rate there is in it. It is made of an hour of the day times a day of the
week, so that a few hundred posts are enough for one. A thread's own time runs by it: fast in busy hours.
"""

from __future__ import annotations

import numpy as np

from recrawl.compiled import quick
from recrawl.model import DAY_S, Floats

HOUR_S = 3_600.0
N_HOURS = 168
WEEK_S = N_HOURS * HOUR_S
EVEN = np.ones(N_HOURS)
_WEIGHT = 100.0  # posts that the prior counts for
_LEAST = 0.05  # times the mean rate: time never stands still


def profile(at: Floats, prior: Floats = EVEN) -> Floats:
    """Of posts made at these moments, leaning on the prior where there are few."""
    days = prior.reshape(7, 24)
    hour = np.bincount((at // HOUR_S).astype(np.int64) % 24, minlength=24).astype(np.float64)
    day = np.bincount((at // DAY_S).astype(np.int64) % 7, minlength=7).astype(np.float64)
    return paced(leaning(hour, days.mean(axis=0)), leaning(day, days.mean(axis=1)))


@quick
def leaning(n: Floats, prior: Floats) -> Floats:
    """Times the mean, by how many posts came in each hour or on each day."""
    return np.asarray((n * (len(n) / _WEIGHT) + prior) * (_WEIGHT / (n.sum() + _WEIGHT)))


@quick
def paced(hourly: Floats, daily: Floats) -> Floats:
    """A profile, of an hour of the day times a day of the week."""
    found = np.maximum(np.outer(daily, hourly).ravel(), _LEAST)
    return np.asarray(found / found.mean())


def passed(profile: Floats) -> Floats:
    """The own time that has passed when each hour of the week begins, and when it is over."""
    return np.concatenate([[0.0], np.cumsum(profile)]) * HOUR_S


def own_at(at: Floats, profile: Floats) -> Floats:
    """What a clock shows that runs by the profile; after a whole week it is right again."""
    week = np.floor(at / WEEK_S)
    return np.asarray(
        week * WEEK_S + np.interp(at - week * WEEK_S, np.arange(N_HOURS + 1) * HOUR_S, passed(profile))
    )


def real_at(own: Floats, profile: Floats) -> Floats:
    """When the clock shows this."""
    week = np.floor(own / WEEK_S)
    return np.asarray(
        week * WEEK_S + np.interp(own - week * WEEK_S, passed(profile), np.arange(N_HOURS + 1) * HOUR_S)
    )
