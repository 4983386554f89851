"""Visits that somebody else made, brought in as if they had been made here in their time: judged, archived
and learned from in that order, several at a time.

A recorded visit speaks of the time from the one before it until its own: `(since, at]`. Nothing can come in
there afterwards; before and after it something can.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import chain as chained
from math import inf, isfinite, isnan, nan

from recrawl.contracts import Predictor
from recrawl.finding import Chain, Finding, seen_in, stepped
from recrawl.live.ground import Down, Ground
from recrawl.live.judgement import Judgement, judged
from recrawl.model import Bag, Changed, Fetch, Lease, Plan, Resource, Snapshot, Standing, Version, Visit

N_TOGETHER = 256
MOST_BYTES = 16 << 20  # of bodies between two transactions
NEAR_S = 1.0  # some writers tell the time to the second


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time that recorded visits speak of."""

    start_at: float
    end_at: float
    informed_at: float  # the newest informative visit up to its end; NaN: none


def spans(visits: Iterable[Visit]) -> list[Span]:
    """Of a resource's visits, the newest first; oldest first."""
    found: list[Span] = []
    for visit in visits:
        known = isfinite(visit.since_at)
        start_at = visit.since_at if known else visit.at - visit.duration_s - NEAR_S
        informed_at = visit.at if visit.informative else nan
        if found and visit.at >= found[-1].start_at:
            last = found.pop()
            start_at = min(start_at, last.start_at)
            informed_at = last.informed_at if isfinite(last.informed_at) else informed_at
            found.append(Span(start_at, last.end_at, informed_at))
        else:
            found.append(Span(start_at, visit.at, informed_at))
    informed_at = nan
    for i, span in reversed(list(enumerate(found))):
        informed_at = span.informed_at if isfinite(span.informed_at) else informed_at
        found[i] = replace(span, informed_at=informed_at)
    return found[::-1]


@dataclass(slots=True, eq=False)
class Past:
    """One resource, and what of its past waits to be recorded."""

    resource: Resource
    present: Standing  # where it stands in the store
    plan: Plan | None
    spans: list[Span]
    opened_at: float
    gap: int = -1  # before which of the spans it has come to
    recorded: Standing = field(default_factory=Standing)  # where it stood there, with what is recorded
    standing: Standing = field(default_factory=Standing)  # the same, with what waits
    waiting: list[Down] = field(default_factory=list)
    copy: tuple[str, Snapshot] | None = None  # the newest version's digest and content
    base: Bag | None = None  # the words of the last one that counted
    lost: bool = False  # somebody visited it meanwhile
    n_lost: int = 0  # what could not be recorded for that

    def lease(self, standing: Standing) -> Lease:
        # what had been planned when the visit was made, nobody knows
        standing = replace(standing, due_at=nan)
        return Lease(
            resource=self.resource,
            standing=standing,
            token=0,
            claimed_at=self.opened_at,
            until_at=inf,
            base=self.base,
        )

    def begin(self, gap: int, standing: Standing, base: Bag | None) -> None:
        self.gap, self.recorded, self.standing, self.copy = gap, standing, standing, None
        self.base = base

    def room_for(self, at: float) -> bool:
        """Whether no recorded visit speaks of that moment."""
        after = self.spans[bisect_left(self.spans, at, key=lambda span: span.end_at) :]
        return not after or at <= after[0].start_at

    def before(self, at: float) -> int:
        return bisect_left(self.spans, at, key=lambda span: span.end_at)


@dataclass(slots=True)
class Adopted:
    """What was recorded so far."""

    n_visits: int = 0
    n_first: int = 0
    n_changes: int = 0
    n_unchanged: int = 0
    n_failures: int = 0
    n_versions: int = 0

    def count(self, finding: Finding) -> None:
        visit = finding.visit
        self.n_visits += 1
        self.n_failures += not visit.informative
        self.n_changes += visit.changed is Changed.YES
        self.n_unchanged += visit.informative and visit.changed is Changed.NO
        self.n_first += visit.informative and visit.changed is Changed.UNKNOWN
        self.n_versions += sum(not version.flag for version in finding.versions)


