"""Support vector machines of some fifty examples each, some thousands a second.

The soft margin's dual is solved by sequential minimal optimisation, two examples at a time: the one that
violates its condition most, and the one with which most is gained (Fan, Chen and Lin 2005). It is the problem
that scikit-learn's SVC solves, and a test holds the two to the same decisions; a call of SVC takes some 0.9
ms here, this 0.02. The kernel is a polynomial of degree 3.

A window slides over the steps: what the machine learns from are the examples of `n_train` steps, the newest
of which is known for sure at the step it foretells from. Features come in blocks (a kind of features is a
block, and so are the words), and no block may drown another: within a window each column has mean 0 and
spread 1 over the examples, a block of l columns counts 1 / l, and the words' shares are centred and have a
mean square of 1. So the product of two examples is a mean over blocks, of the order of 1, whatever the number
of words. A column that does not vary over the examples says nothing of the step to be foretold either, and
does not count.
"""

from __future__ import annotations

import numpy as np

from recrawl.compiled import hurried, quick
from recrawl.model import Bools, Floats, Ints

_CLOSE = 1e-3  # how far a condition may be violated in the end, as SVC has it
_LONGEST = 20_000  # pairs of examples: no set of fifty needs as many


@quick
def separated(kernel: Floats, y: Floats, cap: Floats, alpha: Floats) -> float:
    """Fills in the weights of the examples, none above its cap; gives the threshold b. `kernel` may have more
    rows than there are examples."""
    n = len(y)
    columns = np.ascontiguousarray(kernel[:n].T)
    bends = np.diag(columns).copy()
    push = y.copy()  # which way each example wants to move the margin, and how much: -y times the slope
    alpha[:] = 0.0
    up, down = (y > 0.0) & (cap > 0.0), (y < 0.0) & (cap > 0.0)  # whether there is room that way
    most, least = 0.0, 0.0
    for _ in range(_LONGEST):
        i, j, gain = -1, -1, 0.0
        most, least = -np.inf, np.inf
        for k in range(n):
            if up[k] and push[k] > most:
                i, most = k, push[k]
        for k in range(n):
            if down[k]:
                violated = most - push[k]
                least = min(least, push[k])
                if violated > 0.0:
                    bend = max(bends[i] + bends[k] - 2.0 * kernel[i, k], 1e-12)
                    if violated * violated / bend > gain:
                        j, gain = k, violated * violated / bend
        if j < 0 or most - least < _CLOSE:
            break
        bend = max(bends[i] + bends[j] - 2.0 * kernel[i, j], 1e-12)
        room_i = cap[i] - alpha[i] if y[i] > 0.0 else alpha[i]
        room_j = alpha[j] if y[j] > 0.0 else cap[j] - alpha[j]
        by = min((most - push[j]) / bend, room_i, room_j)
        # at a bound it stands exactly there: a rest of 1e-17 would be moved to and fro for ever
        alpha[i] = (cap[i] if y[i] > 0.0 else 0.0) if by == room_i else alpha[i] + y[i] * by
        alpha[j] = (0.0 if y[j] > 0.0 else cap[j]) if by == room_j else alpha[j] - y[j] * by
        for k in (i, j):
            below, above = alpha[k] > 0.0, alpha[k] < cap[k]
            up[k], down[k] = (above, below) if y[k] > 0.0 else (below, above)
        for k in range(n):
            push[k] -= by * (columns[i, k] - columns[j, k])
    total, n_free = 0.0, 0
    for k in range(n):
        if 0.0 < alpha[k] < cap[k]:
            total += push[k]
            n_free += 1
    if n_free:
        return total / n_free
    return (most + least) / 2.0


@quick
def machine(kernel: Floats, y: Floats, cap: Floats, alpha: Floats) -> float:
    """As `separated`, whatever the examples: of one kind alone, that kind by a margin; none: 0."""
    n, n_so = len(y), 0
    for k in range(n):
        n_so += int(y[k] > 0.0)
    alpha[:] = 0.0
    if n == 0:
        return 0.0
    return float(y[0]) if n_so in (0, n) else separated(kernel, y, cap, alpha)


@quick
def says(kernel: Floats, y: Floats, alpha: Floats, b: float) -> Floats:
    """What a machine says of each row of the kernel."""
    said = np.full(len(kernel), b)
    for k in range(len(y)):
        if alpha[k] > 0.0:
            for row in range(len(kernel)):
                said[row] += alpha[k] * y[k] * kernel[row, k]
    return said


@quick
def decided(kernel: Floats, y: Floats, cap: Floats) -> Floats:
    """What the machine says of each row of the kernel: of its examples, and of what is to be foretold, the
    last. Above 0: a change."""
    alpha = np.empty(len(y))
    b = machine(kernel, y, cap, alpha)
    return says(kernel, y, alpha, b)


