"""What is asked of all resources together, as the pages and programs have it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf, nan
from pathlib import Path

import pytest
from tests.houses import DAY_AT, Past, seen
from tests.keeper import Still

from recrawl.app import hosts, overview, stream, vitals
from recrawl.app.build import PRESENCE_FOLDER, House, open_house
from recrawl.app.presence import Presence, n_alive
from recrawl.checks.store.samples import completion, lease_of, new
from recrawl.errors import BadInputError, NotWatchedError
from recrawl.model import DAY_S, HOUR_S, Changed, Failures, HostStanding, Kind, Outcome, Sought, Which

A, B = "http://a.example/", "http://b.example/"
OLD, NEW = (
    b"<p>Open from nine to five.</p><p>Closed on Monday.</p>",
    b"<p>Open from ten to five.</p><p>Closed on Monday.</p>",
)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    """One resource with two versions, found changed an hour ago; one that fails."""
    with Past(tmp_path) as past:
        past.visit(seen(A, DAY_AT - 5 * HOUR_S, OLD), "news")
        kept = past.visit(seen(A, DAY_AT - HOUR_S, NEW))
        past.store.add([new(B)], DAY_AT - DAY_S)
        for n in (1, 2):
            at = DAY_AT - 0.9 * HOUR_S / n
            done = completion(lease_of(past.store, B, at), at, gate_s=600.0, outcome=Outcome.NET_ERROR)
            visit = replace(done.visit, evidence="no answer", n_bytes=7)
            past.store.complete([replace(done, visit=visit, n_host_failures=n)])
        _mark_changed(past, kept.at)
    with open_house(tmp_path, clock=Still(DAY_AT), reading=True) as house:
        yield house


def _mark_changed(past: Past, at: float) -> None:
    """As a detector would have: the helper records visits without a verdict."""
    past.store._db._connection.execute("UPDATE visit SET changed = 1 WHERE at = ?", (at,))


def test_a_page_that_ends_with_the_last_change_leads_nowhere(house: House) -> None:
    found = stream.page(house, Sought(), limit=1)
    assert [entry.resource.url for entry in found.entries] == [A]
    assert (found.older, found.back_to_at) == (None, None)
    (row,) = found.document()["changes"]
    assert (row["url"], row["tags"], row["changed"]) == (A, ["news"], True)


def test_a_place_in_the_changes_survives_being_written(house: House) -> None:
    (entry,) = stream.page(house, Sought()).entries
    mark = stream._mark((entry.visit.at, entry.resource.id, entry.visit.fetch_id))
    assert stream._place(mark) == (entry.visit.at, entry.resource.id, entry.visit.fetch_id)
    assert list(stream.page(house, Sought(), mark).entries) == []
    for bad in ("", "x", "nan~1~a", "1~-1~a", "1~99999999999999999999~a", "inf~1~a"):
        with pytest.raises(BadInputError):
            stream._place(bad)


def test_what_is_sought_as_people_write_it() -> None:
    found = stream.sought(
        DAY_AT, which="all", tag="news", host="A.example", text="x", kind="feed", since="2d"
    )
    assert found == Sought(
        which=Which.ALL, tag="news", host="a.example", text="x", kind=Kind.FEED, from_at=DAY_AT - 2 * DAY_S
    )
    assert stream.sought(DAY_AT) == Sought()
    assert stream.sought(DAY_AT, since="2026-01-01").from_at == DAY_AT - DAY_S / 2
    for said in ({"which": "some"}, {"kind": "odd"}, {"since": "soon"}, {"tag": "\n"}, {"host": "a/b"}):
        with pytest.raises(BadInputError):
            stream.sought(DAY_AT, **said)


def test_a_glimpse_shows_what_came_and_went(house: House) -> None:
    (entry,) = stream.page(house, Sought()).entries
    found = stream.glimpse(house, entry.resource.id, entry.visit.fetch_id, entry.visit.at)
    assert [sign for sign, _ in found.lines] == ["-", "+"]
    assert [text for _, pieces in found.lines for text, differs in pieces if differs] == ["nine", "ten"]
    assert not found.more
    with pytest.raises(NotWatchedError):
        stream.glimpse(house, 99, "x", DAY_AT)
    with pytest.raises(NotWatchedError):
        stream.glimpse(house, entry.resource.id, "x", entry.visit.at)


def test_a_glimpse_of_what_is_no_longer_kept(house: House) -> None:
    failed, _ = house.store.stream(Sought(which=Which.FAILED), limit=1, reach=9)
    found = stream.glimpse(house, failed[0].resource_id, failed[0].fetch_id, failed[0].at)
    assert (list(found.lines), found.remark) == ([], "No version is kept from before and after it.")


def test_long_lines_are_cut_around_what_differs() -> None:
    around = "word " * 100
    cut = stream._cut(((around, False), ("new" * 200, True), (around, False)))
    assert cut[0][0].startswith("…")
    assert len(cut[0][0]) <= stream.N_AROUND + 1
    assert cut[1] == (("new" * 200)[: stream.N_LETTERS] + "…", True)
    assert stream._cut((("x" * 999, False),))[0][0] == "x" * stream.N_LETTERS + "…"
    assert stream._cut((("same", False), ("new", True))) == (("same", False), ("new", True))


def test_the_house_at_a_glance(house: House) -> None:
    found = overview.glance(house)
    assert (found.n_resources, found.n_hosts, found.n_visits, found.n_day) == (2, 2, 4, 4)
    assert found.per_day is not None
    assert found.n_left == found.per_day - 4
    day = overview.day(house)
    assert (day.sums.n_changes, day.sums.n_failures, day.sums.n_bytes, day.n_troubled) == (1, 2, 14, 1)
    coming = overview.coming(house, 8 * HOUR_S)
    assert [one.url for one in coming.due] == [A, B]
    assert (coming.n_late, list(coming.turns)) == (0, [])
    assert [one.url for one in stream.most_changed(house, 7.0)] == [A]


def test_processes_that_visit_are_counted_while_they_live(tmp_path: Path) -> None:
    folder = tmp_path / PRESENCE_FOLDER
    assert n_alive(folder) == 0
    first, second = Presence(folder), Presence(folder)
    assert n_alive(folder) == 2
    first.close()
    (folder / "dead.lock").touch()
    assert n_alive(folder) == 1
    second.close()
    assert n_alive(folder) == 0


def test_a_host_with_what_went_wrong(house: House) -> None:
    page = hosts.host_page(house, B)
    row = page.host.row(DAY_AT)
    assert (row["host"], row["failures_in_a_row"], row["rest_s"]) == ("b.example", 2, 600.0)
    assert [hosts.how(one) for one in page.failures] == ["could not be reached"]
    assert [visit.evidence for visit, _ in page.failed] == ["no answer", "no answer"]
    assert [resource.url for resource, _, _ in page.resources] == [B]
    assert [one.standing.name for one in hosts.listed(house, "B.ex")] == ["b.example"]
    troubled, n = hosts.in_trouble(house)
    assert ([one.standing.name for one in troubled], n) == (["b.example"], 1)
    with pytest.raises(NotWatchedError, match="recrawl add"):
        hosts.host_page(house, "c.example")


def test_where_a_host_stands_in_words() -> None:
    at = HostStanding(
        id=1,
        name="a.example",
        n_resources=1,
        n_planned=1,
        gate_at=-inf,
        lease_until_at=-inf,
        rest_s=nan,
        n_failures=0,
        due_at=nan,
    )
    assert hosts.state(at, DAY_AT) == "not asked from here yet"
    assert hosts.state(replace(at, rest_s=1.0), DAY_AT) == "may be asked"
    assert hosts.state(replace(at, gate_at=DAY_AT + 90.0), DAY_AT) == "left alone, asked again in 1.5 min"
    assert hosts.state(replace(at, lease_until_at=DAY_AT + 9.0), DAY_AT) == "being asked now"
    failed = Failures(host="a", outcome=Outcome.HTTP_ERROR, status=503, n=1, last_at=DAY_AT)
    assert hosts.how(failed) == "answered with an error (503)"


def test_a_quick_look_reads_no_row_of_the_store(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    def unsound(_: Path) -> None:
        raise AssertionError("all of the store was read")

    monkeypatch.setattr("recrawl.app.doctor.unsound", unsound)
    (found,) = (check for check in vitals.checks(house) if check.name == "store")
    assert found.ok is True
    assert "2 resources" in found.finding
    assert "recrawl doctor" in found.finding


def test_sizes_are_those_on_the_disk(house: House) -> None:
    found = vitals.sizes(house)
    on_disk = sum(path.stat().st_size for path in (house.home / "archive").glob("*.warc.gz"))
    assert (found.archive, found.n_files) == (on_disk, 1)
    assert found.store > 100_000
    assert vitals.whole_round(house)["urls"] == 2  # type: ignore[index]


def test_a_visit_without_a_change_is_none(house: House) -> None:
    found, _ = house.store.stream(Sought(which=Which.ALL), limit=9, reach=9)
    assert {visit.changed for visit in found} == {Changed.YES}
