"""Whose turn is next, where resources teach each other: one line of what is due, and what moves in it.

An entry in the line is void where its resource has a later stamp.
"""

from __future__ import annotations

from heapq import heappop, heappush
from math import inf
from typing import NamedTuple

import numpy as np

from recrawl.compiled import quick
from recrawl.learn.rhythms.beats import Common, beat_of
from recrawl.learn.rhythms.lessons import joined
from recrawl.learn.rhythms.steps import take
from recrawl.model import Floats, Ints
from recrawl.simulate.clocked import Terms, asked_s, due_at, gone_s
from recrawl.simulate.groups import Groups
from recrawl.waiting import LATER

# Without `exact`: a group is planned anew when its clock has gone further than was thought by this share of
# its usual gap.
RISEN = 0.05


class Known(NamedTuple):
    """Where each resource stands."""

    rows: Floats  # its memory
    since_at: Floats
    due_at: Floats
    own_s: Floats  # what has to pass until its next visit
    n_told: Ints
    stamp: Ints  # of its latest plan: earlier ones in the line are void
    change: Ints  # the place of its next change


@quick
def replan(
    terms: Terms,
    common: Common,
    groups: Groups,
    known: Known,
    group: int,
    now: float,
    exact: bool,
    line: list[tuple[float, int, int]],
) -> None:
    """Plan a group anew, but for those whose first visit is still to come."""
    groups.risen_s[group] = 0.0
    for k in range(groups.ends[group], groups.ends[group + 1]):
        replan_one(terms, common, groups, known, groups.order[k], now, exact, line)


@quick
def replan_one(
    terms: Terms,
    common: Common,
    groups: Groups,
    known: Known,
    i: int,
    now: float,
    exact: bool,
    line: list[tuple[float, int, int]],
) -> None:
    if known.n_told[i] == 1:
        return
    group, row, since_at = groups.of[i], known.rows[i], known.since_at[i]
    slot = groups.slot[group] if groups.member[group] < 0 else -1
    beat = beat_of(common, row, since_at, slot, terms.scale_s[i] / terms.shape[i])
    if exact:
        known.own_s[i] = asked_s(terms, common, row, beat, i, known.n_told[i])
    at = max(due_at(terms, common, row, beat, since_at, known.own_s[i], i, now), now)
    if at != known.due_at[i]:
        known.due_at[i] = at
        known.stamp[i] += 1
        heappush(line, (at, i, known.stamp[i]))


@quick
def waits(
    terms: Terms,
    common: Common,
    groups: Groups,
    known: Known,
    i: int,
    exact: bool,
    line: list[tuple[float, int, int]],
) -> bool:
    """Whether the first in the line goes back into it, as `recrawl.waiting` has it: its group may have been
    quieter than was thought when it was planned."""
    at, since_at, row = known.due_at[i], known.since_at[i], known.rows[i]
    group = groups.of[i]
    slot = groups.slot[group] if groups.member[group] < 0 else -1
    beat = beat_of(common, row, since_at, slot, terms.scale_s[i] / terms.shape[i])
    if exact:
        known.own_s[i] = asked_s(terms, common, row, beat, i, known.n_told[i])
    later_at = due_at(terms, common, row, beat, since_at, known.own_s[i], i, at)
    if later_at <= at + LATER * (at - since_at):
        return False
    heappop(line)
    known.due_at[i] = later_at
    heappush(line, (later_at, i, known.stamp[i]))
    return True


@quick
def visit(
    terms: Terms,
    common: Common,
    groups: Groups,
    known: Known,
    i: int,
    at: float,
    changed: bool,
    line: list[tuple[float, int, int]],
) -> bool:
    """Learn from a visit and plan the next; whether its group is to be planned anew for it."""
    group, since_at = groups.of[i], known.since_at[i]
    slot = joined(groups.slot, groups.member, group, i + 1)
    before_s = gone_s(common, slot, since_at, at)
    take(
        known.rows[i],
        common,
        slot,
        since_at,
        at,
        changed,
        np.nan,
        terms.shape[i],
        terms.scale_s[i],
        terms.forgetting,
        -1,
        i + 1,
    )
    rises = False
    if slot >= 0 and groups.risen_s[group] < inf:
        groups.risen_s[group] += max(gone_s(common, slot, since_at, at) - before_s, 0.0)
        rises = groups.risen_s[group] > RISEN * 2.0 ** common.stirs.log_gap[slot]
        if rises:
            groups.risen_s[group] = inf
    known.since_at[i] = at
    known.n_told[i] += 1
    beat = beat_of(common, known.rows[i], at, slot, terms.scale_s[i] / terms.shape[i])
    known.own_s[i] = asked_s(terms, common, known.rows[i], beat, i, known.n_told[i])
    known.due_at[i] = due_at(terms, common, known.rows[i], beat, at, known.own_s[i], i, at)
    known.stamp[i] += 1
    heappush(line, (known.due_at[i], i, known.stamp[i]))
    return rises
