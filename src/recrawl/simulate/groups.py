"""Which resources of a walk belong together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recrawl.model import Floats, Ints


class Groups(NamedTuple):
    """Group 0 is for resources of none."""

    of: Ints  # each resource's
    slot: Ints  # where each one's stirs are; -1: it has one member
    member: Ints  # as the predictor has it
    order: Ints  # the resources, group by group …
    ends: Ints  # … and where each begins
    risen_s: Floats  # how much further each one's clock has gone than was thought; inf: far enough


def grouped(group: Ints) -> tuple[Groups, int]:
    """And how many groups have several members."""
    counts = np.bincount(group, minlength=1)
    several = counts > 1
    order = np.argsort(group, kind="stable")
    return (
        Groups(
            group,
            np.where(several, np.cumsum(several) - 1, -1).astype(np.int64),
            np.zeros(len(counts), dtype=np.int64),
            order.astype(np.int64),
            np.searchsorted(group[order], np.arange(len(counts) + 1)).astype(np.int64),
            np.zeros(len(counts)),
        ),
        int(several.sum()),
    )
