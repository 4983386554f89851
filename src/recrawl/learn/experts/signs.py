"""What our own learner goes by: columns for each page and step, all of them known at that step.

A page's own bits and how often it changed of late; what it did each time after a step like this one, after a
time as still or as busy, and some steps after it did what it did then; how long it has been still or busy;
the same hour of the day or day of the week before; how far it moved, and whether it went back to what it was;
what its group did; and what its kin did, each as far as it was followed by a change before. Shares are kept
from 0 and 1 by the page's own rate: nobody is certain after three steps.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from recrawl.learn.experts.tasks import Task
from recrawl.learn.features.content import Steps, dots, earlier, frequency
from recrawl.model import Floats, Ints

Singles = npt.NDArray[np.float32]
_BITS = 7
_WINDOWS = (3, 7, 14, 28)
_PRIOR = 3.0  # examples that a rate is worth before any were seen
_TURNS = 4  # of a cycle
_HALVES = (5, 15, 50)  # steps: after so many a change counts half
_RUNS = (1, 2, 3, 4, 7, 14)  # steps: times that are still or busy are alike between two of these
_LAGS = 3  # steps, this one and those before it, at which kin may lead
_PAGES = 200  # at once: of each there is a row for each of its kin


def signs(task: Task) -> Singles:
    """(all pages, n_steps, columns)"""
    steps = task.steps
    bits = steps.changed.astype(np.int64)
    rate = frequency(steps.changed, task.reach)
    state = bits + 2 * earlier(bits, 1, 0) + 4 * earlier(bits, 2, 0)
    group = np.zeros(steps.n_pages, dtype=np.int64) if task.group is None else task.group
    share = _shared(bits, group)
    columns = [
        *(earlier(bits, i, 0) for i in range(_BITS)),
        *(frequency(steps.changed, n) for n in _WINDOWS),
        rate,
        _still(bits),
        _still(1 - bits),
        *(_followed(state & mask, bits, rate, task) for mask in (1, 3, 7)),
        _log_odds(_followed(bits + 2 * _run(bits), bits, rate, task)),
        *_cyclic(task, bits, share, rate),
        *_echoes(task, bits),
        _log_odds(rate),
        *(_log_odds(_fading(bits, half)) for half in _HALVES),
        *_moves(steps),
        share,
        share - _recent(share, task.reach),
        np.broadcast_to(bits.mean(axis=0), bits.shape),
        *_kindred(task, bits),
    ]
    return np.stack([np.asarray(column, dtype=np.float32) for column in columns], axis=2)


def _still(bits: Ints) -> Ints:
    """Steps since the last 1; since the first step where there was none."""
    step = np.arange(bits.shape[1])
    return np.asarray(step - np.maximum.accumulate(np.where(bits == 1, step, 0), axis=1))


def _run(bits: Ints) -> Ints:
    """Which kind of run a page is in, by its length up to now."""
    length = np.where(bits == 1, _still(1 - bits), _still(bits))
    return np.searchsorted(_RUNS, length, "right").astype(np.int64)


def _fading(bits: Ints, half: float) -> Floats:
    """How often a page changed, older steps counting less."""
    kept, total = 0.5 ** (1.0 / half), 0.0
    found, sums = np.zeros(bits.shape), np.zeros(len(bits))
    for step in range(bits.shape[1]):
        sums, total = kept * sums + bits[:, step], kept * total + 1.0
        found[:, step] = sums / total
    return found


def _echoes(task: Task, bits: Ints) -> list[Floats]:
    """How much likelier or less likely a change is to come so many steps after what the page did then, as log
    odds, and their sum."""
    lags = [*range(_BITS)]
    lags += [n * turn - task.ahead for turn in task.cycles for n in (1, 2) if n * turn - task.ahead >= _BITS]
    found = [_lift(earlier(bits, lag, 0)[:, None], bits, task)[:, 0].astype(np.float64) for lag in lags]
    return [*found, np.asarray(np.sum(found, axis=0))]


def _log_odds(share: Floats) -> Floats:
    inside = np.clip(share, 0.005, 0.995)
    return np.asarray(np.log(inside / (1.0 - inside)))


def _followed(state: Ints, bits: Ints, rate: Floats, task: Task) -> Floats:
    """How often a page changed `ahead` of a step with the same state as this one, as far back as `reach`."""
    then = earlier(state, task.ahead)
    found = rate.copy()
    for one in np.unique(state).tolist():
        n = _sum(then == one, task.reach)
        n_so = _sum((then == one) & (bits == 1), task.reach)
        here = state == one
        found[here] = ((n_so + _PRIOR * rate) / (n + _PRIOR))[here]
    return found


def _cyclic(task: Task, bits: Ints, share: Floats, rate: Floats) -> list[Floats]:
    """Of the hour or day to be foretold: what it is, what the page did then of late and ever, and what its
    group did."""
    columns: list[Floats] = []
    for cycle in task.cycles:
        since = [turn * cycle - task.ahead for turn in range(1, _TURNS + 1) if turn * cycle >= task.ahead]
        past = [earlier(bits, i) for i in since]
        n = sum(((one >= 0).astype(np.float64) for one in past), np.zeros(bits.shape))
        n_so = sum((np.maximum(one, 0).astype(np.float64) for one in past), np.zeros(bits.shape))
        others = [_before(share, i) for i in since]
        phase = (np.arange(bits.shape[1]) + task.ahead) % cycle
        columns += [
            np.broadcast_to(phase.astype(np.float64), bits.shape),
            np.asarray((n_so + rate) / (n + 1.0)),
            np.asarray(sum(others, np.zeros(bits.shape)) / max(len(others), 1)),
            _log_odds(_at_phase(bits, rate, cycle, task)),
        ]
    return columns


def _at_phase(bits: Ints, rate: Floats, cycle: int, task: Task) -> Floats:
    """How often a page changed at the same hour or on the same day as is to be foretold."""
    n, n_so = np.zeros(cycle), np.zeros((len(bits), cycle))
    found = np.zeros(bits.shape)
    for step in range(bits.shape[1]):
        if step > 0:  # at the first step nothing can be seen to change
            n[step % cycle] += 1.0
            n_so[:, step % cycle] += bits[:, step]
        if step > task.reach:
            n[(step - task.reach) % cycle] -= 1.0
            n_so[:, (step - task.reach) % cycle] -= bits[:, step - task.reach]
        then = (step + task.ahead) % cycle
        found[:, step] = (n_so[:, then] + _PRIOR * rate[:, step]) / (n[then] + _PRIOR)
    return found


def _moves(steps: Steps) -> list[Floats]:
    """How far a page moved since the step before and the one before that, how far it moves on average, how
    many words it has, and what has become of their number."""
    at = steps.at
    size = np.sqrt(steps.squares[at])
    far = [_unlike(steps, at, size, i) for i in (1, 2)]
    total = np.append(steps.bags.total, 0.0)[at]
    return [*far, _recent(far[0], 7), np.log1p(total), np.log1p(total) - _before(np.log1p(total), 1)]


def _unlike(steps: Steps, at: Ints, size: Floats, i: int) -> Floats:
    """1 - cos; 0 where one of the two is not known."""
    then = earlier(at, i)
    sizes = size * np.sqrt(steps.squares[then])
    products = dots(steps.bags, at.ravel(), then.ravel()).reshape(at.shape)
    return np.where(sizes > 0.0, 1.0 - products / np.where(sizes > 0.0, sizes, 1.0), 0.0)


def _shared(bits: Ints, group: Ints) -> Floats:
    """The share of the page's group that changed, the page itself left out."""
    _, row, n = np.unique(group, return_inverse=True, return_counts=True)
    sums = np.zeros((len(n), bits.shape[1]))
    np.add.at(sums, row, bits)
    return np.asarray((sums[row] - bits) / np.maximum(n[row] - 1, 1)[:, None])


