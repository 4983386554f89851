"""A recrawl store as a corpus of visits."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from tests.importers import DAY, T0, same, taken, taken_in_parts

from recrawl.checks.store.samples import completion, lease_of, new
from recrawl.corpora.importers.own import GONE, OwnStore
from recrawl.errors import BadInputError
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.loop import Loop
from recrawl.model import Changed, Kind, Outcome, Seen, Settings, Version
from recrawl.remember.sqlite import SqliteStore
from recrawl.remember.sqlite.database import migrations
from recrawl.schedule.policies.uniform import Uniform
from recrawl.simulate.run import simulate
from recrawl.simulate.worlds import TraceWorld

URL = "http://example.org/a"
STORE = "recrawl.sqlite"


def simulated(path: Path) -> tuple[TraceWorld, Seen]:
    """The truth, and the visits that a short run made and left in this store."""
    world, visits, store = _run()
    path.write_bytes(store)
    return world, visits


@cache
def _run() -> tuple[TraceWorld, Seen, bytes]:
    """Once for all tests: every visit is written to the disk and waited for."""
    n, rng = 4, np.random.default_rng(5)
    events = [np.sort(T0 + rng.uniform(0, 5 * DAY, size=size)) for size in rng.integers(0, 9, size=n)]
    world = TraceWorld([new(f"http://h{i}.example/{i}") for i in range(n)], events)
    with TemporaryDirectory() as folder:
        store = SqliteStore(Path(folder) / STORE)
        loop = Loop(store=store, predictor=GammaFilter(), policy=Uniform(), rule="uniform", per_day=n * 2.0)
        visits = simulate(loop, world, start_at=T0, end_at=T0 + 5 * DAY)
        store.close()
        return world, visits, (Path(folder) / STORE).read_bytes()


def test_every_visit_of_a_run_is_a_look_and_the_store_stays_as_it_is(tmp_path: Path) -> None:
    world, visits = simulated(tmp_path / STORE)
    before = (tmp_path / STORE).read_bytes()
    found = taken(OwnStore(), tmp_path, tmp_path / "out", strict=True)
    assert (tmp_path / STORE).read_bytes() == before
    for place, resource in enumerate(world.resources):
        mine = visits.id == place
        looks = found.visits[resource.url]
        assert [at for at, _, _ in looks] == visits.at[mine].astype(int).tolist()
        assert [int(changed) for _, _, changed in looks] == [1, *visits.changed[mine][1:]]
        assert looks[-1][1] == f"version:{world.version(place, visits.at[mine][-1])}"
    assert (found.corpus.about.observation, found.corpus.about.kind) == ("visits", "page")


def visit(
    store: SqliteStore,
    n: int,
    changed: Changed = Changed.NO,
    digest: str = "",
    outcome: Outcome = Outcome.OK,
    n_bytes: int = 0,
    **said: object,
) -> None:
    """A visit after so many days; with a digest it leaves a version."""
    at = float(T0 + n * DAY)
    lease = lease_of(store, URL, at)
    made = Version(resource_id=lease.resource.id, seq=0, at=at, digest=digest, **said)  # type: ignore[arg-type]
    done = completion(lease, at, outcome=outcome, versions=(made,) if digest else ())
    assert store.complete([replace(done, visit=replace(done.visit, changed=changed, n_bytes=n_bytes))]) == [
        True
    ]


def test_what_visits_took_goes_along(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / STORE)
    store.add([new(URL)], T0 - 1.0)
    visit(store, 0, Changed.UNKNOWN, "sha256:a", n_bytes=500)
    visit(store, 1)  # nothing was sent again
    visit(store, 2, Changed.YES, "sha256:b", n_bytes=700)
    store.close()
    traces = taken(OwnStore(), tmp_path / STORE, tmp_path / "out").corpus.traces()
    assert traces.size_bytes is not None
    assert traces.size_bytes.tolist() == [600.0]


def test_what_told_nothing_is_no_look_and_verdicts_decide_what_is_a_change(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / STORE)
    settings = Settings(kind=Kind.JSON, weight=2.5)
    store.add([replace(new(URL, "news", "daily"), settings=settings)], T0 - 1.0)
    visit(store, 0, Changed.UNKNOWN, "sha256:a")
    visit(store, 1, Changed.UNKNOWN, outcome=Outcome.NET_ERROR)
    visit(store, 2)
    visit(store, 3, Changed.UNKNOWN, "sha256:cut", Outcome.TRUNCATED, flag="length")
    visit(store, 4, Changed.YES, "sha256:b")
    visit(store, 5, Changed.UNKNOWN)  # it could not be judged
    visit(store, 6, Changed.YES)  # its version was let go of since
    visit(store, 7)
    visit(store, 8, Changed.YES, "sha256:404", Outcome.GONE, gone=True)
    visit(store, 9, Changed.NO, outcome=Outcome.GONE)
    visit(store, 10, Changed.YES, "sha256:b")
    visit(store, 11, Changed.YES, "sha256:b")  # the same bytes, but what counts in them is another part
    visit(store, 12, Changed.YES, "sha256:x", flag="erased")
    store.close()
    found = taken(OwnStore(), tmp_path / STORE, tmp_path / "out")
    assert [((at - T0) // DAY, digest, changed) for at, digest, changed in found.visits[URL]] == [
        (0, "sha256:a", True),
        (2, "sha256:a", False),
        (4, "sha256:b", True),
        (6, f"visit:1@{float(T0 + 6 * DAY)}", True),
        (7, f"visit:1@{float(T0 + 6 * DAY)}", False),
        (8, GONE, True),
        (9, GONE, False),
        (10, "sha256:b", True),
        (11, f"visit:1@{float(T0 + 11 * DAY)}", True),
        (12, f"visit:1@{float(T0 + 12 * DAY)}", True),
    ]
    assert found.result.left_out == {
        "visits that told nothing (net-error)": 1,
        "visits that told nothing (truncated)": 1,
        "visits of which nobody can say whether there was a change": 1,
    }
    row = found.facts[URL]
    assert (row["host"], row["kind"], row["weight"], row["tags"]) == (
        "example.org",
        "json",
        2.5,
        "daily news",
    )
    assert found.corpus.about.kind == "data"
    assert found.corpus.traces().weight.tolist() == [2.5]
    later = taken(OwnStore(tag="daily", since=T0 + 9.5 * DAY), tmp_path, tmp_path / "later")
    assert [(at - T0) // DAY for at, _, _ in later.visits[URL]] == [10, 11, 12]


def test_a_store_of_an_older_format_is_read_from_a_copy(tmp_path: Path) -> None:
    simulated(tmp_path / STORE)
    whole = taken(OwnStore(), tmp_path, tmp_path / "whole")
    # The format before the last: with all but what the last step adds, which are tables, indexes, columns
    # and triggers.
    form, step = migrations()[-1]
    made = re.findall(r"CREATE TABLE (\w+)", step)
    indexed = re.findall(r"CREATE INDEX (\w+)", step)
    added = re.findall(r"ALTER TABLE (\w+) ADD COLUMN (\w+)", step)
    triggers = re.findall(r"CREATE TRIGGER (\w+)", step)
    assert made or added or indexed
    with sqlite3.connect(tmp_path / STORE) as database:
        for table in {table for table, _ in added}:
            for name in ("added", "taken", "exchanged"):  # which add up all columns
                database.execute(f"DROP TRIGGER IF EXISTS {table}_{name}")
        for trigger in triggers:
            database.execute(f"DROP TRIGGER {trigger}")
        for index in indexed:
            database.execute(f"DROP INDEX {index}")
        for table in made:
            database.execute(f"DROP TABLE {table}")
        for table, column in added:
            database.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        database.execute("UPDATE row_sum SET format = ?", (form - 1,))
        database.execute(f"PRAGMA user_version = {form - 1}")
    database.close()
    before = (tmp_path / STORE).read_bytes()
    assert taken(OwnStore(), tmp_path, tmp_path / "out").visits == whole.visits
    assert (tmp_path / STORE).read_bytes() == before


def test_what_is_no_store_is_said(tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="holds no recrawl store; name a home folder"):
        taken(OwnStore(), tmp_path, tmp_path / "out-1")
    (tmp_path / "notes.txt").write_text("no database")
    with pytest.raises(BadInputError, match="cannot be read as a recrawl store"):
        taken(OwnStore(), tmp_path / "notes.txt", tmp_path / "out-2")
    with sqlite3.connect(tmp_path / "other.db") as database:
        database.execute("CREATE TABLE x (y)")
    database.close()
    with pytest.raises(BadInputError, match="is not recrawl's"):
        taken(OwnStore(), tmp_path / "other.db", tmp_path / "out-3")


def test_an_import_that_was_cut_off_goes_on_with_the_next_resource(tmp_path: Path) -> None:
    simulated(tmp_path / STORE)
    said = {"since": T0 + 1.0 * DAY}
    whole = taken(OwnStore(since=said["since"]), tmp_path, tmp_path / "whole")
    parts = taken_in_parts(OwnStore, tmp_path, tmp_path / "parts", 2, **said)
    assert parts.result.went_on
    same(whole, parts)
    assert whole.visits == parts.visits
