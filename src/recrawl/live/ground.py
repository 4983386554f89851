"""What comes down: judged, archived, learned from and recorded, several visits at a time."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from recrawl.contracts import Archive, Detector
from recrawl.errors import ArchiveError
from recrawl.finding import Finding
from recrawl.live.gates import answered
from recrawl.live.judgement import Bench, ChooseDetector, Judgement, judged, quick
from recrawl.loop import Absorbed, Loop
from recrawl.model import Fetch, Lease, Version
from recrawl.plugin import named

Down = tuple[Lease, Fetch, Judgement]  # come down, and not recorded yet
Brought = tuple[Lease, Fetch, Judgement | None]  # … and perhaps not even judged
Lost = list[tuple[Brought, Exception]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Landed:
    """A visit that has been recorded, for whoever watches."""

    lease: Lease
    fetch: Fetch
    absorbed: Absorbed


class Ground:
    """Judging may happen in several threads at once, recording in one."""

    def __init__(
        self,
        *,
        loop: Loop,
        archive: Archive,
        detectors: Mapping[str, Detector],
        choose: ChooseDetector,
        min_delay_s: float,
    ) -> None:
        self.loop = loop
        self.archive = archive
        self.detectors = detectors
        self.choose = choose
        self.min_delay_s = min_delay_s

    def judged(self, lease: Lease, fetch: Fetch, repeat: Fetch | None = None) -> Judgement:
        with _on_the_disk(f"What came from {fetch.url} cannot be compared"):  # large bodies are spooled
            return judged(
                lease,
                fetch,
                fetch_id=uuid.uuid4().hex,
                detectors=self.detectors,
                choose=self.choose,
                load=self.archive.snapshot,
                repeat=repeat,
            )

    def quick(self, lease: Lease, fetch: Fetch) -> bool:
        """Whether judging takes so little that `take_in` may do it, and can want no second look."""
        return quick(lease, fetch, Bench(self.detectors, self.choose, self.archive.snapshot))

    def take_in(self, batch: Sequence[Brought], now: float) -> tuple[list[Landed], Lost]:
        """Judge what is not judged yet, and absorb it all."""
        down: list[Down] = []
        lost: Lost = []
        for lease, fetch, judgement in batch:
            try:
                down.append((lease, fetch, judgement or self.judged(lease, fetch)))
            except Exception as problem:  # one strange page must not take the others with it
                lost.append(((lease, fetch, None), problem))
        landed, more = self.absorb(down, now) if down else ([], [])
        return landed, lost + more

    def absorb(self, batch: list[Down], now: float) -> tuple[list[Landed], Lost]:
        # What a part of others cannot read or write is no trouble of the archive's.
        with _on_the_disk("The archive cannot be written"), named(), self.archive.recording():
            wanted = self.loop.store.wanted([lease for lease, *_ in batch])
            return self._absorbed(
                [down if ok else _unarchived(*down) for down, ok in zip(batch, wanted, strict=True)], now
            )

    def _absorbed(self, batch: list[Down], now: float) -> tuple[list[Landed], Lost]:
        kept: list[tuple[Finding, Down]] = []
        lost: Lost = []
        held = self.held(batch)
        for down in batch:
            try:
                kept.append((self._finding(*down, held), down))
            except ArchiveError as problem:
                lost.append((down, problem))
        files = self.archive.sync()  # before the store hears of it: what it knows of is on the disk
        absorbed = self.loop.absorb([finding for finding, _ in kept], now, files)
        landed = [
            Landed(lease=lease, fetch=fetch, absorbed=done)
            for (_, (lease, fetch, _)), done in zip(kept, absorbed, strict=True)
        ]
        return landed, lost

    def held(self, batch: list[Down]) -> dict[str, Version]:
        """By digest, versions of any resource that hold what is to be archived: asked for all at once."""
        new = [judgement.version for *_, judgement in batch if judgement.same_as is None]
        wanted = [version.digest for version in new if version is not None and version.worth_sharing]
        return dict(self.loop.store.holding(wanted)) if wanted else {}

    def _finding(self, lease: Lease, fetch: Fetch, judgement: Judgement, held: dict[str, Version]) -> Finding:
        return Finding(
            lease=lease,
            visit=judgement.visit,
            gate_at=self.gate_at(fetch),
            answered=answered(fetch, lease.resource.host),
            versions=self.archived(fetch, judgement, held),
            etag=fetch.header("etag"),
            last_modified=fetch.header("last-modified"),
            noise=judgement.noise,
            tells=judgement.tells,
            sight=judgement.sight,
            links=judgement.links,
            bag=judgement.bag,
        )

    def archived(self, fetch: Fetch, judgement: Judgement, held: dict[str, Version]) -> tuple[Version, ...]:
        version, same_as = judgement.version, judgement.same_as
        if version is None:
            return ()
        if same_as is not None:
            self.archive.put(fetch, version, same_as)
            return ()
        placed = self.archive.put(fetch, version, held.get(version.digest) if version.worth_sharing else None)
        if placed.worth_sharing:
            held[placed.digest] = placed  # for those that came down with it
        return (placed,)

    def gate_at(self, fetch: Fetch) -> float:
        return fetch.ended_at + max(self.min_delay_s, fetch.wait_s)


def _unarchived(lease: Lease, fetch: Fetch, judgement: Judgement) -> Down:
    """The resource was removed or erased meanwhile: nothing of what came back is kept."""
    return lease, fetch, replace(judgement, version=None, same_as=None, sight=None, links=(), bag=None)


@contextmanager
def _on_the_disk(what: str) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise ArchiveError(
            f"{what} ({problem.strerror or problem}); make room on the disk, or see to it."
        ) from problem
