"""Own time for many resources at once: how much passes, and when so much has passed.

The same as `learn.rhythms.beats` has for one resource, in closed form: sums over a group's cells are made
once, so that the price of a million resources is found without a loop over them (tests/unit/test_clocks.py
holds the two to the same times).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recrawl.learn.rhythms.stirs import FINEST_S, N_CELLS, Cells, Stirs
from recrawl.model import Floats, Ints


@dataclass(frozen=True)
class Clocks:
    """One for each resource: its group's, as far as it heeds that. Times are seconds after the last visit;
    what the clock shows counts from where its cells begin."""

    group: Ints  # its group's place in the arrays below
    heed: Floats
    begin_s: Floats  # where the cells begin
    wide_s: Floats  # (groups,)
    rate: Cells  # (groups, N_CELLS)
    passed_s: Floats  # (groups, N_CELLS + 1): what the group's clock shows where each cell begins

    def shown_s(self, t_s: Floats) -> Floats:
        """What it shows at these times."""
        after_s = t_s - self.begin_s
        wide_s = self.wide_s[self.group]
        cell = np.clip(np.floor(after_s / wide_s), 0, N_CELLS - 1).astype(np.int64)
        inside_s = np.clip(after_s - cell * wide_s, 0.0, wide_s)
        within = self.passed_s[self.group, cell] + self.rate[self.group, cell] * inside_s
        outside_s = np.minimum(after_s, 0.0) + np.maximum(after_s - N_CELLS * wide_s, 0.0)
        return np.asarray((1.0 - self.heed) * after_s + self.heed * (within + outside_s))

    def rates(self, t_s: Floats) -> Floats:
        """How fast it runs then."""
        cell = np.floor((t_s - self.begin_s) / self.wide_s[self.group])
        inside = (cell >= 0) & (cell < N_CELLS)
        rate = self.rate[self.group, np.where(inside, cell, 0).astype(np.int64)]
        return np.where(inside, 1.0 - self.heed + self.heed * rate, 1.0)

    def when_s(self, shown_s: Floats) -> Floats:
        """At what time it shows this."""
        wide_s, heed = self.wide_s[self.group], self.heed
        low = np.zeros(np.shape(shown_s), dtype=np.int64)
        step = N_CELLS // 2
        while step:  # the last cell that begins before
            begun_s = (1.0 - heed) * (low + step) * wide_s + heed * self.passed_s[self.group, low + step]
            low = np.where(begun_s <= shown_s, low + step, low)
            step //= 2
        begun_s = (1.0 - heed) * low * wide_s + heed * self.passed_s[self.group, low]
        rate = np.maximum(1.0 - heed + heed * self.rate[self.group, low], 1e-12)
        end_s = (1.0 - heed) * N_CELLS * wide_s + heed * self.passed_s[self.group, N_CELLS]
        inside_s = low * wide_s + np.minimum((shown_s - begun_s) / rate, wide_s)
        after_s = np.where(shown_s < 0.0, shown_s, inside_s)
        beyond_s = shown_s - end_s
        return np.asarray(self.begin_s + np.where(beyond_s > 0.0, N_CELLS * wide_s + beyond_s, after_s))


def clocks(stirs: Stirs, slot: Ints, heed: Floats, since_at: Floats) -> Clocks:
    """Of resources that were last looked at then, with their groups' stirs at these places (-1: none)."""
    running = slot >= 0
    running[running] = stirs.level[slot[running]] >= 0
    # the last of them is the world's, for whoever has no other
    slots, group = np.unique(np.where(running, slot, len(stirs.level)), return_inverse=True)
    own = slots < len(stirs.level)
    wide_s, first = np.ones(len(slots)), np.zeros(len(slots))
    rate = np.ones((len(slots), N_CELLS), dtype=np.float32)
    wide_s[own] = FINEST_S * 2.0 ** stirs.level[slots[own]]
    first[own] = stirs.first[slots[own]]
    ahead = stirs.first[slots[own], None] + np.arange(N_CELLS) > stirs.newest[slots[own], None]
    rate[own] = np.where(ahead, 1.0, stirs.rate[slots[own]])
    passed_s = np.zeros((len(slots), N_CELLS + 1))
    passed_s[:, 1:] = np.cumsum(rate, axis=1, dtype=np.float64) * wide_s[:, None]
    return Clocks(
        group,
        np.where(running, heed, 0.0),
        np.where(running, (first * wide_s)[group] - since_at, 0.0),
        wide_s,
        rate,
        passed_s,
    )
