"""A resource's whole story, visit by visit, without a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count

from recrawl.contracts import Detector
from recrawl.detect.choose import detector_name
from recrawl.detect.exact import Exact
from recrawl.detect.feed import Feed
from recrawl.detect.json import Json
from recrawl.detect.table import Tables
from recrawl.detect.text import Text
from recrawl.errors import ArchiveError
from recrawl.finding import Finding, stepped
from recrawl.live.judgement import Judgement, judged
from recrawl.model import (
    Changed,
    Effective,
    Fetch,
    Header,
    Lease,
    Manner,
    Outcome,
    Request,
    Resource,
    Snapshot,
    Standing,
    Version,
)

URL = "http://example.org/"
DETECTORS: dict[str, Detector] = {
    detector.name: detector for detector in (Exact(), Feed(), Json(), Tables(), Text())
}
YES, NO, UNKNOWN = Changed.YES, Changed.NO, Changed.UNKNOWN

Server = Callable[[], bytes]


@dataclass
class Story:
    """Visits to one resource, each judged by what the earlier ones left behind."""

    media_type: str = "text/html"
    manner: Manner = field(default_factory=Manner)
    standing: Standing = field(default_factory=Standing)
    n_repeats: int = 0
    _at: float = 0.0
    _kept: dict[str, bytes] = field(default_factory=dict)

    def visit(self, serve: Server, headers: tuple[Header, ...] = (), *, status: int = 200) -> Judgement:
        self._at += 3_600.0
        fetch = self._fetched(serve, headers, status)
        judgement = self._judged(fetch)
        if judgement.wants_repeat:
            self.n_repeats += 1
            judgement = self._judged(fetch, self._fetched(serve, headers))
            assert not judgement.wants_repeat
        version = judgement.version if judgement.same_as is None else None
        if version is not None:
            self._kept[version.digest] = bytes(fetch.body)
        finding = Finding(
            lease=self._lease(),
            visit=judgement.visit,
            gate_at=self._at,
            versions=() if version is None else (version,),
            noise=judgement.noise,
        )
        self.standing = stepped(finding)
        return judgement

    def lose(self) -> None:
        """All copies are gone."""
        self._kept.clear()

    @property
    def n_masks(self) -> int:
        return len(self.standing.noise.masks)

    def changed(self, *servers: Server) -> list[Changed]:
        return [self.visit(serve).visit.changed for serve in servers]

    def _lease(self) -> Lease:
        resource = Resource(
            id=1,
            url=URL,
            host_id=1,
            host="example.org",
            added_at=0.0,
            effective=Effective(manner=self.manner),
        )
        return Lease(resource=resource, standing=self.standing, token=1, claimed_at=0.0, until_at=1e12)

    def _fetched(self, serve: Server, headers: tuple[Header, ...] = (), status: int = 200) -> Fetch:
        body = serve()
        return Fetch(
            request=Request(url=URL),
            outcome=Outcome.OK if status == 200 else Outcome.GONE,
            url=URL,
            started_at=self._at,
            ended_at=self._at,
            status=status,
            headers=(("Content-Type", self.media_type), *headers),
            body=body,
            wire=body,
        )

    def _judged(self, fetch: Fetch, repeat: Fetch | None = None) -> Judgement:
        def load(version: Version) -> Snapshot:
            if version.digest not in self._kept:
                raise ArchiveError("It is not there; look for it in a backup.")
            return Snapshot(body=self._kept[version.digest], media_type=version.media_type, url=URL)

        return judged(
            self._lease(),
            fetch,
            fetch_id=str(self._at),
            detectors=DETECTORS,
            choose=detector_name,
            load=load,
            repeat=repeat,
        )


def page(news: str, foot: Callable[[], str]) -> Server:
    return lambda: (
        f"<html><title>T</title><main><p>{news}</p><p>More.</p></main><footer><p>{foot()}</p></footer></html>"
    ).encode()


def counter(text: str) -> Callable[[], str]:
    numbers = count(7)
    return lambda: text.format(next(numbers))


VISITOR = "You are visitor {}."
