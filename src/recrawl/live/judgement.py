"""From a fetch to a visit: what each outcome does to a resource's history.

outcome                          moves since   teaches     leaves behind
ok, differs in meaning           yes           change      a version
ok, the same in meaning          yes           no change   a revisit record where the bytes are the same
not modified                     yes           no change   a revisit record
gone for the first time, or back yes           change      a version (a tombstone)
truncated, unreadable            no            nothing     evidence with a flag, no version
failed, blocked                  no            nothing     nothing
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from email.message import Message

from recrawl.contracts import Detector
from recrawl.errors import ArchiveError
from recrawl.model import Changed, Fetch, Kind, Lease, Outcome, Snapshot, Verdict, Version, Visit, digest

ChooseDetector = Callable[[Kind, str, bytes], str]
FALLBACK = "text"
PERMANENT = frozenset({301, 308})
LoadSnapshot = Callable[[Version], Snapshot]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A visit, with the version to be archived: a new one, or (`same_as`) another sight of an old one."""

    visit: Visit
    version: Version | None = None
    same_as: Version | None = None


def judged(
    lease: Lease,
    fetch: Fetch,
    *,
    fetch_id: str,
    detectors: Mapping[str, Detector],
    choose: ChooseDetector,
    load: LoadSnapshot,
) -> Judgement:
    """Judge a fetch against the newest version of its resource."""
    visit = _visit(lease, fetch, fetch_id)
    judgement = _judged(lease, fetch, visit, detectors, choose, load)
    if not fetch.unverified:
        return judgement
    evidence = f"{judgement.visit.evidence} (the server's certificate was not verified)"
    return replace(judgement, visit=replace(judgement.visit, evidence=evidence))


def _visit(lease: Lease, fetch: Fetch, fetch_id: str) -> Visit:
    return Visit(
        fetch_id=fetch_id,
        resource_id=lease.resource.id,
        at=fetch.ended_at,
        since_at=lease.standing.since_at,
        due_at=lease.standing.due_at,
        outcome=fetch.outcome,
        status=fetch.status,
        duration_s=fetch.ended_at - fetch.started_at,
        n_bytes=len(fetch.body),
        moved_to=_moved_to(lease, fetch),
    )


def _judged(
    lease: Lease,
    fetch: Fetch,
    visit: Visit,
    detectors: Mapping[str, Detector],
    choose: ChooseDetector,
    load: LoadSnapshot,
) -> Judgement:
    before = lease.standing.version
    match fetch.outcome:
        case Outcome.OK:
            return _judged_ok(lease, fetch, visit, detectors, choose, load)
        case Outcome.NOT_MODIFIED:
            return Judgement(
                visit=_told(visit, Verdict(changed=Changed.NO, evidence="the server says: not modified")),
                version=before and replace(before, at=visit.at),
                same_as=before,
            )
        case Outcome.GONE:
            return _judged_gone(lease, fetch, visit)
        case Outcome.TRUNCATED | Outcome.UNREADABLE:
            flag = fetch.failure.reason if fetch.failure else fetch.outcome.value
            return Judgement(
                visit=replace(visit, evidence=fetch.trouble),
                version=replace(_version(lease, fetch), flag=flag),
            )
        case _:
            return Judgement(visit=replace(visit, evidence=fetch.trouble))


