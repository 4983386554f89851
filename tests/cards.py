"""Visits and plans as columns, to make report cards of."""

from __future__ import annotations

from math import ceil, inf, nan

import numpy as np

from recrawl.evaluate.card.card import card
from recrawl.evaluate.card.figures import Card
from recrawl.evaluate.card.past import Past
from recrawl.model import DAY_S, Floats, Hosts, Ints, Looked, Prospects

END_AT = 1_700_000_000.0


def looked(**columns: object) -> Looked:
    n = len(columns["at"])  # type: ignore[arg-type]
    blank = {
        "id": np.arange(1, n + 1),
        "since_at": np.full(n, nan),
        "due_at": np.full(n, nan),
        "informative": np.ones(n, dtype=np.bool_),
        "changed": np.zeros(n, dtype=np.int8),
        "event_at": np.full(n, nan),
        "p_changed": np.full(n, nan),
        "per_day": np.full(n, nan),
    }
    return Looked(**{name: np.asarray(column) for name, column in (blank | columns).items()})


def prospects(rate_per_day: Floats, gap_s: Floats, since_at: Floats) -> Prospects:
    """Of rates that are known for sure."""
    n = len(rate_per_day)
    return Prospects(
        id=np.arange(1, n + 1),
        group=np.arange(1, n + 1),
        weight=np.ones(n),
        min_gap_s=np.full(n, 60.0),
        max_gap_s=np.full(n, 1e4 * DAY_S),
        paused=np.zeros(n, dtype=np.bool_),
        since_at=since_at,
        gap_s=gap_s,
        p_changed=-np.expm1(-rate_per_day * gap_s / DAY_S),
        per_day=rate_per_day,
    )


def hosts(n: int, n_failures: Ints | None = None) -> Hosts:
    return Hosts(
        id=np.arange(1, n + 1),
        name=tuple(f"h{i}.example" for i in range(1, n + 1)),
        rest_s=np.ones(n),
        gate_at=np.full(n, -inf),
        n_failures=np.zeros(n, dtype=np.int64) if n_failures is None else n_failures,
    )


def tallied(seen: Looked, days: float) -> Ints:
    turn = ((END_AT - seen.at) // DAY_S).astype(np.int64)
    counts = np.zeros((ceil(days), 4), dtype=np.int64)
    none = np.zeros(len(seen))
    np.add.at(counts, turn, np.column_stack([none + 1, seen.changed == 1, ~seen.informative, none]))
    return counts


def told(seen: Looked, some: Prospects, *, per_day: float = nan, days: float = 7.0) -> Card:
    return card(
        Past(
            looked=seen,
            tally=tallied(seen, days),
            prospects=some,
            hosts=hosts(len(some)),
            from_at=END_AT - days * DAY_S,
            until_at=END_AT,
            rule="index:fresh",
            per_day=per_day,
        )
    )
