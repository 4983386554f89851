"""Shell 2: the loop on a virtual clock."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, nan

import numpy as np

from recrawl.finding import Finding
from recrawl.loop import Loop
from recrawl.model import Changed, Floats, Lease, Outcome, Plans, Seen, Version, Visit
from recrawl.simulate.worlds import TraceWorld


def simulate(
    loop: Loop,
    world: TraceWorld,
    *,
    start_at: float,
    end_at: float,
    limit: int = 64,
    first_gap_s: Floats | None = None,
    moments: bool = False,
) -> Seen:
    """Add the world's resources to the loop's store and visit them until `end_at`; all visits made.

    A visit takes no time. In what comes back, `id` is the resource's place in the world, and a first
    visit has NaN for `since_at` and 0 for `changed`. With `first_gap_s` everything is first looked at when
    the simulation starts, and looked at again so much later, whatever the policy says. With `moments` a visit
    tells when every change was, as one of a thread does, the first of all that came before it.
    """
    loop.store.add(world.resources, start_at)
    place = {resource.url: index for index, resource in enumerate(world.resources)}
    loop.start(start_at)
    visits: list[tuple[int, Visit]] = []
    now = start_at
    if first_gap_s is not None:
        visits += _hold(loop, world, start_at, place, first_gap_s, moments)
    while now < end_at:
        if loop.must_reprice(now):
            loop.reprice(now)
        leases = loop.due(now, limit)
        findings = []
        for lease in leases:
            index = place[lease.resource.url]
            finding = _look(world, index, lease, now, len(visits), moments)
            visits.append((index, finding.visit))
            findings.append(finding)
        loop.absorb(findings, now)
        if not leases:
            now = loop.wake_at(now)
    return _columns(visits)


def _hold(
    loop: Loop, world: TraceWorld, now: float, place: Mapping[str, int], first_gap_s: Floats, moments: bool
) -> list[tuple[int, Visit]]:
    """Take a copy of everything, and plan the visits after it as they are given."""
    visits: list[tuple[int, Visit]] = []
    loop.reprice(now)
    while leases := loop.store.claim(now=now, limit=len(place), lease_s=loop.lease_s):
        findings = [
            _look(world, place[lease.resource.url], lease, now, len(visits) + i, moments)
            for i, lease in enumerate(leases)
        ]
        visits += [(place[f.lease.resource.url], f.visit) for f in findings]
        loop.absorb(findings, now)
    batch, _ = loop.store.batch()
    index = {visit.resource_id: i for i, visit in visits}
    gap_s = first_gap_s[[index[resource_id] for resource_id in batch.id.tolist()]]
    nothing = np.full(len(batch), np.nan)
    loop.store.replan(
        Plans(
            id=batch.id,
            since_at=batch.since_at,
            due_at=now + gap_s,
            gap_s=gap_s,
            p_changed=nothing,
            per_day=nothing,
            bound=np.zeros(len(batch), dtype=np.int8),
            price=loop.price,
            rule=loop.rule,
            planned_at=now,
        )
    )
    return visits


def _look(world: TraceWorld, index: int, lease: Lease, now: float, n: int, moments: bool) -> Finding:
    since_at = lease.standing.since_at
    first = not isfinite(since_at)
    changed = Changed.UNKNOWN if first else Changed(world.n_changes(index, since_at, now) > 0)
    said = world.moments(index, since_at, now) if moments else ()
    visit = Visit(
        fetch_id=str(n),
        resource_id=lease.resource.id,
        at=now,
        since_at=since_at,
        due_at=lease.standing.due_at,
        outcome=Outcome.OK,
        changed=changed,
        magnitude=float(changed is Changed.YES),
        moments=said,
        event_at=said[-1] if said and not first else nan,
    )
    versions: tuple[Version, ...] = ()
    if first or changed is Changed.YES:
        digest = f"version:{world.version(index, now)}"
        versions = (Version(resource_id=lease.resource.id, seq=0, at=now, digest=digest),)
    hunch = world.hunches[index] if first and world.hunches else None
    return Finding(lease=lease, visit=visit, gate_at=now, versions=versions, hunch=hunch, model="world")


def _columns(visits: list[tuple[int, Visit]]) -> Seen:
    return Seen(
        id=np.array([index for index, _ in visits], dtype=np.int64),
        since_at=np.array([visit.since_at for _, visit in visits]),
        at=np.array([visit.at for _, visit in visits]),
        changed=np.array([visit.changed is Changed.YES for _, visit in visits], dtype=np.int8),
        event_at=np.full(len(visits), np.nan),
    )
