"""Finished files that are carried away: read from there as from here, and never in neither place."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.memory import MemoryFileSystem
from tests.shelves import Household
from tests.warcs import AT, PAGE, fetched, files, put, records

from recrawl.errors import ArchiveError, BadSettingError, DamagedError, ShelfError
from recrawl.model import Outcome
from recrawl.remember import carrier, cdx, heads, shelf
from recrawl.remember.shelf import copied_here, remove

NOISE = random.Random(7).randbytes(1_200_000)  # too large for memory
BODIES = [PAGE, b"another page " * 100, NOISE]


@pytest.fixture(params=["file", "memory"])
def house(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Household]:
    (tmp_path / "shelf").mkdir()
    address = f"file://{tmp_path}/shelf" if request.param == "file" else "memory://shelf"
    yield Household(tmp_path / "archive", address)
    MemoryFileSystem.store.clear()


def on_the_shelf(house: Household) -> dict[str, bytes]:
    there, place = shelf.system(house.shelf)
    return {path.rpartition("/")[2]: there.cat_file(path) for path in there.find(place)}


def change(house: Household, name: str, content: bytes | None) -> None:
    there, place = shelf.system(f"{house.shelf}/{name}")
    there.rm_file(place) if content is None else there.pipe_file(place, content)


def test_a_finished_file_goes_with_its_index_and_is_read_from_there(house: Household) -> None:
    versions = house.kept(*BODIES)
    name = versions[0].file
    whole = (house.folder / name).read_bytes()
    index = list(house.archive().cdxj())
    assert house.carry() == [name]
    assert [path.name for path in house.folder.iterdir()] == [heads.heads_path(Path(name)).name]
    there = on_the_shelf(house)
    assert there[name] == whole
    assert there[cdx.index_path(Path(name)).name].decode().splitlines() == index
    assert house.addresses == {name: f"{house.shelf}/{name}"}
    archive = house.archive()
    assert [bytes(archive.snapshot(version).body) for version in versions] == BODIES
    assert list(archive.cdxj()) == index
    with archive.opened(name) as stream:
        assert stream.read() == whole
    assert not list(archive.verify(versions))
    assert archive.recover(lambda: dict(house.recorded)) == []
    assert house.carry() == []


def test_only_the_range_of_a_version_is_read(house: Household, monkeypatch: pytest.MonkeyPatch) -> None:
    versions = house.kept(*BODIES)
    house.carry()
    there, _ = shelf.system(house.shelf)
    read, ranges = there.cat_file, []

    def watched(path: str, start: int, end: int) -> bytes:
        ranges.append((start, end))
        found: bytes = read(path, start=start, end=end)
        return found

    monkeypatch.setattr(type(there), "cat_file", lambda _, *args, **named: watched(*args, **named))
    house.archive().snapshot(versions[1])
    assert ranges == [(versions[1].offset, versions[1].offset + versions[1].length)]


def test_what_may_still_grow_or_is_being_written_stays(house: Household) -> None:
    house.finished = lambda *_: False
    house.kept(PAGE)
    assert house.carry() == []
    house.finished = lambda *_: True
    busy = house.archive()
    put(busy, fetched())
    house.recorded.update(busy.sync())
    assert len(house.carry()) == 1
    assert len(files(house.folder)) == 1
    busy.close()
    house.recorded[files(house.folder)[0].name] += 1  # not as long as recorded
    assert house.carry() == []


def test_revisits_of_what_was_carried_away_need_no_shelf(house: Household) -> None:
    first, other = house.kept(PAGE, NOISE)
    house.carry()
    change(house, first.file, None)
    archive = house.archive()
    again = put(archive, fetched(started_at=AT + 60), first)
    said = fetched(b"", status=304, outcome=Outcome.NOT_MODIFIED)
    put(archive, said, other)
    house.recorded.update(archive.sync())
    archive.close()
    assert (again.file, again.offset) == (first.file, first.offset)
    (same, *_), (unmodified, *_) = records(house.folder)[1], records(house.folder)[3]
    assert same["WARC-Type"] == unmodified["WARC-Type"] == "revisit"
    assert same["WARC-Refers-To-Date"] == "2026-11-15T09:15:00.123456Z"
    assert unmodified["WARC-Payload-Digest"] == other.digest


def test_heads_that_are_lost_come_back_from_the_shelf(house: Household) -> None:
    first, _ = house.kept(PAGE, NOISE)
    house.carry()
    path = heads.heads_path(house.folder / first.file)
    before = path.read_bytes()
    path.unlink()
    archive = house.archive()
    assert put(archive, fetched(), first).file != first.file  # it is kept again rather than asked for
    archive.close()
    assert house.carry() == []
    assert path.read_bytes() == before


def test_every_head_is_found_among_many(tmp_path: Path) -> None:
    house = Household(tmp_path, "memory://shelf")
    versions = house.kept(*(b"%d " % n * 200 for n in range(60)))
    path = tmp_path / versions[0].file
    heads.write(path)
    for n, version in enumerate(versions):
        origin = heads.found(path, version.offset)
        assert origin is not None
        assert origin.payload_digest == version.digest
        assert origin.n_payload == len(b"%d " % n * 200)
        assert heads.found(path, version.offset + 1) is None
    assert heads.found(path, 10**12) is None
    heads.heads_path(path).write_bytes(b"00")
    assert heads.found(path, versions[0].offset) is None


# -- crashes, and shelves in trouble -------------------------------------------------------------------


class Killed(BaseException):
    """Nothing catches it."""


@pytest.mark.parametrize("n_steps", range(12))
def test_after_a_crash_at_any_step_nothing_is_lost_and_the_next_round_completes(
    house: Household, monkeypatch: pytest.MonkeyPatch, n_steps: int
) -> None:
    versions = house.kept(PAGE, NOISE)
    left = [n_steps]

    def step(call: Any) -> Any:
        def wrapped(*args: Any, **named: Any) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise Killed
            return call(*args, **named)

        return wrapped

    with monkeypatch.context() as patch, suppress(Killed):
        patch.setattr(carrier, "_pour", step(carrier._pour))
        patch.setattr("recrawl.remember.carrier.digest_of", step(shelf.digest_of))
        patch.setattr(Path, "unlink", step(Path.unlink))
        list(house.carrier(carry=step(house.addresses.__setitem__)).round())
    assert [bytes(house.archive().snapshot(version).body) for version in versions] == [PAGE, NOISE]
    assert house.archive().recover(lambda: dict(house.recorded)) == []
    if not house.addresses:
        MemoryFileSystem.store.clear()  # the only place here that shows a copy cut short
    house.carry()
    assert files(house.folder) == []
    assert not list(house.archive().verify(versions))
    assert house.carry() == []


def test_a_copy_that_comes_back_otherwise_is_no_copy(
    house: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    (version,) = house.kept(NOISE)
    pour = carrier._pour

    def lossy(near: Any, far: Any, go_on: Any) -> None:
        near.seek(1)
        pour(near, far, go_on)

    with monkeypatch.context() as patch:
        patch.setattr(carrier, "_pour", lossy)
        with pytest.raises(ShelfError, match="read back with another content"):
            house.carry()
    assert house.addresses == {}
    assert (house.folder / version.file).exists()
    assert house.archive().snapshot(version).body == NOISE


def test_somebody_elses_file_of_that_name_is_left_alone(house: Household) -> None:
    (version,) = house.kept(PAGE)
    change(house, version.file, b"not ours")
    with pytest.raises(ShelfError, match="is there already with another content"):
        house.carry()
    assert on_the_shelf(house)[version.file] == b"not ours"
    assert (house.folder / version.file).exists()


def test_a_shelf_that_is_not_there_leaves_the_file_here(tmp_path: Path) -> None:
    house = Household(tmp_path / "archive", f"file://{tmp_path}/not/mounted")
    (version,) = house.kept(PAGE)
    with pytest.raises(ShelfError, match="What is here is safe"):
        house.carry()
    assert not (tmp_path / "not").exists()
    assert house.archive().snapshot(version).body == PAGE


def test_a_shelf_that_fails_is_left_alone_for_a_while(
    house: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    (version,) = house.kept(PAGE)
    house.carry()
    now, n_asked = [AT], [0]
    archive = house.archive(now=lambda: now[0])
    there, _ = shelf.system(house.shelf)

    def fails(*_: Any, **__: Any) -> None:
        n_asked[0] += 1
        raise TimeoutError

    with monkeypatch.context() as patch:
        patch.setattr(type(there), "cat_file", fails)
        for _ in range(5):
            with pytest.raises(ShelfError):
                archive.snapshot(version)
        assert n_asked == [1]
        now[0] += shelf.REST_S
        told = list(archive.verify([version]))
        assert [(found.seq, "try again" in what) for found, what in told] == [(1, True), (0, True)]
        assert n_asked[0] > 1
    now[0] += shelf.REST_S
    assert archive.snapshot(version).body == PAGE


def test_a_shelf_that_does_not_answer_keeps_one_waiting_and_no_others(
    house: Household, monkeypatch: pytest.MonkeyPatch
) -> None:
    (version,) = house.kept(PAGE)
    house.carry()
    now, n_asked, over = [AT], [0], threading.Event()
    archive = house.archive(now=lambda: now[0])
    there, _ = shelf.system(house.shelf)

    def hangs(*_: Any, **__: Any) -> None:
        n_asked[0] += 1
        over.wait(60)

    with monkeypatch.context() as patch:
        patch.setattr(shelf, "PATIENCE_S", 0.1)
        patch.setattr(type(there), "cat_file", hangs)
        with pytest.raises(ShelfError, match="no answer within"):
            archive.snapshot(version)
        now[0] += shelf.REST_S
        with ThreadPoolExecutor(8) as readers:
            calls = [readers.submit(archive.snapshot, version) for _ in range(8)]
            told = [str(call.exception()) for call in calls]
        over.set()
    assert sorted("a moment ago" in one for one in told) == [False] + 7 * [True]
    assert n_asked == [2]


def test_damage_on_the_shelf_is_found_and_mended_by_putting_the_file_back(house: Household) -> None:
    first, second = house.kept(PAGE, NOISE)
    whole = (house.folder / first.file).read_bytes()
    house.carry()
    flipped = bytearray(whole)
    flipped[first.offset + first.length // 2] ^= 4
    change(house, first.file, bytes(flipped))
    archive = house.archive()
    with pytest.raises(DamagedError):
        archive.snapshot(first)
    assert [version for version, _ in archive.verify([first, second])] == [first]
    (house.folder / first.file).write_bytes(whole)
    assert archive.snapshot(first).body == PAGE
    assert house.carry() == [first.file]
    assert on_the_shelf(house)[first.file] == whole
    assert not list(house.archive().verify([first, second]))
    change(house, first.file, None)
    assert next(house.archive().verify([first]))[0] == first
    with pytest.raises(ArchiveError, match="put it back from a copy"):
        house.archive().opened(first.file)


def test_a_file_is_fetched_back_whole_and_removed_for_good(house: Household, tmp_path: Path) -> None:
    (version,) = house.kept(NOISE)
    whole = (house.folder / version.file).read_bytes()
    house.carry()
    copied_here(house.addresses[version.file], house.folder / version.file)
    assert (house.folder / version.file).read_bytes() == whole
    remove(house.addresses[version.file])
    remove(house.addresses[version.file])
    assert version.file not in on_the_shelf(house)


def test_work_that_is_to_end_ends_between_two_pieces(house: Household) -> None:
    house.kept(NOISE)

    def stop() -> None:
        raise carrier.Stopped

    house.go_on = stop
    with pytest.raises(carrier.Stopped):
        house.carry()
    house.go_on = lambda: None
    assert len(house.carry()) == 1


def test_a_shelf_whose_package_is_missing_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(BadSettingError, match=r"no address"):
        shelf.system("nonsense://there")
    program = (
        "import sys\n"
        "sys.modules['fsspec'] = sys.modules['fsspec.core'] = None\n"
        "from recrawl.remember.shelf import system\n"
        "try: system('s3://there')\n"
        "except Exception as problem: print(problem)\n"
    )
    told = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert "pip install 'recrawl[s3]'" in told
