"""What other crawlers' records say: codings, cuts, revisits, redirects."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import brotli
import pytest
from tests.foreign import HTML, T0, URL, answer, chunked, day, record, sha1, warc
from tests.imported import (
    MON,
    TUE,
    bodies,
    sound,
    taken,
    told,
    versions,
    visits,
)

from recrawl.app import replies
from recrawl.app.build import House, open_house
from recrawl.app.imports import Choice
from recrawl.model import NewResource, Outcome


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with open_house(tmp_path / "home") as opened:
        yield opened


def coded(name: str) -> tuple[tuple[str, str], ...]:
    return (*HTML, ("Content-Encoding", name))


CHUNKED = ("Transfer-Encoding", "chunked")


@pytest.mark.parametrize(
    ("payload", "headers"),
    [
        (chunked(MON), (*HTML, CHUNKED)),
        (gzip.compress(MON, mtime=0), coded("gzip")),
        (chunked(gzip.compress(MON, mtime=0)), (*coded("gzip"), CHUNKED)),
        (brotli.compress(MON), coded("br")),
        (MON, (*HTML, CHUNKED)),  # undone, and the header left
        (MON, (*coded("gzip"), ("Content-Length", "9000"))),
        (MON, coded("br")),
    ],
)
def test_bodies_are_opened_whatever_the_crawler_left_of_the_codings(
    house: House, tmp_path: Path, payload: bytes, headers: tuple[tuple[str, str], ...]
) -> None:
    taken(house, warc(tmp_path / "a.warc.gz", answer(day(0), payload, headers=headers)))
    assert bodies(house) == [MON]
    assert told(house) == [(day(0), "ok", -1)]
    sound(house)


@pytest.mark.parametrize(
    ("made", "outcome", "flag"),
    [
        (answer(day(1), TUE, fields={"WARC-Truncated": "time"}), Outcome.TRUNCATED, "time"),
        (answer(day(1), TUE, headers=(*HTML, ("Content-Length", "999"))), Outcome.TRUNCATED, "disconnect"),
        (answer(day(1), chunked(TUE)[:-9], headers=(*HTML, CHUNKED)), Outcome.TRUNCATED, "disconnect"),
        (answer(day(1), gzip.compress(TUE)[:-9], headers=coded("gzip")), Outcome.UNREADABLE, "decode"),
        (answer(day(1), gzip.compress(bytes(70 << 20)), headers=coded("gzip")), Outcome.TRUNCATED, "length"),
    ],
)
def test_what_is_cut_is_evidence_and_no_version(
    house: House, tmp_path: Path, made: bytes, outcome: Outcome, flag: str
) -> None:
    taken(house, warc(tmp_path / "a.warc", answer(day(0), MON), made, answer(day(2), MON)))
    assert [visit.outcome for visit in visits(house)] == [Outcome.OK, outcome, Outcome.OK]
    assert [version.flag for version in versions(house)] == ["", flag]
    assert visits(house)[2].since_at == day(0)
    sound(house)


def test_revisits_have_the_payload_of_the_answer_that_they_repeat(house: House, tmp_path: Path) -> None:
    profile = {"WARC-Profile": "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"}
    refers = {
        "WARC-Refers-To-Target-URI": URL,
        "WARC-Refers-To-Date": "2020-09-13T12:26:40Z",
    }
    first = answer(T0, chunked(MON), headers=(*HTML, CHUNKED), fields={"WARC-Record-ID": "<urn:first>"})
    again = [
        answer(
            day(1),
            b"",
            kind="revisit",
            fields={**profile, "WARC-Refers-To": "<urn:first>", "WARC-Payload-Digest": "x"},
        ),
        answer(day(2), b"", kind="revisit", fields={**profile, **refers, "WARC-Payload-Digest": ""}),
        # wget states the digest of the block that it left out
        answer(
            day(3),
            b"",
            kind="revisit",
            fields={**profile, "WARC-Payload-Digest": sha1(chunked(MON)), "WARC-Block-Digest": sha1(b"all")},
        ),
        record(
            "revisit", day(4), b"", {"WARC-Refers-To": "<urn:first>", "WARC-Profile": profile["WARC-Profile"]}
        ),
        answer(
            day(5), b"", kind="revisit", status="304 Not Modified", fields={"WARC-Refers-To": "<urn:first>"}
        ),
        answer(day(6), b"", status="304 Not Modified"),
        answer(day(7), b"", kind="revisit", fields={**profile, "WARC-Payload-Digest": sha1(b"elsewhere")}),
    ]
    result = taken(house, warc(tmp_path / "a.warc.gz", first, *again))
    assert [outcome for _, outcome, _ in told(house)] == ["ok"] * 5 + ["not-modified"] * 2
    assert {changed for _, _, changed in told(house)[1:]} == {0}
    assert bodies(house) == [MON]
    assert +result.skipped == {"a revisit of what is not in these files": 1}
    sound(house)


@pytest.mark.skipif(shutil.which("wget") is None, reason="wget is not installed")
def test_what_wget_writes_is_taken_in(house: House, tmp_path: Path) -> None:
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_bytes(MON)
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever).start()
        url = f"http://127.0.0.1:{server.server_port}/index.html"
        wget = ["wget", "-q", "-O", "/dev/null", "--no-config", "--no-proxy", url]
        for n, more in enumerate(("--warc-cdx", "--warc-dedup=0.cdx", "--no-warc-compression")):
            subprocess.run([*wget, more, f"--warc-file={n}"], cwd=tmp_path, check=True)
        server.shutdown()
    files = sorted(tmp_path.glob("*.warc*"))
    assert len(files) == 3
    for n, file in enumerate(files):  # they were all made within a second
        later = b"2021-0%d-01T00:00:00Z" % (n + 1)
        data = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
        (tmp_path / f"{n}.warc").write_bytes(re.sub(rb"(?<=WARC-Date: )\S+", later, data))
    result = taken(
        house,
        *(tmp_path / f"{n}.warc" for n in range(3)),
        choice=Choice(add=True, match="http*", allow_private=True),
    )
    assert [changed for _, _, changed in told(house, url)] == [-1, 0, 0]
    assert bodies(house, url) == [MON]
    assert (result.damaged, +result.skipped) == ([], {})


def test_a_revisit_of_what_we_hold_already_needs_no_other_file(house: House, tmp_path: Path) -> None:
    taken(house, warc(tmp_path / "a.warc", answer(day(0), MON)))
    again = answer(day(1), b"", kind="revisit", fields={"WARC-Payload-Digest": sha1(MON)})
    taken(house, warc(tmp_path / "b.warc", again, answer(day(2), b"", status="304 Not Modified")))
    assert [outcome for _, outcome, _ in told(house)] == ["ok", "ok", "not-modified"]
    assert bodies(house) == [MON]


def test_redirects_are_followed_within_the_files(house: House, tmp_path: Path) -> None:
    there = "https://example.org/new"
    path = warc(
        tmp_path / "a.warc.gz",
        answer(day(0), b"", status="301 Moved", headers=(("Location", there),)),
        answer(day(0) + 2, MON, url=there),
        answer(day(1), b"", status="302 Found", headers=(("Location", "/nowhere"),)),
        answer(day(2), b"", status="301 Moved", headers=(("Location", URL),)),  # to itself
    )
    house.store.add([NewResource(url=URL, host="example.org")], T0)
    result = taken(house, path, choice=Choice())
    assert told(house) == [(day(0), "ok", -1)]
    assert visits(house)[0].moved_to == there
    assert bodies(house) == [MON]
    assert result.skipped["a redirect to what is not in these files"] == 2


def test_a_chunk_for_every_byte_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replies, "N_CHUNKS", 10)
    assert replies.unchunked(chunked(b"x" * 9, 1), None) == (b"x" * 9, True)
    assert replies.unchunked(chunked(b"x" * 10, 1), None) == (b"x" * 10, False)


def test_answers_to_forms_are_left_out(house: House, tmp_path: Path) -> None:
    post, get = b"POST / HTTP/1.1\r\n\r\nq=1", b"GET / HTTP/1.1\r\n\r\n"
    path = warc(
        tmp_path / "a.warc",
        answer(day(0), MON, fields={"WARC-Record-ID": "<urn:a>"}),
        record("request", day(0), post, {"WARC-Concurrent-To": "<urn:a>"}),
        record("request", day(1), post, {"WARC-Record-ID": "<urn:b>"}),
        answer(day(1), MON, fields={"WARC-Concurrent-To": "<urn:b>"}),
        answer(day(2), TUE, fields={"WARC-Record-ID": "<urn:c>"}),
        record("request", day(2), get, {"WARC-Concurrent-To": "<urn:c>"}),
    )
    taken(house, path)
    assert told(house) == [(day(2), "ok", -1)]
