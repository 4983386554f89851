"""The kin of a resource, for people: who they are, and which of them were seen to change since its last
visit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan

import numpy as np

from recrawl.app.watchlist import url_of
from recrawl.contracts import Store
from recrawl.model import Changed

N_ASKED = 16  # visits of each: who was visited oftener since then without a change told nothing lately


@dataclass(frozen=True, slots=True)
class Relative:
    id: int
    url: str
    weight: float  # how likely the resource has changed when this one is seen to, beyond what is usual
    told_at: float  # when it was first seen to change since the resource's last visit; NaN: it was not


def relatives(store: Store, resource_id: int, since_at: float) -> Sequence[Relative]:
    """The nearest first."""
    table = store.kin(np.array([resource_id], dtype=np.int64))
    table = table.pick(np.argsort(-table.weight, kind="stable"))
    found = []
    for of, weight in zip(table.of.tolist(), table.weight.tolist(), strict=True):
        changes = [visit.at for visit in store.visits(of, N_ASKED) if visit.changed is Changed.YES]
        told = [at for at in changes if at > since_at]
        found.append(Relative(of, url_of(store, of), weight, min(told, default=nan)))
    return found
