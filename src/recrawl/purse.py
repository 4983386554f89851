"""What all processes on one store together may still spend, of visits and of bytes. The store notes it.

What a visit weighs is known after it. So as much as a visit usually weighs is spent when it is claimed, and
what it weighed more or less when it has come down: else all that is in the air would be granted the same
bytes. What a process that dies has spent on visits that it never made accrues again, as if it had made them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf

from recrawl.contracts import Store
from recrawl.model import Lease
from recrawl.schedule.budget import Allowance

VISITS, BYTES = "allowance", "allowance-bytes"


class Purse:
    """Limits are per day; None: there is none."""

    def __init__(self, store: Store, per_day: float | None, bytes_per_day: float | None) -> None:
        self._store = store
        self.per_day = per_day
        self.bytes_per_day = bytes_per_day
        self.mean_bytes = 0.0  # of a visit, as far as is known
        self._reserved: dict[tuple[int, int], int] = {}  # bytes, by the host and the token of a lease

    def begin(self, now: float, *, back: bool = False) -> None:
        """From now on it accrues at these limits; until now it did at those that were in force, or where our
        clock was set back, not at all."""
        for key, per_day in ((VISITS, self.per_day), (BYTES, self.bytes_per_day)):
            while per_day is not None:
                kept, allowance = self._allowance(key, now, back=back)
                in_force = kept is None or (kept.endswith(f"|{per_day!r}") and not back)
                if in_force or self._exchanged(key, kept, allowance):
                    break

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
            n = min(n, self._n_light(self._allowance(BYTES, now)[1]))
        return n

    def ready_at(self, now: float) -> float:
        """When a visit is free."""
        ready_at = now
        if self.per_day is not None:
            allowance = self._allowance(VISITS, now)[1]
            ready_at = now if allowance.n_free else allowance.ready_at
        if self.bytes_per_day is not None:
            allowance = self._allowance(BYTES, now)[1]
            ready_at = max(ready_at, allowance.after(-allowance.saved) if allowance.saved <= 0.0 else now)
        return ready_at

    def drawn(self, limit: int, now: float) -> int:
        """As many visits as are free, up to `limit`; they are spent with this, and the bytes that so many
        usually weigh."""
        n = limit
        while self.per_day is not None:
            kept, allowance = self._allowance(VISITS, now)
            n = int(min(limit, allowance.n_free, self.n_free(now)))
            if not n or self._exchanged(VISITS, kept, allowance.spent(n)):
                break
        n_light = n
        while n and self.bytes_per_day is not None:
            kept, allowance = self._allowance(BYTES, now)
            n_light = min(n, self._n_light(allowance))
            if not n_light or self._exchanged(BYTES, kept, allowance.spent(n_light * self._usual)):
                break
        self.charge(n_light - n, now)
        return n_light

    def settle_draw(self, leases: Sequence[Lease], n_drawn: int, now: float) -> None:
        """These leases came of a draw; what is left of it is given back."""
        self._reserve(leases)
        self.charge(len(leases) - n_drawn, now)
        self.charge_bytes((len(leases) - n_drawn) * self._usual, now)

    def take(self, leases: Sequence[Lease], now: float) -> None:
        """Spend visits that are made whether they are free or not."""
        self._reserve(leases)
        self.charge(len(leases), now)
        self.charge_bytes(len(leases) * self._usual, now)

    def give_back(self, leases: Sequence[Lease], now: float) -> None:
        """They are not made after all."""
        self.charge(-len(leases), now)
        self.charge_bytes(-self._reserved_for(leases), now)

    def weigh(self, leases: Sequence[Lease], n_bytes: int, now: float) -> None:
        """They were made, and weighed so much together."""
        self.charge_bytes(n_bytes - self._reserved_for(leases), now)

    def lose(self, leases: Sequence[Lease]) -> None:
        """They were made, and nobody knows what they weighed: as much as usual."""
        self._reserved_for(leases)

    def charge(self, n: int, now: float) -> None:
        """Spend visits that were made whether they were free or not; give back where negative."""
        if self.per_day is not None:
            self._charge(VISITS, n, now)

    def charge_bytes(self, n: int, now: float) -> None:
        if self.bytes_per_day is not None:
            self._charge(BYTES, n, now)

    @property
    def _usual(self) -> int:
        return int(self.mean_bytes)

    def _n_light(self, allowance: Allowance) -> int:
        """How many visits the bytes will do for. One may overdraw them: else a budget below what a visit
        weighs would allow none for ever."""
        return 0 if allowance.saved <= 0.0 else max(1, int(allowance.saved / max(self.mean_bytes, 1.0)))

    def _reserve(self, leases: Sequence[Lease]) -> None:
        if self.bytes_per_day is not None:
            self._reserved.update({_key(lease): self._usual for lease in leases})

    def _reserved_for(self, leases: Sequence[Lease]) -> int:
        return sum(self._reserved.pop(_key(lease), 0) for lease in leases)

    def _charge(self, key: str, n: int, now: float) -> None:
        while n:
            kept, allowance = self._allowance(key, now)
            if self._exchanged(key, kept, allowance.spent(n)):
                return

    def _allowance(self, key: str, now: float, *, back: bool = False) -> tuple[str | None, Allowance]:
        """What is left, and the note that says so."""
        kept = self._store.note(key)
        per_day = self.per_day if key == VISITS else self.bytes_per_day
        allowance = Allowance(per_day or 0.0, 0.0, now)
        if kept is None:
            return None, replace(allowance, saved=allowance.most)
        saved, at, *rate = (float(part) for part in kept.split("|"))
        # Until now it accrued at the rate of whoever wrote it, from now on at ours. Where that one's clock is
        # ahead, what has accrued by it does not accrue by ours again.
        at = min(at, now) if back else at
        before = Allowance(rate[0] if rate else allowance.per_day, saved, at).accrued(now)
        return kept, replace(allowance, saved=min(before.saved, allowance.most), at=before.at)

    def _exchanged(self, key: str, kept: str | None, allowance: Allowance) -> bool:
        return self._store.exchange(key, kept, f"{allowance.saved!r}|{allowance.at!r}|{allowance.per_day!r}")


def _key(lease: Lease) -> tuple[int, int]:
    return lease.resource.host_id, lease.token
