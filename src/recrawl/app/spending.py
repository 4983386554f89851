"""What is left of the budget in force: that of the last pricing, or of the settings where there was none."""

from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING

from recrawl.purse import Purse
from recrawl.terms import noted_terms

if TYPE_CHECKING:
    from recrawl.app.build import House


def purse_of(house: House) -> Purse:
    terms, limits = noted_terms(house.store), house.config.schedule.limits
    if terms is None:
        purse = Purse(house.store, limits.visits_per_day, limits.bytes_per_day)
        purse.mean_bytes = 1.0
    else:
        purse = Purse(house.store, terms.per_day, terms.bytes_per_day)
        purse.mean_bytes = terms.mean_bytes
    return purse


def free_at(house: House, now: float) -> float:
    """When the budget has a visit free; NaN where it has one now."""
    purse = purse_of(house)
    return nan if purse.n_free(now) else purse.ready_at(now)
