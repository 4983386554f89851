"""A backup is believed in nothing: what is crafted is refused, and nothing is written outside the folder."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path

import pytest
from tests.faults.crafted import CRAFTED, Craft, absolute, dots, tar_dots
from tests.keeper import T0, keeper

from recrawl.app import restore as restoring
from recrawl.app.backup import backup
from recrawl.app.restore import restore
from recrawl.errors import BadBackupError, BadInputError, RecrawlError


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good")
    with keeper(folder / "home") as kept:
        kept.sees("http://a.example/", b"one" * 900, T0)
        kept.house.archive.close()
        backup(kept.house, folder / "backup")
    return folder / "backup"


def _tree(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path): (path.lstat().st_size, path.lstat().st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        if not path.is_dir()
    }


@pytest.mark.parametrize("craft", CRAFTED, ids=lambda craft: craft.__name__)
def test_a_crafted_backup_is_refused_and_writes_nothing(craft: Craft, good: Path, tmp_path: Path) -> None:
    made = craft(shutil.copytree(good, tmp_path / "crafted", symlinks=True))
    before = _tree(tmp_path)
    with pytest.raises(RecrawlError) as refused:
        restore(made, tmp_path / "again")
    assert isinstance(refused.value, BadInputError)
    assert len(str(refused.value)) < 400
    assert _tree(tmp_path) == before
    assert not (tmp_path / "again").exists()
    assert [path for path in tmp_path.iterdir() if "restoring" in path.name] == []


@pytest.mark.parametrize("craft", [dots, absolute, tar_dots], ids=lambda craft: craft.__name__)
def test_the_check_sees_what_a_restore_that_believes_names_would_write(
    craft: Craft, good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoring, "allowed", lambda _: True)
    made = craft(shutil.copytree(good, tmp_path / "crafted", symlinks=True))
    for planted in ("evil", "absolute"):
        (tmp_path / planted).unlink(missing_ok=True)
    before = _tree(tmp_path)
    with suppress(BadBackupError):
        restore(made, tmp_path / "again")
    assert _tree(tmp_path) != before
