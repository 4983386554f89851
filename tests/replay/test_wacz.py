"""Collections to take along, as others read them."""

from __future__ import annotations

import gzip
import hashlib
import json
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from tests.houses import DAY_AT, Past, seen
from tests.warcs import records, version_of
from warcio.archiveiterator import ArchiveIterator

from recrawl.app.build import open_house
from recrawl.app.collection import Wanted, write_wacz, write_warc
from recrawl.errors import BadInputError
from recrawl.model import DAY_S, Hop, Outcome

A, B, C = "http://a.example/", "http://b.example/page?x=1", "http://c.example/old"
PAGE = b"<p>a page that is long enough to be shared between two resources" * 10


def at(days: float) -> float:
    return DAY_AT + days * DAY_S


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A is found again by both kinds of revisit; B brings A's payload; C is reached through a redirect."""
    home = tmp_path / "home"
    with Past(home) as past:
        first = past.visit(seen(A, at(0), PAGE), "one")
        past.visit(seen(A, at(1), PAGE), "one")
        unchanged = {"status": 304, "http_reason": "Not Modified", "outcome": Outcome.NOT_MODIFIED}
        past.visit(seen(A, at(2), b"", ("ETag", '"1"'), **unchanged), "one")
        past.visit(seen(A, at(3), b"<p>changed"), "one")
        past.visit(seen(B, at(4), b"<p>b alone"), "two")
        past.share(seen(B, at(5), PAGE), first)
        hop = Hop(url=C, status=301, location=f"{C}-new")
        past.visit(replace(seen(C, at(6), b"<p>moved"), url=f"{C}-new", hops=(hop,)))
        past.visit(replace(seen(C, at(7), b"<p>moved"), url=f"{C}-new", hops=(hop,)))
        past.visit(seen(C, at(8), b"<p>none", status=404, http_reason="Not Found", outcome=Outcome.GONE))
    return home


def packed(home: Path, name: str = "all.wacz", **wanted: Any) -> zipfile.ZipFile:
    with open_house(home, reading=True) as house:
        write_wacz(house.store, house.archive, Wanted(**wanted), home / name, now=at(9))
    return zipfile.ZipFile(home / name)


def index_of(package: zipfile.ZipFile) -> list[str]:
    return gzip.decompress(package.read("indexes/index.cdx.gz")).decode().splitlines()


def read(package: zipfile.ZipFile) -> Iterator[tuple[str, str, str, str]]:
    """Kind, URL, id and what it refers to of all records, as warcio reads them, digests checked."""
    for name in package.namelist():
        if name.startswith("archive/"):
            for record in ArchiveIterator(BytesIO(package.read(name)), check_digests="raise"):
                said = record.rec_headers
                record.content_stream().read()
                named = ("WARC-Target-URI", "WARC-Record-ID", "WARC-Refers-To")
                yield record.rec_type, *(said.get_header(key) or "" for key in named)


def asked(package: zipfile.ZipFile) -> list[tuple[str, str]]:
    """Kind and URL of what can be replayed: all that the index leads to, and nothing else."""
    answers = sorted(item[:2] for item in read(package) if item[0] in ("response", "revisit"))
    led = []
    for line in index_of(package):
        said = json.loads(line.split(" ", 2)[2])
        whole = package.read(f"archive/{said['filename']}")
        piece = whole[int(said["offset"]) : int(said["offset"]) + int(said["length"])]
        [record] = ArchiveIterator(BytesIO(piece))
        assert record.rec_headers.get_header("WARC-Target-URI") == said["url"]
        led.append((record.rec_type, said["url"]))
    assert sorted(led) == answers
    return answers


def broken(package: zipfile.ZipFile) -> list[str]:
    """Revisits whose origin is not there."""
    found = list(read(package))
    ids = {item[2] for item in found}
    return [item[1] for item in found if item[3] and item[3] not in ids]


def test_everything_is_packed_as_the_format_wants_it(home: Path) -> None:
    with packed(home) as package:
        described = json.loads(package.read("datapackage.json"))
        assert described["profile"] == "data-package"
        assert described["wacz_version"] == "1.1.1"
        assert described["created"] == "2026-01-10T12:00:00Z"
        listed = {item["path"]: item for item in described["resources"]}
        assert set(listed) == set(package.namelist()) - {"datapackage.json", "datapackage-digest.json"}
        for path, item in listed.items():
            data = package.read(path)
            assert (item["hash"], item["bytes"]) == (f"sha256:{hashlib.sha256(data).hexdigest()}", len(data))
        digest = json.loads(package.read("datapackage-digest.json"))
        whole = hashlib.sha256(package.read("datapackage.json")).hexdigest()
        assert digest == {"path": "datapackage.json", "hash": f"sha256:{whole}"}
        stored = [info for info in package.infolist() if info.filename.endswith(".gz")]
        assert {info.compress_type for info in stored} == {zipfile.ZIP_STORED}
        assert len(asked(package)) == 9
        assert broken(package) == []
        blocks = package.read("indexes/index.idx").decode().splitlines()
        assert json.loads(blocks[0].removeprefix("!meta 0 "))["format"] == "cdxj-gzip-1.0"
        place = json.loads(blocks[1].split(" ", 2)[2])
        assert place["length"] == listed["indexes/index.cdx.gz"]["bytes"]
        head, *pages = map(json.loads, package.read("pages/pages.jsonl").decode().splitlines())
        assert head["format"] == "json-pages-1.0"
        assert [(page["url"], page["ts"][:10]) for page in pages] == [
            (A, "2026-01-01"),
            (A, "2026-01-04"),
            (B, "2026-01-05"),
            (f"{C}-new", "2026-01-07"),
        ]


