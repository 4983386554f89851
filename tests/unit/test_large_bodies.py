"""A body of 160 MB is fetched, judged, archived and read back, and is never in memory."""

from __future__ import annotations

import asyncio
import hashlib
import json
import resource
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from recrawl.checks.fetcher import Script, site
from recrawl.detect.text import Text
from recrawl.live.clock import WallClock
from recrawl.live.judgement import judged
from recrawl.model import Fetch, Lease, Manner, Request, Resource, Standing, Version, Visit, digest
from recrawl.observe.http import HttpFetcher
from recrawl.remember.warc import WarcArchive

N_PIECES = 160
N_BYTES = N_PIECES << 20
ODD_PIECE = 100  # in which the second copy differs from the first
MOST_RSS_BYTES = 64 << 20
PIECE = hashlib.shake_128(b"noise").digest(1 << 16) + bytes(15 << 16)  # as dense as many a data file


@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_a_large_body_is_never_in_memory(coding: str, tmp_path: Path) -> None:
    # In a process of its own, so that its peak is that of this alone.
    command = [sys.executable, "-W", "error", __file__, str(tmp_path), coding]
    ran = subprocess.run(command, check=False, capture_output=True, text=True, timeout=200)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout)
    assert found["outcomes"] == ["ok", "ok"]
    assert found["n_bytes"] == [N_BYTES, N_BYTES]
    assert found["on_disk"] == ["Spooled"] * 3
    assert found["equal"]
    odd = (ODD_PIECE + 1 << 20) - 1
    assert found["evidence"] == f"1 of {N_BYTES:,} bytes differ, from byte {odd:,} on"
    assert found["same_place"]
    assert found["problems"] == []
    assert found["left"] == [".cdxj", ".gz"]
    assert found["growth"] < MOST_RSS_BYTES


def page(mark: bytes, coding: str) -> Script:
    async def script(writer: asyncio.StreamWriter) -> None:
        head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\nContent-Encoding: "
        writer.write(f"{head}{coding}\r\n\r\n".encode())
        packer = zlib.compressobj(1, wbits=31) if coding == "gzip" else None
        for n in range(N_PIECES):
            piece = PIECE[:-1] + (mark if n == ODD_PIECE else b"\n")
            writer.write(packer.compress(piece) if packer else piece)
            await writer.drain()
        writer.write(packer.flush() if packer else b"")
        await writer.drain()

    return script


def visited(archive: WarcArchive, fetch: Fetch, held: Version | None) -> tuple[Visit, Version]:
    watched = Resource(id=1, url=fetch.url, host_id=1, host="a.example", added_at=0.0)
    standing = Standing(since_at=1.0, due_at=0.0, version=held)
    judgement = judged(
        Lease(resource=watched, standing=standing, token=1, claimed_at=0.0, until_at=1.0),
        fetch,
        fetch_id="f",
        detectors={"text": Text()},
        choose=lambda *_, **__: "text",
        load=archive.snapshot,
    )
    assert judgement.version is not None
    placed = archive.put(fetch, judgement.version, judgement.same_as)
    archive.sync()
    return judgement.visit, placed


def left_in(folder: Path) -> list[str]:
    return sorted(path.suffix for path in folder.iterdir())


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def main(folder: Path, coding: str) -> None:
    archive = WarcArchive(folder, now=lambda: 1e9)
    copies = {f"/{n}": page(n.encode(), coding) for n in "12"}
    fetcher = HttpFetcher(clock=WallClock(), user_agent="t/1", min_delay_s=0.0, spool=folder)
    async with site(copies) as server, fetcher:
        before_bytes = peak_bytes()
        manner = Manner(max_bytes=N_BYTES)
        requests = [Request(url=server.url + path, allow_private=True, manner=manner) for path in copies]
        first, second = [await fetcher.fetch(request) for request in requests]
    _, version = visited(archive, first, None)
    visit, newer = visited(archive, second, version)
    _, again = visited(archive, second, newer)
    snapshot = archive.snapshot(version)
    problems = [problem for _, problem in archive.verify([version, newer])]
    archive.close()
    report = {
        "outcomes": [first.outcome, second.outcome],
        "n_bytes": [len(first.body), len(snapshot.body)],
        "on_disk": [type(body).__name__ for body in (first.wire, first.body, snapshot.body)],
        "equal": digest(snapshot.body) == digest(first.body) == version.digest,
        "evidence": visit.evidence,
        "same_place": (again.file, again.offset) == (newer.file, newer.offset),
        "problems": problems,
        "left": left_in(folder),
        "growth": peak_bytes() - before_bytes,
    }
    print(json.dumps(report))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
