"""Reading one version out of a large collection, beside the bare act: seek, read and unzip the same record.

    python bench/archive.py             a collection of 0.2 GB
    python bench/archive.py --gb 10     as large as the promise: under 50 ms

A cold read is the first one of a new process: store and archive are opened, the version in force at a moment
is looked up and read, and what the system had cached of the files is dropped before. A warm read is one of
many in the same process. Ratios are to the bare act on the very same records in the same run.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import os
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from recrawl.app.versions import after
from recrawl.checks.store.samples import completion
from recrawl.model import Fetch, NewResource, Outcome, Request, Version
from recrawl.remember.sqlite import SqliteStore
from recrawl.remember.warc import WarcArchive

N_HOSTS = 500
N_WARM = 400
N_COLD = 15
LIMIT_MS = 50.0
START_AT = 1.75e9
STEP_S = 3_600.0


def pages(n_bytes: int) -> Iterator[tuple[bytes, bytes]]:
    """Body and wire, of sizes as on the web (a median of 30 kB sent, a few of megabytes) and coded as there;
    the same ones come again and again, since packing others would take most of the time."""
    rng = np.random.default_rng(4)
    letters = np.frombuffer(b"abcdefghijklmnopqrstuvwxyz <>/=\n" * 8, np.uint8)
    pool = []
    for size in np.minimum(rng.lognormal(np.log(30_000), 1.1, 200), 5e6).astype(int):
        body = letters[rng.integers(0, 256, int(size * 1.5), np.uint8)].tobytes()
        pool.append((body, gzip.compress(body, 1)))
    left = n_bytes
    while left > 0:
        body, wire = pool[rng.integers(len(pool))]
        left -= len(wire)
        yield body, wire


def built(home: Path, n_bytes: int) -> int:
    """A store and an archive with a version in every batch for every resource; how many versions."""
    urls = [f"http://h{i}.example/" for i in range(N_HOSTS)]
    content = pages(n_bytes)
    n_versions, now = 0, START_AT
    with closing(SqliteStore(home / "recrawl.sqlite")) as store:
        archive = WarcArchive(home / "archive", now=lambda: now)
        store.add([NewResource(url=url, host=url[7:-1]) for url in urls], now)
        while batch := list(zip(store.claim(now=now, limit=N_HOSTS, lease_s=60.0), content, strict=False)):
            done = []
            for lease, (body, wire) in batch:
                placed = archive.put(fetched(lease.resource.url, body, wire, now), version(body, now))
                done.append(completion(lease, now, gap_s=STEP_S / 2, gate_s=0.0, versions=(placed,)))
            store.complete(done, archive.sync())
            n_versions += len(done)
            now += STEP_S
        archive.close()
    return n_versions


def fetched(url: str, body: bytes, wire: bytes, at: float) -> Fetch:
    return Fetch(
        request=Request(url=url),
        outcome=Outcome.OK,
        url=url,
        started_at=at,
        ended_at=at,
        status=200,
        http_reason="OK",
        headers=(("Content-Type", "text/html"), ("Content-Encoding", "gzip")),
        body=body,
        wire=wire,
    )


def version(body: bytes, at: float) -> Version:
    digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
    return Version(resource_id=0, seq=0, at=at, digest=digest, media_type="text/html", n_bytes=len(body))


def bare(home: Path, place: Version) -> float:
    begun = time.perf_counter()
    with (home / "archive" / place.file).open("rb") as stream:
        stream.seek(place.offset)
        zlib.decompressobj(31).decompress(stream.read(place.length))
    return time.perf_counter() - begun


def read(store: SqliteStore, archive: WarcArchive, url: str, at: float) -> Version:
    resource = store.find(url)
    assert resource is not None
    (found,) = store.history(resource.id, until_at=after(at), newest_first=True, limit=1)
    assert len(archive.snapshot(found).body) == found.n_bytes
    return found


def dropped(home: Path) -> None:
    """The system forgets what it had read of these files."""
    for path in [*home.glob("recrawl.sqlite*"), *(home / "archive").iterdir()]:
        if path.is_file():
            fd = os.open(path, os.O_RDONLY)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)


def read_once(home: Path, url: str, at: float) -> None:
    """In a process of its own: what it took, and where that version lies."""
    begun = time.perf_counter()
    with closing(SqliteStore(home / "recrawl.sqlite")) as store:
        archive = WarcArchive(home / "archive", now=lambda: at)
        found = read(store, archive, url, at)
        took = time.perf_counter() - begun
        print(took, found.file, found.offset, found.length)


def cold(home: Path, choices: Sequence[tuple[str, float]]) -> tuple[list[float], list[float]]:
    ours, limits = [], []
    for url, at in choices:
        dropped(home)
        command = [sys.executable, __file__, "--read", str(home), url, repr(at)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        ours.append(float(said[0]))
        offset, length = int(said[2]), int(said[3])
        place = Version(resource_id=0, seq=0, at=at, digest="", file=said[1], offset=offset, length=length)
        dropped(home)
        limits.append(bare(home, place))
    return ours, limits


def warm(home: Path, choices: Sequence[tuple[str, float]]) -> tuple[list[float], list[float]]:
    ours, limits = [], []
    with closing(SqliteStore(home / "recrawl.sqlite")) as store:
        archive = WarcArchive(home / "archive", now=lambda: START_AT)
        for url, at in choices:
            begun = time.perf_counter()
            found = read(store, archive, url, at)
            ours.append(time.perf_counter() - begun)
            limits.append(bare(home, found))
    return ours, limits


def told(name: str, ours: list[float], limits: list[float]) -> None:
    figures = [1e3 * float(figure) for times in (ours, limits) for figure in np.percentile(times, [50, 95])]
    shown = "".join(f"{figure:8.2f} ms" for figure in figures)
    kept = "kept" if figures[1] < LIMIT_MS else "MISSED"
    print(f"{name:5}{shown}  {figures[0] / figures[2]:5.1f} x   {LIMIT_MS:g} ms: {kept}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--gb", type=float, default=0.2, help="how large the collection is")
    parser.add_argument("--folder", type=Path, help="where it is made; it is removed again")
    parser.add_argument("--read", nargs=3, metavar=("HOME", "URL", "AT"), help=argparse.SUPPRESS)
    said = parser.parse_args()
    if said.read:
        read_once(Path(said.read[0]), said.read[1], float(said.read[2]))
        return
    with tempfile.TemporaryDirectory(dir=said.folder) as folder:
        home = Path(folder)
        begun = time.perf_counter()
        n_versions = built(home, int(said.gb * 1e9))
        took = time.perf_counter() - begun
        sizes = [path.stat().st_size for path in (home / "archive").glob("*.warc.gz")]
        print(
            f"{sum(sizes) / 1e9:.2f} GB in {len(sizes)} files, {n_versions:,} versions of {N_HOSTS} "
            f"resources; written in {took:.0f} s"
        )
        rng = np.random.default_rng(9)
        n_rounds = -(-n_versions // N_HOSTS)
        picks = zip(
            rng.integers(0, N_HOSTS, N_WARM + N_COLD),
            rng.integers(0, max(1, n_rounds - 1), N_WARM + N_COLD),
            strict=True,
        )
        choices = [(f"http://h{i}.example/", START_AT + float(j) * STEP_S + 1.0) for i, j in picks]
        print(f"{'':5}{'median':>11}{'95 %':>11}{'bare':>11}{'95 %':>11}")
        told("cold", *cold(home, choices[:N_COLD]))
        told("warm", *warm(home, choices[N_COLD:]))


if __name__ == "__main__":
    main()
