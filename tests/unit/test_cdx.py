"""The index: its keys, its lines, and that it can be made again from the files."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recrawl.model import Fetch, Outcome, Request, Version
from recrawl.remember import cdx
from recrawl.remember.warc import WarcArchive

AT = 1_794_734_100.123456  # 2026-11-15 09:15:00 UTC


def put(
    archive: WarcArchive, url: str, body: bytes = b"text", at: float = AT, same_as: Version | None = None
) -> Version:
    fetch = Fetch(
        request=Request(url=url),
        outcome=Outcome.OK,
        url=url,
        started_at=at,
        ended_at=at,
        status=200,
        http_reason="OK",
        headers=(("Content-Type", "Text/Plain; charset=utf-8"),),
        body=body,
        wire=body,
    )
    digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
    version = Version(resource_id=1, seq=1, at=at, digest=digest, n_bytes=len(body))
    return archive.put(fetch, version, same_as)


def archive_in(folder: Path, max_bytes: int = 1_000_000) -> WarcArchive:
    return WarcArchive(folder, now=lambda: AT, max_bytes=max_bytes)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.org/", "org,example)/"),
        ("https://www.Example.org:443/A/B/", "org,example)/a/b"),
        ("https://www2.example.co.uk/?b=2&a=1&B=1", "uk,co,example)/?a=1&b=1&b=2"),
        ("http://example.org:8080/x", "org,example:8080)/x"),
        ("https://example.org:80/x", "org,example:80)/x"),
        ("http://192.0.2.7/x", "7,2,0,192)/x"),
        ("http://[2001:db8::1]/x", "2001:db8::1)/x"),
        ("http://www/", "www)/"),
        ("http://h/a//b///?", "h)/a/b"),
        ("http://h/%7Eu/%2541?x=%2f%20", "h)/~u/a?x=/%20"),
        ("http://h/caf%C3%A9%23%25", "h)/caf%c3%a9%23%25"),
        ("http://h/?a&a-b=1&a=0", "h)/?a&a=0&a-b=1"),
    ],
)
def test_urls_that_show_the_same_thing_share_a_key(url: str, key: str) -> None:
    assert cdx.surt(url) == key


HOSTS = st.from_regex(r"\A(www[0-9]?\.)?[a-z0-9-]{1,3}(\.[a-z0-9-]{1,3}){0,2}\Z")
ENDS = st.from_regex(r"\A(:[0-9]{1,4}|:[1-5][0-9]{4})?(/[aB0._~-]{0,3}){0,4}(\?[aB&=0._~-]{0,8})?\Z")


@given(st.sampled_from(["http", "https"]), HOSTS, ENDS)
@example("https", "www.a", ":443/A/?b=1&a&a=0&B")
@example("http", "a", ":0080/a.b/../c//")
def test_the_fast_way_to_a_key_and_the_careful_one_agree(scheme: str, host: str, end: str) -> None:
    url = f"{scheme}://{host}{end}"
    assert cdx._plain_surt(url) in ("", cdx._any_surt(url))


def test_most_urls_go_the_fast_way() -> None:
    assert cdx._plain_surt("https://www.example.org:4443/News/2026/a_b-c.html?id=7&Page=2")


def test_a_line_leads_to_its_record(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    version = put(archive, "https://www.example.org/a?b=1")
    archive.close()
    (line,) = cdx.cdxj(tmp_path)
    key, stamp, said = line.split(" ", 2)
    assert (key, stamp) == ("org,example)/a?b=1", "20261115091500")
    assert json.loads(said) == {
        "url": "https://www.example.org/a?b=1",
        "mime": "text/plain",
        "status": "200",
        "digest": version.digest,
        "length": str(version.length),
        "offset": str(version.offset),
        "filename": version.file,
    }


def test_revisits_are_marked_as_such(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    first = put(archive, "http://h/")
    archive.sync()
    put(archive, "http://h/", at=AT + 60, same_as=first)
    archive.close()
    mimes = [json.loads(line.split(" ", 2)[2])["mime"] for line in cdx.cdxj(tmp_path)]
    assert mimes == ["text/plain", "warc/revisit"]


def test_the_index_made_again_from_the_file_is_the_one_that_was_written(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    for name in "zebra", "Apple", "mango", "apple?q=ü", "\x7f":
        put(archive, f"http://h/{name}", name.encode())
    archive.close()
    (path,) = tmp_path.glob("*.warc.gz")
    kept = cdx.index_path(path).read_text().splitlines()
    assert len(kept) == 5
    assert kept == sorted(kept) == cdx.index(path)


@pytest.mark.parametrize("n_open", [1, 2, 4, 100])
def test_the_folder_s_index_is_in_order_and_knows_open_files(
    n_open: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cdx, "N_OPEN", n_open)
    archive = archive_in(tmp_path, max_bytes=600)
    for number in range(12):
        put(archive, f"http://h/{number * 7 % 12:02}", at=AT + number)
        archive.sync()
    n_files, n_indexes = (len(list(tmp_path.glob(pattern))) for pattern in ("*.warc.gz", "*.cdxj"))
    assert n_files > n_indexes > 2
    keys = [line.split(" ")[0] for line in cdx.cdxj(tmp_path)]
    assert keys == [f"h)/{number:02}" for number in range(12)]
    archive.close()
    assert len(list(tmp_path.glob("*.cdxj"))) == n_files
    assert [line.split(" ")[0] for line in cdx.cdxj(tmp_path)] == keys
    assert not list(tmp_path.glob("*.tmp"))


def test_a_torn_end_has_no_line(tmp_path: Path) -> None:
    archive = archive_in(tmp_path)
    put(archive, "http://h/1")
    last = put(archive, "http://h/2")
    archive.close()
    path = tmp_path / last.file
    whole = path.read_bytes()
    for n_kept in range(last.offset, last.offset + last.length):
        path.write_bytes(whole[:n_kept])
        assert [line.split(" ")[0] for line in cdx.index(path)] == ["h)/1"]
