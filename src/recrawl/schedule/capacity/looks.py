"""What a resource's own past says of its next visit: whether it changed, whether that is looked at twice, and
whether it fails.

A change is looked at twice where it is the resource's first, and later where it is the 2nd, 4th, 8th … in a
row; not always, but as often as it was so far, which shows in the rests after such visits. A change is as
likely as it was on the resource's earlier visits, by the time that has passed since; whoever has few of them
is like all resources together.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from recrawl.model import Bools, Floats, Ints, Took

NEVER, FIRST, AGAIN, OFTEN = 0, 1, 2, 3  # why a change may be looked at twice
LONGEST = 30.0  # times as long as its earlier gaps: beyond this nothing is learned from them


@dataclass(frozen=True, slots=True)
class Looks:
    """Of resources, in the order of their numbers. All times that are not known are NaN."""

    id: Ints
    at: Floats  # of the newest visit
    n: Ints  # visits that could tell whether it had changed
    n_changes: Ints
    gap_s: Floats  # on average between those
    n_row: Ints  # changes in a row, the newest of all
    n_calm: Ints  # visits that might have been the first of a failure
    n_onsets: Ints  # … and were
    n_failures: Ints  # in a row, the newest of all
    n_after: Ints  # visits right after a failure
    n_stays: Ints  # … that failed, too
    was_well: Bools  # it did not fail on every visit
    often: Bools  # the last time that one of many changes in a row could be looked at twice, it was
    p_changed: float  # of all together; NaN: none was ever visited twice
    usual_gap_s: float
    p_onset: float
    p_stays: float  # that what failed fails again, of those that were ever well


def looks(took: Took) -> Looks:
    """Of visits in the order of their times."""
    took = took.pick(np.argsort(took.id, kind="stable"))
    ids, first = np.unique(took.id, return_index=True)
    place = np.repeat(np.arange(len(ids)), np.diff(np.append(first, len(took))))
    calm = ~took.troubled
    told = took.pick(calm)
    where, again = place[calm], _follows(place[calm])
    gap_s = np.where(again, np.diff(told.at, prepend=np.nan), 0.0)
    n = np.bincount(where[again], minlength=len(ids))
    n_changes = np.bincount(where[again & told.changed], minlength=len(ids))
    summed_s = np.bincount(where, gap_s, len(ids))
    in_a_row = np.zeros(len(ids), np.int64)
    in_a_row[where] = runs(told.changed & again, where)  # the newest of each stays
    failures = np.zeros(len(ids), np.int64)
    failures[place] = runs(took.troubled, place)
    at = np.full(len(ids), np.nan)
    at[place] = took.at
    risky = ~_follows(place) | ~np.concatenate([[False], took.troubled[:-1]])[: len(took)]
    was_well = np.bincount(where, minlength=len(ids)) > 0
    n_after = np.bincount(place[~risky], minlength=len(ids))
    n_stays = np.bincount(place[~risky & took.troubled], minlength=len(ids))
    with np.errstate(divide="ignore", invalid="ignore"):
        return Looks(
            id=ids,
            at=at,
            n=n,
            n_changes=n_changes,
            gap_s=summed_s / n,
            n_row=in_a_row,
            n_calm=np.bincount(place[risky], minlength=len(ids)),
            n_onsets=np.bincount(place[risky & took.troubled], minlength=len(ids)),
            n_failures=failures,
            n_after=n_after,
            n_stays=n_stays,
            was_well=was_well,
            often=np.zeros(len(ids), np.bool_),
            p_changed=float(n_changes.sum() / n.sum()) if n.sum() else np.nan,
            usual_gap_s=float(summed_s.sum() / n.sum()) if n.sum() else np.nan,
            p_onset=float((risky & took.troubled).sum() / risky.sum()) if len(took) else 0.0,
            p_stays=float((n_stays[was_well].sum() + 1.0) / (n_after[was_well].sum() + 2.0)),
        )


def runs(changed: Bools, place: Ints) -> Ints:
    """How many in a row are True, up to each, within its place; rows of a place stand together."""
    index = np.arange(len(changed))
    begin = np.maximum.accumulate(np.where(_follows(place), 0, index)) if len(index) else index
    since = np.maximum.accumulate(np.where(changed, -1, index)) if len(index) else index
    return np.asarray(index - np.maximum(since, begin - 1))


def reasons(took: Took) -> Ints:
    """Why each of these visits may have been followed by a second look. In the order of their times."""
    order = np.argsort(took.id, kind="stable")
    calm = order[~took.troubled[order]]
    follows = _follows(took.id[calm])
    changed = took.changed[calm] & follows
    n_row = runs(changed, took.id[calm])
    before: Ints = np.cumsum(changed) - changed
    begin = np.maximum.accumulate(np.where(follows, 0, np.arange(len(calm)))) if len(calm) else calm
    earlier = before - before[begin] > 0
    found = np.zeros(len(took), np.int64)
    found[calm] = np.where(
        changed & ~earlier, FIRST, np.where(changed & (n_row > 1) & _is_power(n_row), AGAIN, NEVER)
    )
    return found


def again(took: Took, of: Looks, reason: Ints, twice: Bools) -> tuple[Ints, Looks]:
    """What was looked at twice at one of many changes in a row is so mostly at the next of them, too."""
    order = np.argsort(took.id, kind="stable")
    rows = order[reason[order] == AGAIN]
    place = np.searchsorted(of.id, took.id[rows])
    reason = reason.copy()
    reason[rows] = np.where(_follows(place) & np.append(False, twice[rows][:-1])[: len(rows)], OFTEN, AGAIN)
    often = of.often.copy()
    often[place] = twice[rows]  # the newest of each stays
    return reason, replace(of, often=often)


def next_reasons(of: Looks, place: Ints, fresh: Bools) -> Ints:
    """… if they change now: resources at these places (-1: never visited); `fresh`: it never did."""
    if not len(of.id):
        return np.zeros(len(place), np.int64)
    n_row = of.n_row[place]
    in_a_row = (place >= 0) & (n_row > 0) & _is_power(n_row + 1)
    found = np.where(in_a_row, np.where(of.often[place], OFTEN, AGAIN), NEVER)
    return np.where(fresh, FIRST, found)


def p_fails(of: Looks, place: Ints, usual: Floats) -> Floats:
    """That visits to resources at these places (-1: never visited) fail; `usual`: of their hosts' pages."""
    if not len(of.id):
        return usual
    k = of.n_failures[place]
    stays = (of.n_stays[place] + of.p_stays) / (of.n_after[place] + 1.0)
    failing = np.where(of.was_well[place], stays, (k + 1.0) / (k + 2.0))
    begins = (of.n_onsets[place] + usual) / (of.n_calm[place] + 1.0)
    return np.where(place >= 0, np.where(k > 0, failing, begins), usual)


def p_changed(of: Looks, place: Ints, otherwise: Floats, now: float) -> Floats:
    """That resources at these places (-1: never visited) have changed by now; `otherwise` where nobody was
    ever visited twice."""
    if np.isnan(of.p_changed):
        return np.nan_to_num(otherwise)
    n, x = of.n[place], of.n_changes[place]
    kept = (n - x + 1.0 - of.p_changed) / (n + 1.0)
    gap_s = np.where(n > 0, of.gap_s[place], of.usual_gap_s)
    with np.errstate(divide="ignore", invalid="ignore"):
        times = np.clip((now - of.at[place]) / gap_s, 0.0, LONGEST)
    return np.where(place >= 0, 1.0 - np.maximum(kept, 1e-9) ** np.nan_to_num(times), 0.0)


def _is_power(n: Ints) -> Bools:
    return np.asarray(n & (n - 1) == 0)


def _follows(place: Ints) -> Bools:
    """Whether the row before is of the same place."""
    return np.asarray(np.concatenate([[False], place[1:] == place[:-1]])[: len(place)])
