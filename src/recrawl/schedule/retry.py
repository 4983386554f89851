"""When to try again after a visit that told nothing."""

from __future__ import annotations

from zlib import crc32

import numpy as np

from recrawl.model import DAY_S, Floats, Ints

FIRST_S = 900.0
LONGEST_S = DAY_S  # a host is left alone, and a resource that is looked at daily or more often
FIRST_HOST_S = 60.0
SOONER = 8.0  # the first wait is this part of the gap: what is seldom looked at need not be tried at once
N_LONGEST = 3.0  # so many of the longest waits, and it has been away for four times as long
SLOWER = 1.25  # from one wait to the next then, which makes each a quarter of the time that it was away


def waits_s(n_failures: Ints, gap_s: Floats, max_gap_s: Floats) -> Floats:
    """An eighth of the gap after the first failure in a row, within a quarter of an hour and a day; then
    twice as long each time, up to the gap, or a day; then about a quarter of the time that it has been away.

    The failure says nothing about the resource, so its forecast stays as it was; and the server, which may be
    in trouble, is asked less and less. What is gone for good takes no more of the budget than what is there,
    and almost nothing in the end.
    """
    first_s = np.clip(gap_s / SOONER, FIRST_S, DAY_S)
    longest_s = np.maximum(gap_s, LONGEST_S)
    n = np.minimum(n_failures, 200) - 1.0
    slowly = np.maximum(n - np.log2(longest_s / first_s) - N_LONGEST, 0.0)
    return np.minimum(np.minimum(first_s * 2.0**n, longest_s * SLOWER**slowly), max_gap_s)


def n_retries(n_failures: Ints, gap_s: Floats, max_gap_s: Floats, for_s: float) -> float:
    """How often those that fail are tried again in that time, should they go on failing."""
    failing = n_failures > 0
    n, max_gap_s = n_failures[failing], max_gap_s[failing]
    usual_s = np.nanmedian(gap_s) if np.isfinite(gap_s).any() else DAY_S
    gap_s = np.where(np.isnan(gap_s), usual_s, gap_s)[failing]  # some were never seen
    found, left_s = 0.0, np.full(len(n), for_s)
    while len(n):
        wait_s = waits_s(n, gap_s, max_gap_s)
        settled = wait_s >= max_gap_s  # each is as long as the one before
        found += float(np.where(settled, left_s / wait_s, np.minimum(left_s / wait_s, 1.0)).sum())
        left_s = left_s - wait_s
        here = ~settled & (left_s > 0.0)
        n, gap_s, max_gap_s, left_s = n[here] + 1, gap_s[here], max_gap_s[here], left_s[here]
    return found


def host_gap_s(n_failures: int, host: str) -> float:
    """How long a host in trouble is left alone: a minute after the first time in a row, doubling up to a day.

    Up to a quarter more by the host's name: hosts that fall together, behind one network or one machine,
    are not all tried again together.
    """
    doubled = FIRST_HOST_S * 2.0 ** min(max(n_failures, 1) - 1, 20)
    spread = 1.0 + 0.25 * crc32(host.encode()) / 2**32
    return min(doubled * spread, LONGEST_S)
