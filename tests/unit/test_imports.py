"""Other people's WARC files as history."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.foreign import T0, URL, answer, day, record, warc
from tests.imported import (
    MON,
    TUE,
    WED,
    archived,
    bodies,
    resource,
    sound,
    taken,
    told,
    visits,
)

from recrawl.app import imports, pasts
from recrawl.app.build import House, open_house
from recrawl.app.imports import Choice
from recrawl.errors import BadInputError
from recrawl.model import NewResource


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with open_house(tmp_path / "home") as opened:
        yield opened


def test_answers_become_visits_of_their_own_dates_in_order_over_all_files(
    house: House, tmp_path: Path
) -> None:
    late = warc(tmp_path / "a.warc.gz", answer(day(3), MON), answer(day(1), MON))
    early = warc(tmp_path / "b.warc", answer(day(2), TUE), answer(day(0), MON))
    result = taken(house, late, early)
    assert told(house) == [
        (day(0), "ok", -1),
        (day(1), "ok", 0),
        (day(2), "ok", 1),
        (day(3), "ok", 1),
    ]
    assert bodies(house) == [MON, TUE, MON]
    assert archived(house) == {"response": 3, "revisit": 1}
    done = result.adopted
    assert (done.n_visits, done.n_first, done.n_changes, done.n_unchanged) == (4, 1, 2, 1)
    assert (result.n_added, result.n_read, +result.skipped) == (1, 4, {})
    standing, plan = house.store.standing(resource(house).id)
    assert (standing.since_at, standing.n_informative, standing.n_changes) == (day(3), 4, 2)
    assert plan is not None
    assert plan.rule == "index:fresh"
    sound(house)


def test_the_same_file_twice_adds_nothing(house: House, tmp_path: Path) -> None:
    path = warc(tmp_path / "a.warc.gz", answer(day(0), MON), answer(day(1), b"", status="503 No"))
    taken(house, path)
    before = told(house), dict(house.store.files())
    again = taken(house, path, path)
    assert (told(house), dict(house.store.files())) == before
    assert +again.skipped == {pasts.KNOWN: 4}
    assert again.adopted.n_visits == 0


def test_only_what_is_watched_comes_in_unless_it_is_to_be_added(house: House, tmp_path: Path) -> None:
    svg = (("Content-Type", "image/svg+xml"),)
    path = warc(
        tmp_path / "a.warc",
        answer(day(0), MON),
        answer(
            day(0), b"{}", url="http://example.org/x.json", headers=(("Content-Type", "application/json"),)
        ),
        answer(day(0), b"<svg/>", url="http://example.org/x.svg", headers=svg),
        answer(day(0), MON, url="http://127.0.0.1/"),
        answer(day(0), MON, url="http://example.org/missing", status="404 Not Found"),
        answer(day(0), b"User-agent: *", url="http://example.org/robots.txt"),
        record("resource", day(0), b"x", {}, "urn:pageinfo:http://example.org/"),
    )
    assert +taken(house, path, choice=Choice()).skipped == {imports.UNWATCHED: 6}
    watched = taken(house, path, choice=Choice(add=True, match="*.svg"))
    assert (watched.n_added, watched.adopted.n_visits) == (1, 1)
    result = taken(house, path)
    assert result.n_added == 2
    assert {found.url for found, _, _ in house.store.resources()} == {
        URL, "http://example.org/x.json", "http://example.org/x.svg",
    }  # fmt: skip
    assert (result.skipped[imports.PRIVATE], result.skipped[imports.UNWATCHED]) == (1, 2)
    tagged = Choice(add=True, allow_private=True, tags=("mine",))
    assert taken(house, path, choice=tagged).n_added == 1
    assert resource(house, "http://127.0.0.1/").tags == ("mine",)


def test_damaged_records_are_named_and_with_strict_they_end_it(house: House, tmp_path: Path) -> None:
    bad = answer(day(1), TUE, fields={"WARC-Block-Digest": "sha1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"})
    first = answer(day(0), MON)
    path = warc(tmp_path / "a.warc", first, bad, b"WARC/1.0\r\nnothing\r\n\r\n", answer(day(2), WED))
    result = taken(house, path)
    assert [(found.name, found.offset) for found in result.damaged] == [
        (str(path), len(first) + len(bad)),
        (str(path), len(first)),
    ]
    assert result.skipped[pasts.DAMAGED] == 2
    assert bodies(house) == [MON, WED]
    with pytest.raises(BadInputError, match="byte"):
        taken(house, path, strict=True)


def test_what_was_erased_does_not_come_back(house: House, tmp_path: Path) -> None:
    path = warc(tmp_path / "a.warc", answer(day(0), MON))
    house.store.add([NewResource(url=URL, host="example.org")], T0)
    house.store.begin_erasure(URL, "asked to", day(1))
    assert +taken(house, path).skipped == {pasts.ERASED: 1}
    assert visits(house) == []


def test_where_a_copy_came_from_stands_in_the_archive(house: House, tmp_path: Path) -> None:
    taken(
        house, warc(tmp_path / "theirs.warc", answer(day(0), MON, fields={"WARC-Record-ID": "<urn:theirs>"}))
    )
    (file,) = (house.home / "archive").glob("*.warc.gz")
    text = gzip.decompress(file.read_bytes())
    assert b"imported-from: theirs.warc <urn:theirs>" in text
    assert b"WARC-Date: 2020-09-13T12:26:40.000000Z" in text
    assert b"WARC-Type: request" not in text  # we asked nobody
    assert str(tmp_path).encode() not in text


def test_nothing_is_left_behind_beside_store_and_archive(house: House, tmp_path: Path) -> None:
    taken(house, warc(tmp_path / "a.warc", answer(day(0), MON)))
    assert not list(house.home.glob("import-*"))


def test_paths_that_are_not_there_are_refused(house: House, tmp_path: Path) -> None:
    with pytest.raises(BadInputError, match="is not there"):
        taken(house, tmp_path / "missing.warc")


def test_the_budget_is_not_charged(house: House, tmp_path: Path) -> None:
    before = house.store.note("allowance")
    taken(house, warc(tmp_path / "a.warc", *(answer(day(n), MON) for n in range(50))))
    assert house.store.note("allowance") == before
