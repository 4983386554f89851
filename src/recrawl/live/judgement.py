"""From a fetch to a visit: what each outcome does to a resource's history.

outcome                          moves since   teaches     leaves behind
ok, differs in meaning           yes           change      a version
ok, and never looked at closely  yes                       a sight as well
ok, the same in meaning          yes           no change   a revisit record where the bytes are the same
not modified                     yes           no change   a revisit record
gone for the first time, or back yes           change      a version (a tombstone)
truncated, unreadable, suspect   no            nothing     evidence with a flag, no version
failed, blocked                  no            nothing     nothing
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from recrawl.contracts import Detector
from recrawl.detect import noise as noises
from recrawl.live.bench import Bench, ChooseDetector, Judgement, LoadSnapshot
from recrawl.live.sights import sight_of, wanted
from recrawl.live.snapshots import snapshot_of, version_of
from recrawl.live.weighing import weighed
from recrawl.live.wording import told
from recrawl.model import Changed, Fetch, Lease, Outcome, Snapshot, Verdict, Visit, digest

__all__ = ["Bench", "ChooseDetector", "Judgement", "LoadSnapshot", "judged", "quick"]

PERMANENT = frozenset({301, 308})
PAGING = "paging"  # why a visit did not come to the end of a thread
SMALL_BYTES = 64 * 1024
_GLANCED_BYTES = 4 * 1024  # a sight of so much takes a millisecond or two


def judged(
    lease: Lease,
    fetch: Fetch,
    *,
    fetch_id: str,
    detectors: Mapping[str, Detector],
    choose: ChooseDetector,
    load: LoadSnapshot,
    repeat: Fetch | None = None,
) -> Judgement:
    """Judge a fetch against the newest version of its resource.

    `repeat` is a second look, moments later, where an earlier judgement `wants_repeat`.
    """
    bench = Bench(detectors, choose, load)
    judgement = _judged(lease, fetch, _visit(lease, fetch, fetch_id, repeat), bench, repeat)
    if judgement.visit.outcome is Outcome.OK and wanted(lease) and not judgement.wants_repeat:
        sight, links = sight_of(lease, fetch)
        judgement = replace(judgement, sight=sight, links=links)
    if judgement.visit.changed is Changed.NO and fetch.failure is not None and fetch.failure.reason == PAGING:
        # Nothing is new on the pages that were read; nobody knows of those that could not be.
        judgement = replace(judgement, visit=replace(judgement.visit, changed=Changed.UNKNOWN))
    evidence = judgement.visit.evidence
    if fetch.outcome is Outcome.OK and fetch.failure is not None:  # a part of it is whole
        evidence = f"{evidence} ({fetch.failure.detail})"
    if fetch.unverified:
        evidence = f"{evidence} (the server's certificate was not verified)"
    if evidence == judgement.visit.evidence:
        return judgement
    return replace(judgement, visit=replace(judgement.visit, evidence=evidence))


def quick(lease: Lease, fetch: Fetch, bench: Bench) -> bool:
    """Whether judging takes but a moment: the body is small, no earlier copy is needed, and whoever judges it
    says so. Then no second look can be wanted either."""
    if len(fetch.body) > SMALL_BYTES:
        return False
    before, noise = lease.standing.version, lease.standing.noise
    if fetch.outcome is not Outcome.OK:
        return True
    if wanted(lease) and len(fetch.body) > _GLANCED_BYTES:
        return False
    if before is not None and not before.gone:
        return before.digest == digest(fetch.body)
    after = snapshot_of(fetch, noises.lens(lease.resource.effective.manner, noise))
    # Whoever knows of itself that it takes no time has this method.
    at_once: Callable[[Snapshot], bool] | None = getattr(bench.judge(lease, after), "at_once", None)
    return at_once is not None and at_once(after)


def _visit(lease: Lease, fetch: Fetch, fetch_id: str, repeat: Fetch | None) -> Visit:
    return Visit(
        fetch_id=fetch_id,
        resource_id=lease.resource.id,
        at=fetch.ended_at,
        # not after the visit itself: the clock may have been set back since; NaN stays
        since_at=min(lease.standing.since_at, fetch.ended_at),
        due_at=lease.standing.due_at,
        outcome=fetch.outcome,
        status=fetch.status,
        duration_s=fetch.ended_at - fetch.started_at,
        n_bytes=len(fetch.body),
        second_bytes=None if repeat is None else len(repeat.body),
        moved_to=_moved_to(lease, fetch),
    )


def _judged(lease: Lease, fetch: Fetch, visit: Visit, bench: Bench, repeat: Fetch | None) -> Judgement:
    before, noise = lease.standing.version, lease.standing.noise
    match fetch.outcome:
        case Outcome.OK:
            return weighed(lease, fetch, visit, bench, repeat)
        case Outcome.NOT_MODIFIED:
            return Judgement(
                visit=told(visit, Verdict(changed=Changed.NO, evidence="the server says: not modified")),
                version=before and replace(before, at=visit.at),
                same_as=before,
                noise=replace(noise, disguise=""),
            )
        case Outcome.GONE:
            return _judged_gone(lease, fetch, visit)
        case Outcome.TRUNCATED | Outcome.UNREADABLE:
            flag = fetch.failure.reason if fetch.failure else fetch.outcome.value
            return Judgement(
                visit=replace(visit, evidence=fetch.trouble),
                version=replace(version_of(lease, fetch), flag=flag),
                noise=noise,
            )
        case _:
            return Judgement(visit=replace(visit, evidence=fetch.trouble), noise=noise)


def _judged_gone(lease: Lease, fetch: Fetch, visit: Visit) -> Judgement:
    before, noise = lease.standing.version, replace(lease.standing.noise, disguise="")
    said = f"the server says {fetch.status}: it is not there"
    if before is not None and before.gone:
        still = Verdict(changed=Changed.NO, evidence="still not there")
        return Judgement(visit=told(visit, still), noise=noise)
    tombstone = replace(version_of(lease, fetch), gone=True)
    if before is None:
        return Judgement(visit=replace(visit, evidence=said), version=tombstone, noise=noise)
    verdict = Verdict(changed=Changed.YES, magnitude=1.0, evidence=said)
    return Judgement(visit=told(visit, verdict), version=tombstone, noise=noise)


def _moved_to(lease: Lease, fetch: Fetch) -> str | None:
    """Only an answer that is there says where a resource now lives; a login page's 302 never does."""
    permanent = bool(fetch.hops) and all(hop.status in PERMANENT for hop in fetch.hops)
    # A query that was posted is no part of the URL that it was posted to.
    if fetch.request.form is not None or fetch.url == lease.resource.url:
        return None
    if fetch.outcome is not Outcome.OK or not permanent:
        return None
    return fetch.url