@quick
def examples(usable: Bools, t: int, n_train: int, ahead: int) -> Ints:
    """The steps with examples to foretell from step t, and at the end t itself."""
    rows = np.empty(n_train + 1, dtype=np.int64)
    n = 0
    for s in range(max(t - ahead - n_train + 1, 0), t - ahead + 1):
        if usable[s]:
            rows[n] = s
            n += 1
    rows[n] = t
    return rows[: n + 1]


@quick
def add_products(
    band: Floats, values: Floats, share: Floats, rows: Ints, onto: Floats, since: int = 0
) -> None:
    """Adds the products of rows (the last is to be foretold) with the examples among them, all blocks
    together. `band[s, d]` is the product of the words at steps s and s - d; `share` what a column counts.
    Of rows before the `since`-th there is no need."""
    n = len(rows) - 1
    if n == 0:
        return
    away = np.empty(n + 1)
    for c in range(values.shape[1]):
        mean, square = 0.0, 0.0
        for i in range(n):
            mean += values[rows[i], c] / n
        for i in range(n + 1):
            away[i] = values[rows[i], c] - mean
        for i in range(n):
            square += away[i] ** 2 / n
        if square <= 1e-12 * (1.0 + mean * mean):
            continue
        for i in range(since, n + 1):
            scaled = share[c] * away[i] / square
            for j in range(n):
                onto[i, j] += scaled * away[j]
    if band.shape[1] == 0:
        return
    product, row_mean = np.empty((n + 1, n)), np.zeros(n + 1)
    for i in range(n + 1):
        for j in range(min(i + 1, n)):
            product[i, j] = band[rows[i], rows[i] - rows[j]]
            if i < n:
                product[j, i] = product[i, j]
    mean, square = 0.0, 0.0
    for i in range(n + 1):
        for j in range(n):
            row_mean[i] += product[i, j] / n
    for i in range(n):
        mean += row_mean[i] / n
        square += product[i, i] / n
    square -= mean
    if square <= 1e-12 * (1.0 + abs(mean)):
        return
    for i in range(since, n + 1):
        for j in range(n):
            onto[i, j] += (product[i, j] - row_mean[i] - row_mean[j] + mean) / square


@quick
def cubed(products: Floats, n_blocks: int, coef0: float) -> None:
    for i in range(products.shape[0]):
        for j in range(products.shape[1]):
            products[i, j] = (products[i, j] / n_blocks + coef0) ** 3


@hurried
def alone(
    bands: Floats, values: Floats, share: Floats, so: Bools, usable: Bools, at: Ints,
    n_train: int, ahead: int, n_blocks: int, c: float, coef0: float,
) -> Floats:  # fmt: skip
    """Each of some pages by itself: what it says of a change `ahead` of the steps `at`, (n_pages, len(at)).
    `so[s]` is what came of the example of step s."""
    said = np.zeros((len(bands), len(at)))
    for place in range(len(at)):
        rows = examples(usable, at[place], n_train, ahead)
        n = len(rows) - 1
        y = np.where(so[rows[:n]], 1.0, -1.0)
        cap = np.full(n, c)
        for page in range(len(bands)):
            products = np.zeros((n + 1, n))
            add_products(bands[page], values[page], share, rows, products)
            cubed(products, n_blocks, coef0)
            said[page, place] = decided(products, y, cap)[n]
    return said


@hurried
def trained(
    bands: Floats, values: Floats, share: Floats, rows: Ints, y: Floats, n_blocks: int, c: float, coef0: float
) -> tuple[Floats, Floats]:
    """Of each page by itself: the weights of its examples, all rows but the last, and the threshold."""
    n = len(y)
    alpha, b = np.zeros((len(bands), n)), np.zeros(len(bands))
    for page in range(len(bands)):
        products = np.zeros((n + 1, n))
        add_products(bands[page], values[page], share, rows, products)
        cubed(products, n_blocks, coef0)
        b[page] = machine(products, y, np.full(n, c), alpha[page])
    return alpha, b


@hurried
def again(
    bands: Floats, values: Floats, share: Floats, rows: Ints, y: Floats, n_blocks: int, coef0: float,
    alpha: Floats, b: Floats,
) -> Floats:  # fmt: skip
    """What such machines say of the last row."""
    n = len(y)
    said = np.zeros(len(bands))
    for page in range(len(bands)):
        products = np.zeros((n + 1, n))
        add_products(bands[page], values[page], share, rows, products, n)
        cubed(products[n:], n_blocks, coef0)
        said[page] = says(products[n:], y, alpha[page], b[page])[0]
    return said
