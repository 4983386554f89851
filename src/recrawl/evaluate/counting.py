"""The loops that walk events and visits together, resource by resource. What they count is in `measures`."""

from __future__ import annotations

from math import ceil, log

import numpy as np

from recrawl.compiled import compiled
from recrawl.model import Floats, Ints
from recrawl.model.columns import Bits
from recrawl.simulate.walk import first_after

# A delay falls into one of these bins, each 1 % wider than the one before: the middle of a bin is within half
# a percent of everything in it. What is below a millisecond is none.
LEAST_DELAY_S = 1e-3
RATIO = 1.01
N_DELAYS = 3_300  # up to five thousand years
_PER_LOG = 1 / log(RATIO)

VISITS, CHANGES, OBSERVED, NOVEL, NOVEL_OBSERVED, REACHED = range(6)
FRESH, FRESH_BY_CONTENT, AGE, HARMONIC, BEHIND, DELAY = range(6)
N_COUNTS = N_TIMES = 6
_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # multiplying by it spreads digests that differ in few bits


@compiled
def _name(
    digests: Bits, low: int, high: int, first: int, table: Ints, owner: Ints, row: int, name: Ints
) -> None:
    """A name for each content: where it came first; -1 for the first version's. 0 is like no other."""
    shift = 64
    size = 1
    while size < 2 * (high - low + 1):
        size *= 2
        shift -= 1
    for k in range(low - 1, high):
        digest = first if k < low else digests[k]
        if digest == 0:
            if k >= low:
                name[k] = k
            continue
        slot = np.int64((digest * _SPREAD) >> np.uint64(shift))
        found = k if k >= low else -1
        while owner[slot] == row:
            other = table[slot]
            if (first if other < 0 else digests[other]) == digest:
                found = other
                break
            slot = (slot + 1) & (size - 1)
        if owner[slot] != row:
            owner[slot] = row
            table[slot] = found
        if k >= low:
            name[k] = found


@compiled
def count(
    event_bounds: Ints,
    event_at: Floats,
    digests: Bits,
    first_digests: Bits,
    visit_bounds: Ints,
    visit_at: Floats,
    weights: Floats,
    start_at: float,
    end_at: float,
    held: bool,
    counts: Ints,
    times: Floats,
    delays: Floats,
) -> None:
    """Fill `counts` and `times`, a row per resource, and add to `delays`: a histogram, and a weighted one."""
    most = 1
    for i in range(len(weights)):
        most = max(most, event_bounds[i + 1] - event_bounds[i])
    size = 1
    while size < 2 * (most + 1):
        size *= 2
    table = np.empty(size, np.int64)
    owner = np.full(size, -1, np.int64)
    name = np.empty(len(event_at), np.int64)
    captured = np.zeros(len(event_at), np.uint8)
    for i in range(len(weights)):
        low = event_bounds[i]
        first = first_after(event_at, low, event_bounds[i + 1], start_at)  # the first change in the window
        stop = first_after(event_at, first, event_bounds[i + 1], end_at)
        _name(digests, low, stop, first_digests[i], table, owner, i, name)
        k = first  # the next change to come
        seen = first  # changes before this one are in the copy
        have = held
        live = name[first - 1] if first > low else -1
        copy = live
        t = start_at
        fresh = content = age = harmonic = behind = delay = h = 0.0
        n_visits = n_observed = n_novel = n_novel_observed = n_reached = 0
        j = visit_bounds[i]
        until = visit_bounds[i + 1]
        while j < until and visit_at[j] < start_at:
            j += 1
        while True:
            visiting = j < until and visit_at[j] <= end_at
            moment = visit_at[j] if visiting else end_at
            while k < stop and event_at[k] <= moment:
                span = event_at[k] - t
                if have and live == copy:
                    content += span
                if k == seen:
                    if have:
                        fresh += span
                else:
                    harmonic += h * span
                    behind += (k - seen) * span
                h += 1.0 / (k - seen + 1)
                live = name[k]
                n_novel += live == k
                t = event_at[k]
                k += 1
            span = moment - t
            if have and live == copy:
                content += span
            if k == seen:
                if have:
                    fresh += span
            else:
                harmonic += h * span
                behind += (k - seen) * span
                age += 0.5 * (moment - event_at[seen]) ** 2
            t = moment
            if not visiting:
                break
            n_visits += 1
            if k > seen:
                n_observed += have
                if live >= first and not captured[live]:
                    captured[live] = 1
                    n_novel_observed += have
                for q in range(seen, k):
                    late = moment - event_at[q]
                    delay += late
                    b = 0
                    if late >= LEAST_DELAY_S:
                        b = min(N_DELAYS - 1, 1 + int(log(late / LEAST_DELAY_S) * _PER_LOG))
                    delays[0, b] += 1.0
                    delays[1, b] += weights[i]
                n_reached += k - seen
                seen = k
                h = 0.0
            have = True
            copy = live
            j += 1
        counts[i, VISITS] = n_visits
        counts[i, CHANGES] = stop - first
        counts[i, OBSERVED] = n_observed
        counts[i, NOVEL] = n_novel
        counts[i, NOVEL_OBSERVED] = n_novel_observed
        counts[i, REACHED] = n_reached
        times[i, FRESH] = fresh
        times[i, FRESH_BY_CONTENT] = content
        times[i, AGE] = age
        times[i, HARMONIC] = harmonic
        times[i, BEHIND] = behind
        times[i, DELAY] = delay


@compiled
def slices(
    event_bounds: Ints,
    event_at: Floats,
    visit_bounds: Ints,
    visit_at: Floats,
    start_at: float,
    end_at: float,
    held: bool,
    out: Floats,
) -> None:
    """Add up visits, changes, observed changes and fresh seconds in equal slices of the window."""
    n = out.shape[1]
    width = (end_at - start_at) / n
    for i in range(len(event_bounds) - 1):
        k = first_after(event_at, event_bounds[i], event_bounds[i + 1], start_at)
        stop = first_after(event_at, k, event_bounds[i + 1], end_at)
        for q in range(k, stop):
            out[1, max(0, min(n - 1, ceil((event_at[q] - start_at) / width) - 1))] += 1
        since = start_at  # of the copy
        have = held
        j = visit_bounds[i]
        until = visit_bounds[i + 1]
        while j < until and visit_at[j] < start_at:
            j += 1
        while True:
            visiting = j < until and visit_at[j] <= end_at
            moment = visit_at[j] if visiting else end_at
            if have:
                stale_at = min(moment, event_at[k]) if k < stop else moment
                b = min(n - 1, int((since - start_at) / width))
                while since < stale_at:
                    edge = stale_at if b == n - 1 else min(stale_at, start_at + (b + 1) * width)
                    out[3, b] += max(0.0, edge - since)
                    since = edge
                    b += 1
            if not visiting:
                break
            b = max(0, min(n - 1, ceil((moment - start_at) / width) - 1))
            out[0, b] += 1
            after = first_after(event_at, k, stop, moment)
            out[2, b] += have and after > k
            k = after
            since = moment
            have = True
            j += 1
