"""A house that is filled by hand: what visits bring is given, and archived and recorded as a run does it."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tests.warcs import fetched, records
from warcio.archiveiterator import ArchiveIterator

from recrawl.app.build import House, open_house
from recrawl.app.carriage import Carriage
from recrawl.app.config import Config
from recrawl.checks.store.samples import completion, lease_of, new
from recrawl.model import Fetch, Hop, Outcome, Version, Visit, digest

T0 = 1_700_000_000.0
DAY_S = 86_400.0


@dataclass
class Still:
    """A clock that is set by hand."""

    at: float = T0
    speed: float = 1.0

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds


@dataclass
class Keeper:
    house: House
    clock: Still

    def sees(self, url: str, body: bytes, at: float, /, **said: Any) -> Fetch:
        """A visit that brings this; the same as before makes a revisit record, and so does what another
        resource brought."""
        store, archive = self.house.store, self.house.archive
        if store.find(url) is None:
            store.add([new(url)], at)
        self.clock.at = max(self.clock.at, at)
        fetch = fetched(body, **{"url": url, "started_at": at, "ended_at": at, **said})
        lease = lease_of(store, url, at)
        before = lease.standing.version
        version = Version(
            resource_id=lease.resource.id,
            seq=0,
            at=at,
            digest=digest(body),
            fingerprint=digest(body),
            detector="exact",
            media_type="text/html",
            status=fetch.status,
            n_bytes=len(body),
            gone=fetch.outcome is Outcome.GONE,
            flag=fetch.failure.reason if fetch.failure else "",
        )
        same = before is not None and before.digest == version.digest
        with archive.recording():
            held = store.holding([version.digest]).get(version.digest)
            placed = archive.put(fetch, version, before if same else held)
            files = archive.sync()
            done = completion(lease, at, gate_s=0.0, versions=() if same else (placed,))
            visit: Visit = replace(done.visit, evidence=f"it says {body[:60]!r}")
            standing = replace(done.standing, etag=fetch.header("etag"), n_informative=1)
            assert store.complete([replace(done, visit=visit, standing=standing)], files) == [True]
        return fetch

    def versions(self, url: str) -> list[Version]:
        resource = self.house.store.find(url)
        assert resource is not None
        return list(self.house.store.versions(resource.id))

    def bodies(self, url: str) -> list[bytes]:
        """What is kept of it, read back."""
        kept = [version for version in self.versions(url) if version.file]
        return [bytes(self.house.archive.snapshot(version).body) for version in kept]

    @property
    def folder(self) -> Path:
        return self.house.home / "archive"

    def carry(self) -> None:
        """Finished files go to the shelf."""
        carrier = Carriage(self.house, print)._carrier(self.house.store)
        assert list(carrier.round())

    def rotate(self) -> None:
        """The next visit begins another file."""
        self.house.archive.close()
        self.clock.at += 2 * DAY_S  # an old file is not taken up again


@contextmanager
def keeper(home: Path, **settings: Any) -> Iterator[Keeper]:
    clock = Still()
    with open_house(home, config=Config.model_validate(settings), clock=clock) as house:
        yield Keeper(house, clock)


def led(url: str, to: str) -> dict[str, Any]:
    """A fetch of `url` that was led elsewhere."""
    return {"url": to, "hops": (Hop(url=url, status=302, location=to),)}


def kinds(folder: Path) -> list[tuple[str, str]]:
    """Kind and URL of every record as another program reads them, but for those that open a file."""
    return [
        (fields["WARC-Type"], fields["WARC-Target-URI"])
        for fields, *_ in records(folder)
        if fields["WARC-Type"] != "warcinfo"
    ]


def chained(folder: Path) -> bool:
    """Whether every revisit refers to a response that is there and has its payload."""
    found = [fields for fields, *_ in records(folder)]
    payloads = {
        (f["WARC-Record-ID"], f["WARC-Target-URI"], f["WARC-Date"], f["WARC-Payload-Digest"])
        for f in found
        if f["WARC-Type"] == "response"
    }
    return all(
        (
            f["WARC-Refers-To"],
            f["WARC-Refers-To-Target-URI"],
            f["WARC-Refers-To-Date"],
            f["WARC-Payload-Digest"],
        )
        in payloads
        for f in found
        if f["WARC-Type"] == "revisit"
    )


def holds(folder: Path, marker: bytes) -> list[str]:
    """The files below this folder that hold the marker, in the open or compressed, at any place."""
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and any(marker in text for text in _texts(path.read_bytes()))
    )


def _texts(data: bytes) -> Iterator[bytes]:
    yield data
    yield data.decode("latin-1").encode("utf-16-le")  # as SQLite might
    at = data.find(b"\x1f\x8b\x08")
    while at >= 0:  # every member, whole or torn, wherever it begins
        inner = zlib.decompressobj(31)
        try:
            text = inner.decompress(data[at:])
            yield text
            if text[:2] == b"\x1f\x8b":
                yield gzip.decompress(text)
        except (zlib.error, OSError, EOFError):
            pass
        at = data.find(b"\x1f\x8b\x08", at + 1)


def read_by_others(path: Path) -> int:
    """How many records another program reads, every digest checked."""
    n = 0
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream, check_digests="raise"):
            record.content_stream().read()
            n += 1
    return n
