"""What one page says of another (3D): the kin's own features, and how the two go together.

Of a page A and one of its kin B, at step t, for each i of the window (the paper's section 4.2.2 leaves room
here and there; this is how it is read):

- the five kinds of features that B has of its own, as `features.content` has them. The paper prints the bits
  of B with other indices than those of A, from t - sigma - 1 on, and calls the two exactly analogous: they
  are taken to be so, t - 1 .. t - l there, t .. t - l + 1 in our count;
- cos(A(t - i), B(t - i)) for i = 0 .. l - 1: a set of l, as the paper says, though the range it prints has l
  + 1;
- cos(B(t) - B(t - i), A(t)) for i = 1 .. l: what changed in B beside all that A has;
- cos(B(t) - B(t - i), A(t) - A(t - i)) for i = 1 .. l: the changes of both; delta(B(t - i)) is taken as it is
  defined there for the line before, the change since t - i.

The cosine of nothing, no words or no change, is 0.
"""

from __future__ import annotations

import numpy as np

from recrawl.learn.features.content import Steps, dots, earlier, moved
from recrawl.model import Floats, Ints


def relation_blocks(back: int) -> Ints:
    """Which of the kinds of features each column of `relation` is of."""
    return np.repeat(np.arange(3), back)


def relation(steps: Steps, page: Ints, kin: Ints, back: int = 1) -> Floats:
    """Of pairs of pages, (n_pairs, n_steps, 3 back): cos(A, B), cos(delta B, A), cos(delta B, delta A)."""
    a, b = steps.at[page], steps.at[kin]
    size_a = np.sqrt(steps.squares[a])
    both = _products(steps, a, b)
    alike, towards, together = [], [], []
    for i in range(1, back + 1):
        a_then, b_then = earlier(a, i), earlier(b, i)
        delta_a, delta_b = moved(steps, a, a_then), moved(steps, b, b_then)
        a_now, b_now = earlier(a, i - 1), earlier(b, i - 1)
        sizes = np.sqrt(steps.squares[a_now] * steps.squares[b_now])
        alike.append(_ratio(_products(steps, a_now, b_now), sizes))
        # a change of which one end is not known has length 0, so that these products do not count
        now_then, then_now = _products(steps, a, b_then), _products(steps, a_then, b)
        towards.append(_ratio(both - now_then, delta_b * size_a))
        crossed = both - now_then - then_now + _products(steps, a_then, b_then)
        together.append(_ratio(crossed, delta_a * delta_b))
    return np.stack([*alike, *towards, *together], axis=2)


def _products(steps: Steps, a: Ints, b: Ints) -> Floats:
    return dots(steps.bags, a.ravel(), b.ravel()).reshape(a.shape)


def _ratio(above: Floats, below: Floats) -> Floats:
    return np.where(below > 0.0, above / np.where(below > 0.0, below, 1.0), 0.0)
