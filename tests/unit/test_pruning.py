"""Old versions go, and nothing that others refer to goes with them."""

from __future__ import annotations

from math import inf
from pathlib import Path

import pytest
from tests.keeper import DAY_S, T0, Keeper, chained, keeper, kinds, read_by_others
from tests.warcs import fetched, files, records

from recrawl.app.health import verify
from recrawl.app.patience import patient
from recrawl.app.pruning import Pruned, Pruner, due, rule_of
from recrawl.errors import BusyArchiveError
from recrawl.model import Failure, Outcome
from recrawl.remember.cdx import cdxj
from recrawl.remember.retention import Retention

A, B = "http://a.example/", "http://b.example/"
NEWEST = Retention(n_most=1)


def body(text: str) -> bytes:
    return text.encode() * 300


def pruned(kept: Keeper, rule: Retention = NEWEST, least_share: float = 0.0) -> Pruned:
    kept.rotate()  # a file that is being written is left alone
    pruner = Pruner(
        store=kept.house.store,
        folder=kept.folder,
        now=kept.clock.now,
        waiting=patient(1.0),
        least_share=least_share,
    )
    return pruner.prune(rule)


def sound(kept: Keeper) -> bool:
    assert [f"{p.where}: {p.what}" for p in verify(kept.house)] == []
    assert kept.house.recovered == []
    assert kept.house.store.doomed() == {}
    assert {path.name: path.stat().st_size for path in files(kept.folder)} == kept.house.store.files()
    assert sum(read_by_others(path) for path in files(kept.folder)) == len(records(kept.folder))
    in_index = [line.split('"digest": "')[1].split('"')[0] for line in cdxj(kept.folder)]
    answers = [
        fields for fields, *_ in records(kept.folder) if fields["WARC-Type"] in ("response", "revisit")
    ]
    assert sorted(in_index) == sorted(fields["WARC-Payload-Digest"] for fields in answers)
    return chained(kept.folder)


