"""A store whose manners this recrawl does not know all of."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recrawl.checks.store.samples import SILENT, T0, new, resource_scope
from recrawl.errors import NewerStoreError
from recrawl.model import Manner, Settings
from recrawl.remember.sqlite import SqliteStore

URL = "http://a.example/"


def test_a_manner_from_a_newer_recrawl_is_refused_and_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    later = '{"render":true,"sandbox":"strict"}'
    with closing(SqliteStore(path)) as store:
        store.add([new(URL, settings=Settings(manner=Manner(render=True)))], T0)
        store._db._connection.execute("UPDATE layer SET manner = ?", (later,))
        with pytest.raises(NewerStoreError, match=r"does not know \(sandbox\); upgrade recrawl\.$"):
            store.find(URL)
        with pytest.raises(NewerStoreError, match="sandbox"):
            store.say(resource_scope(URL), SILENT, T0, forget=["render"])
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT manner FROM layer").fetchall() == [(later,)]


def test_only_what_is_said_is_written(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(SqliteStore(path)) as store:
        store.add([new(URL, settings=Settings(manner=Manner(insecure=False)))], T0)
        store.add([new("http://b.example/")], T0)
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT manner FROM layer").fetchall() == [('{"insecure": false}',)]
        assert raw.execute("SELECT manner FROM resource").fetchall() == [('{"insecure":false}',), ("{}",)]
