"""Backups made while a run goes on are whole, and so is what is made of them again."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.faults.counts import n_times
from tests.keeper import T0, holds, keeper
from tests.pages import Pages, serving

from recrawl.app.backup import backup
from recrawl.app.build import open_house
from recrawl.app.erasure import erase
from recrawl.app.health import verify
from recrawl.app.patience import patient
from recrawl.app.pruning import Pruner
from recrawl.app.restore import restore
from recrawl.errors import BadInputError, BusyArchiveError
from recrawl.remember.retention import Retention

N_BACKUPS = n_times(10, 3)
A, B = "http://a.example/", "http://b.example/"


@pytest.fixture
def pages() -> Iterator[Pages]:
    with serving() as server:
        yield server


def digests(home: Path) -> list[tuple[str, int, str, str]]:
    """What every version is, read back from the archive."""
    with open_house(home, reading=True) as house:
        assert [f"{p.where}: {p.what}" for p in verify(house)] == []
        urls = {resource.id: resource.url for resource, _, _ in house.store.resources()}
        return [
            (
                urls[version.resource_id],
                version.seq,
                version.digest,
                hashlib.sha256(bytes(house.archive.snapshot(version).body)).hexdigest(),
            )
            for version in house.store.versions()
        ]


@pytest.mark.slow
@pytest.mark.timeout(120 + 30 * N_BACKUPS)
def test_backups_made_while_a_run_goes_on_are_whole(pages: Pages, tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "backup"
    env = {
        **os.environ,
        "RECRAWL_HOME": str(home),
        "RECRAWL_FETCHING__MIN_DELAY": "0.01",
        "RECRAWL_ARCHIVING__MAX_FILE_BYTES": str(2**20),
    }
    urls = "".join(f"http://h{i}.localhost:{pages.server_port}/\n" for i in range(24))
    recrawl = [sys.executable, "-m", "recrawl"]
    subprocess.run(
        [*recrawl, "add", "-", "--allow-private", "--min-gap", "1s", "--kind", "file"],
        env=env, input=urls, text=True, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    running = subprocess.Popen(
        [*recrawl, "run", "--json", "--budget", "10000000/day"], env=env, stdout=subprocess.PIPE, text=True
    )
    try:
        assert running.stdout is not None
        n_before = 0
        for n in range(N_BACKUPS):
            for _ in range(20):  # the run has really gone on since
                assert running.stdout.readline()
            with open_house(home, reading=True) as house:
                done = backup(house, folder)
                packed = backup(house, tmp_path / f"{n}.tar")
            assert packed.n_bytes >= done.n_bytes
            restore(folder, tmp_path / "again")
            found = digests(tmp_path / "again")
            assert len(found) > n_before
            assert {digest.removeprefix("sha256:") for *_, digest, _ in found} == {body for *_, body in found}
            n_before = len(found)
            restore(tmp_path / f"{n}.tar", tmp_path / "packed")
            assert digests(tmp_path / "packed")[:n_before] == found
            for made in ("again", "packed"):
                shutil.rmtree(tmp_path / made)
            (tmp_path / f"{n}.tar").unlink()
    finally:
        running.send_signal(signal.SIGTERM)
        rest, _ = running.communicate()
    assert running.returncode == 0, rest
    assert digests(home)[:n_before] == found


def test_what_is_there_already_is_not_copied_again(tmp_path: Path) -> None:
    with keeper(tmp_path / "home") as kept:
        kept.sees(A, b"one" * 900, T0)
        kept.rotate()
        first = backup(kept.house, tmp_path / "backup")
        kept.sees(B, b"two" * 900, T0 + 1)
        second = backup(kept.house, tmp_path / "backup")
        assert [(first.n_files, first.n_copied), (second.n_files, second.n_copied)] == [(2, 2), (3, 2)]
        erase(kept.house, A)
        backup(kept.house, tmp_path / "backup")
        assert len(list((tmp_path / "backup/archive").iterdir())) == 1  # what was taken out goes here too
    restore(tmp_path / "backup", tmp_path / "again")
    with keeper(tmp_path / "again") as again:
        assert again.bodies(B) == [b"two" * 900]


@pytest.mark.parametrize("packed", [False, True])
def test_secrets_are_left_out_unless_they_are_asked_for(tmp_path: Path, packed: bool) -> None:
    ending = ".tar" if packed else ""
    with keeper(tmp_path / "home") as kept:
        kept.sees(A, b"one" * 900, T0)
        (tmp_path / "home/secrets.json").write_text('{"format": 1, "word": "Xylophagous"}')
        backup(kept.house, tmp_path / f"without{ending}")
        backup(kept.house, tmp_path / f"with{ending}", with_secrets=True)
    found = holds(tmp_path, b"Xylophagous")
    assert [name for name in found if name.startswith("without")] == []
    assert [name for name in found if name.startswith("with")]
    restore(tmp_path / f"with{ending}", tmp_path / "again")
    assert (tmp_path / "again/secrets.json").stat().st_mode & 0o077 == 0


def test_a_backup_cut_short_leaves_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with keeper(tmp_path / "home") as kept:
        kept.sees(A, b"one" * 900, T0)
        backup(kept.house, tmp_path / "backup")
        kept.sees(A, b"two" * 900, T0 + 1)
        really = Path.replace
        for n_renames in range(4):  # the new list of contents, then the store and the file it speaks of
            left = [n_renames]

            def cut(self: Path, to: Path, left: list[int] = left) -> Path:
                if not left[0]:
                    raise OSError(5, "the disk is gone")
                left[0] -= 1
                return really(self, to)

            monkeypatch.setattr(Path, "replace", cut)
            with pytest.raises(BadInputError, match="the disk is gone"):
                backup(kept.house, tmp_path / "backup")
            monkeypatch.undo()
            restore(tmp_path / "backup", tmp_path / f"again{n_renames}")
            with keeper(tmp_path / f"again{n_renames}") as again:
                assert again.bodies(A)[0] == b"one" * 900
                assert len(again.bodies(A)) == (1 if n_renames == 0 else 2)
        backup(kept.house, tmp_path / "backup")
        assert not [path for path in (tmp_path / "backup").rglob("*") if path.name.endswith(".next")]


def test_only_a_new_or_empty_folder_is_restored_into(tmp_path: Path) -> None:
    with keeper(tmp_path / "home") as kept:
        kept.sees(A, b"one" * 900, T0)
        backup(kept.house, tmp_path / "backup")
        with pytest.raises(BadInputError, match="choose a place elsewhere"):
            backup(kept.house, tmp_path / "home/backup")
        (tmp_path / "full").mkdir()
        (tmp_path / "full/mine").write_text("mine")
        with pytest.raises(BadInputError, match="no backup"):
            backup(kept.house, tmp_path / "full")
    with pytest.raises(BadInputError, match="not empty"):
        restore(tmp_path / "backup", tmp_path / "full")
    assert (tmp_path / "full/mine").read_text() == "mine"
    (tmp_path / "empty").mkdir()
    restore(tmp_path / "backup", tmp_path / "empty")


def test_no_file_is_exchanged_while_a_backup_copies(tmp_path: Path) -> None:
    with keeper(tmp_path / "home") as kept:
        for n in range(3):
            kept.sees(A, f"{n}".encode() * 900, T0 + n)
        kept.rotate()
        pruner = Pruner(store=kept.house.store, folder=kept.folder, now=kept.clock.now, waiting=patient(0.0))
        refused: list[bool] = []

        def meanwhile(_: str) -> None:
            with pytest.raises(BusyArchiveError):
                pruner.prune(Retention(n_most=1))
            refused.append(True)

        backup(kept.house, tmp_path / "backup", tell=meanwhile)
        assert refused
        assert pruner.prune(Retention(n_most=1)).freed.n_versions == 1
    restore(tmp_path / "backup", tmp_path / "again")
    assert len(digests(tmp_path / "again")) == 3
