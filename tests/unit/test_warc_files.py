"""The archive's files: when they are written, their names and locks, and a disk that refuses."""

from __future__ import annotations

import errno
import os
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.warcs import PAGE, archive_in, fetched, files, put, records

from recrawl.errors import ArchiveError
from recrawl.model import Outcome
from recrawl.remember import records as written
from recrawl.remember import tail
from recrawl.remember.tail import in_use


def test_nothing_is_written_before_sync(tmp_path: Path) -> None:
    archive = archive_in(tmp_path / "archive")
    put(archive, fetched())
    assert not (tmp_path / "archive").exists()
    lengths = archive.sync()
    assert lengths == {path.name: path.stat().st_size for path in files(tmp_path / "archive")}
    assert archive.sync() == {}
    archive.close()


def test_many_fetches_are_one_write_and_one_fsync(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    archive = archive_in(tmp_path)
    put(archive, fetched())
    archive.sync()
    calls: list[str] = []

    def counted(name: str, call: Any) -> Any:
        def wrapped(*args: Any) -> Any:
            calls.append(name)
            return call(*args)

        return wrapped

    for name in ("write", "fsync"):
        monkeypatch.setattr(os, name, counted(name, getattr(os, name)))
    for _ in range(20):
        put(archive, fetched())
    archive.sync()
    assert calls == ["write", "fsync"]
    archive.close()


def test_names_are_made_of_date_chance_and_number(tmp_path: Path) -> None:
    archives = [archive_in(tmp_path), archive_in(tmp_path)]
    for archive in archives:
        put(archive, fetched())
        archive.close()
    names = [path.name for path in files(tmp_path)]
    assert len(names) == 2
    for name in names:
        assert re.fullmatch(r"recrawl-20261115T091500Z-[0-9a-f]{8}-00001\.warc\.gz", name)


def test_a_full_file_is_followed_by_the_next(tmp_path: Path) -> None:
    archive = archive_in(tmp_path, max_bytes=3_000)
    versions = [put(archive, fetched(os.urandom(1_000))) for _ in range(10)]
    lengths = archive.sync()
    assert len(lengths) == len({version.file for version in versions}) > 3
    assert all(archive.snapshot(version).body for version in versions)
    archive.close()
    kinds = [fields["WARC-Type"] for fields, *_ in records(tmp_path)]
    assert kinds.count("warcinfo") == len(lengths)
    for name, length in lengths.items():
        assert (tmp_path / name).stat().st_size == length < 3_000 + 2_500


def test_a_full_file_stays_locked_until_its_length_can_have_been_recorded(tmp_path: Path) -> None:
    archive = archive_in(tmp_path, max_bytes=1)
    full, last = (tmp_path / put(archive, fetched()).file for _ in range(2))
    archive.sync()
    assert in_use(full)
    assert in_use(last)
    archive.sync()
    assert not in_use(full)
    assert full.with_name(full.name.replace(".warc.gz", ".cdxj")).exists()
    archive.close()
    assert not in_use(last)


def test_a_fetch_without_an_answer_cannot_be_put(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    with pytest.raises(ArchiveError, match="gave no answer"):
        put(archive, fetched(status=None, outcome=Outcome.NET_ERROR))
    archive.close()
    assert not files(tmp_path)


# -- a disk that refuses -------------------------------------------------------------------------------


def failing(call: Any, n_good: int, code: int) -> Any:
    """Like `call`, but only so many times."""
    left = [n_good]

    def wrapped(*args: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(code, os.strerror(code))
        return call(*args)

    return wrapped


def half_written(fd: int, data: memoryview) -> int:
    return os.pwrite(fd, data[: len(data) // 2], os.fstat(fd).st_size)


def test_a_disk_too_full_for_a_large_record_is_told_and_the_archive_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = archive_in(tmp_path)
    first = put(archive, fetched())
    archive.sync()
    noise = random.Random(3).randbytes(3 << 20)
    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", failing(os.pwrite, 0, errno.ENOSPC))
        with pytest.raises(ArchiveError, match="make room"):
            put(archive, fetched(noise))
    later = put(archive, fetched(noise))
    archive.close()
    assert archive.snapshot(first).body == PAGE
    assert archive.snapshot(later).body == noise


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO])
@pytest.mark.parametrize(("name", "n_good"), [("write", 0), ("write", 2), ("fsync", 0), ("fsync", 1)])
def test_a_sync_that_fails_leaves_what_was_before_and_the_archive_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, n_good: int, code: int
) -> None:
    archive = archive_in(tmp_path, max_bytes=2_000)
    first = put(archive, fetched())
    before = archive.sync()
    for _ in range(5):  # enough for a second file in the same sync
        put(archive, fetched(os.urandom(1_000)))
    with monkeypatch.context() as patch:
        patch.setattr(os, name, failing(half_written if name == "write" else os.fsync, n_good, code))
        with pytest.raises(ArchiveError, match="make room"):
            archive.sync()
    assert {path.name: path.stat().st_size for path in files(tmp_path)} == before
    assert not in_use(tmp_path / first.file)
    later = put(archive, fetched(b"afterwards"))
    archive.sync()
    assert later.file != first.file
    assert [archive.snapshot(version).body for version in (first, later)] == [PAGE, b"afterwards"]
    assert not list(archive.verify([first, later]))
    archive.close()


WRITER_WITH_LITTLE_ROOM = """
import resource, sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_warc_files import archive_in, fetched, put
from recrawl.errors import ArchiveError
archive = archive_in(Path(sys.argv[1]))
put(archive, fetched())
print(archive.sync())
resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))
put(archive, fetched(bytes(range(256)) * 40, wire=__import__("os").urandom(9_000)))
try:
    archive.sync()
except ArchiveError as problem:
    print("refused")
put(archive, fetched())
print(archive.sync())
archive.close()
"""


def test_a_real_limit_on_file_size_leaves_valid_files(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER_WITH_LITTLE_ROOM, str(tmp_path), str(Path(__file__).parent)]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert said[1] == "refused"
    assert len(files(tmp_path)) == 2
    for path in files(tmp_path):
        assert subprocess.run(["gzip", "-t", path], check=False).returncode == 0
    assert len(records(tmp_path)) == 6


def test_of_a_visit_that_the_disk_had_no_room_for_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An answer alone would have lost the note of whom it belongs to."""
    archive = archive_in(tmp_path)
    really, n_left = written.member, 2

    def full(*args: Any) -> Any:
        nonlocal n_left
        n_left -= 1
        if n_left < 0:
            raise OSError(errno.ENOSPC, "full")
        return really(*args)

    with monkeypatch.context() as patched:
        patched.setattr(tail, "member", full)
        with pytest.raises(ArchiveError):
            put(archive, fetched())
    put(archive, fetched(PAGE + b"more"))
    archive.close()
    kinds = [fields["WARC-Type"] for fields, *_ in records(tmp_path)]
    assert kinds == ["warcinfo", "response", "request"]
