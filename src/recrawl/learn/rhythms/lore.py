"""What all resources together taught, in one row: the counts of habits, and of everybody's calendar.

With the calendar goes how often half of its counts was let go: whoever else counts with it lets go as much of
what both knew.
"""

from __future__ import annotations

import numpy as np

from recrawl.learn.rhythms.beats import Common
from recrawl.learn.rhythms.calendars import N_KINDS, Calendars, settle
from recrawl.learn.rhythms.habits import counted
from recrawl.model import Floats

N_OF_ALL = 2 * N_KINDS + 3  # changes counted and expected, two losses, and how often half was let go


def lore_of(common: Common) -> Floats:
    """As `taught` takes it."""
    habits, calendars = common.habits, common.calendars
    of_all = (calendars.n[0], calendars.x[0], calendars.loss[0], calendars.halved[:1])
    return np.concatenate([habits.n.ravel(), habits.x.ravel(), *of_all])


def taught(common: Common, lore: Floats) -> Common:
    """The same, going by these counts; by its own, where nothing of this kind counted those."""
    n_cells, shape = common.habits.n.size, common.habits.n.shape
    if lore.shape != (2 * n_cells + N_OF_ALL,) or not np.isfinite(lore).all() or (_counts(lore) < 0.0).any():
        return common
    n, x, of_all = np.split(lore, [n_cells, 2 * n_cells])
    _go_by(common.calendars, of_all)
    return common._replace(habits=counted(n.reshape(shape), x.reshape(shape)))


def joined(noted: Floats, mine: Floats, since: Floats) -> Floats:
    """What is noted, and what was counted here since it was so. What was let go at either side is let go at
    both, once: who goes by the same counts lets go of half in the same hour. Where less was let go than
    before, all was learned anew meanwhile, and of that nothing was let go here."""
    own, others = mine[-1] - since[-1], max(noted[-1] - since[-1], 0.0)
    rest, kept, gained = np.ones((3, len(mine)))
    rest[-N_OF_ALL:-1] = 0.5**own
    kept[-N_OF_ALL:-1] = 0.5 ** max(own - others, 0.0)
    gained[-N_OF_ALL:-1] = 0.5 ** max(others - own, 0.0)
    total = np.asarray(noted * kept + (mine - since * rest) * gained)
    np.maximum(_counts(total), 0.0, out=_counts(total))  # by a rounding
    total[-1] = noted[-1] + max(own - others, 0.0)
    return total


def lessened(lore: Floats, share: float) -> Floats:
    """With so much of all counts; how often half was let go is no count."""
    return np.append(lore[:-1] * share, lore[-1])


def _counts(lore: Floats) -> Floats:
    """Without the losses, which may be less than nothing where moments are known."""
    return lore[:-3]


def _go_by(calendars: Calendars, of_all: Floats) -> None:
    calendars.n[0], calendars.x[0] = of_all[:N_KINDS], of_all[N_KINDS : 2 * N_KINDS]
    calendars.loss[0], calendars.halved[0] = of_all[2 * N_KINDS : -1], of_all[-1]
    settle(calendars, 0)
