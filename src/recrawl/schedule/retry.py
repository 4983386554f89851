"""When to try again after a visit that told nothing."""

from __future__ import annotations

FIRST_S = 900.0
LONGEST_S = 86_400.0


def retry_gap_s(n_failures: int, max_gap_s: float) -> float:
    """A quarter of an hour after the first failure in a row, doubling up to a day.

    The failure says nothing about the resource, so its forecast stays as it was; and the server, which
    may be in trouble, is asked less and less.
    """
    doubled = FIRST_S * 2.0 ** min(max(n_failures, 1) - 1, 20)
    return min(doubled, LONGEST_S, max_gap_s)
