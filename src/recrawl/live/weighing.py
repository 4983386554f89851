"""An answer that is there, weighed against the newest version: is it the resource, and did it change?

First it is seen through the resource's lens. What looks like something else than the resource (a login page,
a challenge) is doubted until it is seen twice. What differs is a change unless it is known to be noise, or a
second look shows that it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from recrawl.contracts import Detector
from recrawl.detect import noise as noises
from recrawl.detect.choose import START_BYTES
from recrawl.detect.disguise import disguise
from recrawl.detect.text import unmatched
from recrawl.errors import ArchiveError
from recrawl.live.snapshots import snapshot_of, version_of
from recrawl.model import (
    SILENCE,
    Changed,
    Fetch,
    Kind,
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


class ChooseDetector(Protocol):
    """Names the detector for a kind, a media type, the beginning of a body and the resource's own URL."""

    def __call__(self, kind: Kind, media_type: str, start: bytes, *, url: str) -> str: ...


LoadSnapshot = Callable[[Version], Snapshot]
FALLBACK = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A visit, with the version to be archived: a new one, or (`same_as`) another sight of an old one."""

    visit: Visit
    version: Version | None = None
    same_as: Version | None = None
    noise: Noise = SILENCE  # what is known of it after the visit
    wants_repeat: bool = False  # a second look, moments later, would tell change from noise


@dataclass(frozen=True, slots=True)
class Bench:
    """Who judges, and where the earlier copies are."""

    detectors: Mapping[str, Detector]
    choose: ChooseDetector
    load: LoadSnapshot


def weighed(lease: Lease, fetch: Fetch, visit: Visit, bench: Bench, repeat: Fetch | None) -> Judgement:
    before, noise = lease.standing.version, lease.standing.noise
    version = version_of(lease, fetch)
    if before is not None and not before.gone and before.digest == version.digest:
        verdict = Verdict(changed=Changed.NO, evidence=f"the same bytes{_retyped(before, version)}")
        noise = replace(noises.tracked(noise, (), visit.at), disguise="")
        return Judgement(visit=told(visit, verdict), version=version, same_as=before, noise=noise)
    lens = noises.lens(lease.resource.effective.manner, noise)
    after = replace(snapshot_of(fetch), lens=lens)
    detector, fingerprint = _read(lease, after, bench)
    version = replace(version, detector=_named(detector, lens), fingerprint=fingerprint)
    if not fingerprint:
        return _unread(visit, version, noise, "its content could not be read")
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
            return replace(self.bench.load(self.before), lens=lens)
        except ArchiveError as problem:
            return f"the earlier copy cannot be read: {problem}"


def _weighed(case: _Case, after: Snapshot, version: Version, noise: Noise) -> Judgement:
    before = case.before
    known = before is not None and not before.gone
    if known and _same(before, version, noise) and noises.certain(after.lens.masks):
        verdict = Verdict(changed=Changed.NO, evidence=_sameness(after.lens))
        return Judgement(visit=told(case.visit, verdict), noise=replace(noise, disguise=""))
    earlier = case.earlier(after.lens) if known else None
    likeness = disguise(
        fetch_url=case.fetch.url,
        requested_url=case.fetch.request.url,
        hops=case.fetch.hops,
        status=case.fetch.status,
        headers=case.fetch.headers,
        snapshot=after,
        before=earlier if isinstance(earlier, Snapshot) else None,
    )
    if likeness and likeness != noise.disguise:
        evidence = f"it looks like {_LIKENESS[likeness]}; that counts once it is seen twice"
        return Judgement(
            visit=replace(case.visit, outcome=Outcome.SUSPECT, evidence=evidence),
            version=replace(version, flag=likeness),
            noise=replace(noise, disguise=likeness),
        )
    noise = replace(noise, disguise="")
    if earlier is None:
        back = Verdict(changed=Changed.YES, magnitude=1.0, evidence="it is back")
        missed = f"; {said}" if (said := unmatched(after)) else ""
        copy = replace(case.visit, evidence=f"the first copy{missed}")
        first = copy if before is None else told(case.visit, back)
        judgement = Judgement(visit=first, version=version, noise=noise)
    else:
        judgement = _compared(case, earlier, after, version, noise)
    return replace(judgement, visit=_twice(judgement.visit, likeness))


def _compared(
    case: _Case, earlier: Snapshot | str, after: Snapshot, version: Version, noise: Noise
) -> Judgement:
    assert case.before is not None  # noqa: S101 - there is an earlier copy
    verdict = _verdict(case, earlier, after, version, noise)
    if verdict.changed is Changed.UNKNOWN:
        return _unread(case.visit, version, noise, verdict.evidence)
    parts: Sequence[Part] = ()
    if case.masking and isinstance(earlier, Snapshot):
        parts = case.detector.differing(earlier, after)
        noise = noises.tracked(noise, parts, case.visit.at)
    if verdict.changed is Changed.NO:
        noise = replace(noise, alias=_alias(version))
        return Judgement(visit=told(case.visit, verdict), noise=noise)
    was = _fingerprint(case, earlier, version)
    returned = noises.short(version.fingerprint) in noise.recent
    wants_repeat = False
    if case.repeat is None:
        wants_repeat = case.masking and noises.worth_repeating(case.lease.standing, parts, returned=returned)
    elif case.repeat.outcome is Outcome.OK:
        noise = _looked_twice(case, after, version, was, noise)
    if {noises.short(was), noises.short(version.fingerprint)} <= set(noise.twins):
        evidence = "the server gives this content and the last one in turn"
        flapping = Verdict(changed=Changed.NO, evidence=evidence)
        return Judgement(visit=told(case.visit, flapping), noise=noise)
    lens = noises.lens(case.lease.resource.effective.manner, noise)
    if lens != after.lens and isinstance(earlier, Snapshot):
        # It was learned just now that part of what differs is noise: only the rest can be a change.
        earlier, after = replace(earlier, lens=lens), replace(after, lens=lens)
        name, fingerprint = _named(case.detector, lens), case.detector.fingerprint(after)
        version = replace(version, detector=name, fingerprint=fingerprint or version.fingerprint)
        verdict = _verdict(case, earlier, after, version, noise)
        if verdict.changed is not Changed.YES:
            noise = replace(noise, alias=_alias(version))
            return Judgement(visit=told(case.visit, replace(verdict, changed=Changed.NO)), noise=noise)
    if returned:
        verdict = replace(verdict, evidence=f"an earlier content is back: {verdict.evidence}")
    noise = replace(noises.changed(noise, was, parts, returned=returned), alias="")
    return Judgement(visit=told(case.visit, verdict), version=version, noise=noise, wants_repeat=wants_repeat)


def _looked_twice(case: _Case, after: Snapshot, version: Version, was: str, noise: Noise) -> Noise:
    """What a second look, moments later, says of it: the server takes turns, or parts are noise."""
    assert case.repeat is not None  # noqa: S101 - only then there was one
    again = replace(snapshot_of(case.repeat), lens=after.lens)
    if case.detector.fingerprint(again) == was:
        fresh = (noises.short(was), noises.short(version.fingerprint))
        twins = (*(old for old in noise.twins if old not in fresh), *fresh)[-noises.N_IN_TURN :]
        noise = replace(noise, twins=twins)
        return noises.alternating(noise, case.detector.differing(after, again), case.visit.at)
    return noises.learned(noise, case.detector.differing(after, again), case.visit.at)


def _verdict(
    case: _Case, earlier: Snapshot | str, after: Snapshot, version: Version, noise: Noise
) -> Verdict:
    before = case.before
    assert before is not None  # noqa: S101 - there is an earlier copy
    if _same(before, version, noise):
        return Verdict(changed=Changed.NO, evidence=_sameness(after.lens))
    if isinstance(earlier, str):
        # The fingerprints alone still tell whether it changed, only not how much.
        comparable = before.detector == version.detector
        return Verdict(
            changed=Changed.YES if comparable else Changed.UNKNOWN,
            magnitude=1.0 if comparable else 0.0,
            evidence=earlier,
        )
    verdict = case.detector.compare(earlier, after)
    if verdict.changed is Changed.UNKNOWN and _plain(before.detector) == FALLBACK != case.detector.name:
        # The new copy can be read as what it is, the earlier one could not: that is a change in meaning.
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


def _sameness(lens: Lens) -> str:
    if not lens.masks:
        return "only bytes without meaning differ"
    n = len(lens.masks)
    return f"only noise differs ({n} {'part is' if n == 1 else 'parts are'} masked)"


_LIKENESS = {
    "soft-404": "a page that says it is not there",
    "login": "a login page",
    "challenge": "a challenge to robots",
    "consent": "a request for consent",
    "empty": "an empty shell",
}


def _retyped(before: Version, version: Version) -> str:
    was, now = before.media_type or "no type", version.media_type or "no type"
    return f"; served as {now}, before as {was}" if was != now else ""


def _twice(visit: Visit, likeness: str) -> Visit:
    if not likeness:
        return visit
    return replace(visit, evidence=f"{_LIKENESS[likeness]}, seen twice: {visit.evidence}")


def _unread(visit: Visit, version: Version, noise: Noise, why: str) -> Judgement:
    unread = replace(visit, outcome=Outcome.UNREADABLE, evidence=why)
    return Judgement(visit=unread, version=replace(version, flag="unreadable"), noise=noise)


def _read(lease: Lease, after: Snapshot, bench: Bench) -> tuple[Detector, str]:
    kind, before = lease.resource.effective.kind, lease.standing.version
    start = bytes(after.body[:START_BYTES])
    detector = bench.detectors[bench.choose(kind, after.media_type, start, url=lease.resource.url)]
    fingerprint = detector.fingerprint(after)
    followed = before is None or _plain(before.detector) == FALLBACK
    if not fingerprint and kind is Kind.AUTO and followed and detector.name != FALLBACK:
        # It never was what its media type says; as text it can be followed all the same.
        detector = bench.detectors[FALLBACK]
        fingerprint = detector.fingerprint(after)
    return detector, fingerprint


def _named(detector: Detector, lens: Lens) -> str:
    """The detector's name, with the lens that it looked through: other lenses, other fingerprints."""
    return f"{detector.name}~{lens.digest}" if lens.digest else detector.name


def _plain(detector: str) -> str:
    return detector.partition("~")[0]


def told(visit: Visit, verdict: Verdict) -> Visit:
    return replace(
        visit,
        changed=verdict.changed,
        significant=verdict.significant,
        magnitude=verdict.magnitude,
        evidence=verdict.evidence,
    )
