"""Opening: what is ours is brought up to date, what is not is left alone."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from math import nan
from pathlib import Path

import numpy as np
import pytest

from recrawl.app.health import unsound
from recrawl.checks.store.samples import T0, completion, lease_of, new
from recrawl.errors import NewerStoreError, StoreError
from recrawl.model import FEATURES, GLOBAL, Bag, Changes, Hunch, Settings, Sight, Telling, packed
from recrawl.remember.sqlite import SqliteStore, database, sums

OTHER = "http://a.example/other"


def pragma(path: Path, name: str) -> object:
    with closing(sqlite3.connect(path)) as raw:
        return raw.execute(f"PRAGMA {name}").fetchone()[0]


def test_a_new_store_says_whose_it_is_and_is_safe_to_share(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(SqliteStore(path)) as store:
        settings = {
            name: store._db._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("synchronous", "foreign_keys", "busy_timeout")
        }
        assert settings == {"synchronous": 2, "foreign_keys": 1, "busy_timeout": 10_000}
    assert pragma(path, "application_id") == database.APPLICATION_ID
    assert pragma(path, "user_version") == database.migrations()[-1][0]
    assert pragma(path, "journal_mode") == "wal"


def test_migrations_are_numbered_without_gaps() -> None:
    assert [number for number, _ in database.migrations()] == list(range(1, len(database.migrations()) + 1))


def test_an_older_store_is_brought_up_to_date_with_all_it_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store.db"
    with closing(SqliteStore(path)) as store:
        store.add([new("http://a.example/")], T0)
    latest = database.migrations()[-1][0]
    script = "CREATE TABLE later (n INTEGER) STRICT;\nINSERT INTO later SELECT count(*) FROM resource;\n"
    known = [*database.migrations(), (latest + 1, script)]
    monkeypatch.setattr(database, "migrations", lambda: known)
    for _ in range(2):  # the second time there is nothing left to do
        with closing(SqliteStore(path)) as store:
            assert store.counts(T0)["resources"] == 1
            assert store._db._connection.execute("SELECT n FROM later").fetchall()[0][0] == 1
    assert pragma(path, "user_version") == latest + 1


def test_a_store_from_before_signals_gains_them(tmp_path: Path) -> None:
    """And its rows are added up anew, the new table's too."""
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as raw:
        for number, script in database.migrations()[:7]:
            raw.executescript(script)
            raw.execute(f"PRAGMA user_version = {number}")
        raw.execute(f"PRAGMA application_id = {database.APPLICATION_ID}")
        raw.execute("INSERT INTO host (id, name) VALUES (1, 'a.example')")
        for i in (1, 2):
            raw.execute(
                "INSERT INTO resource (id, url, host_id, added_at, since_at, kind) "
                "VALUES (?, ?, 1, ?, ?, 'auto')",
                (i, f"http://a.example/{i}", T0, T0),
            )
        raw.commit()
    with closing(SqliteStore(path)) as store:
        done = completion(lease_of(store, "http://a.example/1", T0 + 9.0), T0 + 9.0)
        assert store.complete([replace(done, tells=(Telling("http://a.example/2"),))]) == [True]
        assert store.batch()[0].told_by.tolist() == [0, 1]
    assert pragma(path, "user_version") == database.migrations()[-1][0]
    assert list(unsound(path)) == []


