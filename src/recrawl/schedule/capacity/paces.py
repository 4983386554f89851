"""How long visits keep their hosts, from those that were made.

After a visit its host is left alone by a rule: as long as it asks for, no less than our own delay, and longer
where it took long to answer. A visit that was due before the one before it had ended was waiting for its
host; what lies between the two beyond the rule is our own work, and whatever else keeps that host. Where a
visit may have waited for room in the air instead, or for the budget, it says nothing. What lies between is
longer after a second look, too; those are apart, since they come at certain changes only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.model import Bools, Floats, Hosts, Ints, Took
from recrawl.schedule.capacity.looks import NEVER, Looks, again, looks, reasons
from recrawl.schedule.capacity.samples import Samples, placed, places, samples, spread
from recrawl.schedule.retry import FIRST_HOST_S, host_gap_s

GUESSED_S = 2.0  # how long a visit takes, where none was ever made
N_OWN = 3  # times between visits at a host, from which on a host may speak for itself
N_EACH = 256  # the newest of each host
N_PAGE = 4  # … of each page
P_TWICE = (0.0, 0.8, 0.15, 0.75)  # on living webs, by the reason; counts as much as so many visits do
N_USUAL = 4.0
N_ENOUGH = 32  # … of all hosts, from rounds with room for everybody: the others' need not be asked
N_OVER = 256  # the newest of all hosts: the machine may have more to do now than it had
APART_S = 600.0  # a pause so long ends a round


@dataclass(frozen=True, slots=True)
class Rule:
    """How long a host is left alone that took so long to answer."""

    min_delay_s: float
    slow_factor: float = 0.0
    most_slow_s: float = np.inf

    def rest_s(self, base_s: Floats, took_s: Floats) -> Floats:
        return np.maximum(base_s, np.minimum(self.slow_factor * took_s, self.most_slow_s))


@dataclass(frozen=True, slots=True)
class Paces:
    """Of some hosts, by their places. Those that were never visited are `known` False; what they have here is
    a guess, or what the others have."""

    rule: Rule
    took_s: Samples  # of a page, robots.txt not with it
    over_s: Samples  # what lies between two visits, beyond what the rule asks for
    base_s: Floats  # what the rule asks for after a visit that took no time
    robots_s: Floats  # how long robots.txt takes
    p_trouble: Floats  # of a page that did not fail the last time
    trouble_s: Floats  # how long the host is left alone after the first failure in a row
    n_failures: Ints  # in a row, so far
    known: Bools
    pages: Samples  # of each resource that was visited, by its place in `looks`
    looks: Looks
    p_twice: tuple[float, ...] = P_TWICE  # that a change is looked at twice, by the reason to
    guessed: bool = False  # nothing was ever visited


def paces(took: Took, hosts: Hosts, group: Ints, rule: Rule, *, n_workers: int) -> Paces:
    """Of the hosts with these numbers; 0: a host that the store does not know."""
    took = took.pick(np.lexsort((took.at, took.group)))
    took = took.pick(_newest(took.group, N_EACH))
    place = places(took.group, group)
    found = looks(took)
    rest = placed(hosts.rest_s, hosts.id, group, np.nan)
    n_failures = placed(hosts.n_failures.astype(np.float64), hosts.id, group, 0.0).astype(np.int64)
    rest[n_failures > 0] = np.nan  # that is how long it is left alone in trouble
    first_s = np.array([host_gap_s(1, name) for name in hosts.name])

    after_s = _after(took)
    base = np.full(len(group), np.inf)
    fits = ~np.isnan(after_s) & (place >= 0)
    np.minimum.at(base, place[fits], after_s[fits])
    base = np.fmin(base, rest)
    everybody_s = float(np.median(base[np.isfinite(base)])) if np.isfinite(base).any() else rule.min_delay_s
    base = np.maximum(np.where(np.isfinite(base), base, everybody_s), rule.min_delay_s)

    here = np.where(place >= 0, base[place] if len(base) else 0.0, rule.min_delay_s)
    page_s, robots_s = _pages(took, place, here, len(group), rule)
    asked_s = rule.rest_s(here, page_s)
    over_s = after_s - asked_s
    reason = reasons(took)
    twice = (reason != NEVER) & (over_s > 0.5 * (asked_s + page_s))  # half of what a second look takes
    usual_s = float(np.median(page_s)) if len(took) else GUESSED_S
    crowded, limited = _crowded(took, np.where(twice, over_s, 0.0), n_workers)
    fits &= ~crowded
    fits &= over_s <= 2.0 * here + 3.0 * usual_s + 1.0  # more than that is no rest of the host's
    reason, found = again(took, found, reason, twice & fits)
    told, fits = fits & (reason != NEVER), fits & (reason == NEVER)
    if (fits & ~limited).sum() >= N_ENOUGH:
        fits &= ~limited
    known = np.zeros(len(group), dtype=np.bool_)
    known[place[place >= 0]] = True
    by_id = np.argsort(took.id, kind="stable")
    newest = by_id[_newest(took.id[by_id], N_PAGE)]
    n_calm, n_onsets = _onsets(took, place, len(group), found)
    return Paces(
        rule=rule,
        took_s=samples(place, page_s, len(group), spread(page_s) if len(took) else np.array([GUESSED_S])),
        over_s=_overs(place[fits], over_s[fits], took.at[fits], len(base)),
        base_s=base,
        robots_s=np.where(np.isnan(robots_s), usual_s, robots_s),
        p_trouble=(n_onsets + found.p_onset) / (n_calm + 1.0),
        trouble_s=placed(first_s, hosts.id, group, 1.125 * FIRST_HOST_S),
        n_failures=n_failures,
        known=known,
        pages=samples(
            np.searchsorted(found.id, took.id[newest]), page_s[newest], len(found.id), np.array([usual_s])
        ),
        looks=found,
        p_twice=tuple(_share(twice, told & (reason == why), p) for why, p in enumerate(P_TWICE)),
        guessed=not len(took),
    )


def _share(twice: Bools, told: Bools, usual: float) -> float:
    return float(((twice & told).sum() + N_USUAL * usual) / (told.sum() + N_USUAL))


def _after(took: Took) -> Floats:
    """From each visit until the next one at its host, NaN where that says nothing."""
    n = len(took)
    began_at = np.append(took.at[1:] - took.took_s[1:], np.nan)[:n]
    follows = np.append(took.group[1:] == took.group[:-1], False)[:n]
    with np.errstate(invalid="ignore"):
        waited = follows & (np.append(took.due_at[1:], np.nan)[:n] <= took.at) & ~took.troubled
        after_s = np.where(waited, began_at - took.at, np.nan)
    after_s[~(after_s >= 0.0)] = np.nan
    return after_s


def _crowded(took: Took, longer_s: Floats, n_workers: int) -> tuple[Bools, Bools]:
    """After which visits the next one of the host may have waited for room in the air; and which visits are
    of rounds in which some may have.

    It began when as many were in the air as ever were in that round, and never were all its hosts there at
    once. How many workers there were then is not known; those of now say only whether one at a time was all
    that there was room for. `longer_s`: how much longer a visit kept its room.
    """
    n = len(took)
    if not n:
        return np.zeros(0, np.bool_), np.zeros(0, np.bool_)
    began_at, free_at = took.at - took.took_s, took.at + longer_s
    order = np.argsort(began_at, kind="stable")
    ended_at = np.maximum.accumulate(free_at[order])
    turn = np.cumsum(np.append(False, began_at[order][1:] > ended_at[:-1] + APART_S))
    in_the_air = np.arange(1, n + 1) - np.searchsorted(np.sort(free_at), began_at[order], side="right")
    most = np.zeros(turn[-1] + 1, np.int64)
    np.maximum.at(most, turn, in_the_air)
    pairs = np.unique(np.stack([turn, took.group[order]]), axis=1)
    limited = (most < np.bincount(pairs[0], minlength=len(most))) & (most >= min(n_workers, 2))
    within, crowded = np.zeros(n, np.bool_), np.zeros(n, np.bool_)
    within[order] = limited[turn]
    crowded[order] = limited[turn] & (in_the_air >= most[turn])
    return np.append(crowded[1:], False), within


def _pages(took: Took, place: Ints, here: Floats, n_hosts: int, rule: Rule) -> tuple[Floats, Floats]:
    """How long each page took, without the robots.txt that may have been asked for first, where a visit was
    not made right after another; and how long robots.txt takes at each host: as long as its pages do."""
    n = len(took)
    before_at = np.concatenate([[np.nan], took.at[:-1]])[:n]
    after = np.concatenate([[False], took.group[1:] == took.group[:-1]])[:n]
    apart = ~after | (took.at - took.took_s - before_at > APART_S)
    robots_s = np.full(n_hosts, np.nan)
    plain = ~apart & (place >= 0)
    order = np.lexsort((took.took_s[plain], place[plain]))
    where, first, n_each = np.unique(place[plain][order], return_index=True, return_counts=True)
    robots_s[where] = took.took_s[plain][order][first + (n_each - 1) // 2]
    mixed = apart & (took.took_s > here)
    asked_s = np.where(place >= 0, robots_s[place] if n_hosts else np.nan, np.nan)
    page_s = took.took_s - asked_s - rule.rest_s(here, asked_s)
    page_s = np.where(np.isnan(page_s), (took.took_s - here) / 2.0, np.maximum(page_s, asked_s / 2.0))
    page_s = np.where(mixed, page_s, took.took_s)
    lone = np.isnan(robots_s)[place] & (place >= 0) if n_hosts else np.zeros(n, np.bool_)
    robots_s[place[lone]] = page_s[lone]
    return page_s, robots_s


def _onsets(took: Took, place: Ints, n_hosts: int, found: Looks) -> tuple[Ints, Ints]:
    """Of each host, how many visits might have been the first of a failure, and how many were."""
    host = np.full(len(found.id), -1)
    host[np.searchsorted(found.id, took.id)] = place
    ours = host >= 0
    n_calm, n_onsets = np.zeros(n_hosts, np.int64), np.zeros(n_hosts, np.int64)
    np.add.at(n_calm, host[ours], found.n_calm[ours])
    np.add.at(n_onsets, host[ours], found.n_onsets[ours])
    return n_calm, n_onsets


def _overs(place: Ints, over_s: Floats, at: Floats, n_hosts: int) -> Samples:
    """What all hosts have, the newest, since most of it is our own machine's; but a host's own where that is
    mostly more than nine in ten of the others have."""
    newest = np.argsort(at, kind="stable")[-N_OVER:]
    common = spread(over_s[newest])
    n = np.bincount(place, minlength=n_hosts)
    n_above = np.bincount(place[over_s > np.quantile(common, 0.9)], minlength=n_hosts)
    own = ((n >= N_OWN) & (2 * n_above > n))[place]
    return samples(place[own], over_s[own], n_hosts, common)


def _newest(group: Ints, n: int) -> Bools:
    """Of rows in the order of groups and times, the last of each group."""
    ends = np.searchsorted(group, group, side="right")
    return np.asarray(np.arange(len(group)) >= ends - n)
