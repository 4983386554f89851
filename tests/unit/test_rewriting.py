"""Archive files written anew beside everything else that goes on: crashes, backups, restored copies."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from tests.keeper import DAY_S, T0, Keeper, chained, holds, keeper
from tests.warcs import files

from recrawl.app import keeping
from recrawl.app.backup import backup
from recrawl.app.erasure import erase
from recrawl.app.health import verify
from recrawl.app.patience import patient
from recrawl.app.pruning import Pruner
from recrawl.app.restore import restore
from recrawl.errors import ArchiveError, BadBackupError, BusyArchiveError, StoreError
from recrawl.remember.locks import Locks
from recrawl.remember.recovery import CUT_FOLDER
from recrawl.remember.retention import Retention
from recrawl.remember.sqlite import SqliteStore, sums

A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"
MARKER = b"Xylophagous-4711"


def body(text: str) -> bytes:
    return text.encode() * 300


def marked(text: str) -> bytes:
    return b"<p>" + MARKER + b" " + text.encode() * 600


def pruner(kept: Keeper, patience_s: float = 5.0) -> Pruner:
    return Pruner(store=kept.house.store, folder=kept.folder, now=kept.clock.now, waiting=patient(patience_s))


def troubles(kept: Keeper) -> list[str]:
    found = [f"{problem.where}: {problem.what}" for problem in verify(kept.house)]
    assert chained(kept.folder)
    return found


@pytest.mark.parametrize("torn", [False, True])
def test_what_a_dead_run_had_not_recorded_is_cut_before_its_file_is_written_anew(
    torn: bool, tmp_path: Path
) -> None:
    """Else a torn end would count as recorded, and hide from other readers what is appended to it."""
    with keeper(tmp_path) as kept:
        for n, text in enumerate(["one", "two", "three"]):
            fetch = kept.sees(A, body(text), T0 + n)
        kept.house.archive.put(fetch, kept.versions(A)[-1])
        kept.house.archive.close()  # written and not recorded: another run was killed just then
        (path,) = files(kept.folder)
        if torn:
            os.truncate(path, path.stat().st_size - 5)
        kept.clock.at += 5 * DAY_S
        assert pruner(kept).prune(Retention(n_most=1)).freed.n_versions == 1
        assert len(list((kept.folder / CUT_FOLDER).iterdir())) == 1
        kept.sees(B, body("later"), kept.clock.at)
        assert len(files(kept.folder)) == 1  # which was taken up again
        assert kept.bodies(A) == [body("one"), body("three")]
        assert troubles(kept) == []


def test_no_copies_pile_up_while_a_backup_keeps_files_from_being_exchanged(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        for n, text in enumerate(["one", "two", "three"]):
            kept.sees(A, body(text), T0 + n)
        kept.rotate()
        with kept.house.archive.recording():
            for _ in range(3):
                with pytest.raises(BusyArchiveError):
                    pruner(kept, 0.1).prune(Retention(n_most=1))
            assert len(files(kept.folder)) == 1
        begun = threading.Event()

        def late() -> None:
            """Comes when the copy is made, and is there for longer than the pruning waits."""
            with Locks(kept.folder).recording(lambda: None):
                begun.set()
                done.wait(60)

        done = threading.Event()
        reader = threading.Thread(target=late)

        def comes() -> None:
            if not begun.is_set():
                reader.start()
                begun.wait(60)

        try:
            with pytest.raises(BusyArchiveError):
                replace(pruner(kept, 0.3), go_on=comes).prune(Retention(n_most=1))
        finally:
            done.set()
            reader.join()
        assert pruner(kept).prune(Retention(n_most=1)).freed.n_versions == 1
        assert len(files(kept.folder)) == 1
        assert kept.house.store.doomed() == {}
        assert troubles(kept) == []


def test_a_file_that_is_missing_is_named_and_nothing_is_taken_for_erased(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        kept.sees(A, marked("one"), T0)
        kept.rotate()
        kept.sees(A, marked("two"), T0 + 9 * DAY_S)
        kept.rotate()
        lost = files(kept.folder)[0]
        shutil.move(lost, tmp_path / lost.name)
        lost.with_name(lost.name.replace(".warc.gz", ".cdxj")).unlink()
        with pytest.raises(ArchiveError, match=lost.name):
            erase(kept.house, A)
        assert not any(erasure.done for erasure in kept.house.store.erasures())
        shutil.move(tmp_path / lost.name, lost)
        erase(kept.house, A)
        assert holds(tmp_path, MARKER) == []


def test_an_erasure_is_done_only_when_the_store_keeps_no_trace_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with keeper(tmp_path) as kept:
        kept.sees(A, marked("one"), T0)

        def busy(_: SqliteStore) -> None:
            raise StoreError("somebody reads it")

        with monkeypatch.context() as patched:
            patched.setattr(SqliteStore, "scrub", busy)
            with pytest.raises(StoreError):
                erase(kept.house, A, why="asked for")
        (begun,) = kept.house.store.erasures()
        assert not begun.done
        assert begun.n_versions == 1
        again = erase(kept.house, A)
        assert (again.done, again.why, again.n_versions) == (True, "asked for", 1)
        assert again.n_records == begun.n_records
        assert holds(tmp_path, MARKER) == []


def test_a_restored_copy_takes_nothing_from_the_shelf_of_the_house_it_is_a_copy_of(tmp_path: Path) -> None:
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    settings = {"archiving": {"shelf": shelf.as_uri(), "max_file_age": "1d"}}
    texts = ["one", "two", "three"]
    with keeper(tmp_path / "home", **settings) as kept:
        for n, text in enumerate(texts):
            kept.sees(A, body(text), T0 + n)
        kept.rotate()
        kept.carry()
        backup(kept.house, tmp_path / "backup")
    restore(tmp_path / "backup", tmp_path / "again")
    with keeper(tmp_path / "again", **settings) as copy:
        copy.clock.at = T0 + 9 * DAY_S
        assert files(copy.folder) != []
        copy.carry()  # as a run there would, to the same shelf
        assert files(copy.folder) == []
        assert copy.bodies(A) == [body(text) for text in texts]
        assert pruner(copy).prune(Retention(n_most=1)).freed.n_versions == 1
        assert troubles(copy) == []
        erase(copy.house, A)
    with keeper(tmp_path / "home", **settings) as kept:
        assert troubles(kept) == []
        assert kept.bodies(A) == [body(text) for text in texts]


def test_what_a_crash_left_between_two_files_is_found_although_the_resource_has_moved(tmp_path: Path) -> None:
    """The content is handed on to another resource first; what had it before has another address by now."""
    with keeper(tmp_path / "home") as kept:
        kept.sees(A, marked("one"), T0)
        kept.rotate()
        kept.sees(B, marked("one"), T0 + 9 * DAY_S)
        kept.rotate()
        resource = kept.house.store.find(A)
        assert resource is not None
        kept.house.store.move(resource.id, C, "c.example", kept.clock.at)
    child = os.fork()
    if not child:
        try:
            with keeper(tmp_path / "home") as kept:
                really, n = SqliteStore.replace, 0

                def dying(store: SqliteStore, made: object) -> bool:
                    nonlocal n
                    n += 1
                    if n == 2:
                        os._exit(9)
                    return really(store, made)  # type: ignore[arg-type]

                SqliteStore.replace = dying  # type: ignore[method-assign,assignment]
                erase(kept.house, C)
        finally:
            os._exit(3)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    with keeper(tmp_path / "home") as kept:
        erase(kept.house, C)
        assert kept.bodies(B) == [marked("one")]
        assert troubles(kept) == []
        erase(kept.house, B)
        assert holds(tmp_path, MARKER) == []


def test_a_store_whose_versions_lie_outside_its_archive_is_not_restored(tmp_path: Path) -> None:
    """Erasing such a version would delete whatever is there."""
    with keeper(tmp_path / "home") as kept:
        kept.sees(A, body("one"), T0)
        kept.house.archive.close()
        backup(kept.house, tmp_path / "backup")
    store, manifest = tmp_path / "backup" / "recrawl.sqlite", tmp_path / "backup" / "manifest.json"
    for crafted in (
        "UPDATE version SET file = '../../precious.warc.gz'",
        "ALTER TABLE archive_file RENAME TO other; CREATE VIEW archive_file AS SELECT * FROM other",
    ):
        before = store.read_bytes()
        with closing(sqlite3.connect(store)) as raw:
            sums.register(raw)
            raw.executescript(crafted)
        listed = json.loads(manifest.read_text())
        listed["files"][0].update(n_bytes=store.stat().st_size, sha256=sha256(store.read_bytes()).hexdigest())
        manifest.write_text(json.dumps(listed))
        with pytest.raises(BadBackupError, match=r"precious|archive_file"):
            restore(tmp_path / "backup", tmp_path / "again")
        store.write_bytes(before)


def test_beside_a_run_an_erasure_is_tried_again_less_and_less_often_and_told_of_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with keeper(tmp_path) as kept:
        kept.sees(A, marked("one"), T0)
        kept.house.archive.close()
        (path,) = files(kept.folder)
        path.rename(tmp_path / "away")
        kept.house.store.begin_erasure(A, "asked for", T0)
        told: list[str] = []
        upkeep = keeping._Upkeep(kept.house, told.append)
        rests: list[float] = []

        def rest(seconds: float) -> bool:
            rests.append(seconds)
            if len(rests) == 3:
                (tmp_path / "away").rename(path)
            if len(rests) == 4:
                upkeep.stop.set()
            return False

        monkeypatch.setattr(upkeep.stop, "wait", rest)
        upkeep._run()
        assert rests == [120.0, 240.0, 480.0, 60.0]
        assert len(told) == 2
        assert path.name in told[0]
        assert "is finished" in told[1]
        assert holds(tmp_path, MARKER) == []
