"""Files end when they are large or old, and a process that starts goes on with one that is neither."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.warcs import AT, PAGE, archive_in, fetched, files, put, records

from recrawl.errors import ArchiveError
from recrawl.model import DAY_S, Version
from recrawl.remember import cdx
from recrawl.remember.tail import begun_at, in_use
from recrawl.remember.warc import WarcArchive


class Process:
    """Opens the archive as a process that starts does, and keeps what a store would have recorded."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.recorded: dict[str, int] = {}

    def committed(self) -> Mapping[str, int]:
        return dict(self.recorded)

    def open(self, now: Callable[[], float] = lambda: AT, **settings: Any) -> WarcArchive:
        archive = archive_in(self.folder, now=now, **settings)
        assert list(archive.recover(self.committed)) == []
        return archive

    def record(self, archive: WarcArchive) -> None:
        self.recorded.update(archive.sync())

    def once(self, body: bytes = PAGE, at: float = AT, **settings: Any) -> Version:
        archive = self.open(lambda: at, **settings)
        version = put(archive, fetched(body))
        self.record(archive)
        archive.close()
        return version


@pytest.fixture
def process(tmp_path: Path) -> Process:
    return Process(tmp_path)


def test_a_file_ends_when_it_is_old(tmp_path: Path) -> None:
    now = [AT]
    archive = archive_in(tmp_path, now=lambda: now[0], max_age_s=3_600.0)
    names = []
    for age_s in (0.0, 3_000.0, 3_500.0, 3_700.0, 4_000.0):
        now[0] = AT + age_s
        names.append(put(archive, fetched()).file)
        archive.sync()
    archive.close()
    assert names[0] == names[1] == names[2] != names[3] == names[4]
    assert len(files(tmp_path)) == 2


def test_the_name_says_when_a_file_was_begun() -> None:
    assert begun_at("recrawl-20261115T091500Z-00c0ffee-00001.warc.gz") == 1_794_734_100.0
    assert begun_at("recrawl-20261399T091500Z-00c0ffee-00001.warc.gz") == float("-inf")
    assert begun_at("somebody-elses.warc.gz") == float("-inf")


def test_processes_one_after_the_other_write_one_file_with_one_whole_index(process: Process) -> None:
    versions = [process.once(f"{n}".encode() * 600) for n in range(5)]
    (path,) = files(process.folder)
    kinds = [fields["WARC-Type"] for fields, *_ in records(process.folder)]
    assert kinds == ["warcinfo", *5 * ["response", "request"]]
    kept = cdx.index_path(path).read_text("ascii").splitlines()
    assert kept == cdx.index(path)
    assert {int(json.loads(line.split(" ", 2)[2])["offset"]) for line in kept} == {v.offset for v in versions}
    reader = archive_in(process.folder)
    assert not list(reader.verify(versions))
    assert [reader.snapshot(version).body[:1] for version in versions] == [b"0", b"1", b"2", b"3", b"4"]


@pytest.mark.parametrize(
    ("settings", "at"), [({"max_bytes": 500}, AT), ({"max_age_s": 60.0}, AT + 61.0), ({}, AT + DAY_S + 1.0)]
)
def test_a_file_that_is_large_or_old_is_left_as_it_is(
    process: Process, settings: dict[str, Any], at: float
) -> None:
    first = process.once()
    before = (process.folder / first.file).read_bytes()
    assert process.once(b"later" * 200, at, **settings).file != first.file
    assert (process.folder / first.file).read_bytes() == before