def test_versions_between_the_first_and_the_newest_go_with_all_their_records(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        for n, text in enumerate(["one", "two", "two", "three"]):
            kept.sees(A, body(text), T0 + n * DAY_S)
        before = sum(kept.house.store.files().values())
        done = pruned(kept)
        assert kept.bodies(A) == [body("one"), body("three")]
        assert [version.seq for version in kept.versions(A)] == [1, 3]
        assert len(list(kept.house.store.visits(1))) == 4
        assert kinds(kept.folder) == [("response", A), ("request", A)] * 2  # the revisit of "two" went too
        assert (done.freed.n_versions, done.freed.n_records) == (1, 4)
        assert done.freed.n_bytes == before - sum(kept.house.store.files().values()) > 0
        assert sound(kept)
        kept.sees(A, body("four"), T0 + 9 * DAY_S)
        assert [version.seq for version in kept.versions(A)] == [1, 3, 4]
        assert sound(kept)


def test_a_payload_that_another_resource_refers_to_stays(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        for n, text in enumerate(["one", "shared", "three"]):
            kept.sees(A, body(text), T0 + n * DAY_S)
        kept.rotate()
        kept.sees(B, body("shared"), T0 + 5 * DAY_S)
        assert kinds(kept.folder)[-2:] == [("revisit", B), ("request", B)]
        done = pruned(kept)
        assert done.freed.n_versions == 1
        assert done.freed.n_records == 0
        assert kept.bodies(A) == [body("one"), body("three")]
        assert kept.bodies(B) == [body("shared")]
        assert sound(kept)


def test_a_payload_that_a_removed_resource_refers_to_stays(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        for n, text in enumerate(["one", "shared", "three"]):
            kept.sees(A, body(text), T0 + n * DAY_S)
        kept.sees(B, body("shared"), T0 + 5 * DAY_S)
        kept.house.store.remove([2])
        pruned(kept)
        assert kept.bodies(A) == [body("one"), body("three")]
        assert ("revisit", B) in kinds(kept.folder)
        assert sound(kept)


def test_a_content_that_came_back_stays_for_its_later_version(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        for n, text in enumerate(["one", "two", "three", "two"]):
            kept.sees(A, body(text), T0 + n * DAY_S)
        pruned(kept)
        assert kept.bodies(A) == [body("one"), body("two")]
        assert sound(kept)


def test_records_that_refer_to_what_goes_go_first_whatever_file_they_are_in(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        kept.sees(A, body("a1"), T0)
        kept.sees(A, body("a2"), T0 + 1)
        kept.rotate()
        kept.sees(A, body("a2"), T0 + 2)  # refers to the file before
        kept.sees(B, body("b1"), T0 + 2)
        kept.sees(B, body("b2"), T0 + 3)
        kept.rotate()
        kept.sees(A, body("a3"), T0 + 4)
        kept.sees(B, body("b2"), T0 + 4)
        kept.sees(B, body("b3"), T0 + 5)
        done = pruned(kept)
        assert done.freed.n_files == 3
        assert kept.bodies(A) == [body("a1"), body("a3")]
        assert kept.bodies(B) == [body("b1"), body("b3")]
        assert sound(kept)


def test_evidence_goes_and_tombstones_stay(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        kept.sees(A, body("one"), T0)
        cut = {"outcome": Outcome.TRUNCATED, "failure": Failure(reason="length")}
        kept.sees(A, body("cut"), T0 + 1, **cut)
        kept.sees(A, b"not there", T0 + 2, outcome=Outcome.GONE, status=404)
        kept.sees(A, body("three"), T0 + 3)
        kept.sees(A, body("four"), T0 + 4)
        pruned(kept, Retention(n_most=4))
        assert [version.seq for version in kept.versions(A)] == [1, 3, 4, 5]
        pruned(kept)
        assert [version.seq for version in kept.versions(A)] == [1, 3, 5]
        assert sound(kept)


def test_a_file_that_is_being_written_is_left_alone(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        for n, text in enumerate(["one", "two", "three"]):
            kept.sees(A, body(text), T0 + n)
        pruner = Pruner(store=kept.house.store, folder=kept.folder, now=kept.clock.now, waiting=patient(0.0))
        before = files(kept.folder)[0].read_bytes()
        assert pruner.prune(NEWEST).freed.n_versions == 0
        assert files(kept.folder)[0].read_bytes() == before
        kept.rotate()
        assert pruner.prune(NEWEST).freed.n_versions == 1
        assert sound(kept)


def test_little_is_not_worth_a_new_file(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        for n, text in enumerate(["one", "two", "three"]):
            kept.sees(A, body(text), T0 + n)
        assert pruned(kept, least_share=0.9).freed.n_versions == 0
        assert pruned(kept, least_share=0.1).freed.n_versions == 1


def test_nothing_is_exchanged_while_something_is_recorded_or_read(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        for n, text in enumerate(["one", "two", "three"]):
            kept.sees(A, body(text), T0 + n)
        with kept.house.archive.recording(), pytest.raises(BusyArchiveError):
            pruned(kept)
        assert kept.bodies(A) == [body("one"), body("two"), body("three")]
        pruned(kept)  # what was begun in vain is cleared away
        assert sound(kept)


def test_a_version_recorded_meanwhile_keeps_its_payload(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with keeper(tmp_path) as kept:
        for n, text in enumerate(["one", "two", "three"]):
            kept.sees(A, body(text), T0 + n)
        kept.rotate()
        store = kept.house.store
        really = store.replace

        def late(made: object) -> bool:
            monkeypatch.undo()
            kept.sees(B, body("two"), T0 + 9)  # between the writing of the new file and its taking over
            return really(made)  # type: ignore[arg-type]

        monkeypatch.setattr(store, "replace", late)
        # As if another process had recorded just before the exchange; here nobody may hold the lock.
        monkeypatch.setattr(
            "recrawl.remember.locks.Locks.exchanging", lambda *_: kept.house.archive.recording()
        )
        pruner = Pruner(store=store, folder=kept.folder, now=kept.clock.now, waiting=patient(0.0))
        assert len(pruner.prune(NEWEST).freed.spared) == 1
        assert kept.bodies(B) == [body("two")]
        assert sound(kept)


def test_a_reader_finds_a_version_whose_file_was_written_anew(tmp_path: Path) -> None:
    with keeper(tmp_path) as kept:
        for n, text in enumerate(["one", "two", "three"]):
            kept.sees(A, body(text), T0 + n)
        heard_of = kept.versions(A)[-1]
        pruned(kept)
        assert kept.versions(A)[-1].file != heard_of.file
        assert bytes(kept.house.archive.snapshot(heard_of).body) == body("three")
        # and so does whoever finds the same again
        same = fetched(body("three"), url=A)
        placed = kept.house.archive.put(same, heard_of, heard_of)
        assert (placed.file, placed.offset) == (kept.versions(A)[-1].file, kept.versions(A)[-1].offset)
        kept.house.archive.sync()
        assert kinds(kept.folder)[-2:] == [("revisit", A), ("request", A)]
        assert chained(kept.folder)


def test_what_would_go_is_told_without_doing_it(tmp_path: Path) -> None:
    with keeper(tmp_path, archiving={"keep_versions": 1}) as kept:
        for n, text in enumerate(["one", "two", "three"]):
            kept.sees(A, body(text), T0 + n)
        kept.sees(B, body("b"), T0)
        told = list(due(kept.house.store, rule_of(kept.house.config.archiving), kept.clock.now()))
        assert [(resource_id, n, [v.seq for v in goes]) for resource_id, n, goes in told] == [(1, 3, [2])]
        assert kept.bodies(A) == [body("one"), body("two"), body("three")]
        assert list(due(kept.house.store, Retention(keep_s=inf), kept.clock.now())) == []


def test_a_file_that_was_carried_away_is_written_anew_here_and_removed_there(tmp_path: Path) -> None:
    (tmp_path / "shelf").mkdir()
    with keeper(tmp_path / "home", archiving={"shelf": (tmp_path / "shelf").as_uri()}) as kept:
        for n, text in enumerate(["one", "two", "three"]):
            kept.sees(A, body(text), T0 + n)
        kept.rotate()
        kept.carry()
        assert len(list((tmp_path / "shelf").iterdir())) == 3  # with its index and its heads
        assert pruned(kept).freed.n_versions == 1
        assert list((tmp_path / "shelf").iterdir()) == []
        assert kept.house.store.carried() == {}
        assert kept.bodies(A) == [body("one"), body("three")]
        assert sound(kept)
