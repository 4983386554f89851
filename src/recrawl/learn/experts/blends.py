"""Several forecasts made one: each blend of them counts by what came of what it said.

A blend is a weighted mean of log odds, and there is one for every way to share out the weight in quarters,
and each of them again with a third for the page's own machines. All begin alike; then their probabilities are
averaged with weights that fall with the log loss of all answers known so far (the Bayesian mixture, or Hedge
with a rate of 1), and after every step a small share of the weight is dealt out anew, so that a blend that
was wrong for long may come back (Herbster and Warmuth 1998).
"""

from __future__ import annotations

import numpy as np

from recrawl.model import Bools, Floats, Ints

_SURE = 0.995
_DEALT = 0.02  # of the weight, after every step
_QUARTERS = (0.25, 0.5, 0.75, 1.0)
_OWN = 1.0 / 3.0


def odds(p: Floats) -> Floats:
    inside = np.clip(p, 1.0 - _SURE, _SURE)
    return np.asarray(np.log(inside / (1.0 - inside)))


def chances(odds: Floats) -> Floats:
    return np.asarray(np.clip(1.0 / (1.0 + np.exp(-np.clip(odds, -30.0, 30.0))), 1.0 - _SURE, _SURE))


def blends(line: Floats, trees: Floats, own: Floats) -> Floats:
    """Probabilities by each blend of the log odds of the line, of the trees (of few of them, of more …) and
    of the page's own machines; (n_blends, *line.shape)."""
    pooled = [line, *(share * some + (1.0 - share) * line for some in trees for share in _QUARTERS)]
    return chances(np.stack([*pooled, *(_OWN * own + (1.0 - _OWN) * one for one in pooled)]))


def blended(p: Floats, so: Bools, known: Bools, at: Ints, ahead: int) -> Floats:
    """What all blends say together at the steps `at`. `p` is (n_blends, n_pages, len(at)); at each step only
    answers count that had come to be known."""
    loss = -np.log(np.where(so, p, 1.0 - p))
    loss = np.where(known, loss, 0.0).sum(axis=1)
    weight = np.full(len(p), 1.0 / len(p))
    said = np.empty(so.shape)
    n_heard = 0
    for place, t in enumerate(at.tolist()):
        while n_heard < place and at[n_heard] + ahead <= t:
            weight = _moved(weight, loss[:, n_heard])
            n_heard += 1
        said[:, place] = np.tensordot(weight, p[:, :, place], axes=1)
    return said


def _moved(weight: Floats, loss: Floats) -> Floats:
    """After some more answers."""
    moved = weight * np.exp(loss.min() - loss)
    return np.asarray((1.0 - _DEALT) * moved / moved.sum() + _DEALT / len(weight))
