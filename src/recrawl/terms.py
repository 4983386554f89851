"""The terms of the last run: what its price was found for. The store keeps them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field

from recrawl.contracts import Store

BACK_S = 60.0  # clocks are corrected by less all the time, and differ by less: they were not set back


@dataclass(frozen=True, slots=True)
class Terms:
    """`price` is infinite where the largest gaps alone ask for `demand_per_day`, more than the budget has."""

    rule: str  # "index:fresh", "uniform" …
    per_day: float | None
    price: float
    demand_per_day: float
    priced_at: float
    said: str | None  # the store's mark of what was said up to then
    bytes_per_day: float | None = None
    mix: float = 0.0  # how much of a visit's cost is its weight in bytes
    mean_bytes: float = 1.0  # of a visit
    relooks: tuple[float, float] | None = None  # at what was given up: seconds to the second, and to the next
    dear: dict[str, float] = field(default_factory=dict)  # the prices of full hosts, by their numbers
    busy_s: dict[str, float] = field(default_factory=dict)  # how long a visit keeps those hosts

    def written(self) -> str:
        return json.dumps(asdict(self))


def noted_terms(store: Store) -> Terms | None:
    """The terms that the store was last priced for."""
    kept = store.note("terms")
    return None if kept is None else Terms(**json.loads(kept))
