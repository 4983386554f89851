"""The terms of the last run: what its price was found for. The store keeps them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from recrawl.contracts import Store


@dataclass(frozen=True, slots=True)
class Terms:
    """`price` is infinite where the largest gaps alone ask for `demand_per_day`, more than the budget has."""

    rule: str  # "index:fresh", "uniform" …
    per_day: float | None
    price: float
    demand_per_day: float
    priced_at: float
    said: str | None  # the store's mark of what was said up to then

    def written(self) -> str:
        return json.dumps(asdict(self))


def noted_terms(store: Store) -> Terms | None:
    """The terms that the store was last priced for."""
    kept = store.note("terms")
    return None if kept is None else Terms(**json.loads(kept))
