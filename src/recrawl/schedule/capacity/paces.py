"""How long visits keep their hosts, from those that were made.

A visit that was due before the one before it had ended was waiting for its host: from the end of the one to
the beginning of the other is all that lies between two visits, the delay that the host asks for, what a slow
server is spared, and our own work. Where a visit may have waited for room in the air instead, or for the
budget, it says nothing. After a resource's first change there is often a second look; those are apart, since
they come once.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.model import Bools, Floats, Hosts, Ints, Took

GUESSED_S = 2.0  # how long a visit takes, where none was ever made
N_OWN = 3  # times between visits, from which on a host speaks for itself
N_EXTRA = 64
N_EACH = 256  # the newest of each host


@dataclass(frozen=True, slots=True)
class Samples:
    """Of each host some values, one host's after the other's; at the end those that several may share."""

    start: Ints
    n: Ints
    values: Floats

    def drawn(self, place: Ints, rng: np.random.Generator) -> Floats:
        chosen = self.start[place] + (rng.random(len(place)) * self.n[place]).astype(np.int64)
        return np.asarray(self.values[chosen])

    def resampled(self, rng: np.random.Generator) -> Samples:
        """As they might have come: a host of which there are few is known less well than they look alike."""
        start, first = np.unique(self.start, return_index=True)
        n = np.repeat(self.n[first], self.n[first])
        chosen = np.repeat(start, self.n[first]) + (rng.random(len(n)) * n).astype(np.int64)
        return Samples(self.start, self.n, self.values[chosen])

    def means(self) -> Floats:
        summed = np.concatenate([[0.0], np.cumsum(self.values)])
        return np.asarray((summed[self.start + self.n] - summed[self.start]) / self.n)


@dataclass(frozen=True, slots=True)
class Paces:
    """Of some hosts, by their places. Those that were never visited are `known` False; what they have here is
    a guess, or what the others have."""

    took_s: Samples  # of a page, robots.txt not with it
    rest_s: Samples
    base_s: Floats  # of the rests, the plain ones
    p_trouble: Floats
    n_failures: Ints  # in a row, so far
    known: Bools
    p_second: float = 0.0  # that a visit to what never changed is followed by a second look
    guessed: bool = False  # nothing was ever visited


def paces(took: Took, hosts: Hosts, group: Ints, *, min_delay_s: float, n_workers: int) -> Paces:
    """Of the hosts with these numbers; 0: a host that the store does not know."""
    took = took.pick(np.lexsort((took.at, took.group)))
    took = took.pick(_newest(took.group))
    place = _places(took.group, group)
    rest = _placed(hosts.rest_s, hosts.id, group, np.nan)
    n_failures = _placed(hosts.n_failures.astype(np.float64), hosts.id, group, 0.0).astype(np.int64)
    rest[n_failures > 0] = np.nan  # that is how long it is left alone in trouble

    between_s, apart = _between(took, n_workers)
    base = np.full(len(group), np.inf)
    fits = ~np.isnan(between_s) & (place >= 0)
    np.minimum.at(base, place[fits], between_s[fits])
    base = np.fmin(base, rest)
    everybody_s = float(np.median(base[np.isfinite(base)])) if np.isfinite(base).any() else min_delay_s
    base = np.where(np.isfinite(base), np.maximum(base, min_delay_s), max(everybody_s, min_delay_s))

    usual_s = float(np.median(took.took_s)) if len(took) else GUESSED_S
    here = np.where(place >= 0, base[place] if len(base) else 0.0, min_delay_s)
    # A second look is another rest and another fetch; more than that is no rest of the host's.
    fits &= between_s <= 3.0 * here + 3.0 * usual_s + 1.0
    found, might = _first_changes(took)
    after = np.concatenate([[False], found[:-1]])[: len(took)]
    p_second = _p_second(np.where(fits, between_s, np.nan), here, found, might, after)
    fits &= ~after  # those are drawn where a first change may come
    page_s = np.where(apart & (took.took_s > here), (took.took_s - here) / 2.0, took.took_s)
    known = np.zeros(len(group), dtype=np.bool_)
    known[place[place >= 0]] = True
    n_troubled = np.bincount(place[place >= 0], took.troubled[place >= 0], len(group))
    n_visits = np.bincount(place[place >= 0], minlength=len(group))
    p_usual = float(took.troubled.mean()) if len(took) else 0.0
    extra_s = _spread((between_s - here)[fits])
    return Paces(
        took_s=_samples(place, page_s, len(group), _spread(page_s) if len(took) else np.array([GUESSED_S])),
        rest_s=_rests(place[fits], np.maximum(between_s[fits], here[fits]), base, extra_s),
        base_s=base,
        p_trouble=(n_troubled + p_usual) / (n_visits + 1.0),
        n_failures=n_failures,
        known=known,
        p_second=p_second,
        guessed=not len(took),
    )


def _between(took: Took, n_workers: int) -> tuple[Floats, Bools]:
    """From the visit before at the same host, NaN where that says nothing; and which visits were not made
    right after another, so that robots.txt may have been asked for first."""
    n = len(took)
    began_at = took.at - took.took_s
    after = np.zeros(n, dtype=np.bool_)
    after[1:] = took.group[1:] == took.group[:-1]
    before_at = np.concatenate([[np.nan], took.at[:-1]])[:n]
    calm = ~np.concatenate([[True], took.troubled[:-1]])[:n]
    in_the_air = np.searchsorted(np.sort(began_at), began_at) - np.searchsorted(np.sort(took.at), began_at)
    with np.errstate(invalid="ignore"):
        waited = after & (took.due_at <= before_at)
        between_s = np.where(waited & calm & (in_the_air < n_workers - 1), began_at - before_at, np.nan)
        apart = ~after | (began_at - before_at > 600.0)
    between_s[between_s < 0.0] = np.nan
    return between_s, apart


def _first_changes(took: Took) -> tuple[Bools, Bools]:
    """Which visits found their resource's first change, and which might have: of rows in the order of each
    resource's times. Its first visit has nothing to compare with."""
    index = np.arange(len(took))
    ids, first, inverse = np.unique(took.id, return_index=True, return_inverse=True)
    changed = np.full(len(ids), len(took))
    np.minimum.at(changed, inverse[took.changed], index[took.changed])
    return index == changed[inverse], (index <= changed[inverse]) & (index != first[inverse])


