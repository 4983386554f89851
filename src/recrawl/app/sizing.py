"""What a round is made of: so much of what is due that it ends before the next begins."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from recrawl.app.capacity import due_by, known
from recrawl.app.ledger import Sized, past, spread
from recrawl.live.turns import Round
from recrawl.loop import Loop

if TYPE_CHECKING:
    from recrawl.app.build import House


def sized(house: House, loop: Loop, every_s: float, *, asks_robots: bool) -> tuple[Sized, Round]:
    """The longest overdue first, no more than the allowance has and than can be visited in time. Where rounds
    took longer than estimated, later ones hold less."""
    now = house.clock.now()
    if loop.must_reprice(now):
        loop.reprice(now)
    have = known(house)
    asked = due_by(house.store.planned(), have.hosts, now)
    n_due = len(asked.place)
    n_free = loop.n_free(now)
    n_workers = house.config.fetching.concurrency
    model, order = have.model(asked, asks_robots=asks_robots)
    shorter, longer = spread(past(house.store))
    within = model.fitting(every_s / longer, n_workers)
    if within.sum() > n_free:
        rows = np.flatnonzero(within)
        within[rows[np.argsort(model.load.key[rows], kind="stable")[int(n_free) :]]] = False
    rows = np.flatnonzero(within)
    rows = rows[model.load.only(rows).risky_last()]
    model = replace(model, load=model.load.only(rows))
    estimate = model.estimate(n_workers)
    made = Sized(
        began_at=now,
        every_s=every_s,
        n_due=n_due,
        n_chosen=len(model.load),
        low_s=min(estimate.low_s, shorter * estimate.middle_s),
        middle_s=estimate.middle_s,
        high_s=max(estimate.high_s, longer * estimate.middle_s),
        guessed=have.paces.guessed,
    )
    turns: dict[str, list[tuple[float, int]]] = {}
    ids = asked.id[order][rows]
    for place, due_at, resource_id in zip(
        model.load.place.tolist(), model.load.key.tolist(), ids.tolist(), strict=True
    ):
        turns.setdefault(have.names[place], []).append((due_at, resource_id))
    return made, Round(loop, turns, now, now + every_s, house.clock.speed)
