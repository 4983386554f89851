"""Files and folders of this machine: what is there comes back, and nothing leads out of what is allowed."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import socket
from dataclasses import replace
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from recrawl.checks.handler import TroubledWeb
from recrawl.contracts import Premises
from recrawl.errors import BadUrlError
from recrawl.live.clock import WallClock
from recrawl.model import Fetch, Manner, Outcome, Request, Version
from recrawl.observe.files import FileHandler
from recrawl.remember.warc import WarcArchive
from recrawl.urls import canonical, canonical_file, file_path

LONG_AGO_S = 1_700_000_000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "allowed"
    inside.mkdir()
    return inside


def look(folder: Path, url: str, *, max_bytes: int = 4096, **said: object) -> Fetch:
    handler = FileHandler(
        Premises(clock=WallClock(), max_bytes=max_bytes, total_s=20.0, folders=(folder,), spool=folder.parent)
    )
    request = replace(Request(url=url), **said)  # type: ignore[arg-type]
    return asyncio.run(handler.fetch(request, TroubledWeb()))


def told(fetch: Fetch) -> tuple[Outcome, str]:
    return fetch.outcome, fetch.failure.reason if fetch.failure else ""


def written(path: Path, text: str, at_s: int = LONG_AGO_S) -> str:
    path.write_text(text)
    os.utime(path, (at_s, at_s))
    return canonical_file(path.as_uri())


def test_a_file_comes_back_with_its_type_and_time(folder: Path) -> None:
    fetch = look(folder, written(folder / "ä b.csv", "a,b\n"))
    assert (fetch.outcome, fetch.status, fetch.body) == (Outcome.OK, 200, b"a,b\n")
    assert fetch.media_type == "text/csv"
    assert fetch.header("last-modified") == "Tue, 14 Nov 2023 22:13:20 GMT"


def test_an_unchanged_file_is_not_read_again_and_a_changed_one_is(folder: Path) -> None:
    url = written(folder / "a.txt", "one")
    etag = look(folder, url).header("etag")
    assert etag is not None
    assert look(folder, url, etag=etag).outcome is Outcome.NOT_MODIFIED
    written(folder / "a.txt", "two", LONG_AGO_S + 1)
    assert look(folder, url, etag=etag).body == b"two"
    # another file of the same size and time in its place is another file
    etag = look(folder, url).header("etag")
    written(folder / "new", "2nd", LONG_AGO_S + 1)
    (folder / "new").rename(folder / "a.txt")
    assert look(folder, url, etag=etag).body == b"2nd"


def test_a_file_that_was_written_just_now_has_no_validator_yet(folder: Path) -> None:
    (folder / "a.txt").write_text("a later change within the same tick of its clock would go unseen")
    assert look(folder, (folder / "a.txt").as_uri()).header("etag") is None


def test_what_is_not_there_is_gone_and_comes_back(folder: Path) -> None:
    url = canonical_file((folder / "a" / "b.txt").as_uri())
    fetch = look(folder, url)
    assert (fetch.outcome, fetch.status) == (Outcome.GONE, 404)
    (folder / "a").write_text("a file where a folder should be")
    assert look(folder, url).outcome is Outcome.GONE
    (folder / "a").unlink()
    (folder / "a").mkdir()
    written(folder / "a" / "b.txt", "back")
    assert look(folder, url).body == b"back"


def test_a_folder_that_is_not_mounted_says_nothing_of_its_files(folder: Path) -> None:
    url = written(folder / "a.txt", "one")
    folder.rename(folder.with_name("elsewhere"))
    assert told(look(folder, url)) == (Outcome.NET_ERROR, "folder")


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="there is no /proc here")
def test_what_cannot_be_read_is_a_failure() -> None:
    """A file whose first byte nobody can read, not even the superuser."""
    assert told(look(Path("/proc/self"), "file:///proc/self/mem")) == (Outcome.NET_ERROR, "file")


def test_a_large_file_is_cut_and_told(folder: Path) -> None:
    url = written(folder / "a.txt", "x" * 5000)
    fetch = look(folder, url)
    assert told(fetch) == (Outcome.TRUNCATED, "length")
    assert len(fetch.body) == 4096
    assert look(folder, url, manner=Manner(max_bytes=5000)).outcome is Outcome.OK
    assert look(folder, url, max_bytes=4999).outcome is Outcome.TRUNCATED


def test_a_huge_file_is_not_held_in_memory(folder: Path) -> None:
    with (folder / "big").open("wb") as stream:
        stream.truncate(50 * 2**20)
    fetch = look(folder, (folder / "big").as_uri(), max_bytes=2**30)
    assert (fetch.outcome, len(fetch.body)) == (Outcome.OK, 50 * 2**20)
    assert not isinstance(fetch.body, bytes)


def test_a_folder_is_a_sorted_list_that_changes_with_what_is_in_it(folder: Path) -> None:
    written(folder / "b.txt", "12345")
    written(folder / "a.txt", "1")
    (folder / "sub").mkdir()
    (folder / "z").symlink_to("/etc")
    url = canonical_file(f"{folder.as_uri()}/")
    fetch = look(folder, url)
    rows = json.loads(bytes(fetch.body))["entries"]
    assert [(row["name"], row["type"]) for row in rows] == [
        ("a.txt", "file"),
        ("b.txt", "file"),
        ("sub", "folder"),
        ("z", "link"),
    ]
    assert rows[1]["size"] == 5
    assert rows[1]["modified_at"] == "2023-11-14T22:13:20.000000000Z"
    assert fetch.media_type == "application/json"
    etag = fetch.header("etag")
    assert look(folder, url, etag=etag).outcome is Outcome.NOT_MODIFIED
    written(folder / "b.txt", "54321", LONG_AGO_S + 5)  # the folder's own time stays as it was
    assert look(folder, url, etag=etag).outcome is Outcome.OK


def test_a_file_where_a_folder_was_and_the_other_way_round_are_gone(folder: Path) -> None:
    written(folder / "a", "file")
    (folder / "b").mkdir()
    assert look(folder, f"{(folder / 'a').as_uri()}/").outcome is Outcome.GONE
    assert look(folder, (folder / "b").as_uri()).outcome is Outcome.GONE


@pytest.mark.parametrize("way", ["../secret", "link", "linked/secret", "up/secret", "a/../../secret"])
def test_nothing_leads_out_of_the_allowed_folder(folder: Path, way: str) -> None:
    written(folder.parent / "secret", "canary")
    (folder / "a").mkdir()
    (folder / "link").symlink_to(folder.parent / "secret")
    (folder / "linked").symlink_to(folder.parent)
    (folder / "up").symlink_to("..")
    fetch = look(folder, f"{folder.as_uri()}/{way}")
    assert fetch.outcome is Outcome.BLOCKED
    assert b"canary" not in bytes(fetch.body)


def test_a_folder_whose_name_begins_like_the_allowed_one_is_another(folder: Path) -> None:
    (folder.parent / "allowed-not").mkdir()
    url = written(folder.parent / "allowed-not" / "a.txt", "canary")
    assert told(look(folder, url)) == (Outcome.BLOCKED, "not-allowed")


def test_a_link_that_stays_inside_is_followed(folder: Path) -> None:
    written(folder / "a.txt", "one")
    (folder / "link").symlink_to("a.txt")
    (folder / "root").symlink_to(folder)
    assert look(folder, (folder / "link").as_uri()).body == b"one"
    assert look(folder, f"{folder.as_uri()}/root/root/a.txt").body == b"one"


@pytest.mark.parametrize("way", ["swapped", "swapped/secret"])
@pytest.mark.parametrize("late", [False, True])
def test_a_link_put_in_place_after_the_check_is_not_followed(
    folder: Path, way: str, late: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if it had been plain when links were looked for and, if `late`, just before it was opened."""
    written(folder.parent / "secret", "canary")
    target = folder.parent / "secret" if way == "swapped" else folder.parent
    (folder / "swapped").symlink_to(target)
    monkeypatch.setattr(os.path, "realpath", os.path.abspath)
    stat = os.stat

    def followed(path: str, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> os.stat_result:
        return stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks or (late and dir_fd is not None))

    monkeypatch.setattr(os, "stat", followed)
    fetch = look(folder, f"{folder.as_uri()}/{way}")
    assert fetch.outcome is Outcome.BLOCKED
    assert b"canary" not in bytes(fetch.body)


