"""The politeness queue, as it runs live: so many fetches in the air at once, at most one a host.

A host whose rest is over stands in line by the due time of its next visit; whoever is first in line takes off
as soon as there is room. Without a limit nobody waits for another host, and a sum is enough.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush

import numpy as np

from recrawl.compiled import hurried, plain
from recrawl.model import Floats, Ints

FEW = 20_000  # visits, below which compiling takes longer than it saves


def ends(first: Ints, key: Floats, took_s: Floats, rest_s: Floats, ready_s: Floats, n_workers: int) -> Floats:
    """When each visit ends. Those of host `h` are `first[h]` to `first[h + 1]`, in their turn; it is ready at
    `ready_s[h]`, and is left alone for `rest_s` after each. `key` is the order in line."""
    if not len(took_s):
        return np.empty(0)
    if n_workers >= len(first) - 1:
        return _without_limit(first, took_s, rest_s, ready_s)
    queued = _queued if len(took_s) > FEW else plain(_queued)
    end_s: Floats = queued(first, key, took_s, rest_s, ready_s, n_workers)
    return end_s


def _without_limit(first: Ints, took_s: Floats, rest_s: Floats, ready_s: Floats) -> Floats:
    spent_s = np.cumsum(took_s + rest_s)
    before_s = np.concatenate([[0.0], spent_s])[first[:-1]]
    return np.asarray(spent_s - rest_s - np.repeat(before_s - ready_s, np.diff(first)))


@hurried
def _queued(
    first: Ints, key: Floats, took_s: Floats, rest_s: Floats, ready_s: Floats, n_workers: int
) -> Floats:
    end_s = np.zeros(len(took_s))
    following = first[:-1].copy()
    waiting = [(ready_s[h], h) for h in range(len(first) - 1) if first[h] < first[h + 1]]
    heapify(waiting)
    line = [(0.0, 0)]
    line.pop()  # empty, and a compiler knows of what
    flying = [(0.0, 0)]
    flying.pop()
    now_s = 0.0
    while waiting or line or flying:
        while flying and flying[0][0] <= now_s:
            ended_s, host = heappop(flying)
            visit = following[host]
            following[host] = visit + 1
            if visit + 1 < first[host + 1]:
                heappush(waiting, (ended_s + rest_s[visit], host))
        while waiting and waiting[0][0] <= now_s:
            _, host = heappop(waiting)
            heappush(line, (key[following[host]], host))
        while line and len(flying) < n_workers:
            _, host = heappop(line)
            end_s[following[host]] = now_s + took_s[following[host]]
            heappush(flying, (end_s[following[host]], host))
        next_s = np.inf
        if flying:
            next_s = flying[0][0]
        if waiting and len(flying) < n_workers:
            next_s = min(next_s, waiting[0][0])
        if next_s < np.inf:
            now_s = max(now_s, next_s)
    return end_s
