"""All kin in one: a machine over the features of a page and of all its kin (union), or several of them, each
on examples drawn anew (bagging) or weighed anew by what the others got wrong (boosting, AdaBoost).

The product of two examples of a union is the mean over all its blocks. Capping an example's weight by how
often it was drawn, or by how much it weighs, is the same as having it in the set so many times.
"""

from __future__ import annotations

from math import log

import numpy as np

from recrawl.compiled import hurried, quick
from recrawl.learn.experts.margins import add_products, cubed, decided, examples
from recrawl.model import Bools, Floats, Ints


@quick
def bagged(kernel: Floats, y: Floats, c: float, draws: Floats) -> float:
    """The share of the machines that say yes, from -1 to 1. `draws` (n_machines, n) are numbers from 0 to 1,
    one for each example drawn."""
    n = len(y)
    votes = 0.0
    for draw in draws:
        cap = np.zeros(n)
        for k in range(n):
            cap[min(int(draw[k] * n), n - 1)] += c
        drawn = np.flatnonzero(cap > 0.0)
        rows = np.append(drawn, n)
        some = np.empty((len(rows), len(drawn)))
        for i in range(len(rows)):
            for j in range(len(drawn)):
                some[i, j] = kernel[rows[i], drawn[j]]
        votes += np.sign(decided(some, y[drawn], cap[drawn])[len(drawn)])
    return votes / max(len(draws), 1)


@quick
def boosted(kernel: Floats, y: Floats, c: float, n_machines: int) -> float:
    """What the machines say, weighed by how often each is right, from -1 to 1. A machine that is always right
    is the last one, and so is one that is no better than a coin, which does not count."""
    n = len(y)
    weight = np.full(n, 1.0 / max(n, 1))
    total, said = 0.0, 0.0
    for k in range(n_machines):
        machine = decided(kernel, y, c * n * weight)
        wrong = 0.0
        for i in range(n):
            if (machine[i] > 0.0) != (y[i] > 0.0):
                wrong += weight[i]
        if wrong <= 1e-12 or wrong >= 0.5:
            if k == 0:
                return float(np.sign(machine[n]))
            if wrong < 0.5:  # its weight has no bound: as much as all the others
                said += max(total, 1.0) * np.sign(machine[n])
                total += max(total, 1.0)
            break
        trust = 0.5 * log((1.0 - wrong) / wrong)
        said += trust * np.sign(machine[n])
        total += trust
        for i in range(n):
            weight[i] *= np.exp(-trust if (machine[i] > 0.0) == (y[i] > 0.0) else trust)
        weight /= weight.sum()
    return said / total if total > 0.0 else 0.0


@hurried
def together(
    bands: Floats, values: Floats, relation: Floats, share: Floats, so: Bools, usable: Bools, at: Ints,
    n_train: int, ahead: int, n_blocks: int, c: float, coef0: float, way: int, draws: Floats, n_machines: int,
) -> Floats:  # fmt: skip
    """What a page and its kin say together of a change `ahead` of the steps `at`. The first page is the one
    itself, of which nothing is related. `way`: 0 union, 1 bagging, 2 boosting."""
    said = np.zeros(len(at))
    n_own = values.shape[2]
    nothing = np.zeros((values.shape[1], 0))
    for place in range(len(at)):
        rows = examples(usable, at[place], n_train, ahead)
        n = len(rows) - 1
        y = np.where(so[rows[:n]], 1.0, -1.0)
        kernel = np.zeros((n + 1, n))
        for page in range(len(bands)):
            add_products(bands[page], values[page], share[:n_own], rows, kernel)
            if page > 0:
                add_products(nothing, relation[page], share[n_own:], rows, kernel)
        cubed(kernel, n_blocks, coef0)
        if way == 1:
            said[place] = bagged(kernel, y, c, draws[:, : max(n, 1)])
        elif way == 2:
            said[place] = boosted(kernel, y, c, n_machines)
        else:
            said[place] = decided(kernel, y, np.full(n, c))[n]
    return said