def test_visits_from_before_forecasts_were_kept_have_none(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as raw:
        for number, script in database.migrations()[:8]:
            raw.executescript(script)
            raw.execute(f"PRAGMA user_version = {number}")
        raw.execute(f"PRAGMA application_id = {database.APPLICATION_ID}")
        raw.execute("INSERT INTO host (id, name) VALUES (1, 'a.example')")
        raw.execute(
            "INSERT INTO resource (id, url, host_id, added_at, kind) "
            "VALUES (1, 'http://a.example/', 1, 1, 'auto')"
        )
        raw.execute(
            "INSERT INTO visit (fetch_id, resource_id, at, outcome, informative, changed, n_bytes, evidence) "
            "VALUES ('f', 1, ?, 'ok', 1, 0, 0, '')",
            (T0,),
        )
        raw.commit()
    with closing(SqliteStore(path)) as store:
        (page,) = store.looked(T0, T0 + 1.0)
        assert np.isnan([page.p_changed[0], page.per_day[0]]).all()
    assert list(unsound(path)) == []


def test_a_store_from_before_first_sight_gains_it(tmp_path: Path) -> None:
    """What was watched is as it was, without a sight until its next visit; and the new rows add up."""
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as raw:
        for number, script in database.migrations()[:9]:
            raw.executescript(script)
            raw.execute(f"PRAGMA user_version = {number}")
        raw.execute(f"PRAGMA application_id = {database.APPLICATION_ID}")
        raw.execute("INSERT INTO host (id, name) VALUES (1, 'a.example')")
        raw.execute(
            "INSERT INTO resource (id, url, host_id, added_at, since_at, n_informative, kind) "
            "VALUES (1, 'http://a.example/', 1, 1, 1, 5, 'auto')"
        )
        raw.commit()
    with closing(SqliteStore(path)) as store:
        before, _ = store.standing(1)
        assert before.n_informative == 5
        assert np.isnan([before.sight_at, before.hunch_per_day]).all()
        store.add([replace(new("http://a.example/"), changefreq="daily", lastmod_at=5.0), new(OTHER)], T0)
        lease = lease_of(store, "http://a.example/", T0)
        assert (lease.resource.changefreq, lease.resource.lastmod_at) == ("daily", 5.0)
        done = completion(lease, T0)
        sight = Sight(resource_id=1, at=T0, values=(1.0,) * len(FEATURES))
        hunch = Hunch(per_day=2.0, gap_s=43_200.0)
        assert store.complete([replace(done, sight=sight, hunch=hunch, model="m", links=(OTHER,))]) == [True]
        assert store.batch()[0].hunch_per_day.tolist()[0] == 2.0
        assert [ids.tolist() for ids in store.links()] == [[1], [2]]
    assert list(unsound(path)) == []


def test_a_store_from_before_words_were_kept_gains_them(tmp_path: Path) -> None:
    """Its changes were never tested: all of them count, whatever is said of it from now on."""
    path = tmp_path / "store.db"
    with closing(sqlite3.connect(path)) as raw:
        for number, script in database.migrations()[:11]:
            raw.executescript(script)
            raw.execute(f"PRAGMA user_version = {number}")
        raw.execute(f"PRAGMA application_id = {database.APPLICATION_ID}")
        raw.execute("INSERT INTO host (id, name) VALUES (1, 'a.example')")
        raw.execute(
            "INSERT INTO resource (id, url, host_id, added_at, since_at, kind) "
            "VALUES (1, 'http://a.example/', 1, 1, 1, 'auto')"
        )
        raw.execute(
            "INSERT INTO visit "
            "(fetch_id, resource_id, at, since_at, outcome, informative, changed, n_bytes, evidence) "
            "VALUES ('f', 1, 1, 0, 'ok', 1, 1, 0, '')"
        )
        raw.commit()
    with closing(SqliteStore(path)) as store:
        lease = lease_of(store, "http://a.example/", T0)
        assert lease.resource.effective.changes is Changes.ANY
        assert lease.base is None
        store.say(GLOBAL, Settings(changes=Changes.SIGNIFICANT), T0)
        (told,) = store.told()
        assert told.changed.tolist() == [1]
        bag = Bag(at=T0, packed=packed({1: 1}))
        assert store.complete([replace(completion(lease, T0), bags=(bag,))]) == [True]
        assert store.base(1) == bag
    assert list(unsound(path)) == []


def test_a_store_from_before_moments_gains_them_and_its_visits_are_not_added_up_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A million visits would take long; and what was damaged before is still seen to be."""
    path, url = tmp_path / "store.db", "http://a.example/"
    with monkeypatch.context() as patched:
        known = [one for one in database.migrations() if one[0] <= 13]
        patched.setattr(database, "migrations", lambda: known)
        with closing(SqliteStore(path)) as store:
            store.add([new(url)], T0)
    with closing(sqlite3.connect(path)) as raw:
        sums.register(raw)
        raw.execute(
            "INSERT INTO visit "
            "(fetch_id, resource_id, at, since_at, outcome, informative, changed, n_bytes, evidence) "
            "VALUES ('f', 1, 1, 0, 'ok', 1, 1, 0, '')"
        )
        raw.commit()
        added_up = raw.execute("SELECT name, value FROM row_sum ORDER BY name").fetchall()
        raw.execute("UPDATE row_sum SET value = value + 1 WHERE name = 'visit'")  # a bit flips
        raw.commit()
        assert pragma(path, "user_version") == 13
    with closing(SqliteStore(path)) as store, closing(sqlite3.connect(path)) as raw:
        raw.execute("UPDATE row_sum SET value = value - 1 WHERE name = 'visit'")
        raw.commit()
        assert raw.execute("SELECT name, value FROM row_sum ORDER BY name").fetchall() == added_up
        assert list(unsound(path)) == []
        done = completion(lease_of(store, url, T0), T0)
        visit = replace(done.visit, since_at=nan, moments=(T0 - 9.0, T0 - 4.0))
        assert store.complete([replace(done, visit=visit)]) == [True]
        assert [one.moments for one in store.visits(1)] == [(T0 - 9.0, T0 - 4.0), ()]
        (seen,) = store.told()
        assert seen.since_at.tolist() == [0.0, T0 - 9.0, T0 - 4.0]
    assert list(unsound(path)) == []
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("DROP TRIGGER visit_exchanged")
        raw.execute("UPDATE visit SET moments = NULL")
        raw.commit()
    assert [one.what for one in unsound(path)] == ["what is in the table visit is not what was put there"]


def test_a_store_from_before_second_looks_counts_them_from_then_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, url = tmp_path / "store.db", "http://a.example/"
    with monkeypatch.context() as patched:
        known = [one for one in database.migrations() if one[0] <= 16]
        patched.setattr(database, "migrations", lambda: known)
        with closing(SqliteStore(path)) as store:
            store.add([new(url)], T0)
    with closing(sqlite3.connect(path)) as raw:
        sums.register(raw)
        raw.execute(
            "INSERT INTO visit "
            "(fetch_id, resource_id, at, since_at, outcome, informative, changed, n_bytes, evidence) "
            "VALUES ('f', 1, 1, 0, 'ok', 1, 1, 0, '')"
        )
        raw.commit()
    with closing(SqliteStore(path)) as store:
        assert (store.counts(T0)["visits"], store.counts(T0)["second_looks"]) == (1, 0)
        done = completion(lease_of(store, url, T0), T0)
        assert store.complete([replace(done, visit=replace(done.visit, second_bytes=9))]) == [True]
        assert [visit.second_bytes for visit in store.visits(1)] == [9, None]
        assert (store.counts(T0)["second_looks"], store.n_second_since(0.0)) == (1, 1)
        assert store.remove([1]) == 1
        assert store.counts(T0)["second_looks"] == 0
    assert list(unsound(path)) == []


def test_a_migration_that_fails_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "store.db"
    SqliteStore(path).close()
    latest = database.migrations()[-1][0]
    script = "CREATE TABLE half (n INTEGER);\nINSERT INTO nowhere VALUES (1);\n"
    known = [*database.migrations(), (latest + 1, script)]
    with monkeypatch.context() as patched:
        patched.setattr(database, "migrations", lambda: known)
        with pytest.raises(StoreError, match="nowhere"):
            SqliteStore(path)
    assert pragma(path, "user_version") == latest
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'half'").fetchone() == (0,)
    SqliteStore(path).close()


def test_a_newer_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("PRAGMA user_version = 4711")
    before = path.read_bytes()
    with pytest.raises(NewerStoreError, match=r"format 4711.*upgrade recrawl, or choose another --home\.$"):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("CREATE TABLE theirs (n)")
        raw.commit()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=r"not recrawl's; choose another --home\.$"):
        SqliteStore(path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["other.db"]


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("buy milk\n" * 1_000)
    with pytest.raises(StoreError, match=r"not a sound recrawl store.*backup\.$"):
        SqliteStore(path)
    assert path.read_text() == "buy milk\n" * 1_000


def test_a_store_without_a_folder_is_refused_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="check that its folder exists"):
        SqliteStore(tmp_path / "nowhere" / "store.db")


def test_statements_are_told_apart_even_inside_triggers() -> None:
    script = (
        "CREATE TABLE t (a); -- one; two\nCREATE TRIGGER r AFTER INSERT ON t BEGIN\n  DELETE FROM t;\nEND;\n"
    )
    assert len(list(database.statements(script))) == 2


def test_a_name_that_is_no_text_any_more_is_found(tmp_path: Path) -> None:
    """A bit that flipped in the name of an index: SQLite's own complaint cannot be read then."""
    path = tmp_path / "store.db"
    SqliteStore(path).close()
    names = re.compile(rb"index(resource_due)resource")
    sound = path.read_bytes()
    place = max(found.start(1) for found in names.finditer(sound))
    path.write_bytes(sound[:place] + bytes([sound[place] ^ 0x80]) + sound[place + 1 :])
    assert list(unsound(path))
