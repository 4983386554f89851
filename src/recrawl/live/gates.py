"""Leave to ask hosts that no lease covers, from the store that all processes share."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from recrawl.contracts import Clock, Store
from recrawl.live.worker import Worker
from recrawl.model import Fetch, Hold, Outcome
from recrawl.schedule.retry import host_gap_s
from recrawl.urls import host_key

# On the wall: a fetch waits for a host that another one is asking for so long, while it holds its own.
# Two that wait for each other must not: whoever waits for a name before its own gives way soon. In any
# circle of fetches there is one such.
UPHILL_S = 30.0
DOWNHILL_S = 3.0
LOOK_AGAIN_S = 0.1


class StoreGates:
    """A hold lasts `lease_s`; in its last `tail_s` no request is sent any more."""

    def __init__(
        self, *, store: Store, worker: Worker, clock: Clock, lease_s: float, tail_s: float, by: str = ""
    ) -> None:
        self._store = store
        self._worker = worker
        self._clock = clock
        self._lease_s = lease_s
        self._tail_s = tail_s
        self._by = by

    async def enter(self, host: str, *, holding: Collection[str], patience_s: float) -> Hold | float:
        began_at = self._clock.now()
        uphill = all(held < host for held in holding)
        busy_until_at = began_at + (UPHILL_S if uphill else DOWNHILL_S) * self._clock.speed
        while True:
            now = self._clock.now()
            hold = await self._worker.call(
                self._store.hold, host, now=now, lease_s=self._lease_s, by=self._by
            )
            if hold is not None:
                return replace(hold, not_after_at=hold.until_at - self._tail_s)
            wait_s = await self._worker.call(self._store.gate_at, host) - now
            if wait_s > 0.0:  # a gate waits for nobody, so it cannot be part of a circle
                if now + wait_s > began_at + patience_s:
                    return wait_s
            elif now >= busy_until_at:
                return 0.0
            else:
                wait_s = LOOK_AGAIN_S * self._clock.speed
            await self._clock.sleep(wait_s)

    async def leave(self, hold: Hold, gate_at: float, answered: bool | None) -> None:
        n_failures = hold.n_host_failures
        if answered is not None:
            n_failures = 0 if answered else n_failures + 1
        if answered is False:
            gate_at = max(gate_at, self._clock.now() + host_gap_s(n_failures, hold.host))
        await self._worker.call(self._store.let_go, hold, gate_at=gate_at, n_host_failures=n_failures)


def answered(fetch: Fetch, host: str) -> bool | None:
    """Whether the fetch shows this host, where it began, in good health; None: it was not asked."""
    if fetch.hops and host_key(fetch.url) != host:
        return True  # it sent us on, and what came then is another's
    if fetch.outcome is Outcome.NET_ERROR:
        return False
    if fetch.outcome is Outcome.BLOCKED or fetch.status is None:
        return None
    return fetch.status < 500 and fetch.status != 429
