"""What was acknowledged, held against what is kept: the check that all faults of a run share."""

from __future__ import annotations

import hashlib
import subprocess
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from warcio.archiveiterator import ArchiveIterator

from recrawl.app import health
from recrawl.app.build import ARCHIVE_FOLDER, open_house
from recrawl.errors import RecrawlError

Told = Mapping[str, Any]


def problems(
    home: Path,
    acknowledged: Iterable[Told],
    sent: Mapping[int, str],
    *,
    unreferenced: bool = False,
) -> list[str]:
    """All that is wrong with a home after its runs were killed, starved or stopped.

    Nothing acknowledged is lost, no row is there twice, the database is sound, every version's bytes are
    those that were sent, other programs read each of them exactly once, and every file is whole gzip. What
    a crash left torn is mended first, as it is by the next start. With `unreferenced`, records may be there
    that no row speaks of: they were written, and the transaction then failed.
    """
    try:
        return list(_problems(home, acknowledged, sent, unreferenced))
    except RecrawlError as problem:
        return [f"it cannot be opened: {problem}"]


def _problems(
    home: Path, acknowledged: Iterable[Told], sent: Mapping[int, str], unreferenced: bool
) -> Iterator[str]:
    with open_house(home) as house:
        house.archive  # noqa: B018  # opening it mends
        recorded: Counter[str] = Counter()
        kept: Counter[tuple[str, int]] = Counter()
        places: Counter[tuple[str, int]] = Counter()
        for resource, _, _ in house.store.resources():
            recorded.update(visit.fetch_id for visit in house.store.visits(resource.id))
            for version in house.store.versions(resource.id):
                kept[resource.url, version.n_bytes] += 1
                places[version.file, version.offset] += 1
                try:
                    body = house.archive.snapshot(version).body
                except RecrawlError as problem:
                    yield str(problem)
                    continue
                if hashlib.sha256(bytes(body)).hexdigest() != sent.get(version.n_bytes):
                    yield f"version {version.seq} of {resource.url} is not what was sent"
        yield from (f"{found.where}: {found.what}" for found in health.verify(house))
    for counts in (recorded, kept, places):
        yield from (f"{what} is there {n} times" for what, n in counts.items() if n > 1)
    for visit in acknowledged:
        if visit["fetch_id"] not in recorded:
            yield f"the acknowledged visit {visit['fetch_id']} of {visit['url']} is lost"
        # every answer is other than the last, so each makes a version
        elif visit["outcome"] == "ok" and (visit["url"], visit["n_bytes"]) not in kept:
            yield f"the acknowledged version of {visit['url']} with {visit['n_bytes']} bytes is lost"
    yield from _as_others_see(home / ARCHIVE_FOLDER, len(places), unreferenced)


def _as_others_see(folder: Path, n_versions: int, unreferenced: bool) -> Iterator[str]:
    files = sorted(folder.glob("*.warc.gz"))
    if files:
        zipped = subprocess.run(["gzip", "-t", *files], capture_output=True, text=True, check=False)
        if zipped.returncode:
            yield f"gzip says: {zipped.stderr}"
    n_answers = 0
    for file in files:
        try:
            with file.open("rb") as stream:
                for record in ArchiveIterator(stream, check_digests="raise"):
                    record.content_stream().read()
                    n_answers += record.rec_type == "response"
        except Exception as problem:  # what another reader raises on a broken file is its own affair
            yield f"warcio reads {file.name} to {problem!r}"
    if n_answers < n_versions or (n_answers > n_versions and not unreferenced):
        yield f"warcio finds {n_answers} answers, the store knows of {n_versions} versions"