def test_the_newest_that_nobody_writes_is_gone_on_with(process: Process) -> None:
    older = process.once(at=AT)
    newer = process.once(at=AT + 10.0, max_age_s=5.0)
    assert older.file != newer.file
    busy = process.open(lambda: AT + 20.0)
    assert put(busy, fetched(b"busy" * 200)).file == newer.file
    process.record(busy)
    beside = process.open(lambda: AT + 30.0)
    assert put(beside, fetched(b"beside" * 200)).file == older.file
    process.record(beside)
    third = process.open(lambda: AT + 40.0)
    assert put(third, fetched(b"third" * 200)).file not in (older.file, newer.file)
    process.record(third)
    for archive in (busy, beside, third):
        archive.close()
    assert not any(in_use(path) for path in files(process.folder))
    assert len(records(process.folder)) == 3 + 5 * 2


def test_a_file_that_is_not_as_long_as_recorded_is_not_gone_on_with(process: Process) -> None:
    first = process.once()
    archive = process.open()
    with (process.folder / first.file).open("ab") as stream:  # while nobody had it locked
        stream.write(b"stray")
    assert put(archive, fetched()).file != first.file
    archive.close()


def test_without_a_store_to_ask_a_new_file_is_begun(process: Process) -> None:
    first = process.once()
    archive = archive_in(process.folder)
    assert put(archive, fetched()).file != first.file
    archive.close()


def test_a_process_that_writes_nothing_leaves_file_and_index_alone(process: Process) -> None:
    first = process.once()
    before = {path.name: path.read_bytes() for path in process.folder.iterdir()}
    archive = process.open()
    assert archive._open_tail().path.name == first.file
    assert in_use(process.folder / first.file)
    archive.close()
    assert not in_use(process.folder / first.file)
    assert {path.name: path.read_bytes() for path in process.folder.iterdir()} == before


def test_the_index_goes_before_the_file_grows(process: Process, monkeypatch: pytest.MonkeyPatch) -> None:
    first = process.once()
    index = cdx.index_path(process.folder / first.file)
    archive = process.open()
    put(archive, fetched())
    assert index.exists()
    write, seen = os.write, []

    def watched(fd: int, data: Any) -> int:
        seen.append(index.exists())
        return write(fd, data)

    monkeypatch.setattr(os, "write", watched)
    process.record(archive)
    assert seen == [False]
    archive.close()
    assert index.read_text("ascii").splitlines() == cdx.index(process.folder / first.file)


def test_an_index_that_is_missing_is_made_for_all_of_the_file(process: Process) -> None:
    first = process.once()
    archive = process.open()
    cdx.index_path(process.folder / first.file).unlink()
    put(archive, fetched())
    process.record(archive)
    archive.close()
    path = process.folder / first.file
    kept = cdx.index_path(path).read_text("ascii").splitlines()
    assert kept == cdx.index(path)
    assert len(kept) == 2


def test_what_a_killed_process_added_to_an_earlier_file_is_cut_off_again(process: Process) -> None:
    first = process.once()
    path = process.folder / first.file
    before = path.read_bytes()
    killed = process.open()
    put(killed, fetched())
    killed.sync()  # and nobody records it
    killed._tail.release()  # type: ignore[union-attr]  # as the system does with the dead
    (told,) = archive_in(process.folder).recover(process.committed)
    assert "bytes were cut" in told
    assert path.read_bytes() == before
    assert cdx.index_path(path).read_text("ascii").splitlines() == cdx.index(path)
    assert process.once().file == first.file


def test_after_a_failed_sync_an_earlier_file_is_whole_and_not_written_again(
    process: Process, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = process.once()
    before = (process.folder / first.file).read_bytes()
    archive = process.open()
    put(archive, fetched())

    def refuse(fd: int) -> None:
        raise OSError(5, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", refuse)
        with pytest.raises(ArchiveError, match="make room"):
            archive.sync()
    assert (process.folder / first.file).read_bytes() == before
    assert put(archive, fetched()).file != first.file
    process.record(archive)
    archive.close()


def test_an_archive_that_was_closed_goes_on_with_its_own_file(process: Process) -> None:
    archive = process.open()
    first = put(archive, fetched())
    process.record(archive)
    archive.close()
    assert put(archive, fetched()).file == first.file
    process.record(archive)
    archive.close()
