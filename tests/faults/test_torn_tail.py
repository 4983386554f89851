"""Writers that die, at any byte: nothing that was recorded is lost, nothing torn stays in the way."""

from __future__ import annotations

import fcntl
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.faults.tails import archive_in, fetched, intact, put, targets, version_of

from recrawl.model import Outcome, Version
from recrawl.remember import cdx
from recrawl.remember.recovery import CUT_FOLDER
from recrawl.remember.tail import in_use
from recrawl.remember.warc import WarcArchive

# -- cut at every byte ---------------------------------------------------------------------------------


def answer(archive: WarcArchive, first: Version) -> None:
    put(archive, b"the last answer")


def same_again(archive: WarcArchive, first: Version) -> None:
    archive.put(fetched(b"the first answer"), version_of(b"the first answer"), first)


def not_modified(archive: WarcArchive, first: Version) -> None:
    archive.put(fetched(b"", Outcome.NOT_MODIFIED), first, first)


Torn = tuple[Path, bytes, int, Version]


def torn_file(folder: Path, last: Callable[[WarcArchive, Version], None]) -> Torn:
    """A file with one recorded answer and then `last`, whose records were written and not recorded."""
    archive = archive_in(folder)
    first = put(archive, b"the first answer")
    n_recorded = archive.sync()[first.file]
    last(archive, first)
    archive.sync()
    archive.close()
    path = folder / first.file
    cdx.index_path(path).unlink()  # a process that died did not write it
    return path, path.read_bytes(), n_recorded, first


@pytest.mark.slow
@pytest.mark.parametrize("last", [answer, same_again, not_modified])
def test_a_file_cut_anywhere_in_its_last_records_is_mended(
    tmp_path: Path, last: Callable[[WarcArchive, Version], None]
) -> None:
    path, whole, n_recorded, first = torn_file(tmp_path, last)
    # every third byte, and all of those beside the first and the last
    ends = {*range(n_recorded, n_recorded + 20), *range(len(whole) - 20, len(whole) + 1)}
    for n_kept in sorted({*range(n_recorded, len(whole) + 1, 3), *ends}):
        path.write_bytes(whole[:n_kept])
        archive = archive_in(tmp_path)
        said = archive.recover(lambda: {path.name: n_recorded})
        assert len(said) == (n_kept > n_recorded)
        assert path.read_bytes() == whole[:n_recorded]
        versions = [first, *(put(archive, f"later answer {number}".encode()) for number in range(3))]
        archive.close()
        assert not list(archive.verify(versions))
        assert len(targets(tmp_path)) == 4
        if n_kept % 30 == 0:
            assert intact(tmp_path, versions)
            assert [line.split(" ")[0] for line in cdx.cdxj(tmp_path)] == ["h)/"] * 4
        (tmp_path / versions[1].file).unlink()
        cdx.index_path(tmp_path / versions[1].file).unlink()


def test_the_check_catches_a_recovery_that_does_not_cut(tmp_path: Path) -> None:
    path, whole, n_recorded, first = torn_file(tmp_path, answer)
    for n_kept in range(n_recorded + 1, len(whole) + 1, 11):
        path.write_bytes(whole[:n_kept])
        archive = archive_in(tmp_path)
        versions = [first, *(put(archive, f"later answer {number}".encode()) for number in range(3))]
        archive.close()
        assert not intact(tmp_path, versions)
        (tmp_path / versions[1].file).unlink()


def test_the_check_catches_a_writer_that_appends_without_recovering(tmp_path: Path) -> None:
    path, whole, n_recorded, first = torn_file(tmp_path, answer)
    later_folder = tmp_path / "later"
    later = archive_in(later_folder)
    after = put(later, b"later answer")
    later.close()
    appended = (later_folder / after.file).read_bytes()
    n_caught = 0
    cuts = range(n_recorded + 1, n_recorded + 300, 7)
    for n_kept in cuts:
        path.write_bytes(whole[:n_kept] + appended)
        moved = replace(after, file=path.name, offset=n_kept + after.offset)
        n_caught += not intact(tmp_path, [first, moved])
    assert n_caught == len(cuts)


