"""The crawl-time estimate of Umbrich et al. (2015), section 5: threads by domain, and domains in bins.

A domain whose documents take `t` on average and that asks for a delay of `d` is given t / d threads, one more
request every `d`; its documents then take docs * t / threads + d * (threads - 1). Each bin is a row of
domains, one after the other; its width is the largest number of threads among them. The longest domain is the
bins' length, and the estimate. Where all bins together are wider than the machine, domains may have a thread
less each, and all is packed again.

Where the text leaves it open: threads are whole numbers, at least one; of the bins that a domain fits in it
goes to the one that stays shortest; and where a thread for each domain is still too many, the bins get longer
until the machine is wide enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from recrawl.model import Floats, Ints

USUAL_DELAY_S = 1.0
USUAL_TOOK_S = 2.0
N_STEPS = 40  # of halving, where bins must be longer than the longest domain


@dataclass(frozen=True, slots=True)
class Packed:
    took_s: float  # the bins' length: the estimate
    n_threads: int  # what all bins need together
    most_threads: int  # that a domain may have
    n_bins: int


def threads(took_s: Floats, delay_s: Floats, most: int) -> Ints:
    with np.errstate(divide="ignore", invalid="ignore"):
        wanted = np.floor(took_s / delay_s)
    return np.asarray(np.clip(np.nan_to_num(wanted, nan=1.0, posinf=most), 1, most), dtype=np.int64)


def crawl_s(n_docs: Ints, took_s: Floats, delay_s: Floats, n_threads: Ints) -> Floats:
    return np.asarray(n_docs * took_s / n_threads + delay_s * (n_threads - 1))


def packed(n_docs: Ints, took_s: Floats, delay_s: Floats, n_threads: int) -> Packed:
    """Of domains, a row each; `n_threads` is what the machine has."""
    most = int(threads(took_s, delay_s, n_threads).max(initial=1))
    while True:
        wide = threads(took_s, delay_s, most)
        long_s = crawl_s(n_docs, took_s, delay_s, wide)
        size_s = float(long_s.max(initial=0.0))
        bins = _bins(wide, long_s, size_s)
        if sum(bins) <= n_threads:
            return Packed(size_s, sum(bins), most, len(bins))
        if most == 1:
            return _longer(wide, long_s, size_s, n_threads)
        most -= 1


def _longer(wide: Ints, long_s: Floats, size_s: float, n_threads: int) -> Packed:
    low_s, high_s = size_s, float(long_s.sum())
    for _ in range(N_STEPS):
        middle_s = (low_s + high_s) / 2.0
        fits = len(_bins(wide, long_s, middle_s)) <= n_threads
        low_s, high_s = (low_s, middle_s) if fits else (middle_s, high_s)
    n_bins = len(_bins(wide, long_s, high_s))
    return Packed(high_s, n_bins, 1, n_bins)


def _bins(wide: Ints, long_s: Floats, size_s: float) -> Sequence[int]:
    """How many threads each bin needs."""
    widths: list[int] = []
    shortest: list[tuple[float, int]] = []  # heap: where a domain does not fit here, it fits nowhere
    fits_s = size_s * (1.0 + 1e-12)
    for row in np.argsort(-wide, kind="stable").tolist():
        add_s, n = float(long_s[row]), int(wide[row])
        if shortest and shortest[0][0] + add_s <= fits_s:
            filled_s, which = heappop(shortest)
            widths[which] = max(widths[which], n)
        else:
            filled_s, which = 0.0, len(widths)
            widths.append(n)
        heappush(shortest, (filled_s + add_s, which))
    return widths
