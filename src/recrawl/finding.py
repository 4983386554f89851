"""A visit as a shell brings it in, and what follows from it for its resource and its host. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import nan
from types import MappingProxyType

import numpy as np

from recrawl.model import (
    SILENCE,
    Adoption,
    Bag,
    Batch,
    Changed,
    Changes,
    Completion,
    Hunch,
    Lease,
    Noise,
    Outcome,
    Plan,
    Seen,
    Sight,
    Signal,
    Standing,
    Telling,
    Version,
    Visit,
    recent_bits,
    unfolded,
)
from recrawl.schedule.retry import host_gap_s, waits_s

_NO_HUNCH = (nan, nan)
LONGER = 4.0  # times what is usual: the most that one visit counts for in how long a host is kept


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A visit as the shell brings it in: judged, archived, not yet learned from."""

    lease: Lease
    visit: Visit
    gate_at: float  # the host is left alone until then, and longer where it is in trouble
    answered: bool | None = None  # whether the host did; None: it was not asked, or nobody knows
    versions: tuple[Version, ...] = ()
    etag: str | None = None
    last_modified: str | None = None
    noise: Noise = SILENCE
    tells: tuple[Telling, ...] = ()  # what it tells of others
    sight: Sight | None = None  # taken at this visit
    hunch: Hunch | None = None  # what `model` made of that
    model: str = ""
    links: tuple[str, ...] = ()  # addresses that it links to, watched or not
    bag: Bag | None = None  # the words of a new version

    @property
    def hunched(self) -> tuple[float, float]:
        """What is expected of the resource from now on: changes a day, and the gap between them; or NaN."""
        if self.hunch is not None:
            return self.hunch.per_day, self.hunch.gap_s
        return self.lease.standing.hunch_per_day, self.lease.standing.hunch_gap_s

    def completion(self, standing: Standing, plan: Plan) -> Completion:
        # a retry is no gap of the policy's: the present gap stays what it was
        gap_s = plan.gap_s if self.visit.informative else standing.gap_s
        return Completion(
            lease=self.lease,
            visit=self.visit,
            standing=replace(standing, gap_s=gap_s, due_at=plan.due_at),
            plan=plan,
            gate_at=gate_after(self),
            n_host_failures=n_host_failures(self),
            versions=self.versions,
            tells=self.tells,
            sight=self.sight,
            hunch=self.hunch,
            model=self.model,
            links=self.links,
            bags=() if self.bag is None else (self.bag,),
        )


def seen(findings: Sequence[Finding]) -> Seen:
    hunches = {finding.visit.resource_id: finding.hunched for finding in findings}
    groups = {finding.visit.resource_id: finding.lease.resource.host_id for finding in findings}
    standings = ((finding.visit.resource_id, finding.lease.standing) for finding in findings)
    signals = [
        Signal(resource_id=resource_id, source_id=standing.told_by, at=standing.told_at)
        for resource_id, standing in standings
        if standing.told_by
    ]
    changes = {finding.visit.resource_id: finding.lease.resource.effective.changes for finding in findings}
    return seen_in((finding.visit for finding in findings), groups, signals, hunches, changes)


def seen_in(
    visits: Iterable[Visit],
    groups: Mapping[int, int],
    signals: Iterable[Signal] = (),
    hunches: Mapping[int, tuple[float, float]] = MappingProxyType({}),
    changes: Mapping[int, Changes] = MappingProxyType({}),
) -> Seen:
    """What those visits teach that do; `groups` has each resource's, `signals` what was told of them,
    `hunches` what is expected of them a day and the gap between changes, `changes` what counts where that is
    not any."""
    heard: dict[int, list[Signal]] = {}
    for signal in sorted(signals, key=lambda signal: signal.at):
        heard.setdefault(signal.resource_id, []).append(signal)
    rows = [
        (one.resource_id, one.since_at, one.at, int(_counted(one, changes)), one.event_at, one.moments)
        for one in visits
        if one.teaches
    ]
    ids, since_at, at, changed, event_at, moments = zip(*rows, strict=True) if rows else ((),) * 6
    told = [_first(heard.get(row[0], ()), row[1], row[2]) for row in rows]
    seen = Seen(
        id=np.array(ids, dtype=np.int64),
        since_at=np.array(since_at, dtype=np.float64),
        at=np.array(at, dtype=np.float64),
        changed=np.array(changed, dtype=np.int8),
        event_at=np.array(event_at, dtype=np.float64),
        group=np.array([groups[resource_id] for resource_id in ids], dtype=np.int64),
        told_at=np.array([told_at for told_at, _ in told], dtype=np.float64),
        told_by=np.array([told_by for _, told_by in told], dtype=np.int64),
        hunch_per_day=np.array([hunches.get(key, _NO_HUNCH)[0] for key in ids], dtype=np.float64),
        hunch_gap_s=np.array([hunches.get(key, _NO_HUNCH)[1] for key in ids], dtype=np.float64),
    )
    return unfolded(seen, moments)


