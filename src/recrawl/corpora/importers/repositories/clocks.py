"""Times that somebody's clock got wrong."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from recrawl.corpora.sources.moments import FIRST_AT, LAST_AT


def in_step(at: Sequence[int]) -> tuple[list[int], int]:
    """Times that never go back, and how many of them had to be moved for that.

    As few as can be: those outside the longest run that is in order, and those that are none: 0, which stands
    for a commit without one, or after 2100. They are set to the last time in order before them (or the first
    one at all), so that one clock in 2038 does not move all that follows.

    >>> in_step([10, 99, 20, 30, 25, 40]), in_step([0, 5, 10**15])
    (([10, 10, 20, 20, 25, 40], 2), ([5, 5, 5], 2))
    """
    ends: list[int] = []  # the smallest last time of a run of each length, and whose it is
    owners: list[int] = []
    before = [-1] * len(at)
    for i, value in enumerate(at):
        if not FIRST_AT < value < LAST_AT:
            continue
        place = bisect_right(ends, value)
        before[i] = owners[place - 1] if place else -1
        ends[place : place + 1] = [value]
        owners[place : place + 1] = [i]
    kept = [False] * len(at)
    i = owners[-1] if owners else -1
    while i >= 0:
        kept[i] = True
        i = before[i]
    last = next((value for value, good in zip(at, kept, strict=True) if good), 0)
    mended = []
    for value, good in zip(at, kept, strict=True):
        last = value if good else last
        mended.append(last)
    return mended, len(at) - sum(kept)