def _p_second(between_s: Floats, here: Floats, found: Bools, might: Bools, after: Bools) -> float:
    """How likely a resource that never changed is looked at twice: that it changes, and that this is worth a
    second look, which shows in a rest of nearly twice the length."""
    told = after & ~np.isnan(between_s)
    if not might.any() or not told.any():
        return 0.0
    return float(found.sum() / might.sum() * np.mean(between_s[told] > 1.8 * here[told]))


def _samples(place: Ints, values: Floats, n_hosts: int, otherwise: Floats) -> Samples:
    """Each host's own; where it has none, all have those that are common."""
    own = place >= 0
    order = np.argsort(place[own], kind="stable")
    n = np.bincount(place[own], minlength=n_hosts)
    start = np.cumsum(n) - n
    held = np.concatenate([values[own][order], otherwise])
    none = n == 0
    return Samples(np.where(none, int(own.sum()), start), np.where(none, len(otherwise), n), held)


def _rests(place: Ints, values: Floats, base: Floats, extra_s: Floats) -> Samples:
    """Whoever has few of its own has its plain rest, and over it what others have over theirs."""
    few = np.bincount(place, minlength=len(base)) < N_OWN
    enough = ~few[place]
    over = np.flatnonzero(few)
    made = (base[over][:, None] + extra_s[None, :]).ravel()
    return _samples(
        np.concatenate([place[enough], np.repeat(over, len(extra_s))]),
        np.concatenate([values[enough], made]),
        len(base),
        np.array([0.0]),
    )


def _spread(values: Floats) -> Floats:
    """As many as are enough to draw from."""
    if not len(values):
        return np.array([0.0])
    shares = (np.arange(min(N_EXTRA, len(values))) + 0.5) / min(N_EXTRA, len(values))
    return np.maximum(np.quantile(values, shares), 0.0)


def _newest(group: Ints) -> Bools:
    """Of rows in the order of groups and times, the last of each group."""
    ends = np.searchsorted(group, group, side="right")
    return np.asarray(np.arange(len(group)) >= ends - N_EACH)


def _places(numbers: Ints, among: Ints) -> Ints:
    """Where each number stands among others; -1: nowhere, and 0 is no number."""
    order = np.argsort(among, kind="stable")
    at = np.searchsorted(among[order], numbers)
    at = np.minimum(at, max(len(among) - 1, 0))
    if not len(among):
        return np.full(len(numbers), -1)
    found = (among[order][at] == numbers) & (numbers != 0)
    return np.where(found, order[at], -1)


def _placed(values: Floats, ids: Ints, among: Ints, otherwise: float) -> Floats:
    made = np.full(len(among), otherwise)
    place = _places(among, ids)
    made[place >= 0] = values[place[place >= 0]]
    return made
