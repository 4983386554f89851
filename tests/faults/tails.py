"""Small archives to break, and the check that tells whether one is whole."""

from __future__ import annotations

import hashlib
import subprocess
from collections.abc import Iterable
from pathlib import Path

from warcio.archiveiterator import ArchiveIterator

from recrawl.model import Fetch, Outcome, Request, Version
from recrawl.remember.warc import WarcArchive

AT = 1_794_734_100.0


def fetched(body: bytes, outcome: Outcome = Outcome.OK) -> Fetch:
    return Fetch(
        request=Request(url="http://h/"),
        outcome=outcome,
        url="http://h/",
        started_at=AT,
        ended_at=AT,
        status=304 if outcome is Outcome.NOT_MODIFIED else 200,
        headers=(("Content-Type", "text/plain"),),
        body=body,
        wire=body,
    )


def version_of(body: bytes) -> Version:
    digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
    return Version(resource_id=1, seq=1, at=AT, digest=digest, n_bytes=len(body))


def put(archive: WarcArchive, body: bytes) -> Version:
    return archive.put(fetched(body), version_of(body))


def archive_in(folder: Path) -> WarcArchive:
    return WarcArchive(folder, now=lambda: AT)


def targets(folder: Path) -> list[str]:
    """The answers in the folder as another program reads them, one file after the other."""
    found = []
    for path in sorted(folder.glob("*.warc.gz")):
        with path.open("rb") as stream:
            for record in ArchiveIterator(stream):
                if record.rec_type == "response":
                    found.append(hashlib.sha256(record.raw_stream.read()).hexdigest())
    return found


def intact(folder: Path, versions: Iterable[Version]) -> bool:
    """Every file passes gzip, every version is sound, and others see each payload exactly once."""
    versions = list(versions)
    paths = list(folder.glob("*.warc.gz"))
    zipped = subprocess.run(["gzip", "-t", *paths], check=False, capture_output=True)
    sound = not list(archive_in(folder).verify(versions))
    try:
        seen = targets(folder)
    except Exception:  # what another reader raises on a broken file is its own affair
        return False
    wanted = sorted({v.digest.removeprefix("sha256:") for v in versions})
    return zipped.returncode == 0 and sound and sorted(seen) == wanted
