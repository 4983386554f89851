"""The rounds that were made, with what they should have taken and what they took: a note in the store."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from recrawl.app.quantity import iso
from recrawl.app.rows import Row
from recrawl.contracts import Store

NOTE = "rounds"
N_KEPT = 200
N_ENOUGH, N_SPREAD = 3, 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """A round: what it was made of and how long it should take; then how long it took."""

    began_at: float
    every_s: float
    n_due: int
    n_chosen: int
    low_s: float
    middle_s: float
    high_s: float
    n_visits: int = 0
    took_s: float = 0.0
    guessed: bool = False  # nothing had ever been visited

    @property
    def error(self) -> float:
        """By which share of the real time the estimate was too long."""
        return self.middle_s / self.took_s - 1.0 if self.took_s > 0.0 else 0.0


def keep(store: Store, made: Sized) -> None:
    """Of the newest rounds; older ones are forgotten."""
    while True:
        noted = store.note(NOTE)
        rows = json.loads(noted) if noted else []
        if store.exchange(NOTE, noted, json.dumps([*rows, asdict(made)][-N_KEPT:])):
            return


def spread(rounds: Sequence[Sized]) -> tuple[float, float]:
    """How much shorter and longer than estimated rounds really are, as factors: what the newest of them show,
    where there are enough. Those count that ended by themselves and were no guess."""
    whole = [one for one in rounds if not one.guessed and one.n_visits == one.n_chosen and one.middle_s > 0.0]
    if len(whole) < N_ENOUGH:
        return 1.0, 1.0
    low, high = np.quantile([one.took_s / one.middle_s for one in whole[-N_SPREAD:]], [0.05, 0.95]).tolist()
    return min(low, 1.0), max(high, 1.0)


def round_row(made: Sized) -> Row:
    return {**asdict(made), "began_at": iso(made.began_at), "error": made.error}


def past(store: Store) -> list[Sized]:
    """The newest rounds, oldest first."""
    noted = store.note(NOTE)
    return [Sized(**row) for row in json.loads(noted)] if noted else []
