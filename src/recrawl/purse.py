"""What all processes on one store together may still spend, of visits and of bytes. The store notes it."""

from __future__ import annotations

from dataclasses import replace
from math import inf

from recrawl.contracts import Store
from recrawl.schedule.budget import Allowance

VISITS, BYTES = "allowance", "allowance-bytes"


class Purse:
    """Limits are per day; None: there is none."""

    def __init__(self, store: Store, per_day: float | None, bytes_per_day: float | None) -> None:
        self._store = store
        self.per_day = per_day
        self.bytes_per_day = bytes_per_day
        self.mean_bytes = 0.0  # of a visit, as far as is known

    def saved(self, now: float) -> tuple[float, float]:
        """Visits and bytes that were not spent yet; below 0: spent too early."""
        return (
            0.0 if self.per_day is None else self._allowance(VISITS, now)[1].saved,
            0.0 if self.bytes_per_day is None else self._allowance(BYTES, now)[1].saved,
        )

    def n_free(self, now: float) -> float:
        """How many visits may be made at this moment."""
        n: float = inf if self.per_day is None else self._allowance(VISITS, now)[1].n_free
        if self.bytes_per_day is not None:
            # what a visit weighs is known after it: so few at a time that little can be overdrawn
            free = self._allowance(BYTES, now)[1].saved
            n = min(n, 0 if free <= 0.0 else max(1, int(free / max(self.mean_bytes, 1.0))))
        return n

    def ready_at(self, now: float) -> float:
        """When a visit is free."""
        ready_at = now
        if self.per_day is not None:
            ready_at = self._allowance(VISITS, now)[1].ready_at
        if self.bytes_per_day is not None:
            allowance = self._allowance(BYTES, now)[1]
            ready_at = max(ready_at, allowance.after(-allowance.saved) if allowance.saved <= 0.0 else now)
        return ready_at

    def drawn(self, limit: int, now: float) -> int:
        """As many visits as are free, up to `limit`; they are spent with this."""
        while self.per_day is not None:
            kept, allowance = self._allowance(VISITS, now)
            n = int(min(limit, allowance.n_free, self.n_free(now)))
            if not n or self._exchanged(VISITS, kept, allowance.spent(n)):
                return n
        return int(min(limit, self.n_free(now)))

    def charge(self, n: int, now: float) -> None:
        """Spend visits that were made whether they were free or not; give back where negative."""
        if self.per_day is not None:
            self._charge(VISITS, n, now)

    def charge_bytes(self, n: int, now: float) -> None:
        if self.bytes_per_day is not None:
            self._charge(BYTES, n, now)

    def _charge(self, key: str, n: int, now: float) -> None:
        while n:
            kept, allowance = self._allowance(key, now)
            if self._exchanged(key, kept, allowance.spent(n)):
                return

    def _allowance(self, key: str, now: float) -> tuple[str | None, Allowance]:
        """What is left, and the note that says so."""
        kept = self._store.note(key)
        per_day = self.per_day if key == VISITS else self.bytes_per_day
        allowance = Allowance(per_day or 0.0, 0.0, now)
        if kept is None:
            return None, replace(allowance, saved=allowance.most)
        saved, at = (float(part) for part in kept.split("|"))
        return kept, replace(allowance, saved=saved, at=min(at, now)).accrued(now)

    def _exchanged(self, key: str, kept: str | None, allowance: Allowance) -> bool:
        return self._store.exchange(key, kept, f"{allowance.saved!r}|{allowance.at!r}")