def _first(signals: Sequence[Signal], since_at: float, at: float) -> tuple[float, int]:
    """Of signals in order, the first that was heard in this gap, and whose; NaN and 0 where none was."""
    return next(((one.at, one.source_id) for one in signals if since_at < one.at <= at), (nan, 0))


def _counted(visit: Visit, changes: Mapping[int, Changes]) -> Changed:
    return visit.counted(changes.get(visit.resource_id, Changes.ANY))


def stepped(finding: Finding) -> Standing:
    """Where the resource stands after the visit."""
    before, visit = finding.lease.standing, finding.visit
    if finding.sight is not None or finding.hunch is not None:
        sight_at = before.sight_at if finding.sight is None else finding.sight.at
        per_day, gap_s = finding.hunched
        before = replace(before, sight_at=sight_at, hunch_per_day=per_day, hunch_gap_s=gap_s)
    if not visit.informative:
        found = finding.noise
        noise = replace(before.noise, disguise=found.disguise, disguised_at=found.disguised_at)
        return replace(before, last_at=visit.at, n_failures=before.n_failures + 1, noise=noise)
    known = visit.changed is not Changed.UNKNOWN
    changed = visit.counted(finding.lease.resource.effective.changes) is Changed.YES
    current = [version for version in finding.versions if not version.flag]
    same_place = visit.moved_to == before.moved_to
    heeded = before.told_at <= visit.at
    return replace(
        before,
        since_at=visit.at,
        last_at=visit.at,
        n_informative=before.n_informative + 1,
        n_changes=before.n_changes + changed,
        n_failures=0,
        bits=recent_bits(before.bits, changed) if known else before.bits,
        etag=before.etag if visit.outcome is Outcome.NOT_MODIFIED else finding.etag,
        last_modified=before.last_modified
        if visit.outcome is Outcome.NOT_MODIFIED
        else finding.last_modified,
        moved_to=visit.moved_to,
        moved_since_at=before.moved_since_at if same_place else visit.at if visit.moved_to else nan,
        version=current[-1] if current else before.version,
        noise=finding.noise,
        told_at=nan if heeded else before.told_at,
        told_by=0 if heeded else before.told_by,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """Findings of one resource that were made elsewhere, oldest first, each where the one before left it.

    Where visits are recorded that were made later, `told` has of those and of these together what teaches.
    The first of those may have told of the time before it: `restated` is it without what these tell of.
    """

    findings: tuple[Finding, ...]
    present: Standing  # where the resource stands
    plan: Plan | None = None
    told: Seen | None = None
    restated: tuple[Visit, ...] = ()

    def adopted(self) -> Standing:
        """Where the resource stands with them."""
        present, end = self.present, stepped(self.findings[-1])
        if self.told is None:
            return end
        visits = [finding.visit for finding in self.findings if finding.visit.informative]
        changes = self.findings[0].lease.resource.effective.changes
        told, bits = self.told.folded(), 0
        for changed in told.changed[np.argsort(told.at, kind="stable")[-64:]]:
            bits = recent_bits(bits, bool(changed))
        # Where all that was recorded before are failures, the newest that is known of it comes from here.
        newest_known = present if present.n_informative else end
        return replace(
            newest_known,
            last_at=present.last_at,
            n_failures=present.n_failures,
            n_informative=present.n_informative + len(visits),
            n_changes=present.n_changes + sum(visit.counted(changes) is Changed.YES for visit in visits),
            bits=bits,
        )

    def adoption(self, standing: Standing, plan: Plan) -> Adoption:
        if self.told is not None and standing.n_failures and self.plan is not None:
            plan = self.plan  # a retry stays what it is
        gap_s = standing.gap_s if standing.n_failures else plan.gap_s
        return Adoption(
            resource=self.findings[0].lease.resource,
            before=self.present,
            visits=tuple(finding.visit for finding in self.findings),
            versions=tuple(version for finding in self.findings for version in finding.versions),
            standing=replace(standing, gap_s=gap_s, due_at=plan.due_at),
            plan=plan,
            sight=next((finding.sight for finding in self.findings if finding.sight is not None), None),
            bags=tuple(finding.bag for finding in self.findings if finding.bag is not None),
            restated=self.restated,
        )


def batch_of(leases: Sequence[Lease], standings: Sequence[Standing]) -> Batch:
    settings = [lease.resource.effective for lease in leases]
    return Batch(
        id=np.array([lease.resource.id for lease in leases], dtype=np.int64),
        weight=np.array([said.weight for said in settings]),
        min_gap_s=np.array([said.min_gap_s for said in settings]),
        max_gap_s=np.array([said.max_gap_s for said in settings]),
        since_at=np.array([standing.since_at for standing in standings]),
        gap_s=np.array([standing.gap_s for standing in standings]),
        n_informative=np.array([standing.n_informative for standing in standings], dtype=np.int64),
        n_changes=np.array([standing.n_changes for standing in standings], dtype=np.int64),
        n_failures=np.array([standing.n_failures for standing in standings], dtype=np.int64),
        bits=np.array([standing.bits for standing in standings], dtype=np.uint64),
        group=np.array([lease.resource.host_id for lease in leases], dtype=np.int64),
        told_at=np.array([standing.told_at for standing in standings]),
        told_by=np.array([standing.told_by for standing in standings], dtype=np.int64),
        hunch_per_day=np.array([standing.hunch_per_day for standing in standings]),
        hunch_gap_s=np.array([standing.hunch_gap_s for standing in standings]),
    )


def retry(finding: Finding, standing: Standing, gap_s: float, now: float) -> Plan:
    """After a visit that told nothing; `gap_s` is what would be waited if it had. Of what was seen before
    the gap of then counts: where much fails at once the price falls, and all would be tried ever sooner."""
    gap_s = gap_s if np.isnan(standing.gap_s) else standing.gap_s
    most_s = finding.lease.resource.effective.max_gap_s
    wait_s = float(waits_s(np.array([standing.n_failures]), np.array([gap_s]), np.array([most_s]))[0])
    return Plan(
        resource_id=finding.visit.resource_id,
        due_at=finding.visit.at + wait_s,
        gap_s=wait_s,
        rule="retry",
        planned_at=now,
    )


def n_host_failures(finding: Finding) -> int:
    """In a row, after this visit. One that says nothing of the host leaves the count as it was."""
    if finding.answered is None:
        return finding.lease.n_host_failures
    return 0 if finding.answered else finding.lease.n_host_failures + 1


def gate_after(finding: Finding) -> float:
    """A host in trouble is left alone longer each time, so that its other resources do not try it in turn."""
    if finding.answered is not False:
        return finding.gate_at
    gap_s = host_gap_s(n_host_failures(finding), finding.lease.resource.host)
    return max(finding.gate_at, finding.visit.at + gap_s)


def keep_busy(busy_s: dict[int, float], findings: Sequence[Finding]) -> None:
    """How long a visit keeps its host, from its claim until the next may come; the newest count most.

    One that took far longer than the others counts as a few times as long: a process that was stopped for a
    while must not make its hosts seem full for the rest of the day.
    """
    for finding in findings:
        host, took_s = finding.lease.resource.host_id, gate_after(finding) - finding.lease.claimed_at
        if took_s > 0.0:
            known_s = busy_s.get(host, took_s)
            busy_s[host] = known_s + 0.2 * (min(took_s, LONGER * known_s) - known_s)