def _kindred(task: Task, bits: Ints) -> list[Floats]:
    """Of the kin: the weighted share that changed now; and for each how much likelier or less likely a change
    was to follow what it did now or a few steps ago, as log odds: their sum, mean, highest and lowest."""
    if task.kin is None:
        return []
    found = np.zeros((1 + 4 * _LAGS, *bits.shape))
    for start in range(0, len(bits), _PAGES):
        rows = np.arange(start, min(start + _PAGES, len(bits)))
        of, weight = task.kin.of[rows], task.kin.weight[rows]
        weights = np.where(of >= 0, np.maximum(weight, 0.0), 0.0)[:, :, None]
        shares = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-12)
        for lag in range(_LAGS):
            their = earlier(bits, lag, 0)[np.maximum(of, 0)]
            if lag == 0:
                found[0, rows] = (shares * their).sum(axis=1)
            lift = np.where(weights > 0.0, _lift(their, bits[rows], task), 0.0)
            found[1 + 4 * lag, rows] = lift.sum(axis=1)
            found[2 + 4 * lag, rows] = (shares * lift).sum(axis=1)
            found[3 + 4 * lag, rows] = lift.max(axis=1, initial=0.0)
            found[4 + 4 * lag, rows] = lift.min(axis=1, initial=0.0)
    return list(found)


def _lift(their: Ints, bits: Ints, task: Task) -> Singles:
    """(n_pages, k, n_steps): log P(what B does | A changes next) / P(... | A does not), as far back as
    `reach`."""
    n_steps = their.shape[2]
    then = np.zeros(their.shape, dtype=bool)
    then[:, :, task.ahead :] = their[:, :, : max(n_steps - task.ahead, 0)] == 1
    so = np.broadcast_to((bits == 1)[:, None], their.shape)
    n_so = _sum(so, task.reach)
    n_not = np.minimum(np.arange(n_steps) + 1, task.reach) - n_so
    both = _sum(then & so, task.reach)
    all_then = _sum(then, task.reach)
    usual = (all_then + 1.0) / (np.minimum(np.arange(n_steps) + 1, task.reach) + 2.0)
    if_so = (both + _PRIOR * usual) / (n_so + _PRIOR)
    if_not = (all_then - both + _PRIOR * usual) / (n_not + _PRIOR)
    now = their == 1
    above, below = np.where(now, if_so, 1.0 - if_so), np.where(now, if_not, 1.0 - if_not)
    return np.log(np.maximum(above, 1e-3) / np.maximum(below, 1e-3)).astype(np.float32)


def _sum(flags: npt.NDArray[np.bool_], n: int) -> Floats:
    """Over the last n steps up to each."""
    sums = np.cumsum(flags, axis=-1, dtype=np.float64)
    found = sums.copy()
    found[..., n:] -= sums[..., : max(sums.shape[-1] - n, 0)]
    return found


def _recent(column: Floats, n: int) -> Floats:
    """The mean of the last n steps up to each, or of as many as there are."""
    sums = np.cumsum(column, axis=1)
    total = sums.copy()
    total[:, n:] -= sums[:, : max(sums.shape[1] - n, 0)]
    return np.asarray(total / np.minimum(np.arange(column.shape[1]) + 1, n))


def _before(column: Floats, i: int) -> Floats:
    """At each step what stood there i steps before, or the first."""
    return column[:, np.maximum(np.arange(column.shape[1]) - i, 0)]