def test_what_is_neither_file_nor_folder_is_not_opened(folder: Path) -> None:
    os.mkfifo(folder / "pipe")  # opened, it would wait for a writer
    with socket.socket(socket.AF_UNIX) as door:
        here = Path.cwd()
        os.chdir(folder)  # the name of a socket must be short
        try:
            door.bind("door")
        finally:
            os.chdir(here)
        for name in ("pipe", "door"):
            assert told(look(folder, (folder / name).as_uri())) == (Outcome.BLOCKED, "special-file")
    assert told(look(Path("/dev"), "file:///dev/null")) == (Outcome.BLOCKED, "special-file")


def test_without_allowed_folders_nothing_is_visited(tmp_path: Path) -> None:
    url = written(tmp_path / "a.txt", "one")
    handler = FileHandler(Premises(clock=WallClock(), max_bytes=10, total_s=1.0))
    fetch = asyncio.run(handler.fetch(Request(url=url), TroubledWeb()))
    assert told(fetch) == (Outcome.BLOCKED, "not-allowed")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("file:///a/b.csv", "file:///a/b.csv"),
        ("FILE://LOCALHOST/a//./b%2Dc", "file:///a/b-c"),
        ("file:/a/x/../b/", "file:///a/b/"),
        ("file:///../../a/..", "file:///"),
        ("file:///a/%2e%2e/b", "file:///b"),
        ("file:///ä%20ö", "file:///%C3%A4%20%C3%B6"),
        ("file:///%ff", "file:///%FF"),
    ],
)
def test_a_file_has_one_spelling(text: str, expected: str) -> None:
    assert canonical_file(text) == expected
    assert canonical_file(expected) == expected


