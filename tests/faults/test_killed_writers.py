"""Writers killed in the middle of large writes, and several at once: nothing recorded is lost."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.faults.tails import AT, archive_in, intact

from recrawl.model import Version
from recrawl.remember.tail import in_use

WRITER = """
import json, sys
from pathlib import Path
import numpy as np
sys.path.insert(0, sys.argv[2])
from tails import archive_in, put
archive = archive_in(Path(sys.argv[1]))
rng = np.random.default_rng(int(sys.argv[3]))
while True:
    bodies = [rng.bytes(int(rng.integers(1_000_000, 4_000_000))) for _ in range(3)]
    versions = [put(archive, body) for body in bodies]
    lengths = archive.sync()
    # A whole line is the record of it, as a transaction would be.
    places = [(v.file, v.offset, v.length, v.digest, v.n_bytes) for v in versions]
    sys.stdout.write(json.dumps([lengths, places]) + "\\n")
    sys.stdout.flush()
"""


def start_writer(folder: Path, record: Path, seed: int) -> subprocess.Popen[bytes]:
    with record.open("ab") as stream:
        command = [sys.executable, "-c", WRITER, str(folder), str(Path(__file__).parent), str(seed)]
        return subprocess.Popen(command, stdout=stream)


def recorded(path: Path) -> tuple[dict[str, int], list[Version]]:
    lengths: dict[str, int] = {}
    versions: list[Version] = []
    for line in path.read_bytes().splitlines(keepends=True):
        if line.endswith(b"\n"):
            grown, places = json.loads(line)
            lengths.update(grown)
            versions += [
                Version(
                    resource_id=1, seq=1, at=AT, file=file, offset=at, length=size, digest=digest, n_bytes=n
                )
                for file, at, size, digest, n in places
            ]
    return lengths, versions


@pytest.mark.slow
def test_killing_writers_in_the_middle_of_large_writes_loses_nothing_recorded(tmp_path: Path) -> None:
    folder = tmp_path / "archive"
    lengths: dict[str, int] = {}
    versions: list[Version] = []
    n_cut = 0
    for seed in range(8):
        record = tmp_path / f"record-{seed}.jsonl"
        writer = start_writer(folder, record, seed)
        wait_until(partial(has_lines, record))
        # Most of its time goes by between two writes: wait for bytes that are not recorded yet.
        wait_until(partial(has_grown, folder, record, lengths))
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        grown, found = recorded(record)
        lengths.update(grown)
        versions += found
        n_cut += len(archive_in(folder).recover(lambda: lengths))
        assert {path.name: path.stat().st_size for path in folder.glob("*.warc.gz")} == lengths
    assert intact(folder, versions)
    assert n_cut > 0, "no kill came between a write and its record"


def has_lines(record: Path) -> bool:
    return b"\n" in record.read_bytes()


def has_grown(folder: Path, record: Path, lengths: dict[str, int]) -> bool:
    """Whether the folder holds more than these lengths and those recorded since."""
    n_bytes = sum(path.stat().st_size for path in folder.glob("*.warc.gz"))
    return n_bytes > sum({**lengths, **recorded(record)[0]}.values())


@pytest.mark.slow
def test_two_processes_write_their_own_files_at_once(tmp_path: Path) -> None:
    records = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    folder = tmp_path / "archive"
    writers = [start_writer(folder, record, seed) for seed, record in enumerate(records)]
    try:
        wait_until(lambda: all(map(has_lines, records)))
        paths = list(folder.glob("*.warc.gz"))
        assert len(paths) == 2
        assert all(in_use(path) for path in paths)
        assert archive_in(folder).recover(dict) == []
        for record in records:
            reader = archive_in(folder)
            assert all(reader.snapshot(version) for version in recorded(record)[1])
    finally:
        for writer in writers:
            writer.kill()
            writer.wait()
    known = [recorded(record) for record in records]
    archive_in(folder).recover(lambda: {**known[0][0], **known[1][0]})
    assert intact(folder, [*known[0][1], *known[1][1]])


def wait_until(true: Callable[[], bool], limit_s: float = 60.0) -> None:
    ends = time.monotonic() + limit_s
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.001)
