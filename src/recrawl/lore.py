"""What resources teach each other, kept in step with the store and with other workers.

Counts are noted in the store: every worker adds what it has counted since it last did, and goes by the sum.
Whatever else there is to know comes out of the visits in the store: each worker overhears those that it has
not learned from itself, at its first pricing the newest of all, and then those recorded since. So nothing is
lost with a worker but what it counted since it last noted it, and what a worker does at each pricing is in
proportion to the new visits, however many the store holds.
"""

from __future__ import annotations

import json

import numpy as np

from recrawl.contracts import Forgetting, Predictor, Shared, Store
from recrawl.learn.parted import parts_of
from recrawl.model import Bools, Floats, Seen

# Where there are more counts than so many, all together, a tenth of all is let go, so that old habits can be
# unlearned. One change is about four of them: expected and found, for all resources and for those like it.
MOST_COUNTED = 400_000.0
SPARED = 0.9


class Lore:
    """Of a predictor that is `Shared`; with any other it does nothing."""

    def __init__(self, store: Store, predictor: Predictor) -> None:
        self._store = store
        self._predictor = predictor if isinstance(predictor, Shared) else None
        self._notes = [_Note(store, part) for part in parts_of(predictor) if isinstance(part, Shared)]
        self._mark = 0
        self._own: list[Seen] = []  # learned from here since visits were last overheard
        self.behind = self._predictor is not None  # whether visits of others were never overheard

    def take_up(self) -> None:
        """Begin from what was last noted."""
        for note in self._notes:
            note.take_up()

    def share_with(self, other: Predictor) -> Predictor:
        """Another predictor of the same kind, that knows what all resources have taught."""
        if self._predictor is not None and isinstance(other, Shared):
            other.take_lore(self._predictor.lore())
        return other

    def learned(self, seen: Seen) -> None:
        """These visits were learned from here."""
        if self._predictor is not None and len(seen):
            self._own.append(seen)

    def catch_up(self) -> None:
        """Note what was counted here, and go by what all have counted and seen."""
        if self._predictor is None:
            return
        self.put()
        seen, self._mark = self._store.heard(self._mark, self._predictor.n_heard)
        self._predictor.overhear(seen.pick(~_among(seen, self._own)))
        self._own.clear()
        self.behind = False

    def put(self) -> None:
        """Add what was counted here to what is noted, and go by the sum."""
        for note in self._notes:
            note.put()

    def begin_anew(self) -> None:
        """Forget all that was counted; what is noted stays until `put_anew`."""
        for note in self._notes:
            note.predictor.take_lore(np.zeros_like(note.predictor.lore()))

    def put_anew(self) -> None:
        """What was counted here takes the place of what is noted."""
        for note in self._notes:
            self._store.note(note.key, json.dumps(note.predictor.lore().tolist()))


class _Note:
    """What is noted of one predictor, or of one that another is made of."""

    def __init__(self, store: Store, predictor: Shared) -> None:
        self._store = store
        self.predictor = predictor
        self.key = f"lore:{type(predictor).__qualname__}"
        self._noted: str | None = None  # what was noted when this worker last looked …
        self._counted: Floats | None = None  # … and what it went by then

    def take_up(self) -> None:
        self._noted = self._store.note(self.key)
        lore = self._read(self._noted)
        if lore is not None:
            self.predictor.take_lore(lore)
            self._counted = self.predictor.lore()

    def put(self) -> None:
        mine = self.predictor.lore()
        since = np.zeros_like(mine) if self._counted is None else self._counted
        gained = mine != since
        while True:
            noted = self._store.note(self.key)
            known = self._read(noted) if noted != self._noted else None
            total = mine if known is None or known.shape != mine.shape else self._joined(known, mine, since)
            if total.sum() > MOST_COUNTED:
                total = self._lessened(total, SPARED * MOST_COUNTED / total.sum())
            written = json.dumps(total.tolist()) if gained.any() else noted
            if written == noted or written is None or self._store.exchange(self.key, noted, written):
                break
        self._noted, self._counted = written, total
        if total is not mine:  # else it goes by that already
            self.predictor.take_lore(total)

    def _joined(self, known: Floats, mine: Floats, since: Floats) -> Floats:
        if isinstance(self.predictor, Forgetting):
            return self.predictor.joined(known, since)
        return known + np.maximum(mine - since, 0.0)

    def _lessened(self, lore: Floats, share: float) -> Floats:
        if isinstance(self.predictor, Forgetting):
            return self.predictor.lessened(lore, share)
        return lore * share

    def _read(self, noted: str | None) -> Floats | None:
        if noted is None:
            return None
        lore = np.array(json.loads(noted), dtype=np.float64)
        # noted before lore told how often half of it was let go
        older = isinstance(self.predictor, Forgetting) and len(lore) == len(self.predictor.lore()) - 1
        return np.append(lore, 0.0) if older else lore


def _among(seen: Seen, own: list[Seen]) -> Bools:
    """Which of these visits are among those."""
    if not own:
        return np.zeros(len(seen), dtype=np.bool_)
    known = np.concatenate([one.id + 1j * one.at for one in own])
    return np.asarray(np.isin(seen.id + 1j * seen.at, known), dtype=np.bool_)