class Adopter:
    """Takes visits in. `flush` records what waits; until then nothing of it is acknowledged."""

    def __init__(
        self,
        ground: Ground,
        *,
        fresh: Callable[[], Predictor],
        now: Callable[[], float],
        done: Adopted,
    ) -> None:
        self._ground = ground
        self._loop = ground.loop
        self._archive = ground.archive
        self._fresh = fresh
        self._now = now
        self._done = done
        self._waiting: list[Past] = []
        self._n_visits = 0
        self._n_bytes = 0

    def opened(self, resource: Resource) -> Past:
        present, plan = self._loop.store.standing(resource.id)
        recorded = self._loop.store.visits(resource.id) if isfinite(present.last_at) else ()
        return Past(resource, present, plan, spans(recorded), self._now())

    def reach(self, past: Past, at: float) -> Version | None:
        """Come to that moment, which is later than all that was taken; the copy that was the newest then."""
        gap = past.before(at)
        if gap != past.gap:
            if past.waiting:
                self.flush()
            past.begin(gap, self._standing(past, gap, at), self._loop.store.base(past.resource.id, at))
        return past.standing.version

    def take(self, past: Past, fetch: Fetch, fetch_id: str) -> None:
        """Judge the fetch against the copy of its time, which was reached."""
        judgement = self._judged(past, fetch, fetch_id)
        if past.lost:
            past.n_lost += 1
            return
        if not past.waiting:
            self._waiting.append(past)
        lease, version = past.lease(past.standing), judgement.version
        past.waiting.append((lease, fetch, judgement))
        kept = () if version is None or judgement.same_as is not None else (version,)
        past.standing = stepped(_finding(lease, fetch, judgement, kept))
        if kept and not kept[0].flag:
            past.copy = (kept[0].digest, _snapshot(kept[0], fetch))
        if judgement.bag is not None and judgement.bag.base:
            past.base = judgement.bag
        self._n_visits += 1
        self._n_bytes += len(fetch.body)
        if self._n_visits >= N_TOGETHER or self._n_bytes >= MOST_BYTES:
            self.flush()

    def flush(self) -> None:
        """Archive what waits, and record it in one transaction."""
        waiting, self._waiting = self._waiting, []
        self._n_visits = self._n_bytes = 0
        if not waiting:
            return
        with self._archive.recording():
            wanted = self._loop.store.wanted([past.lease(past.recorded) for past in waiting])
            for past in [past for past, ok in zip(waiting, wanted, strict=True) if not ok]:
                self._lose(past)
                waiting.remove(past)
            held = self._ground.held([down for past in waiting for down in past.waiting])
            chains = [self._chain(past, held) for past in waiting]
            files = self._archive.sync()  # before the store hears of it: what it knows of is on the disk
            adopted = self._loop.adopt(chains, self._now(), files, fresh=self._fresh)
        for past, chain, adoption in zip(waiting, chains, adopted, strict=True):
            if adoption is None:
                self._lose(past)
                continue
            for finding in chain.findings:
                self._done.count(finding)
            past.present = adoption.standing
            last = past.gap == len(past.spans)
            past.recorded = past.standing = adoption.standing if last else stepped(chain.findings[-1])
            past.waiting = []

    def _lose(self, past: Past) -> None:
        past.lost = True
        past.n_lost += len(past.waiting)
        past.waiting = []

    def _standing(self, past: Past, gap: int, at: float) -> Standing:
        """Where the resource stood at that moment."""
        if gap == len(past.spans):
            return past.present
        earlier = self._loop.store.history(past.resource.id, until_at=at, newest_first=True, limit=1)
        informed_at = past.spans[gap - 1].informed_at if gap else nan
        sight_at = past.present.sight_at
        return Standing(since_at=informed_at, version=earlier[0] if earlier else None, sight_at=sight_at)

    def _chain(self, past: Past, held: dict[str, Version]) -> Chain:
        findings: list[Finding] = []
        standing = past.recorded
        for _, fetch, judgement in past.waiting:
            if judgement.same_as is not None:
                judgement = replace(judgement, same_as=standing.version)  # which has its place by now
            versions = self._ground.archived(fetch, judgement, held)
            findings.append(_finding(past.lease(standing), fetch, judgement, versions))
            standing = stepped(findings[-1])
        told = None
        restated: tuple[Visit, ...] = ()
        if past.gap < len(past.spans):
            recorded = list(self._loop.store.visits(past.resource.id))
            restated = _restated(recorded, [finding.visit for finding in findings])
            known = {visit.fetch_id: visit for visit in (*recorded, *restated)}
            both = chained(known.values(), (finding.visit for finding in findings))
            signals = self._loop.store.signals(past.resource.id)
            hunch = past.present.hunch_per_day, past.present.hunch_gap_s
            key = past.resource.id
            changes = {key: past.resource.effective.changes}
            told = seen_in(both, {key: past.resource.host_id}, signals, {key: hunch}, changes)
        return Chain(
            findings=tuple(findings), present=past.present, plan=past.plan, told=told, restated=restated
        )

    def _judged(self, past: Past, fetch: Fetch, fetch_id: str) -> Judgement:
        def load(version: Version) -> Snapshot:
            if past.copy is not None and past.copy[0] == version.digest:
                return past.copy[1]
            return self._archive.snapshot(version)

        return judged(
            past.lease(past.standing),
            fetch,
            fetch_id=fetch_id,
            detectors=self._ground.detectors,
            choose=self._ground.choose,
            load=load,
        )


def _finding(lease: Lease, fetch: Fetch, judgement: Judgement, versions: tuple[Version, ...]) -> Finding:
    return Finding(
        lease=lease,
        visit=judgement.visit,
        gate_at=-inf,
        versions=versions,
        etag=fetch.header("etag"),
        last_modified=fetch.header("last-modified"),
        noise=judgement.noise,
        sight=judgement.sight,
        bag=judgement.bag,
    )


def _restated(recorded: Iterable[Visit], visits: Iterable[Visit]) -> tuple[Visit, ...]:
    """A first visit tells of all that came before it. Of what came before visits that are now known to be
    earlier, those tell."""
    until_at = max((visit.at for visit in visits if visit.informative), default=-inf)
    firsts = (visit for visit in recorded if isnan(visit.since_at) and visit.at > until_at)
    return tuple(
        replace(visit, moments=tuple(at for at in visit.moments if at > until_at))
        for visit in firsts
        if any(at <= until_at for at in visit.moments)
    )


def _snapshot(version: Version, fetch: Fetch) -> Snapshot:
    return Snapshot(
        body=fetch.body,
        media_type=version.media_type,
        charset=version.charset,
        url=fetch.url,
        at=fetch.ended_at,
    )
