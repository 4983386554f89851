"""What a person wants of one resource at once: a visit as soon as its host and the budget allow."""

from __future__ import annotations

from math import nan

import numpy as np

from recrawl.contracts import Store
from recrawl.errors import ConflictError
from recrawl.model import ASKED, Plans, Resource


def soon(store: Store, resource: Resource, now: float) -> None:
    """It is due now, in turn with all else that is, and stays so until somebody has looked: no pricing puts
    it off. Its gap stays what it was, since the visit after this one is planned from that."""
    if resource.effective.paused:
        raise ConflictError(f"{resource.url} is paused, and so is not visited; resume it first.")
    standing, plan = store.standing(resource.id)
    store.replan(
        Plans(
            id=np.array([resource.id], dtype=np.int64),
            since_at=np.array([nan]),
            due_at=np.array([now]),
            gap_s=np.array([standing.gap_s]),
            p_changed=np.array([nan]),
            per_day=np.array([plan.per_day if plan else nan]),
            bound=np.zeros(1, dtype=np.int8),
            price=plan.price if plan else nan,
            rule=ASKED,
            planned_at=now,
        )
    )
