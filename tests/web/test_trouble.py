"""The house in trouble: pages and programs are told so, and it is well again once the trouble is over."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.web.conftest import Served

from recrawl.app.build import STORE_FILE
from recrawl.errors import TooLongError
from recrawl.model import NewResource, Settings
from recrawl.web.face import desk


def told(served: Served, words: str, status: int = 503) -> None:
    with served.client() as client:
        for path in ("/resources", "/changes", "/hosts", "/api/v1/hosts", "/api/v1/changes"):
            answer = client.get(path)
            assert answer.status_code == status, (path, answer.text)
            assert words in answer.text, path
            assert "Traceback" not in answer.text
            assert answer.headers["x-frame-options"] == "DENY"


def test_a_store_that_is_newer_or_damaged_is_told_of(served: Served, tmp_path: Path) -> None:
    path, kept = served.home / STORE_FILE, tmp_path / "kept"
    with served.client() as client:
        assert client.get("/hosts").status_code == 200
    with closing(sqlite3.connect(path)) as store:
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    shutil.copy(path, kept)
    for wrong, words in ((_newer, "upgrade recrawl"), (_damaged, "bring the file back from a backup")):
        fresh = tmp_path / "fresh"
        shutil.copy(kept, fresh)
        wrong(fresh)
        fresh.replace(path)
        told(served, words)
    shutil.copy(kept, tmp_path / "fresh")
    (tmp_path / "fresh").replace(path)
    with served.client() as client:
        assert client.get("/hosts").status_code == 200


def _newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as store:
        store.execute("PRAGMA user_version = 9999")


def _damaged(path: Path) -> None:
    path.write_bytes(b"no store at all" * 1_000)


def test_another_store_in_the_place_of_the_first_is_read(served: Served, tmp_path: Path) -> None:
    """Whoever brings a backup back while the face is open sees what it holds, and changes that."""
    url = "https://brought-back.example/"
    with served.client() as client:
        assert client.get("/api/v1/hosts").json()["hosts"] == []
        shutil.copytree(served.home, tmp_path / "other")
        with served.house() as house:
            house.store.add([NewResource(url=url, host="brought-back.example", settings=Settings())], 0.0)
        assert len(client.get("/api/v1/hosts").json()["hosts"]) == 1
        for name in (STORE_FILE, f"{STORE_FILE}-wal", f"{STORE_FILE}-shm"):
            (served.home / name).unlink(missing_ok=True)
        (tmp_path / "other" / STORE_FILE).rename(served.home / STORE_FILE)
        assert client.get("/api/v1/hosts").json()["hosts"] == []


def test_a_settings_file_that_cannot_be_read_is_told_of(served: Served) -> None:
    (served.home / "recrawl.toml").write_text("[schedule\n")
    told(served, "recrawl.toml", 400)
    (served.home / "recrawl.toml").unlink()
    with served.client() as client:
        assert client.get("/hosts").status_code == 200


def test_a_question_that_takes_too_long_is_broken_off(
    year_copy: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    with year_copy.client() as client:
        assert client.get("/api/v1/hosts").status_code == 200
        monkeypatch.setattr(desk, "ASK_S", 0.0)
        answer = client.get("/api/v1/changes", params={"limit": 1_000})
        assert answer.status_code == 503
        assert answer.json()["error"] == TooLongError.__doc__
        number = client.get("/api/v1/resources/1/hours")
        assert number.status_code in (200, 503)
        monkeypatch.setattr(desk, "ASK_S", 5.0)
        assert client.get("/api/v1/changes", params={"limit": 1_000}).status_code == 200
