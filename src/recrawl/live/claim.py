"""A claim for one resource now, however long its host must be waited for."""

from __future__ import annotations

from recrawl.contracts import Clock
from recrawl.errors import BusyHostError
from recrawl.live.worker import Worker
from recrawl.loop import Loop
from recrawl.model import Lease, Resource

RETRY_CLAIM_S = 0.2
PATIENCE_S = 300.0  # on the wall: longer than that nobody who asks for a visit now waits for the host


async def claimed(resource: Resource, *, loop: Loop, worker: Worker, clock: Clock) -> Lease:
    patient_until_at = clock.now() + PATIENCE_S * clock.speed
    while True:
        now = clock.now()
        lease = await worker.call(loop.claim, resource.id, now)
        if lease is not None:
            return lease
        gate_at = await worker.call(loop.store.gate_at, resource.host)
        if gate_at > patient_until_at:
            raise BusyHostError(
                f"{resource.host} asked to be left alone, or was in trouble; visit it again in "
                f"{gate_at - now:.0f} seconds."
            )
        if now >= patient_until_at:
            raise BusyHostError(
                f"{resource.host} is being visited by another process, or one was killed that did; "
                "visit it again in a quarter of an hour."
            )
        await clock.sleep(RETRY_CLAIM_S * clock.speed)
