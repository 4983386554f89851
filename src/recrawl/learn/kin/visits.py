"""Kin by visits alone: who was mostly found changed after another of its group had been.

A visit is told of by another resource that was last seen to change within its gap; it counts as far as that
change may have lain in the gap. Told visits that find a change more often than the resource's own rate has it
make the other one kin. The rate is that of all its changes, those told of too: so the excess is rather too
small than too large. Of many pairs some go together by chance, so the bar is the higher the more there are.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from recrawl.model import DAY_S, Bools, Floats, Ints, KinTable, Seen

LEAST = 3  # changes seen of each: with fewer nothing can be told from chance
MOST = 256  # resources of a group that are compared, those with the most changes
SURE = 0.3  # standard deviations over the highest of so many by chance: one in twenty has kin by it
DRAWN = 2.0  # told visits without a change that nobody saw: what the weight is drawn towards 0 by
LOWEST = 0.05  # a weight below is not worth its place
HIGHEST = 0.95
_N_ROUNDS = 20


def kin_of_visits(seen: Seen, k: int) -> KinTable:
    """At most `k` of each, the nearest first; groups are compared one by one."""
    found = [_within(seen.pick(rows), k) for rows in _groups(seen)]
    return KinTable(
        id=np.concatenate([one.id for one in found] or [np.empty(0, dtype=np.int64)]),
        of=np.concatenate([one.of for one in found] or [np.empty(0, dtype=np.int64)]),
        weight=np.concatenate([one.weight for one in found] or [np.empty(0)]),
    )


def _groups(seen: Seen) -> Iterator[Ints]:
    """Of each group the visits of those that changed often enough, in the order of their times."""
    ids, of = np.unique(seen.id, return_inverse=True)
    n_changes = np.bincount(of, weights=seen.changed == 1, minlength=len(ids))[of]
    order = np.lexsort((seen.at, seen.group))
    order = order[(n_changes[order] >= LEAST) & (seen.group[order] > 0)]
    for rows in np.split(order, np.flatnonzero(np.diff(seen.group[order])) + 1):
        members, first = np.unique(seen.id[rows], return_index=True)
        if len(members) > MOST:
            most = members[np.argsort(-n_changes[rows[first]], kind="stable")[:MOST]]
            rows = rows[np.isin(seen.id[rows], most)]
        if len(members) > 1:
            yield rows


def _within(seen: Seen, k: int) -> KinTable:
    ids, of = np.unique(seen.id, return_inverse=True)
    m, changed = len(ids), seen.changed == 1
    gap_days = np.maximum(seen.at - seen.since_at, 1.0) / DAY_S
    p = np.clip(-np.expm1(-_per_day(of, gap_days, changed, m)[of] * gap_days), 1e-6, 1.0 - 1e-6)
    right, excess, spread, room = (np.zeros((m, m)) for _ in range(4))
    for other in range(m):
        share = _told(seen, changed & (of == other))
        right[:, other] = np.bincount(of, share * changed, m)
        excess[:, other] = np.bincount(of, share * (changed - p), m)
        spread[:, other] = np.bincount(of, share * share * p * (1.0 - p), m)
        room[:, other] = np.bincount(of, share * share * (1.0 - p), m)
    score = excess / np.sqrt(spread + 0.25)
    score = np.maximum(score, (score + score.T) / np.sqrt(2.0))  # what goes together mostly does both ways
    sure = score > SURE + np.sqrt(2.0 * np.log(m))
    weight = np.where(sure & (right >= 2.0), excess / (room + DRAWN), 0.0)
    np.fill_diagonal(weight, 0.0)
    best = np.argsort(-weight, axis=1, kind="stable")[:, :k]
    found = np.take_along_axis(weight, best, axis=1)
    whose, place = np.nonzero(found > LOWEST)
    return KinTable(
        id=ids[whose], of=ids[best[whose, place]], weight=np.minimum(found[whose, place], HIGHEST)
    )


def _told(seen: Seen, changes: Bools) -> Floats:
    """How far each visit was told of by these changes of one resource: the last before it counts, as far as
    it may have lain in the visit's gap."""
    seen_at, from_at = seen.at[changes], seen.since_at[changes]
    last = np.maximum(np.searchsorted(seen_at, seen.at) - 1, 0)
    told = (seen_at[last] < seen.at) & (seen_at[last] > seen.since_at)
    inside_s = seen_at[last] - np.maximum(seen.since_at, from_at[last])
    return np.where(told, inside_s / np.maximum(seen_at[last] - from_at[last], 1e-3), 0.0)


def _per_day(of: Ints, gap_days: Floats, changed: Bools, n: int) -> Floats:
    """The rate of each that makes what was seen likeliest, by expectation-maximisation."""
    watched, of, gap_days = np.bincount(of, gap_days, n), of[changed], gap_days[changed]
    per_day: Floats = np.bincount(of, minlength=n) / watched
    for _ in range(_N_ROUNDS):
        x = per_day[of] * gap_days
        per_day = np.bincount(of, x / -np.expm1(-x), n) / watched
    return per_day
