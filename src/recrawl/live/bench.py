"""Who judges, what is judged by whom, and what comes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from recrawl.contracts import Detector
from recrawl.detect.choose import START_BYTES
from recrawl.model import SILENCE, Bag, Kind, Lease, Lens, Noise, Sight, Snapshot, Telling, Version, Visit

FALLBACK = "text"


class ChooseDetector(Protocol):
    """Names the detector for a kind, a media type, the beginning of a body and the resource's own URL."""

    def __call__(self, kind: Kind, media_type: str, start: bytes, *, url: str) -> str: ...


LoadSnapshot = Callable[[Version], Snapshot]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """A visit, with the version to be archived: a new one, or (`same_as`) another sight of an old one."""

    visit: Visit
    version: Version | None = None
    same_as: Version | None = None
    noise: Noise = SILENCE  # what is known of it after the visit
    wants_repeat: bool = False  # a second look, moments later, would tell change from noise
    tells: tuple[Telling, ...] = ()  # what it tells of others
    sight: Sight | None = None  # the first that was taken of the resource
    links: tuple[str, ...] = ()  # where that saw it link to
    bag: Bag | None = None  # the words of `version`, where that is new and has some


@dataclass(frozen=True, slots=True)
class Bench:
    """The judges, and where the earlier copies are."""

    detectors: Mapping[str, Detector]
    choose: ChooseDetector
    load: LoadSnapshot

    def judge(self, lease: Lease, after: Snapshot) -> Detector:
        """Who judges it, to begin with."""
        kind, start = lease.resource.effective.kind, bytes(after.body[:START_BYTES])
        return self.detectors[self.choose(kind, after.media_type, start, url=lease.resource.url)]

    def read(self, lease: Lease, after: Snapshot) -> tuple[Detector, str]:
        """Who judges it, and its fingerprint; that is empty where it cannot be read."""
        kind, before = lease.resource.effective.kind, lease.standing.version
        detector = self.judge(lease, after)
        fingerprint = detector.fingerprint(after)
        followed = before is None or plain(before.detector) == FALLBACK
        if not fingerprint and kind is Kind.AUTO and followed and detector.name != FALLBACK:
            # It never was what its media type says; as text it can be followed all the same.
            detector = self.detectors[FALLBACK]
            fingerprint = detector.fingerprint(after)
        return detector, fingerprint


def named(detector: Detector, lens: Lens) -> str:
    """The detector's name, with the lens that it looked through: other lenses, other fingerprints."""
    return f"{detector.name}~{lens.digest}" if lens.digest else detector.name


def plain(name: str) -> str:
    """The detector's name alone."""
    return name.partition("~")[0]
