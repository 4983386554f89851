"""The sums over rows: right after every kind of change, wrong after any that nobody made."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from recrawl.app.health import unsound
from recrawl.checks.store.samples import T0, completion, lease_of, new, plans, tag_scope, version, visited
from recrawl.model import FEATURES, Bag, Hunch, Settings, Sight, Telling, packed
from recrawl.remember.sqlite import SqliteStore, sums

URLS = [f"http://h{i}.example/" for i in range(4)]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store in which everything has been done that stores are for."""
    path = tmp_path / "store.db"
    with closing(SqliteStore(path)) as store:
        store.add([new(url, "a", "b", settings=Settings(weight=2.0)) for url in URLS], T0)
        store.say(tag_scope("a"), Settings(min_gap_s=60.0), T0)
        for day in range(1, 4):
            for url in URLS:
                at = T0 + 86_400.0 * day
                lease = lease_of(store, url, at)
                store.complete([completion(lease, at, versions=(version(at),))], {"f": day})
        visited(store, URLS[1], T0 + 86_400.0 * 5)
        told = completion(lease_of(store, URLS[0], T0 + 86_400.0 * 6), T0 + 86_400.0 * 6)
        sight = Sight(resource_id=1, at=told.visit.at, values=(1.0,) * len(FEATURES))
        done = replace(told, tells=tuple(map(Telling, URLS)), sight=sight, links=tuple(URLS))
        done = replace(done, bags=(Bag(at=told.visit.at, packed=packed({1: 2})),))
        store.complete([replace(done, hunch=Hunch(per_day=1.0, gap_s=86_400.0), model="m")])
        visited(store, URLS[1], T0 + 86_400.0 * 7)
        ids = [found.id for found, _, _ in store.resources()]
        store.tag(ids[:2], ["c"], ["a"], T0)
        store.replan(plans({ids[0]: T0 + 9e6}))
        store.move(ids[2], "http://elsewhere.example/", "elsewhere.example", T0)
        store.remove(ids[3:])
    return path


def found(path: Path) -> list[str]:
    return [problem.what for problem in unsound(path)]


def test_what_was_done_in_order_adds_up(path: Path) -> None:
    assert found(path) == []
    with closing(SqliteStore(path)) as store:  # opened again, and gone on with
        visited(store, URLS[0], T0 + 86_400.0 * 9)
    assert found(path) == []


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE visit SET evidence = evidence || '.' WHERE id = 2",
        "UPDATE visit SET at = at + 0.001 WHERE id = 2",
        "UPDATE visit SET second_bytes = 5 WHERE id = 2",
        "UPDATE version SET media_type = 'text/plain' WHERE id = 2",
        "UPDATE resource SET url = replace(url, 'h1', 'h7')",
        "UPDATE resource SET n_changes = n_changes + 1 WHERE id = 1",
        "UPDATE layer SET weight = 3.0",
        "UPDATE resource_tag SET tag = 'd' WHERE tag = 'c'",
        "UPDATE signal SET at = at - 1",
        "UPDATE sight SET at = at - 1",
        "UPDATE link SET to_id = 1 WHERE to_id = 2",
        "UPDATE bag SET packed = x'00'",
        "UPDATE resource SET depth = 3 WHERE id = 1",
        "UPDATE resource SET lastmod_at = 3.0 WHERE id = 1",
        "DELETE FROM visit WHERE id = 2",
        "UPDATE row_sum SET value = value + 1 WHERE name = 'visit'",
    ],
)
def test_what_nobody_did_is_found(path: Path, change: str) -> None:
    with closing(sqlite3.connect(path)) as raw:
        for (name,) in raw.execute("SELECT name FROM sqlite_schema WHERE type = 'trigger'").fetchall():
            raw.execute(f"DROP TRIGGER {name}")  # a flipped bit calls none
        assert raw.execute(change).rowcount > 0
        raw.commit()
    (said,) = found(path)
    assert "is not what was put there" in said


def test_a_store_that_was_not_added_up_is_from_its_next_opening_on(path: Path) -> None:
    with closing(sqlite3.connect(path)) as raw:
        sums.register(raw)
        raw.execute("DELETE FROM row_sum")
        raw.execute("UPDATE visit SET evidence = 'as it was before'")
        raw.commit()
    SqliteStore(path).close()
    assert found(path) == []
    with closing(SqliteStore(path)) as store:
        visited(store, URLS[0], T0 + 86_400.0 * 9)
    assert found(path) == []


def test_every_column_is_added_up_or_left_out_on_purpose(path: Path) -> None:
    """A new column is a decision: into the sums by itself, or for `resource` by name."""
    derived = {"kind", "weight", "min_gap_s", "max_gap_s", "paused", "allow_private", "manner", "changes"}
    planned = {
        "gap_s",
        "due_at",
        "plan_gap_s",
        "price",
        "p_changed",
        "per_day",
        "rule",
        "bound",
        "planned_at",
    }
    expected = {"hunch_per_day", "hunch_gap_s"}
    with closing(sqlite3.connect(path)) as raw:
        present = {row[0] for row in raw.execute("SELECT name FROM pragma_table_info('resource')")}
    assert present - set(sums.ADDED_UP["resource"]) == derived | planned | expected
