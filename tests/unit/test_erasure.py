"""An erased resource's contents are nowhere any more, and nobody else loses anything."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.keeper import DAY_S, T0, Keeper, chained, holds, keeper, kinds, led, read_by_others
from tests.warcs import fetched, files, records

from recrawl.app.erasure import erase
from recrawl.app.health import verify
from recrawl.checks.store.samples import lease_of
from recrawl.detect.choose import detector_name
from recrawl.errors import NotWatchedError
from recrawl.live.ground import Ground
from recrawl.live.judgement import Judgement
from recrawl.model import (
    Failure,
    NewResource,
    Outcome,
    Scope,
    ScopeKind,
    Settings,
    Version,
    Visit,
    digest,
)
from recrawl.remember.cdx import index_path
from recrawl.remember.orders import erasing
from recrawl.remember.recovery import CUT_FOLDER
from recrawl.remember.rewriting import Rewriter
from recrawl.remember.sqlite import SqliteStore
from recrawl.remember.survey import Survey

A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"
MARKER = b"Xylophagous-4711"


def marked(text: str) -> bytes:
    return b"<p>" + MARKER + b" " + text.encode() * 600


def plain(text: str) -> bytes:
    return b"<p>nothing in it " + text.encode() * 300


def sound(kept: Keeper) -> bool:
    assert [f"{p.where}: {p.what}" for p in verify(kept.house)] == []
    assert kept.house.recovered == []
    assert kept.house.store.doomed() == {}
    assert sum(read_by_others(path) for path in files(kept.folder)) == len(records(kept.folder))
    return chained(kept.folder)


def test_no_byte_below_the_home_folder_holds_an_erased_content(tmp_path: Path) -> None:
    home, elsewhere = tmp_path / "home", tmp_path / "shelf"
    elsewhere.mkdir()
    with keeper(home, archiving={"shelf": elsewhere.as_uri(), "max_file_age": "1d"}) as kept:
        store = kept.house.store
        assert isinstance(store, SqliteStore)
        store._db._connection.execute("PRAGMA secure_delete = OFF")  # some systems' SQLite has it on
        tag = (("ETag", f'"{MARKER.decode()}"'),)
        kept.sees(A, marked("one"), T0, headers=tag)
        kept.sees(A, marked("one"), T0 + 1, headers=tag)
        kept.sees(B, plain("b"), T0 + 1)
        kept.rotate()
        kept.carry()
        kept.sees(A, marked("two"), T0 + 3 * DAY_S, headers=tag)
        cut_short = {"outcome": Outcome.TRUNCATED, "failure": Failure(reason="length")}
        kept.sees(A, marked("cut"), T0 + 4 * DAY_S, **cut_short)
        # and what a crash leaves: written, and not recorded
        fetch = kept.sees(A, marked("three"), T0 + 5 * DAY_S)
        last = kept.versions(A)[-1]
        kept.house.archive.put(fetch, last)
        kept.house.archive.close()
        assert [line for line in kept.house.archive.recover(kept.house.store.files) if "kept in" in line]
        before = holds(home, MARKER)
        assert {path.split("/")[0] for path in before} == {"recrawl.sqlite-wal", "archive"}
        assert [path for path in before if f"/{CUT_FOLDER}/" in path]
        assert [path for path in holds(elsewhere, MARKER) if path.endswith(".warc.gz")]
        with closing(sqlite3.connect(home / "recrawl.sqlite")) as raw:
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        assert "recrawl.sqlite" in holds(home, MARKER)

        done = erase(kept.house, A, why="asked for")

        assert holds(tmp_path, MARKER) == []
        assert (done.done, done.why, done.n_versions) == (True, "asked for", 4)
        assert {url for _, url in kinds(kept.folder)} | {url for _, url in kinds(elsewhere)} == {B}
        assert kept.bodies(A) == []
        assert [version.flag for version in kept.versions(A)] == ["erased"] * 4
        assert len(list(kept.house.store.visits(1))) == 5
        assert kept.bodies(B) == [plain("b")]
        assert sound(kept)
    with keeper(home) as kept:  # nor after the next start
        assert holds(tmp_path, MARKER) == []
        assert kept.house.store.claim(now=T0 + 999 * DAY_S, limit=9, lease_s=60.0)[0].resource.url == B
        assert kept.house.store.standing(1)[0].version is None


def test_another_resource_with_the_same_content_gets_it_and_is_named(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        kept.sees(A, marked("one"), T0)
        kept.rotate()
        kept.sees(B, marked("one"), T0 + 1)
        kept.sees(C, marked("one"), T0 + 2)
        kept.sees(B, marked("one"), T0 + 3)
        assert [kind for kind, _ in kinds(kept.folder)].count("response") == 1
        kept.rotate()
        done = erase(kept.house, A)
        assert set(done.shared) == {B, C}
        answers = [(kind, url) for kind, url in kinds(kept.folder) if kind != "request"]
        assert answers == [("response", B), ("revisit", C), ("revisit", B)]
        assert kept.bodies(B) == kept.bodies(C) == [marked("one")]
        assert sound(kept)
        # one after the other, until it is nowhere
        assert erase(kept.house, B).shared == (C,)
        assert kept.bodies(C) == [marked("one")]
        assert sound(kept)
        assert erase(kept.house, C).shared == ()
        assert holds(tmp_path, MARKER) == []
        assert kinds(kept.folder) == []


def test_what_refers_to_anothers_record_goes_without_it(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        kept.sees(A, marked("one"), T0)
        kept.sees(B, marked("one"), T0 + 1)
        kept.rotate()
        done = erase(kept.house, B)
        assert done.shared == (A,)
        assert kinds(kept.folder) == [("response", A), ("request", A)]
        assert kept.bodies(A) == [marked("one")]
        assert sound(kept)


def test_a_visit_that_was_led_elsewhere_goes_and_its_targets_own_visits_stay(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        kept.sees(A, marked("one"), T0, **led(A, C))
        kept.sees(A, marked("one"), T0 + 1, **led(A, C))
        kept.sees(C, plain("other"), T0 + 2)
        kept.sees(B, marked("two"), T0 + 3, **led(B, A))  # through A's address, but B's visit
        kept.rotate()
        erase(kept.house, A)
        assert kept.bodies(C) == [plain("other")]
        assert kept.bodies(B) == [marked("two")]
        assert kinds(kept.folder) == [
            ("response", C),
            ("request", C),
            ("response", A),
            ("request", A),
            ("metadata", A),
        ]
        assert sound(kept)


def test_a_resource_that_was_moved_or_is_watched_no_more_can_be_erased(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        kept.sees(A, marked("one"), T0)
        kept.sees(A, marked("one"), T0 + 1)
        kept.house.store.move(1, C, "c.example", T0 + 2)
        kept.sees(C, marked("two"), T0 + 3)
        kept.sees(B, marked("three"), T0 + 4)
        kept.house.store.remove([2])
        kept.rotate()
        assert erase(kept.house, C).n_versions == 2
        assert [url for _, url in kinds(kept.folder)] == [B, B]
        done = erase(kept.house, B, why="too")
        assert (done.n_versions, done.why) == (0, "too")
        assert holds(tmp_path, MARKER) == []
        with pytest.raises(NotWatchedError, match="nothing of it is kept"):
            erase(kept.house, "http://never.example/")


def test_one_of_two_queries_at_one_address_goes(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        one, two = f"{A}?query=1", f"{A}?query=2"
        for n, (url, text) in enumerate([(one, "1"), (two, "2"), (one, "1"), (two, "2"), (two, "1")]):
            kept.sees(url, marked(text), T0 + n, url=A)  # posted: the answers are all from one address
        kept.rotate()
        done = erase(kept.house, one)
        assert done.shared == (two,)
        assert kept.bodies(two) == [marked("2"), marked("1")]
        assert sound(kept)
        erase(kept.house, two)
        assert holds(tmp_path, MARKER) == []


@pytest.mark.parametrize("indexed", [True, False])
def test_what_cannot_be_read_goes_too_and_others_versions_stay(tmp_path: Path, indexed: bool) -> None:
    with keeper(tmp_path) as kept:
        kept.sees(A, marked("zero"), T0)
        earlier = kept.versions(A)[0]
        kept.house.store.remove([1])  # and watched again
        kept.sees(A, marked("one"), T0)
        kept.sees(B, plain("b"), T0 + 1)
        kept.sees(C, plain("c"), T0 + 2)
        kept.rotate()
        (path,) = files(kept.folder)
        mine, others = kept.versions(A)[0], kept.versions(C)[0]
        data = bytearray(path.read_bytes())
        for version in (earlier, mine, others):
            data[version.offset + version.length - 3] ^= 1  # its checksum: the content can still be had
        path.write_bytes(data)
        if not indexed:
            index_path(path).unlink()
        erase(kept.house, A)
        assert holds(tmp_path, MARKER) == []
        assert kept.bodies(B) == [plain("b")]
        assert kept.versions(C)[0].file  # damaged as it was
        (problem,) = [p for p in verify(kept.house) if p.where.startswith(C)]
        assert "damaged" in problem.what


def test_it_does_not_come_back_by_itself_and_does_when_it_is_resumed(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        kept.sees(A, marked("one"), T0)
        erase(kept.house, A)
        assert kept.house.store.ready_at(T0) == float("inf")
        kept.house.store.add([NewResource(url=A, host="a.example")], T0 + 1)
        assert kept.house.store.ready_at(T0) == float("inf")
        own = Scope(ScopeKind.RESOURCE, A)
        kept.house.store.say(own, Settings(), T0 + 2, forget=("paused",))
        kept.sees(A, marked("new"), T0 + 9)
        assert kept.bodies(A) == [marked("new")]
        assert [version.flag for version in kept.versions(A)] == ["erased", ""]
        assert sound(kept)


def test_what_was_in_the_air_when_it_was_erased_is_not_archived(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        kept.sees(A, plain("one"), T0)
        house = kept.house
        kept.clock.at = T0 + 9
        lease = lease_of(house.store, A, T0 + 9)
        erase(house, A)
        fetch = fetched(marked("late"), url=A)
        visit = Visit(fetch_id="late", resource_id=1, at=T0 + 10, evidence=MARKER.decode())
        late = Version(resource_id=1, seq=0, at=T0 + 10, digest=digest(fetch.body), n_bytes=len(fetch.body))
        loop = house.loop()
        ground = Ground(loop=loop, archive=house.archive, detectors={}, choose=detector_name, min_delay_s=1.0)
        landed, lost = ground.absorb([(lease, fetch, Judgement(visit=visit, version=late))], T0 + 11)
        assert [one.absorbed.accepted for one in landed] == [False]
        assert lost == []
        kept.rotate()
        assert holds(tmp_path, MARKER) == []
        assert kinds(kept.folder) == []


def test_files_that_need_a_payload_are_written_before_the_one_that_loses_it(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        kept.sees(A, marked("one"), T0)
        kept.rotate()
        kept.sees(C, marked("one"), T0 + 9)  # will refer to B's, which is older and lies in a later file
        kept.rotate()
        kept.sees(B, marked("one"), T0 + 2)
        kept.rotate()
        store = kept.house.store
        rewriter = Rewriter(kept.folder, store, now=kept.clock.now)
        survey = Survey(kept.folder, store.files(), rewriter.files)
        first, second, third = (path.name for path in files(kept.folder))
        assert erasing(survey, store, A, kept.versions(A)).order.batches() == [[third], [second], [first]]
        erase(kept.house, A)
        assert kept.bodies(B) == kept.bodies(C) == [marked("one")]
        assert sound(kept)


def test_files_that_need_each_other_are_exchanged_together(tmp_path: Path) -> None:
    with keeper(tmp_path) as one, keeper(tmp_path) as two:  # two writers, a file each
        one.sees(A, marked("one"), T0)
        two.sees(A, marked("two"), T0 + 1)
        two.sees(B, marked("one"), T0 + 2)
        one.sees(C, marked("two"), T0 + 3)
        one.rotate()
        two.rotate()
        store = one.house.store
        rewriter = Rewriter(one.folder, store, now=one.clock.now)
        order = erasing(Survey(one.folder, store.files(), rewriter.files), store, A, one.versions(A)).order
        assert order.batches() == [[path.name for path in files(one.folder)]]
        assert len(order.files) == 2
        erase(one.house, A)
        assert one.bodies(B) == [marked("one")]
        assert one.bodies(C) == [marked("two")]
        assert [kind for kind, _ in kinds(one.folder)] == ["response", "request"] * 2
        assert sound(one)
