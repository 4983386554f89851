"""Rate classes: a few intervals of change, one of which every resource is taken to have.

The tables are those of Barbosa and others (2005). What the paper calls visitation rate or change frequency is
an interval.
"""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.model.units import DAY_S


@dataclass(frozen=True, slots=True, kw_only=True)
class RateClass:
    """Whoever is in it is visited every `interval_s`. After `window` visits the share of them that found a
    change decides: below `low` it moves to the next slower class, above `high` to the next faster one."""

    name: str
    interval_s: float
    window: int
    low: float
    high: float


def _classes(low: float, high: float, *rows: tuple[str, float, int]) -> tuple[RateClass, ...]:
    return tuple(
        RateClass(name=name, interval_s=days * DAY_S, window=window, low=low, high=high)
        for name, days, window in rows
    )


# The paper's example of a configuration …
TABLE_2 = _classes(
    *(0.3, 0.7),
    ("one_day", 1.0, 10),
    ("one_week", 7.0, 8),
    ("one_month", 30.0, 6),
    ("greater_month", 100.0, 2),
)
# … and the one that its figures were made with: the groups that k-means found, the windows that did best.
TABLE_4 = _classes(
    *(0.2, 0.8),
    ("group_0", 1.0, 3),
    ("group_1", 3.0, 2),
    ("group_2", 31.0, 2),
    ("group_3", 96.0, 1),
)
