"""Kin that tell: when one is seen to change, those that mostly go with it are looked at sooner.

A table says who is kin of whom, and how far (`learn.kin.visits` finds it). A resource is told of by those of
its kin that were seen to change since its own last visit: with probability q there was a change of its own
by then, whatever else is known. Where nobody knows whether their change came before that visit or after, it
counts as far as it may have come after.

As with signals, each visit that follows shows whether they were right, beyond what was foretold without them,
the group's stirs included; so kin that add nothing fade. Unlike what a signal tells of, the change counts in
full for the resource's own rate and for its group: kin are seen only when they are visited, and the rate must
do without them.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np

from recrawl.compiled import quick
from recrawl.model import Bools, Floats, Ints, KinTable

K = 5  # kin of each, at the most
DOUBT = 5.0  # tellings: so many must be checked before a pair's own record weighs as much as the table
TRUST, N_TRUST = 0.5, 10.0  # how far tables are believed before anything was checked, and how firmly
MOST = 0.95
FADING = 0.02  # of a pair's record at each telling that is checked: the last fifty count …
FADING_ALL = 0.002  # … and of all pairs together the last five hundred


class Ties(NamedTuple):
    """Who is kin of whom, and what came of it. `row` has a place for each resource; row 0 of the others is
    for those without kin."""

    row: Ints
    of: Ints  # (rows, K): their numbers; 0: none
    weight: Floats  # how far the table believes each
    n: Floats  # tellings that were checked
    right: Floats  # of those, how many were right
    all: Floats  # (2,): of all that were checked, how many should have been right by the table, and were
    seen_at: Floats  # of each resource: when it was last seen to change …
    from_at: Floats  # … and since when that may have been


def no_ties(n: int) -> Ties:
    """Nobody has kin; with room for resources up to this number."""
    none, ids = np.zeros((1, K)), np.zeros(1 + n, dtype=np.int64)
    never = np.full(1 + n, -inf)
    return Ties(
        ids, none.astype(np.int64), none, none.copy(), none.copy(), np.zeros(2), never, np.zeros(1 + n)
    )


def more_ties(ties: Ties, n: int) -> Ties:
    """The same, with room for resources up to this number."""
    grown = no_ties(n)
    for name in ("row", "seen_at", "from_at"):
        getattr(grown, name)[: len(ties.row)] = getattr(ties, name)
    return ties._replace(row=grown.row, seen_at=grown.seen_at, from_at=grown.from_at)


def tied(ties: Ties, table: KinTable) -> Ties:
    """By this table from now on; what was checked of pairs that stay is kept. There is room for all."""
    table = table.pick(np.lexsort((table.of, -table.weight, table.id)))
    whose, begin, n = np.unique(table.id, return_index=True, return_counts=True)
    place = np.arange(len(table)) - np.repeat(begin, n)
    row = np.repeat(np.arange(1, 1 + len(whose)), n)
    table, place, row = table.pick(place < K), place[place < K], row[place < K]
    weight, n_checked, right = (np.zeros((1 + len(whose), K)) for _ in range(3))
    of, rows = np.zeros(weight.shape, dtype=np.int64), np.zeros(len(ties.row), dtype=np.int64)
    of[row, place], weight[row, place] = table.of, table.weight
    rows[whose] = np.arange(1, 1 + len(whose))
    was = ties.row[table.id]
    same = ties.of[was] == table.of[:, None]
    kept = same.any(axis=1)
    of_old = was[kept], np.argmax(same, axis=1)[kept]
    n_checked[row[kept], place[kept]], right[row[kept], place[kept]] = ties.n[of_old], ties.right[of_old]
    return ties._replace(row=rows, of=of, weight=weight, n=n_checked, right=right)


@quick
def believed_kin(ties: Ties, row: int, j: int) -> float:
    """How far this one is believed when it tells of a change: by its record, and by what came of tables."""
    trust = min((N_TRUST * TRUST + ties.all[1]) / (N_TRUST + ties.all[0]), 1.0)
    first = trust * ties.weight[row, j]
    return float(min((DOUBT * first + ties.right[row, j]) / (DOUBT + ties.n[row, j]), MOST))


@quick
def spoke(ties: Ties, of: int, since_at: float, at: float) -> float:
    """How likely it is that its last change, seen before now, came after that moment. What is seen at one
    moment tells nothing of visits at the same: nobody knows their order."""
    seen_at, from_at = ties.seen_at[of], ties.from_at[of]
    if not since_at < seen_at < at:
        return 0.0
    return 1.0 if from_at >= since_at else float((seen_at - since_at) / (seen_at - from_at))


@quick
def told_by_kin(ties: Ties, id_: int, since_at: float, at: float) -> float:
    """How likely a change is by what kin have told since that moment alone."""
    row, left = ties.row[id_], 1.0
    if row > 0:
        for j in range(ties.of.shape[1]):
            share = spoke(ties, ties.of[row, j], since_at, at)
            if share > 0.0:
                left *= 1.0 - share * believed_kin(ties, row, j)
    return 1.0 - left


@quick
def check_kin(ties: Ties, id_: int, since_at: float, at: float, survival: float, changed: bool) -> None:
    """A resource was visited. `survival` is what was foretold without its kin: the probability that nothing
    had changed by then."""
    row = ties.row[id_]
    if row == 0:
        return
    p = max(1.0 - (1.0 - told_by_kin(ties, id_, since_at, at)) * survival, 1e-300)
    for j in range(ties.of.shape[1]):
        share = spoke(ties, ties.of[row, j], since_at, at)
        if share > 0.0:
            right = share * believed_kin(ties, row, j) / p if changed else 0.0
            ties.all[0] = (1.0 - share * FADING_ALL) * ties.all[0] + share * ties.weight[row, j]
            ties.all[1] = (1.0 - share * FADING_ALL) * ties.all[1] + right
            ties.n[row, j] = (1.0 - share * FADING) * ties.n[row, j] + share
            ties.right[row, j] = (1.0 - share * FADING) * ties.right[row, j] + right


@quick
def see_kin(ties: Ties, id_: int, from_at: float, seen_at: float) -> None:
    """It was seen to change."""
    if seen_at > ties.seen_at[id_]:
        ties.seen_at[id_], ties.from_at[id_] = seen_at, from_at


def all_shares(ties: Ties, ids: Ints, since_at: Floats, now: float) -> tuple[Floats, Floats, Ints]:
    """For each of many and each of its kin: how likely that one has told of it, how far it is believed, and
    who it is."""
    row = ties.row[ids]
    of = ties.of[row]
    seen_at, from_at, since = ties.seen_at[of], ties.from_at[of], since_at[:, None]
    told: Bools = (of > 0) & (since < seen_at) & (seen_at < now)
    begin = np.where(told & (from_at < since), since, 0.0)
    whole = np.where(told & (from_at < since), seen_at - from_at, 1.0)
    share = np.where(told, np.where(from_at >= since, 1.0, (seen_at - begin) / whole), 0.0)
    trust = min((N_TRUST * TRUST + ties.all[1]) / (N_TRUST + ties.all[0]), 1.0)
    belief = (DOUBT * (trust * ties.weight[row]) + ties.right[row]) / (DOUBT + ties.n[row])
    return share, np.minimum(belief, MOST), of


def all_told_by_kin(ties: Ties, ids: Ints, since_at: Floats, now: float) -> tuple[Floats, Floats]:
    """`told_by_kin` for many, and when the first of them told; inf: none did."""
    if len(ties.of) == 1 or not len(ids):
        return np.zeros(len(ids)), np.full(len(ids), inf)
    share, belief, of = all_shares(ties, ids, since_at, now)
    left, told_at = np.ones(len(ids)), np.full(len(ids), inf)
    for j in range(of.shape[1]):  # in the order of `told_by_kin`, to the bit
        left = np.where(share[:, j] > 0.0, left * (1.0 - share[:, j] * belief[:, j]), left)
        told_at = np.where(share[:, j] > 0.0, np.minimum(told_at, ties.seen_at[of[:, j]]), told_at)
    return 1.0 - left, told_at


@quick
def first_told_at(ties: Ties, id_: int, since_at: float, at: float) -> float:
    """When the first of its kin told since that moment; inf: none did."""
    row, found = ties.row[id_], inf
    if row > 0:
        for j in range(ties.of.shape[1]):
            if spoke(ties, ties.of[row, j], since_at, at) > 0.0:
                found = min(found, ties.seen_at[ties.of[row, j]])
    return found
