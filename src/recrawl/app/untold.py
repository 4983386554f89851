"""Whose visits may not tell of changes, by what the store has of them."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto
from itertools import pairwise
from math import isfinite

import numpy as np

from recrawl.contracts import Store
from recrawl.evaluate.budgets.untold import Doubts, Why
from recrawl.live.asking import FULL_EVERY
from recrawl.model import DAY_S, Changed, Ints, Outcome, Standing, Visit

N_EACH = 16  # visits, the newest


class Server(Enum):
    """What is to be thought of a server's "not modified"."""

    NEVER_SAID = auto()
    VOUCHED = auto()  # it said otherwise when something had changed, or a look of our own found it right
    SILENT = auto()  # it said nothing else: who knows
    CAUGHT = auto()  # a look of our own has found a change, and it had never told of one


def judged(standing: Standing, visits: Sequence[Visit]) -> Server:
    """By a resource's newest visits, newest first."""
    told = [visit for visit in visits if visit.informative]
    if all(visit.outcome is not Outcome.NOT_MODIFIED for visit in told):
        return Server.NEVER_SAID
    ours: set[Changed] = set()
    for n_later, (visit, before) in enumerate(pairwise(told)):
        if visit.outcome is not Outcome.OK or before.outcome is Outcome.GONE:
            continue
        if (standing.n_informative - n_later) % FULL_EVERY:
            return Server.VOUCHED  # asked whether anything had changed, it answered that it had
        ours.add(visit.changed)
    if Changed.YES in ours:
        return Server.CAUGHT
    return Server.VOUCHED if ours else Server.SILENT


def doubts_of(store: Store, ids: Ints) -> Doubts:
    """Among these resources."""
    seen = store.lately(ids, N_EACH).folded()
    told, changed = np.isfinite(seen.told_at), seen.changed == 1
    denied = set(seen.id[told & ~changed].tolist())
    found: list[tuple[int, Why, float]] = []
    n_vouched = n_shown = 0
    for key in ids.tolist():
        standing, _ = store.standing(key)
        visits, masks = list(store.visits(key, N_EACH)), standing.noise.masks
        server = judged(standing, visits)
        n_vouched += server is Server.VOUCHED
        if server is Server.CAUGHT:
            found.append((key, Why.CAUGHT, 0.0))
        elif server is Server.SILENT:
            found.append((key, Why.DENOUNCED if key in denied else Why.DENIED, 0.0))
        elif masks and _changed_since(visits, max(mask.at for mask in masks)):
            n_shown += 1
        elif masks:
            gap_s = standing.gap_s if isfinite(standing.gap_s) else DAY_S  # it had differed before it was one
            often = max((mask.n_differed + 1) / (standing.since_at - mask.at + gap_s) for mask in masks)
            found.append((key, Why.MASKED, often))
        elif not standing.n_changes:
            found.append((key, Why.QUIET, 0.0))
    columns = list(zip(*found, strict=True)) or [(), (), ()]
    doubted = np.array(columns[0], dtype=np.int64)
    others = told & ~np.isin(seen.id, doubted)
    return Doubts(
        id=doubted,
        why=np.array(columns[1], dtype=np.int64),
        differed_per_s=np.array(columns[2], dtype=np.float64),
        n_asked=len(ids),
        n_vouched=n_vouched,
        n_shown=n_shown,
        n_right=int((others & changed).sum()),
        n_wrong=int((others & ~changed).sum()),
    )


def _changed_since(visits: Sequence[Visit], at: float) -> bool:
    return any(visit.changed is Changed.YES and visit.at > at for visit in visits)
