"""An answer that is there, weighed against the newest version: is it the resource, and did it change?

First it is seen through the resource's lens. What looks like something else than the resource (a login page,
a challenge) is doubted until it has stood for hours. What differs is a change unless it is known to be noise,
or a second look shows that it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from recrawl.contracts import Detector
from recrawl.detect import noise as noises
from recrawl.detect import turns
from recrawl.detect.disguise import disguise
from recrawl.detect.text import count_outside
from recrawl.detect.unread import why_unread
from recrawl.errors import ArchiveError
from recrawl.live import wording
from recrawl.live.bench import Bench, Judgement, named, plain
from recrawl.live.moments import timed, with_past, with_rest
from recrawl.live.snapshots import snapshot_of, version_of
from recrawl.live.tellings import may_tell, tells
from recrawl.live.wording import told
from recrawl.live.words import first_bag, tested
from recrawl.model import (
    HOUR_S,
    Changed,
    Fetch,
    Lease,
    Lens,
    Noise,
    Outcome,
    Part,
    Snapshot,
    Verdict,
    Version,
    Visit,
)

# Challenges and overloaded servers mostly let go within hours. Every retry is later than the one before: a
# wall that stands for so long has been met six times.
STANDS_S = 6 * HOUR_S
N_TRIES = 3  # visits in a row on which the earlier copy could not be judged: it never will be


def weighed(lease: Lease, fetch: Fetch, visit: Visit, bench: Bench, repeat: Fetch | None) -> Judgement:
    before, noise = lease.standing.version, lease.standing.noise
    version = version_of(lease, fetch)
    if before is not None and not before.gone and before.digest == version.digest:
        verdict = Verdict(changed=Changed.NO, evidence=wording.same_bytes(before, version))
        noise = replace(noises.tracked(noise, (), visit.at), disguise="", n_stayed=0)
        return Judgement(visit=told(visit, verdict), version=version, same_as=before, noise=noise)
    lens = noises.lens(lease.resource.effective.manner, noise)
    after = snapshot_of(fetch, lens)
    if before is None or before.gone:
        count_outside(after)  # whether it is the resource will be asked for sure
    detector, fingerprint = bench.read(lease, after)
    version = replace(version, detector=named(detector, lens), fingerprint=fingerprint)
    if not fingerprint:
        return _unread(visit, version, noise, why_unread(after))
    case = _Case(
        lease=lease, visit=visit, fetch=fetch, bench=bench, detector=detector, before=before, repeat=repeat
    )
    return _weighed(case, after, version, noise)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """A readable answer, and what it is judged with."""

    lease: Lease
    visit: Visit
    fetch: Fetch
    bench: Bench
    detector: Detector
    before: Version | None
    repeat: Fetch | None

    @property
    def masking(self) -> bool:
        return self.lease.resource.effective.manner.mask is not False

    def earlier(self, lens: Lens) -> Snapshot | str:
        """The newest version, seen through this lens; why not, where it cannot be read any more."""
        assert self.before is not None  # noqa: S101 - asked only where there is one
        try:
            return replace(self.bench.load(self.before), lens=lens, memo={})
        except ArchiveError as problem:
            return f"the earlier copy cannot be read: {problem}"


def _weighed(case: _Case, after: Snapshot, version: Version, noise: Noise) -> Judgement:
    before = case.before
    known = before is not None and not before.gone
    certain = noises.certain(after.lens.masks) and not may_tell(case.detector, after)
    if known and _same(before, version, noise) and certain:
        verdict = Verdict(changed=Changed.NO, evidence=wording.sameness(after.lens))
        return Judgement(visit=told(case.visit, verdict), noise=replace(noise, disguise="", n_stayed=0))
    earlier = case.earlier(after.lens) if known else None
    likeness = _likeness(case.fetch, after, earlier if isinstance(earlier, Snapshot) else None)
    if likeness and not _stands(case, noise):
        begun_at = noise.disguised_at if noise.disguise else case.visit.at
        return Judgement(
            visit=replace(case.visit, outcome=Outcome.SUSPECT, evidence=wording.doubted(likeness, STANDS_S)),
            version=replace(version, flag=likeness),
            noise=replace(noise, disguise=likeness, disguised_at=begun_at),
        )
    noise = replace(noise, disguise="") if noise.disguise else noise
    if earlier is None:
        judgement = _new(case, after, version, noise)
    else:
        judgement = _compared(case, earlier, after, version, noise)
    if not likeness:
        return judgement
    return replace(judgement, visit=wording.believed(judgement.visit, likeness))


def _stands(case: _Case, noise: Noise) -> bool:
    """Whether a disguise has been there for so long that it is what the resource now is. Which one it is may
    differ from visit to visit. Where there is no copy yet, to see it again is enough: nothing can be lost."""
    return bool(noise.disguise) and (case.before is None or case.visit.at - noise.disguised_at >= STANDS_S)


def _likeness(fetch: Fetch, snapshot: Snapshot, before: Snapshot | None) -> str:
    return disguise(
        fetch_url=fetch.url,
        requested_url=fetch.request.url,
        hops=fetch.hops,
        status=fetch.status,
        headers=fetch.headers,
        snapshot=snapshot,
        before=before,
    )


def _new(case: _Case, after: Snapshot, version: Version, noise: Noise) -> Judgement:
    """There is nothing to compare it with: it is the first copy, or it is back."""
    if case.before is None:
        # Whatever can look for something has this method; what judges bytes has none.
        unmatched: Callable[[Snapshot], str] | None = getattr(case.detector, "unmatched", None)
        missed = f"; {said}" if unmatched is not None and (said := unmatched(after)) else ""
        visit = replace(case.visit, evidence=f"the first copy{missed}")
        visit = with_past(visit, case.detector, after, case.fetch)
    else:
        visit = told(case.visit, Verdict(changed=Changed.YES, magnitude=1.0, evidence="it is back"))
    if noise.alias or noise.n_stayed:  # the alias was that of what stood there before it went
        noise = replace(noise, alias="", n_stayed=0)
    return Judgement(visit=visit, version=version, noise=noise, bag=first_bag(case.detector, after, version))


def _compared(
    case: _Case, earlier: Snapshot | str, after: Snapshot, version: Version, noise: Noise
) -> Judgement:
    assert case.before is not None  # noqa: S101 - there is an earlier copy
    verdict = _verdict(case, earlier, after, version, noise)
    if verdict.changed is Changed.UNKNOWN and not verdict.older:
        if case.lease.standing.n_failures >= N_TRIES:
            # Whether it changed nobody will ever know; what comes next can be held against this one.
            visit = replace(case.visit, evidence=f"{verdict.evidence}; this copy takes its place")
            noise = replace(noise, alias="", n_stayed=0)
            bag = first_bag(case.detector, after, version)
            return Judgement(visit=visit, version=version, noise=noise, bag=bag)
        return _unread(case.visit, version, noise, verdict.evidence)
    parts: Sequence[Part] = ()
    if case.masking and isinstance(earlier, Snapshot):
        parts = case.detector.differing(earlier, after)
        noise = noises.tracked(noise, parts, case.visit.at)
    if verdict.changed is Changed.NO:
        return _unchanged(case, verdict, earlier, after, version, noise)
    was = _fingerprint(case, earlier, version)
    returned = noises.short(version.fingerprint) in noise.recent
    wants_repeat = in_turn = False
    if case.repeat is None:
        maskable = noises.maskable(parts, case.lease.resource.effective.manner)
        wants_repeat = case.masking and noises.worth_repeating(
            case.lease.standing, maskable, returned=returned
        )
    elif case.repeat.outcome is Outcome.OK:
        noise, in_turn = _looked_twice(case, case.repeat, after, parts, version, was, noise)
    lens = noises.lens(case.lease.resource.effective.manner, noise)
    if lens != after.lens and isinstance(earlier, Snapshot):
        # It was learned just now that part of what differs is noise: only the rest can be a change.
        earlier, after = replace(earlier, lens=lens), replace(after, lens=lens)
        version = replace(
            version, detector=named(case.detector, lens), fingerprint=case.detector.fingerprint(after)
        )
        verdict = _verdict(case, earlier, after, version, noise)
        unknown = verdict.changed is Changed.UNKNOWN and not verdict.older
        if unknown or not version.fingerprint:
            return _unread(case.visit, version, noise, verdict.evidence if unknown else why_unread(after))
        if verdict.changed is Changed.NO:
            return _unchanged(case, verdict, earlier, after, version, noise)
        was = _fingerprint(case, earlier, version)
        noise = turns.taking_turns(noise, was, version.fingerprint) if in_turn else noise
    flapped = turns.came_in_turn(noise, was, version.fingerprint)
    if flapped is not None:
        evidence = "the server gives this content and the last one in turn"
        flapping = Verdict(changed=Changed.NO, evidence=evidence)
        return Judgement(visit=told(case.visit, flapping), noise=flapped)
    if returned:
        verdict = replace(verdict, evidence=f"an earlier content is back: {verdict.evidence}")
    noise = noises.changed(noise, was, parts, returned=returned)
    noise = replace(turns.settled(noise, was, version.fingerprint), alias="")
    verdict, bag = tested(verdict, case.lease.base, earlier, after, version, case.detector)
    visit = timed(told(case.visit, verdict), verdict.said_at, case.fetch)
    if verdict.older and not case.lease.standing.n_changes and isinstance(earlier, Snapshot):
        visit = with_rest(visit, earlier, after, case.fetch)
    return Judgement(
        visit=visit,
        version=version,
        bag=bag,
        noise=noise,
        wants_repeat=wants_repeat,
        tells=tells(case.detector, earlier, after, visit),
    )


def _unchanged(
    case: _Case, verdict: Verdict, earlier: Snapshot | str, after: Snapshot, version: Version, noise: Noise
) -> Judgement:
    """What differs is noise. The newest version stays; through this lens it looks like this."""
    visit = told(case.visit, verdict)
    return Judgement(
        visit=visit,
        noise=replace(noise, alias=_alias(version), n_stayed=0),
        tells=tells(case.detector, earlier, after, visit),
    )


def _looked_twice(
    case: _Case,
    repeat: Fetch,
    after: Snapshot,
    parts: Sequence[Part],
    version: Version,
    was: str,
    noise: Noise,
) -> tuple[Noise, bool]:
    """What a second look, moments later, says of it: parts are noise, or (then it is True) the server takes
    turns. A wall, or an error in place of the resource, says nothing."""
    again = snapshot_of(repeat, after.lens)
    if was and case.detector.fingerprint(again) == was:
        noise = turns.taking_turns(noise, was, version.fingerprint)
        return turns.alternating(noise, case.detector.differing(after, again), case.visit.at), True
    if _likeness(repeat, again, after):
        return noise, False
    found = case.detector.differing(after, again)
    return (noise if noises.another(found, parts) else noises.learned(noise, found, case.visit.at)), False


def _verdict(
    case: _Case, earlier: Snapshot | str, after: Snapshot, version: Version, noise: Noise
) -> Verdict:
    before = case.before
    assert before is not None  # noqa: S101 - there is an earlier copy
    if _same(before, version, noise):
        return Verdict(changed=Changed.NO, evidence=wording.sameness(after.lens))
    if isinstance(earlier, str):
        # The fingerprints alone still tell whether it changed, only not how much.
        comparable = before.detector == version.detector
        return Verdict(
            changed=Changed.YES if comparable else Changed.UNKNOWN,
            magnitude=1.0 if comparable else 0.0,
            evidence=earlier,
        )
    verdict = case.detector.compare(earlier, after)
    if verdict.older or (verdict.changed is Changed.UNKNOWN and getattr(case.detector, "doubts", False)):
        return verdict
    if verdict.changed is Changed.UNKNOWN and before.detector == version.detector:
        return replace(verdict, changed=Changed.YES, magnitude=1.0)  # as the fingerprints say
    if verdict.changed is Changed.UNKNOWN and plain(before.detector) != case.detector.name:
        # The new copy can be read as what it is, the earlier one was something else: a change in meaning.
        evidence = f"it can be read as {case.detector.name} now"
        return Verdict(changed=Changed.YES, magnitude=1.0, evidence=evidence)
    return verdict


def _same(before: Version | None, version: Version, noise: Noise) -> bool:
    """Whether the fingerprints alone say that nothing changed."""
    if before is None or noise.alias == _alias(version):
        return before is not None
    return before.detector == version.detector and before.fingerprint == version.fingerprint


def _alias(version: Version) -> str:
    return f"{version.detector}:{noises.short(version.fingerprint)}"


def _fingerprint(case: _Case, earlier: Snapshot | str, version: Version) -> str:
    """Of the newest version, through the lens that this one was seen through."""
    before = case.before
    assert before is not None  # noqa: S101 - there is an earlier copy
    if before.detector == version.detector or isinstance(earlier, str):
        return before.fingerprint
    return case.detector.fingerprint(earlier)


def _unread(visit: Visit, version: Version, noise: Noise, why: str) -> Judgement:
    unread = replace(visit, outcome=Outcome.UNREADABLE, evidence=why)
    return Judgement(visit=unread, version=replace(version, flag="unreadable"), noise=noise)
