"""Whether a resource has been quiet for longer than was to be expected of it.

When it was last seen to change, its rate was believed to be Gamma(a, b): that nothing would happen in the own
time T that has passed since had the probability (b / (b + T))^a. What is believed by now says nothing of it:
every quiet visit since has brought the forecast down, and has let some of what that rested on go.

A row keeps the mean time between changes as it was believed then, b / a. How firmly it was believed, a, is
what is believed now with the quiet visits since undone: each took the same share of it, down to the prior's.
Where that is reached, nobody knows what it came from; then a is what so many changes in so many visits could
have told at most, which is rather too little, and the probability rather too great.
"""

from __future__ import annotations

import numpy as np

from recrawl.model import Batch, Bools, Floats, Ints

N_BITS = 64
UNLIKELY = 0.01  # a silence that was less probable is reported
SURE_LOST = 1.0 + 1e-6  # times the prior's shape: from here down nobody knows how firm a belief was


def n_quiet(batch: Batch) -> Ints:
    """Visits in a row, up to the last, that found no change; as far back as the recent bits go."""
    bits = batch.bits
    newest = bits & (~bits + np.uint64(1))  # the newest change's bit alone; 0: there is none
    place = np.round(np.log2(np.maximum(newest.astype(np.float64), 1.0))).astype(np.int64)
    n_known = np.clip(batch.n_informative - 1, 0, N_BITS)
    return np.asarray(np.where(newest == 0, n_known, place))


def firmness(batch: Batch, a: Floats, shape: Floats, forgetting: float) -> Floats:
    """How firmly each rate was believed when its last change was seen, from what is believed now."""
    n = n_quiet(batch)
    undone = a / (1.0 - forgetting) ** n
    n_before = np.maximum(batch.n_informative - 1 - n, 1)
    return np.where(a > SURE_LOST * shape, undone, np.minimum(undone, _told(batch, n_before, forgetting)))


def _told(batch: Batch, n_before: Ints, forgetting: float) -> Floats:
    """As many changes as visits at even gaps tell of, when so many of them find one: what each adds to what
    is known of the rate's logarithm, less what was forgotten meanwhile."""
    p = np.clip(batch.n_changes / n_before, 1e-6, 1.0 - 0.5 / (n_before + 1.0))
    each = np.log1p(-p) ** 2 * (1.0 - p) / p
    n_kept = -np.expm1(n_before * np.log1p(-forgetting)) / forgetting if forgetting else n_before
    return np.asarray(each * n_kept)


def p_quiet(firm: Floats, mean_s: Floats, own_s: Floats) -> Floats:
    """The probability of no change in so much own time, of rates that were believed so firmly to have this
    mean time between changes."""
    return np.asarray(np.exp(-firm * np.log1p(np.maximum(own_s, 0.0) / (firm * mean_s))))


def silent(p: Floats) -> Bools:
    return np.asarray(p < UNLIKELY)
