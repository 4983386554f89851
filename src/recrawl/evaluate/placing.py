"""The loops that place an omniscient scheduler's visits, one resource after the other.

Each visit has a price. The least that cost and prices come to, less the price of all visits allowed, is a
bound on the cost of every schedule with so many visits, whatever the price (weak duality); the best price
gives the tightest. `limits` finds it.
"""

from __future__ import annotations

import numpy as np

from recrawl.compiled import compiled
from recrawl.model import Floats, Ints
from recrawl.simulate.walk import first_after

WAIT, AGE, STALE, UNSEEN = range(4)


@compiled
def free(
    bounds: Ints, at: Floats, weights: Floats, start_at: float, end_at: float, price: float, what: int
) -> tuple[float, int]:
    """The least cost with the price of the visits, and their number, where visits may come at any time.

    The best times are changes. A run of changes i..j that a visit at j finds costs, as WAIT, the sum of
    t_j - t_m over the run, and as AGE (t_j - t_i)^2 / 2. Both are lines in t_j, one for each beginning i, and
    each steeper than the one before; t_j only grows, so the lowest line is found by going forward alone.
    """
    most = 0
    for i in range(len(weights)):
        most = max(most, bounds[i + 1] - bounds[i])
    slope, height = np.empty(most + 1), np.empty(most + 1)
    n_before = np.empty(most + 1, np.int64)
    total = 0.0
    n_total = 0
    for i in range(len(weights)):
        first = first_after(at, bounds[i], bounds[i + 1], start_at)
        stop = first_after(at, first, bounds[i + 1], end_at)
        if stop == first or weights[i] <= 0.0:
            continue
        own = price / weights[i]
        zero = at[first]  # times are counted from here, so that their squares keep their digits
        head = tail = 0  # of the lines that may still be the lowest
        best = summed = 0.0
        n_best = 0
        for j in range(first, stop + 1):
            t = (at[j] if j < stop else end_at) - zero
            n = float(j - first)
            if j < stop:
                a, b = -n, best + summed
                if what == AGE:
                    a, b = -t, best + 0.5 * t * t
                tail = _add(slope, height, head, tail, a, b)
                n_before[tail - 1] = n_best
                summed += t
                n += 1.0
            head = _lowest(slope, height, head, tail, t)
            cost = slope[head] * t + height[head] + (0.5 * t * t if what == AGE else n * t - summed)
            if j < stop:
                best, n_best = cost + own, n_before[head] + 1
            elif cost < best:  # the window's end finds the last run, and is no visit
                best, n_best = cost, n_before[head]
        total += weights[i] * best
        n_total += n_best
    return total, n_total


@compiled
def _add(slope: Floats, height: Floats, head: int, tail: int, a: float, b: float) -> int:
    """Add a line that is steeper than all before, and drop those that it makes needless."""
    while tail - head >= 2 and (height[tail - 1] - height[tail - 2]) * (slope[tail - 1] - a) >= (
        b - height[tail - 1]
    ) * (slope[tail - 2] - slope[tail - 1]):
        tail -= 1
    slope[tail], height[tail] = a, b
    return tail + 1


@compiled
def _lowest(slope: Floats, height: Floats, head: int, tail: int, t: float) -> int:
    while tail - head >= 2 and slope[head + 1] * t + height[head + 1] <= slope[head] * t + height[head]:
        head += 1
    return head


@compiled
def _lay(
    at: Floats,
    first: int,
    stop: int,
    zero_at: float,
    length_s: float,
    step_s: float,
    pos: Floats,
    cell: Ints,
    ev: Ints,
) -> int:
    """Places for visits, in seconds after the first: a grid, and every change. How many there are."""
    n = 0
    c = 0
    k = first
    while True:
        grid = c * step_s
        change = at[k] - zero_at if k < stop else np.inf
        if grid > length_s and change == np.inf:
            return n
        if change <= grid:
            while k < stop and at[k] - zero_at == change:
                k += 1
            pos[n], cell[n], ev[n] = change, c if change == grid else c - 1, k - first
            c += change == grid
        else:
            pos[n], cell[n], ev[n] = grid, c, k - first
            c += 1
        n += 1


