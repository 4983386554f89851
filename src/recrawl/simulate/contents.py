"""What each change brings: a new content, or one that was there before; and the digests that tell them apart.

A resource's contents are numbered in order of their birth; its first version has content 0.
"""

from __future__ import annotations

import numpy as np

from recrawl.model import Bools, Ints
from recrawl.model.columns import Bits

_SHIFTS = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))  # those of the generator SplitMix64
_STEP = 0x9E3779B97F4A7C15


def contents(bounds: Ints, back: Bools) -> Ints:
    """The content after each event: a new one or, where it goes `back`, the one before the present one.

    A resource's first change has nothing to go back to: it always brings something new.
    """
    n_rows, n_events = len(bounds) - 1, int(bounds[-1])
    row = np.repeat(np.arange(n_rows), np.diff(bounds))
    place = np.arange(n_events) + row + 1  # of each event's version, the rows' first versions among them
    first = bounds[:-1] + np.arange(n_rows)
    returns = np.zeros(n_events + n_rows, dtype=bool)
    returns[place] = back
    returns[place[place - first[row] == 1]] = False
    born = np.cumsum(~returns)
    # A version that goes back is the last but one; so may that be. Every round halves the way that is left.
    source = np.arange(len(returns))
    source[returns] -= 2
    while returns[source].any():
        source = source[source]
    content: Ints = born[source[place]] - born[first[row]]
    return content


def digests(seed: int, resource: Ints, content: Ints) -> Bits:
    """A number for each content: the same for the same content of the same resource, never 0."""
    mixed = _mixed(np.full(len(resource), seed, dtype=np.uint64), resource)
    mixed = _mixed(mixed, content)
    return np.where(mixed == 0, np.uint64(1), mixed)


def _mixed(state: Bits, number: Ints) -> Bits:
    mixed: Bits = state + (number.astype(np.uint64) + np.uint64(1)) * np.uint64(_STEP)
    for shift, factor in _SHIFTS:
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    mixed ^= mixed >> np.uint64(31)
    return mixed