def test_a_name_may_have_any_bytes() -> None:
    assert os.fsencode(file_path("file:///%ff/a%20b")) == b"/\xff/a b"


@pytest.mark.parametrize(
    "text",
    ["file:", "file://", "file:a", "file://host/a", "file:////host/a", "file:///a?b", "file:///a#b",
     "file:///a%2Fb", "file:///a%00", "file:///a\\b", "file:///" + "a" * 5000, "http://h/a"],
)  # fmt: skip
def test_what_names_no_file_here_is_refused(text: str) -> None:
    with pytest.raises(BadUrlError):
        canonical_file(text)


def test_the_web_has_no_files() -> None:
    with pytest.raises(BadUrlError, match="http"):
        canonical("file:///etc/passwd")


def test_a_file_is_archived_and_read_back_and_no_request_is_made_up_for_it(
    folder: Path, tmp_path: Path
) -> None:
    fetch = look(folder, written(folder / "a.csv", "a,b\n"))
    digest = f"sha256:{hashlib.sha256(b'a,b' + bytes([10])).hexdigest()}"
    version = Version(resource_id=1, seq=1, at=fetch.ended_at, digest=digest, n_bytes=4)
    archive = WarcArchive(tmp_path / "archive", now=WallClock().now)
    placed = archive.put(fetch, version)
    archive.sync()
    assert archive.snapshot(placed).body == b"a,b\n"
    again = archive.put(look(folder, fetch.url, etag=fetch.header("etag")), placed, placed)
    archive.close()
    assert (again.offset, again.length) == (placed.offset, placed.length)
    with (tmp_path / "archive" / placed.file).open("rb") as stream:
        kinds = [record.rec_type for record in ArchiveIterator(stream)]
    assert kinds == ["warcinfo", "response", "revisit", "metadata"]