@compiled
def bounded(
    bounds: Ints,
    at: Floats,
    weights: Floats,
    first_at: Floats,
    start_at: float,
    end_at: float,
    step_s: float,
    low: int,
    high: int,
    price: float,
    what: int,
) -> tuple[float, int]:
    """As `free`, with the first visit at `first_at` and from `low` to `high` steps between visits.

    A visit is moved back to the last place at or before it: it still finds the same and costs no more, and as
    whole steps the gaps keep their bounds. So the least cost over places bounds that over all times.
    STALE costs the seconds from the first change after a visit to the next one; UNSEEN -1 for each visit that
    finds a change. WAIT is as above, and knows no largest gap.
    """
    most = 0
    for i in range(len(weights)):
        most = max(most, bounds[i + 1] - bounds[i])
    most += int((end_at - start_at) / step_s) + 3
    pos, best, height, slope = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    cell, ev, n_best = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    stale_line, fresh_line = np.empty(most, np.int64), np.empty(most, np.int64)  # places, the best first
    summed = np.empty(most)
    total = 0.0
    n_total = 0
    for i in range(len(weights)):
        begin = first_after(at, bounds[i], bounds[i + 1], start_at)
        stop = first_after(at, begin, bounds[i + 1], end_at)
        if weights[i] <= 0.0:
            continue
        zero_at = min(first_at[i], end_at)
        first = first_after(at, begin, stop, zero_at)
        cost = 0.0  # up to the first visit
        if what == WAIT:
            for k in range(begin, first):
                cost += zero_at - at[k]
        elif first > begin and what == STALE:
            cost = zero_at - at[begin]
        elif first > begin and first_at[i] <= end_at:
            cost = -1.0
        if first_at[i] > end_at:
            total += weights[i] * cost
            continue
        own = price / weights[i]
        length_s = end_at - zero_at
        n_cells = int(np.floor(length_s / step_s))
        if first == stop:  # nothing more to find: as few visits as the largest gap allows
            n = 1 if what == WAIT else 1 + max(0, (n_cells - 1) // high)
            total += weights[i] * (cost + own * n)
            n_total += n
            continue
        m = _lay(at, first, stop, zero_at, length_s, step_s, pos, cell, ev)
        best[0], n_best[0], summed[0] = cost + own, 1, 0.0
        stale_head = stale_tail = fresh_head = fresh_tail = 0
        into_stale = into_fresh = left = right = same = 0
        for q in range(1, m):
            t = pos[q]
            if ev[q] != ev[q - 1]:
                same = q  # from here on nothing changed up to q
            summed[q] = summed[q - 1] + (ev[q] - ev[q - 1]) * t
            while cell[q] - cell[left] > high:
                left += 1
            while right < q and cell[q] - cell[right] >= low:
                right += 1  # visits before `right` are early enough
            lowest = np.inf
            n_lowest = 0
            if what == WAIT:
                while into_stale < right:
                    s = into_stale
                    into_stale += 1
                    if best[s] < np.inf:  # else no visit can come so soon after the first
                        begun = best[s] + summed[s]
                        stale_tail = _add(slope, height, stale_head, stale_tail, -float(ev[s]), begun)
                        stale_line[stale_tail - 1] = s
                if stale_tail > stale_head:
                    stale_head = _lowest(slope, height, stale_head, stale_tail, t)
                    lowest = slope[stale_head] * t + height[stale_head] + ev[q] * t - summed[q]
                    n_lowest = n_best[stale_line[stale_head]]
            else:
                while into_stale < min(right, same):
                    s = into_stale
                    height[s] = best[s] - (1.0 if what == UNSEEN else at[first + ev[s]] - zero_at)
                    while stale_tail > stale_head and height[stale_line[stale_tail - 1]] >= height[s]:
                        stale_tail -= 1
                    stale_line[stale_tail] = s
                    stale_tail += 1
                    into_stale += 1
                while into_fresh < right:
                    s = into_fresh
                    while fresh_tail > fresh_head and best[fresh_line[fresh_tail - 1]] >= best[s]:
                        fresh_tail -= 1
                    fresh_line[fresh_tail] = s
                    fresh_tail += 1
                    into_fresh += 1
                while stale_tail > stale_head and stale_line[stale_head] < left:
                    stale_head += 1
                while fresh_tail > fresh_head and fresh_line[fresh_head] < max(left, same):
                    fresh_head += 1
                if stale_tail > stale_head:
                    s = stale_line[stale_head]
                    lowest = height[s] + (0.0 if what == UNSEEN else t)
                    n_lowest = n_best[s]
                if fresh_tail > fresh_head and best[fresh_line[fresh_head]] < lowest:
                    s = fresh_line[fresh_head]
                    lowest = best[s]
                    n_lowest = n_best[s]
            best[q], n_best[q] = lowest + own, n_lowest + 1
        cheapest = np.inf
        n_cheapest = 0
        for s in range(m - 1, -1, -1):
            if what != WAIT and n_cells - cell[s] > high:
                break
            tail_cost = best[s]
            if what == WAIT:
                tail_cost += (stop - first - ev[s]) * length_s - (summed[m - 1] - summed[s])
            elif what == STALE and first + ev[s] < stop:
                tail_cost += length_s - (at[first + ev[s]] - zero_at)
            if tail_cost < cheapest:
                cheapest, n_cheapest = tail_cost, n_best[s]
        total += weights[i] * cheapest
        n_total += n_cheapest
    return total, n_total