def test_the_same_archive_makes_the_same_file(home: Path) -> None:
    chosen: list[dict[str, Any]] = [{}, {"urls": (A,)}]
    for wanted in chosen:
        packed(home, **wanted).close()
        one = (home / "all.wacz").read_bytes()
        packed(home, **wanted).close()
        assert (home / "all.wacz").read_bytes() == one


def test_one_resource_is_taken_with_all_its_revisits_and_nothing_else(home: Path) -> None:
    with packed(home, urls=(A,)) as package:
        assert asked(package) == [("response", A), ("response", A), ("revisit", A), ("revisit", A)]
        assert {item[1] for item in read(package)} == {A, ""}
        kinds = [item[0] for item in read(package)]
        assert (kinds.count("request"), kinds.count("metadata"), kinds.count("warcinfo")) == (4, 1, 1)
        assert broken(package) == []


def test_a_payload_that_another_resource_brought_first_comes_along(home: Path) -> None:
    with packed(home, tag="two") as package:
        assert asked(package) == [("response", A), ("response", B), ("revisit", B)]
        assert broken(package) == []


def test_what_redirects_led_to_is_taken_by_the_url_that_was_asked_for(home: Path) -> None:
    with packed(home, urls=(C,)) as package:
        new = f"{C}-new"
        assert asked(package) == [("response", C), ("response", new), ("revisit", new)]


def test_whoever_asked_says_whose_an_answer_is(tmp_path: Path) -> None:
    """C is led to one place, then to another that holds the same; B is led to where A is."""
    with Past(tmp_path) as past:
        for days, target in enumerate((f"{C}-new", f"{C}-newer")):
            hop = Hop(url=C, status=302, location=target)
            past.visit(replace(seen(C, at(days), b"<p>moved"), url=target, hops=(hop,)))
        past.visit(seen(A, at(3), b"<p>a"))
        past.visit(replace(seen(B, at(4), b"<p>b"), url=A, hops=(Hop(url=B, status=302, location=A),)))
    with packed(tmp_path, urls=(C,)) as package:
        assert asked(package) == [("response", f"{C}-new"), ("revisit", f"{C}-newer")]
    with packed(tmp_path, urls=(A,)) as package:
        assert asked(package) == [("response", A)]
        assert "20260104120000" in index_of(package)[0]


def test_a_span_of_time_takes_what_came_in_it_and_what_that_repeats(home: Path) -> None:
    with packed(home, since="20260102000000", until="20260104000000") as package:
        assert asked(package) == [("response", A), ("revisit", A), ("revisit", A)]
        assert broken(package) == []
    with packed(home, urls=(A,), since="20260104000000") as package:
        assert asked(package) == [("response", A)]


def test_nothing_to_take_is_told_and_leaves_nothing(home: Path) -> None:
    before = sorted(home.iterdir())
    for wanted in ({"tag": "unknown"}, {"since": "20300101000000"}):
        with pytest.raises(BadInputError, match="Nothing is kept"):
            packed(home, **wanted)
    assert sorted(home.iterdir()) == before


def test_what_a_run_has_not_recorded_yet_is_left_out(home: Path) -> None:
    with Past(home, now=at(9)) as past:
        unrecorded = seen(B, at(9), b"<p>on its way")
        past.archive.put(unrecorded, version_of(unrecorded))
        past.archive.sync()  # on the disk, and the store has not heard of it
        with packed(home) as package:
            assert len(asked(package)) == 9
        with packed(home, urls=(B,)) as package:
            assert len(asked(package)) == 3
        folder = home.parent / "copy"
        with open_house(home, reading=True) as house:
            copied = write_warc(house.store, house.archive, Wanted(), folder)
        assert copied.n_records == 9
        assert len((folder / "index.cdxj").read_text().splitlines()) == 9
        assert b"on its way" not in b"".join(item[3] for item in records(folder))


def test_a_large_selection_comes_in_several_files(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recrawl.app.collection._MAX_FILE_BYTES", 1500)
    with packed(home, since="2026") as package:
        names = [name for name in package.namelist() if name.startswith("archive/")]
        assert len(names) > 2
        assert len(asked(package)) == 9
        assert broken(package) == []
        firsts = [next(iter(ArchiveIterator(BytesIO(package.read(name))))).rec_type for name in names]
        assert set(firsts) == {"warcinfo"}


def test_part_of_an_archive_as_warc_files(home: Path) -> None:
    folder = home.parent / "copy"
    with open_house(home, reading=True) as house:
        copied = write_warc(house.store, house.archive, Wanted(urls=(A,)), folder)
    assert (copied.n_files, copied.n_records) == (1, 4)
    assert copied.n_bytes == (folder / "selection-00001.warc.gz").stat().st_size
    assert len([item for item in records(folder) if item[0]["WARC-Type"] == "request"]) == 4
