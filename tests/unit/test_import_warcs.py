"""WARC files as a corpus of visits."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.foreign import URL, answer, page, record, sha1, warc
from tests.houses import DAY_AT, Past, seen
from tests.importers import T0, Taken, same, taken, taken_in_parts

from recrawl.app.collection import Wanted, write_wacz, write_warc
from recrawl.corpora.importers.archives.warcs import GONE, Warc
from recrawl.errors import BadInputError
from recrawl.model import Outcome
from recrawl.remember.cdx import index, write

MON, TUE = page("Monday"), page("Tuesday")
OTHER = "http://example.org/data.json"
FAR = "http://example.net/data.json"
JSON = (("Content-Type", "application/json"),)


def at(n: int) -> int:
    return T0 + n * 3600


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    found = tmp_path / "in"
    found.mkdir()
    return found


def revisit(n: int, body: bytes, url: str = URL) -> bytes:
    fields = {"WARC-Payload-Digest": sha1(body), "WARC-Refers-To-Date": "2020-09-13T12:26:40Z"}
    return record("revisit", at(n), b"HTTP/1.1 200 OK\r\n\r\n", fields, url)


def shown(found: Taken, url: str = URL) -> list[tuple[int, bool]]:
    """When it was looked at, in hours, and whether that showed a change."""
    return [((when - T0) // 3600, changed) for when, _, changed in found.visits[url]]


def test_every_capture_is_a_look_and_a_change_where_the_payload_is_another_one(
    tmp_path: Path, folder: Path
) -> None:
    warc(
        folder / "a.warc.gz",
        answer(at(0), MON),
        revisit(1, MON),
        answer(at(2), TUE),
        answer(at(3), TUE),
        answer(at(4), MON),
        record("resource", at(5), MON, {"Content-Type": "text/html"}),
        answer(at(1), b"{}", url=OTHER, headers=JSON),
    )
    found = taken(Warc(), folder, tmp_path / "out", strict=True)
    assert shown(found) == [(0, True), (1, False), (2, True), (3, False), (4, True), (5, False)]
    assert [when for when, _ in found.events[URL]] == [at(0), at(2), at(4)]
    assert found.facts[OTHER]["host"] == "example.org"
    assert found.corpus.about.observation == "visits"


def test_what_is_not_there_is_a_tombstone_and_trouble_is_no_look(tmp_path: Path) -> None:
    path = warc(
        tmp_path / "a.warc",
        answer(at(0), MON),
        answer(at(1), b"gone one way", status="404 Not Found"),
        answer(at(2), b"gone another", status="410 Gone"),
        answer(at(3), b"oops", status="503 Busy"),
        answer(at(4), b"", status="302 Found", headers=[("Location", "/login")]),
        answer(at(5), b"", status="304 Not Modified"),
        answer(at(6), MON),
    )
    found = taken(Warc(), path, tmp_path / "out")
    assert [(when, digest) for when, digest, _ in found.visits[URL]] == [
        (at(0), sha1(MON)), (at(1), GONE), (at(2), GONE), (at(6), sha1(MON)),
    ]  # fmt: skip
    assert shown(found) == [(0, True), (1, True), (2, False), (6, True)]
    assert set(found.result.left_out) == {
        "status 503", "status 302", "captures without a digest (not modified, or revisits that name none)",
    }  # fmt: skip


def test_answers_of_other_statuses_types_and_urls_are_left_out_and_counted(tmp_path: Path) -> None:
    path = warc(
        tmp_path / "a.warc.gz",
        answer(at(0), MON),
        answer(at(0), b"{}", url=OTHER, headers=JSON),
        revisit(1, MON),
        revisit(1, b"{}", OTHER),
        answer(at(2), b"no", status="404 Not Found"),
        answer(at(3), TUE, url="http://example.com/"),
    )
    chosen = Warc(media_types=["text/*,image/*"], match=["http://example.org/*"], status=["200"])
    found = taken(chosen, path, tmp_path / "out")
    assert set(found.visits) == {URL}
    assert shown(found) == [(0, True), (1, False)]
    assert found.result.left_out == {
        "other media types": 1,
        "revisits and errors of other or unknown media types": 1,
        "status 404": 1,
        "URLs that --match does not name": 1,
    }
    with pytest.raises(BadInputError, match="'2x' is no status; write --status 200"):
        Warc(status=["2x"])


def test_a_record_that_states_no_digest_is_weighed_itself_and_digests_of_two_kinds_are_not_compared(
    tmp_path: Path,
) -> None:
    path = warc(
        tmp_path / "a.warc.gz",
        answer(at(0), MON),
        answer(at(1), MON, fields={"WARC-Payload-Digest": ""}),
        answer(at(2), MON, fields={"WARC-Payload-Digest": "sha256:0123"}),
        record("revisit", at(3), b"", {"WARC-Payload-Digest": "sha256:0123"}),
        answer(at(4), TUE, fields={"WARC-Payload-Digest": "sha256:4567"}),
    )
    found = taken(Warc(), path, tmp_path / "out")
    assert shown(found) == [(0, True), (1, False), (2, False), (4, True)]
    assert found.result.skipped == {"its digest is of another kind than the others'": 1}


def test_damage_is_passed_over_and_counted_with_file_and_offset(tmp_path: Path) -> None:
    records = [gzip.compress(answer(at(n), page(f"day {n}"))) for n in range(4)]
    damaged = bytearray(records[1])
    damaged[len(damaged) // 2] ^= 0xFF
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.warc.gz").write_bytes(records[0] + damaged + records[2] + records[3][:-20])
    (tmp_path / "in" / "b.warc.gz").write_bytes(b"this is no WARC file at all")
    (tmp_path / "in" / "c.wacz").write_bytes(b"nor is this")
    found = taken(Warc(), tmp_path / "in", tmp_path / "out")
    assert shown(found) == [(0, True), (2, True)]
    (why,) = found.result.skipped
    assert found.result.skipped[why] == 4
    assert f"a.warc.gz, byte {len(records[0])} (" in "".join(found.result.examples[why])
    with pytest.raises(BadInputError, match=r"c\.wacz, byte 0 .*leave --strict out"):
        taken(Warc(), tmp_path / "in", tmp_path / "strict", strict=True)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInputError, match="holds no WARC or WACZ file"):
        taken(Warc(), tmp_path / "empty", tmp_path / "none")


def home(folder: Path) -> Past:
    past = Past(folder)
    for n, body in enumerate([MON, MON, TUE, MON]):
        past.visit(seen(URL, DAY_AT + n * 3600, body))
    past.visit(seen(FAR, DAY_AT, b"gone", outcome=Outcome.GONE, status=404))
    past.visit(seen(FAR, DAY_AT + 3600, b'{"a": 1}', ("Content-Type", "application/json")))
    return past


def test_our_own_archive_and_what_is_exported_of_it_say_the_same_with_an_index_and_without(
    tmp_path: Path,
) -> None:
    with home(tmp_path / "home") as past:
        write_wacz(past.store, past.archive, Wanted(), tmp_path / "all.wacz", now=DAY_AT)
        write_warc(past.store, past.archive, Wanted(), tmp_path / "files")
    first = taken(Warc(read_records=True), tmp_path / "home" / "archive", tmp_path / "one", strict=True)
    assert [changed for _, _, changed in first.visits[URL]] == [True, False, True, True]
    assert [digest == GONE for _, digest, _ in first.visits[FAR]] == [True, False]
    for n, source in enumerate(["home/archive", "all.wacz", "files"]):
        found = taken(Warc(), tmp_path / source, tmp_path / f"other-{n}", strict=True)
        assert found.visits == first.visits, source


@pytest.mark.parametrize("is_common", [False, True])
def test_an_index_spares_reading_the_files_unless_they_are_newer(tmp_path: Path, is_common: bool) -> None:
    with home(tmp_path / "home"):
        pass
    (path,) = (tmp_path / "home" / "archive").glob("*.warc.gz")
    write(path, index(path))
    listed = path.with_name(path.name.removesuffix(".warc.gz") + ".cdxj")
    if is_common:
        listed = listed.rename(path.with_name("index.cdxj"))
    whole = taken(Warc(read_records=True), path, tmp_path / "whole")
    good = path.read_bytes()
    path.write_bytes(b"\0" * len(good))
    os.utime(listed)
    assert taken(Warc(), path, tmp_path / "listed").visits == whole.visits
    os.utime(listed, (1, 1))
    with pytest.raises(BadInputError, match="no versions to write"):
        taken(Warc(), path, tmp_path / "newer")


def test_a_file_that_the_common_index_does_not_name_is_read(tmp_path: Path, folder: Path) -> None:
    warc(folder / "b.warc.gz", answer(at(3), TUE))
    warc(folder / "a.warc.gz", answer(at(0), MON))
    said = json.dumps({"url": URL, "status": "200", "digest": sha1(MON)[5:], "filename": "a.warc.gz"})
    (folder / "index.cdxj").write_text(f"org,example)/ 20200913122640 {said}\n")
    assert shown(taken(Warc(), folder, tmp_path / "out")) == [(0, True), (3, True)]


def test_lines_of_an_index_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    path = warc(tmp_path / "a.warc.gz", answer(at(0), MON))
    good = '{"url": "http://example.org/", "status": "200", "digest": "sha1:AAAA", "mime": "text/html"}'
    lines = [
        '!meta 0 {"format": "cdxj"}',
        f"org,example)/ 20200913122640 {good}",
        "org,example)/ 20200913122640 {broken",
        f"org,example)/ yesterday {good}",
        'org,example)/ 20200913122640 {"url": "http://[::", "digest": "AAAA"}',
        good.replace("{", 'org,example)/x 20200913122640 {"method": "POST", ').replace('org/"', 'org/x"'),
        'dns 20200913122640 {"url": "dns:example.org", "digest": "AAAA"}',
        "org,example)/ 20200913122641 " + "[" * 5_000,
        good[:40] + "\ud800".encode("utf-8", "surrogatepass").decode("latin-1"),
    ]
    (tmp_path / "a.cdxj").write_text("\n".join(lines) + "\n", encoding="latin-1")
    found = taken(Warc(), path, tmp_path / "out")
    assert set(found.visits) == {URL}
    assert sum(found.result.skipped.values()) == 5
    assert f"{tmp_path}/a.cdxj:4" in found.result.examples["the time cannot be read"]


def test_an_import_that_was_cut_off_goes_on_with_the_next_file(tmp_path: Path, folder: Path) -> None:
    for n in range(6):
        bodies = (answer(at(3 * n + k), page(f"{n} {k // 2}")) for k in range(3))
        warc(
            folder / f"{n}.warc.gz",
            *bodies,
            b"nor is this",
            answer(at(3 * n), b"x", status="500 No"),
            revisit(3 * n + 2, MON),
        )
    for n in (6, 7):  # that these are of the type is known from the files before
        warc(folder / f"{n}.warc.gz", *(revisit(3 * n + k, MON) for k in range(3)), b"this is no record")
    chosen: list[dict[str, Any]] = [{}, {"media_types": ["text/html"]}]
    for said in chosen:
        whole = taken(Warc(**said), folder, tmp_path / f"whole-{len(said)}", options=said)
        parts = taken_in_parts(Warc, folder, tmp_path / f"parts-{len(said)}", 31, **said)
        assert parts.result.went_on
        same(whole, parts)
        assert whole.visits == parts.visits