def _judged_ok(
    lease: Lease,
    fetch: Fetch,
    visit: Visit,
    detectors: Mapping[str, Detector],
    choose: ChooseDetector,
    load: LoadSnapshot,
) -> Judgement:
    before = lease.standing.version
    version = _version(lease, fetch)
    if before is not None and not before.gone and before.digest == version.digest:
        verdict = Verdict(changed=Changed.NO, evidence="the same bytes")
        return Judgement(visit=_told(visit, verdict), version=version, same_as=before)
    after = _snapshot(fetch)
    kind = lease.resource.effective.kind
    detector = detectors[choose(kind, fetch.media_type, bytes(fetch.body[:512]))]
    fingerprint = detector.fingerprint(after)
    followed = before is None or before.detector == FALLBACK
    if not fingerprint and kind is Kind.AUTO and followed and detector.name != FALLBACK:
        # It never was what its media type says; as text it can be followed all the same.
        detector = detectors[FALLBACK]
        fingerprint = detector.fingerprint(after)
    version = replace(version, detector=detector.name, fingerprint=fingerprint)
    if not version.fingerprint:
        unread = replace(visit, outcome=Outcome.UNREADABLE, evidence="its content could not be read")
        return Judgement(visit=unread, version=replace(version, flag="unreadable"))
    if before is None:
        return Judgement(visit=replace(visit, evidence="the first copy"), version=version)
    verdict = _verdict(before, version, after, detector, load)
    if verdict.changed is Changed.UNKNOWN:
        unread = replace(visit, outcome=Outcome.UNREADABLE, evidence=verdict.evidence)
        return Judgement(visit=unread, version=replace(version, flag="unreadable"))
    changed = verdict.changed is Changed.YES
    return Judgement(visit=_told(visit, verdict), version=version if changed else None)


def _verdict(
    before: Version, version: Version, after: Snapshot, detector: Detector, load: LoadSnapshot
) -> Verdict:
    if before.gone:
        return Verdict(changed=Changed.YES, magnitude=1.0, evidence="it is back")
    comparable = before.detector == version.detector
    if comparable and before.fingerprint == version.fingerprint:
        return Verdict(changed=Changed.NO, evidence="only bytes without meaning differ")
    try:
        verdict = detector.compare(load(before), after)
    except ArchiveError as problem:
        # The fingerprints alone still tell whether it changed, only not how much.
        if comparable:
            return Verdict(
                changed=Changed.YES, magnitude=1.0, evidence=f"the earlier copy cannot be read: {problem}"
            )
        return Verdict(changed=Changed.UNKNOWN, evidence=f"the earlier copy cannot be read: {problem}")
    if verdict.changed is Changed.UNKNOWN and before.detector == FALLBACK != version.detector:
        # The new copy can be read as what it is, the earlier one could not: that is a change in meaning.
        return Verdict(changed=Changed.YES, magnitude=1.0, evidence=f"it can be read as {detector.name} now")
    return verdict


def _judged_gone(lease: Lease, fetch: Fetch, visit: Visit) -> Judgement:
    before = lease.standing.version
    said = f"the server says {fetch.status}: it is not there"
    if before is not None and before.gone:
        return Judgement(visit=_told(visit, Verdict(changed=Changed.NO, evidence="still not there")))
    tombstone = replace(_version(lease, fetch), gone=True)
    if before is None:
        return Judgement(visit=replace(visit, evidence=said), version=tombstone)
    verdict = Verdict(changed=Changed.YES, magnitude=1.0, evidence=said)
    return Judgement(visit=_told(visit, verdict), version=tombstone)


def _moved_to(lease: Lease, fetch: Fetch) -> str | None:
    """Only an answer that is there says where a resource now lives; a login page's 302 never does."""
    permanent = bool(fetch.hops) and all(hop.status in PERMANENT for hop in fetch.hops)
    # A query that was posted is no part of the URL that it was posted to.
    if fetch.request.form is not None or fetch.url == lease.resource.url:
        return None
    if fetch.outcome is not Outcome.OK or not permanent:
        return None
    return fetch.url


def _told(visit: Visit, verdict: Verdict) -> Visit:
    return replace(
        visit,
        changed=verdict.changed,
        significant=verdict.significant,
        magnitude=verdict.magnitude,
        evidence=verdict.evidence,
    )


def _version(lease: Lease, fetch: Fetch) -> Version:
    return Version(
        resource_id=lease.resource.id,
        seq=0,
        at=fetch.ended_at,
        digest=digest(fetch.body),
        media_type=fetch.media_type,
        charset=_charset(fetch),
        status=fetch.status,
        n_bytes=len(fetch.body),
    )


def _snapshot(fetch: Fetch) -> Snapshot:
    return Snapshot(body=fetch.body, media_type=fetch.media_type, charset=_charset(fetch), url=fetch.url)


def _charset(fetch: Fetch) -> str | None:
    header = Message()
    header["content-type"] = fetch.header("content-type") or ""
    charset = header.get_param("charset")
    return charset if isinstance(charset, str) and charset else None