# -- what recovery leaves alone ------------------------------------------------------------------------


def test_a_file_that_the_store_never_heard_of_is_moved_aside_and_a_stranger_s_is_not(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    unrecorded = tmp_path / put(archive, b"never recorded").file
    archive.close()
    stranger = tmp_path / "collection-2019.warc.gz"
    stranger.write_bytes(unrecorded.read_bytes())
    (said,) = archive_in(tmp_path).recover(dict)
    assert unrecorded.name in said
    assert "kept in" in said
    assert [path.name for path in tmp_path.glob("*.warc.gz")] == [stranger.name]
    (kept,) = (tmp_path / CUT_FOLDER).iterdir()
    assert kept.read_bytes() == stranger.read_bytes()


def test_an_old_store_beside_a_newer_archive_costs_no_record(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    name = put(archive, b"yesterday").file
    yesterday = dict(archive.sync())
    put(archive, b"today")
    archive.sync()
    archive.close()
    whole = (tmp_path / name).read_bytes()
    archive_in(tmp_path).recover(lambda: yesterday)
    (kept,) = (tmp_path / CUT_FOLDER).iterdir()
    assert (tmp_path / name).read_bytes() + kept.read_bytes() == whole


def test_a_torn_tail_without_a_whole_record_is_not_kept(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    name = put(archive, b"yesterday").file
    lengths = dict(archive.sync())
    archive.close()
    with (tmp_path / name).open("ab") as stream:
        stream.write(b"\x1f\x8b\x08torn")
    archive_in(tmp_path).recover(lambda: lengths)
    assert not (tmp_path / CUT_FOLDER).exists()


def test_a_file_shorter_than_what_was_recorded_is_reported_and_not_touched(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    name = put(archive, b"an answer").file
    n_recorded = archive.sync()[name]
    archive.close()
    path = tmp_path / name
    path.write_bytes(path.read_bytes()[:-10])
    said = archive_in(tmp_path).recover(lambda: {name: n_recorded, "recrawl-lost.warc.gz": 7})
    assert len(said) == 2
    assert "damaged" in said[0]
    assert "missing" in said[1]
    assert path.stat().st_size == n_recorded - 10


def test_a_missing_index_is_made_again(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    name = put(archive, b"an answer").file
    lengths = archive.sync()
    archive.close()
    index = cdx.index_path(tmp_path / name)
    before = index.read_text()
    index.unlink()
    assert archive_in(tmp_path).recover(lambda: lengths) == []
    assert index.read_text() == before != ""


def test_a_file_that_a_living_process_writes_is_left_alone(tmp_path: Path) -> None:
    writer = archive_in(tmp_path)
    version = put(writer, b"an answer")
    lengths = writer.sync()
    assert archive_in(tmp_path).recover(dict) == []
    assert writer.snapshot(version).body == b"an answer"
    put(writer, b"another")
    writer.sync()
    writer.close()
    (said,) = archive_in(tmp_path).recover(lambda: lengths)
    assert "cut" in said
    assert intact(tmp_path, [version])


def test_a_new_file_that_a_recovery_deletes_before_it_is_locked_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = fcntl.flock
    said: list[str] = []

    def late(fd: int, kind: int) -> None:
        monkeypatch.setattr(fcntl, "flock", lock)
        said.extend(archive_in(tmp_path).recover(dict))
        lock(fd, kind)

    archive = archive_in(tmp_path)
    version = put(archive, b"an answer")
    monkeypatch.setattr(fcntl, "flock", late)
    archive.sync()
    assert len(said) == 1
    assert archive.snapshot(version).body == b"an answer"
    assert in_use(tmp_path / version.file)
    archive.close()
