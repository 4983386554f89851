"""Indexes of web archives, in all the ways they are written."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import ClassVar
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.intakes import events, resources, rows, run, run_cut

from recrawl.corpora.importers.archives import cdx
from recrawl.corpora.importers.archives.cdx import Cdx
from recrawl.corpora.sources import batch
from recrawl.errors import BadInputError

PAGE = "http://example.org/"
T1, T2, T3 = "20200101000000", "20200102000000", "20200103000000"
AT = [1_577_836_800 + day * 86_400 for day in range(3)]
SERVED = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]


def capture(
    stamp: str, digest: str, *, status: str = "200", mime: str = "text/html", path: str = ""
) -> list[str]:
    return [f"org,example)/{path}", stamp, f"https://www.example.org/{path}", mime, status, digest, "100"]


ROWS = [capture(T1, "AAA"), capture(T2, "AAA", status="-", mime="warc/revisit"), capture(T3, "BBB")]


def index(tmp_path: Path, content: str | bytes, name: str = "i.cdx") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def text(*captures: list[str]) -> str:
    return "".join(" ".join(row) + "\n" for row in captures)


def as_cdxj(row: list[str]) -> str:
    facts = {"url": row[2], "mime": row[3], "status": row[4], "digest": f"sha1:{row[5]}"}
    return f"{row[0]} {row[1]} {json.dumps(facts)}\n"


def as_object(row: list[str]) -> str:
    return json.dumps(dict(zip(SERVED, row, strict=True))) + "\n"


@pytest.mark.parametrize(
    "content",
    [
        " CDX N b a m s k r M S V g\n" + text(*([*row[:6], "-", "-", "9", "0", "f.warc.gz"] for row in ROWS)),
        text(*([*row[:6], "-", "-", "9", "0", "f.warc.gz"] for row in ROWS)),
        "\tCDX\tb\ta\tk\ts\tm\r\n"
        + "".join("\t".join([r[1], r[2], r[5], r[4], r[3]]) + "\r\n" for r in ROWS),
        text(*([*row[:6], "-", "0", "f.warc.gz"] for row in ROWS)),
        text(*ROWS),
        "!meta 0 {}\n" + "".join(map(as_cdxj, ROWS)),
        "".join(map(as_object, ROWS)),
        "[" + ",\n".join(map(json.dumps, [SERVED, *ROWS])) + "]\n",
        json.dumps([SERVED, *ROWS], indent=1),
        gzip.compress(json.dumps([SERVED, *ROWS]).encode()),
    ],
    ids=["legend", "11", "tabs", "9", "7", "cdxj", "objects", "json", "json-indented", "json-gz"],
)
def test_an_index_is_understood_however_it_is_written(tmp_path: Path, content: str | bytes) -> None:
    done = run(Cdx(), index(tmp_path, content), tmp_path / "out", strict=True)
    seen = [
        (row["name"], row["at"], row["digest"], row["changed"]) for row in rows(tmp_path / "out", "visits")
    ]
    assert seen == [(PAGE, AT[0], "AAA", True), (PAGE, AT[1], "AAA", False), (PAGE, AT[2], "BBB", True)]
    assert events(tmp_path / "out") == {PAGE: [(AT[0], "AAA"), (AT[2], "BBB")]}
    assert resources(tmp_path / "out")[0]["original"] == "https://www.example.org/"
    assert done.about["observation"] == "visits"


def test_only_wanted_answers_count_and_a_revisit_is_what_it_saw_again(tmp_path: Path) -> None:
    path = index(
        tmp_path,
        text(
            capture(T1, "GOOD"),
            capture("20200101000001", "MOVED", status="301"),
            capture("20200101000002", "MOVED", status="-", mime="warc/revisit"),
            capture("20200101000003", "PDF", mime="application/pdf"),
            capture("20200101000004", "ELSEWHERE", status="-", mime="warc/revisit"),
            capture("20200101000005", "-"),
        ),
    )
    done = run(Cdx(media_types="text/html"), path, tmp_path / "out", strict=True)
    assert [digest for _, digest in events(tmp_path / "out")[PAGE]] == ["GOOD", "ELSEWHERE"]
    assert done.left_out == {
        "captures with another status": 1,
        "revisits of captures that are not wanted": 1,
        "captures of another media type": 1,
        "captures without a digest": 1,
    }
    run(Cdx(all=True), path, tmp_path / "all")
    assert len(events(tmp_path / "all", "visits")[PAGE]) == 5
    run(Cdx(status="301,404"), path, tmp_path / "moved")
    assert [digest for _, digest in events(tmp_path / "moved", "visits")[PAGE]] == [
        "MOVED",
        "MOVED",
        "ELSEWHERE",
    ]


def test_captures_are_told_apart_by_their_own_urls_where_asked_for(tmp_path: Path) -> None:
    rows_ = [capture(T1, "A"), ["org,example)/", T2, "http://example.org/", "text/html", "200", "B", "9"]]
    path = index(tmp_path, text(*rows_))
    run(Cdx(by="original", since=AT[0], until=AT[2]), path, tmp_path / "out")
    assert sorted(events(tmp_path / "out")) == ["http://example.org/", "https://www.example.org/"]
    with pytest.raises(BadInputError, match="--by"):
        Cdx(by="colour")


@pytest.mark.parametrize(
    ("stamp", "at"),
    [
        ("2020", AT[0]), ("202001", AT[0]), ("20200102", AT[1]), ("2020010212", AT[1] + 43_200),
        ("20200102000059123", AT[1] + 59), ("202", None), ("2020010", None), ("20201301", None),
        ("20200101250000", None), ("1969", None), ("２０２０", None), ("-", None),
    ],
)  # fmt: skip
def test_times_of_any_length_are_read_or_said_to_be_none(tmp_path: Path, stamp: str, at: int | None) -> None:
    done = run(Cdx(), index(tmp_path, text(capture(stamp, "A"), capture(T3, "B"))), tmp_path / "out")
    assert [found for found, _ in events(tmp_path / "out")[PAGE]] == [*([] if at is None else [at]), AT[2]]
    assert sum(done.skipped.values()) == (at is None)


def test_bad_lines_are_counted_with_their_places(tmp_path: Path) -> None:
    content = (
        text(ROWS[0]).encode()
        + b"org,example)/ 20200101\n\0\0\0\norg,example)/ 2020 {broken\n\xff\xfe\n"
        + b'{"urlkey": ["x"], "timestamp": 7}\n[1]\n'
        + b"a" * (3 << 20)
        + b"\r\n"
        + as_cdxj(["org,example)/", T2, "x", "text/html", "200", "\ud800", ""]).encode()
        + as_object(["org,\ud800)/", T2, "http://\ud800/", "text/html", "200", "A", ""]).encode()
        + text(ROWS[2]).encode()
    )
    path = index(tmp_path, content)
    done = run(Cdx(), path, tmp_path / "out")
    assert events(tmp_path / "out") == {PAGE: [(AT[0], "AAA"), (AT[2], "BBB")]}
    assert done.skipped == {
        "the line cannot be read": 4,
        "not UTF-8": 1,
        "the time cannot be read": 1,
        "the line is longer than 1 MiB": 1,
        "the digest cannot be read": 1,
        "the URL holds control characters": 1,
    }
    assert done.examples["the line is longer than 1 MiB"] == ["i.cdx:8"]
    with pytest.raises(BadInputError, match=r"i\.cdx:2: the line cannot be read"):
        run(Cdx(), path, tmp_path / "strict", strict=True)


def test_a_json_array_with_a_bad_row_or_no_end_gives_the_rest(tmp_path: Path) -> None:
    lines = [json.dumps(SERVED), json.dumps(ROWS[0]), '["broken', json.dumps([1, 2]), json.dumps(ROWS[2])]
    done = run(Cdx(), index(tmp_path, "[" + ",\n".join(lines)), tmp_path / "out")
    assert len(events(tmp_path / "out")[PAGE]) == 2
    assert done.examples == {
        "the line cannot be read": ["i.cdx:3", "i.cdx:4"],
        "the file stops in the middle": ["i.cdx:5"],
    }


def test_a_long_json_array_on_one_line_is_read_in_pieces(tmp_path: Path) -> None:
    many = [
        capture(f"2020{m:02d}{d:02d}{h:02d}", f"Ü{m}{d}{h}", path="x" * 50)
        for m in range(1, 13)
        for d in range(1, 29)
        for h in range(24)
    ]
    plain = [[*row[:5], row[5].replace("Ü", "U"), row[6]] for row in many]
    run(Cdx(), index(tmp_path, json.dumps([SERVED, *plain])), tmp_path / "out", strict=True)
    assert len(next(iter(events(tmp_path / "out").values()))) == len(many)


def test_a_cut_off_import_of_indexes_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch, "N_TOGETHER", 3)
    folder = tmp_path / "in"
    folder.mkdir()
    captures = [capture(f"202001{day:02d}", f"D{day}") for day in range(1, 11)]
    index(folder, "bad\n" + text(*captures), "a.cdx")
    others = [capture(f"202001{day:02d}", f"D{day}", path="b") for day in range(1, 11)]
    index(folder, json.dumps([SERVED, *others]), "b.json")
    done = run_cut(Cdx, folder, tmp_path / "out", n_reached=6)
    expected = [(AT[0] + day * 86_400, f"D{day + 1}") for day in range(10)]
    assert events(tmp_path / "out") == {PAGE: expected, f"{PAGE}b": expected}
    assert len(rows(tmp_path / "out", "visits")) == 20
    assert done.skipped == {"the line cannot be read": 1}


class _Server(BaseHTTPRequestHandler):
    """A CDX server that gives some captures at a time, with a key to go on."""

    captures: ClassVar = [capture(f"202001{day:02d}", f"D{day}") for day in range(1, 11)]
    asked: ClassVar[list[dict[str, list[str]]]]

    def do_GET(self) -> None:
        asked = parse_qs(urlsplit(self.path).query)
        type(self).asked.append(asked)
        begin = int(asked.get("resumeKey", ["org,example)/ 0"])[0].split()[1])
        end = begin + min(4, int(asked["limit"][0]))
        some: list[list[str]] = [SERVED, *self.captures[begin:end]]
        if end < len(self.captures) and "showResumeKey" in asked:
            some += [[], [f"org%2Cexample%29%2F+{end}"]]
        is_json = asked["output"] == ["json"]
        body = json.dumps(some) if is_json else text(*some[1:])
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
        pass


@pytest.fixture
def server() -> Iterator[str]:
    _Server.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), _Server) as serving:
        thread = Thread(target=serving.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{serving.server_port}/cdx/search/cdx?url=example.org"
        finally:
            serving.shutdown()
            thread.join()


@pytest.mark.parametrize("output", ["json", "text"])
def test_a_server_is_asked_until_it_has_no_more(tmp_path: Path, server: str, output: str) -> None:
    done = run(Cdx(), f"{server}&output={output}", tmp_path / "out", strict=True)
    assert len(events(tmp_path / "out")[PAGE]) == 10
    assert [asked.get("resumeKey") for asked in _Server.asked] == [
        None,
        ["org,example)/ 4"],
        ["org,example)/ 8"],
    ]
    assert done.notes == ()


def test_a_servers_answers_are_not_asked_for_again_after_a_cut(tmp_path: Path, server: str) -> None:
    run_cut(Cdx, server, tmp_path / "out", n_reached=1)
    assert len(events(tmp_path / "out")[PAGE]) == 10
    assert len(_Server.asked) == 3


def test_a_users_own_limit_holds_and_a_server_without_keys_is_not_trusted_to_be_done(
    tmp_path: Path, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(Cdx(), f"{server}&limit=2", tmp_path / "two")
    assert len(events(tmp_path / "two")[PAGE]) == 2
    monkeypatch.setattr(cdx, "N_ASKED", 3)
    monkeypatch.setattr(_Server, "captures", _Server.captures[:3])
    done = run(Cdx(), server, tmp_path / "out")
    assert "there may be more" in done.notes[0]
