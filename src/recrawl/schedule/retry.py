"""When to try again after a visit that told nothing."""

from __future__ import annotations

from zlib import crc32

FIRST_S = 900.0
LONGEST_S = 86_400.0
FIRST_HOST_S = 60.0


def retry_gap_s(n_failures: int, max_gap_s: float) -> float:
    """A quarter of an hour after the first failure in a row, doubling up to a day.

    The failure says nothing about the resource, so its forecast stays as it was; and the server, which
    may be in trouble, is asked less and less.
    """
    doubled = FIRST_S * 2.0 ** min(max(n_failures, 1) - 1, 20)
    return min(doubled, LONGEST_S, max_gap_s)


def host_gap_s(n_failures: int, host: str) -> float:
    """How long a host in trouble is left alone: a minute after the first time in a row, doubling up to a day.

    Up to a quarter more by the host's name: hosts that fall together, behind one network or one machine,
    are not all tried again together.
    """
    doubled = FIRST_HOST_S * 2.0 ** min(max(n_failures, 1) - 1, 20)
    spread = 1.0 + 0.25 * crc32(host.encode()) / 2**32
    return min(doubled * spread, LONGEST_S)
