"""XML that reaches out or blows up: no byte of a file, no connection, no flood, through any reader."""

from __future__ import annotations

import asyncio
import codecs
import socketserver
import threading
import time
import xml.sax
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from xml.sax.handler import ContentHandler, feature_external_ges

import pytest
from tests.hostile.parsers import KINDS_OF_XML, SHEET, workbook

from recrawl.app.sources import Reader
from recrawl.contracts import Detector
from recrawl.model import Fetch, Outcome, Request, Snapshot
from recrawl.parse import feed, html, pool, rdf, sheets
from recrawl.registry import names, part

SECRET = "sesame-42"
FLOOD = "hahaha" * 10


class Canary(socketserver.ThreadingTCPServer):
    daemon_threads = True
    n_connected = 0


class _Answer(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        assert isinstance(self.server, Canary)
        self.server.n_connected += 1
        self.wfile.write(b"HTTP/1.0 200 OK\r\n\r\n<!ENTITY y 'from outside'>")


@pytest.fixture(scope="module")
def canary() -> Iterator[Canary]:
    with Canary(("127.0.0.1", 0), _Answer) as server:
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield server
        server.shutdown()


def hostile_files(document: bytes, secret: Path, port: int) -> dict[str, bytes]:
    """`document` with a place for a value, made hostile in eight ways."""
    web = b"http://127.0.0.1:%d/x" % port
    file = secret.as_uri().encode()
    laughs = b"".join(b"<!ENTITY %c '%s'>" % (98 + i, b"&%c;" % (97 + i) * 10) for i in range(8))
    quadratic = b"<!ENTITY a '%s'>" % (b"hahaha" * 5_000)
    outside = b"<!DOCTYPE x [<!ENTITY y SYSTEM '%s'>]>" % file + document % b"&y;"
    return {
        "an entity from a file": outside,
        "an entity from the web": b"<!DOCTYPE x [<!ENTITY y SYSTEM '%s'>]>" % web + document % b"&y;",
        "a parameter entity": b"<!DOCTYPE x [<!ENTITY %% z SYSTEM '%s'>%%z;]>" % web + document % b"1",
        "a document type elsewhere": b"<!DOCTYPE x SYSTEM '%s'>" % web + document % b"1",
        "a billion laughs": b"<!DOCTYPE x [<!ENTITY a 'hahaha'>%s]>" % laughs + document % b"&h;",
        "one entity very often": b"<!DOCTYPE x [%s]>" % quadratic
        + document % (b"&a;" * 200),  # less than expat itself stops
        "in UTF-16, after a comment": codecs.BOM_UTF16_LE
        + (b"<!--%s-->" % (b" " * 9_000) + outside).decode().encode("utf-16-le"),
        "an inclusion": document
        % (b'<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" parse="text" href="%s"/>' % file),
    }


# -- the readers of this house -----------------------------------------------------------------------------


class Shelf:
    """A fetcher that has only this."""

    def __init__(self, body: bytes) -> None:
        self._body = body

    async def fetch(self, request: Request) -> Fetch:
        return Fetch(
            request=request,
            outcome=Outcome.OK,
            url=request.url,
            started_at=0.0,
            ended_at=0.0,
            body=self._body,
        )


def _as_sitemap(body: bytes) -> str:
    async def read() -> list[object]:
        return [item async for item in Reader(Shelf(body)).sitemap("http://a.example/")]

    return str(asyncio.run(read()))


def _as_opml(body: bytes) -> str:
    async def read() -> list[object]:
        return [item async for item in Reader(Shelf(body)).opml("http://a.example/")]

    return str(asyncio.run(read()))


def _as_rows(body: bytes) -> str:
    return str([(name, list(lines)) for name, lines in sheets.rows(body)])


READERS: dict[str, Callable[[bytes], object]] = {
    "sitemaps to add": _as_sitemap,
    "OPML": _as_opml,
    "feeds": feed.entries,
    "RDF": lambda body: rdf.quads(body, "application/rdf+xml", "http://a.example/"),
    "spreadsheets": _as_rows,
    "pages": lambda body: html.visible(body, None),
}
SHEETS = {"XLSX": SHEET % b'<row r="1"><c r="A1" t="str"><v>%s</v></c></row>'}
DOCUMENTS = {name: document for name, (_, document) in KINDS_OF_XML.items()} | SHEETS


def read(reader: Callable[[bytes], object], body: bytes) -> str:
    try:
        return str(reader(body))
    except Exception as problem:  # a refusal: what it says is read by people
        return str(problem)


def harm(reader: Callable[[bytes], object], canary: Canary, secret: Path) -> dict[str, str]:
    """What each hostile file brought about."""
    found: dict[str, str] = {}
    for kind, document in DOCUMENTS.items():
        for trick, body in hostile_files(document, secret, canary.server_address[1]).items():
            canary.n_connected = 0
            began = time.process_time()
            packed = workbook("a", sheet1=body) if kind == "XLSX" else body
            said = read(reader, packed)
            told = [
                *(["a file was read"] if SECRET in said else []),
                *(["a connection was made"] if canary.n_connected else []),
                *(["it was blown up"] if FLOOD in said else []),
                *(["it took long"] if time.process_time() - began > 3.0 else []),
            ]
            if told:
                found[f"{kind}: {trick}"] = ", ".join(told)
    return found


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret.txt"
    path.write_text(SECRET)
    return path


@pytest.mark.parametrize("name", READERS)
def test_no_reader_reaches_out_or_is_blown_up(name: str, canary: Canary, secret: Path) -> None:
    # A parser of pages knows no entities but its own and shows the source of what it does not know.
    harmed = {
        what: told
        for what, told in harm(READERS[name], canary, secret).items()
        if not (name == "pages" and told == "it was blown up" and "very often" in what)
    }
    assert harmed == {}


@pytest.mark.parametrize("name", names("detectors"))
def test_no_detector_reaches_out(name: str, canary: Canary, secret: Path) -> None:
    detector: Detector = part("detectors", name)()
    media_types = {kind: media_type for kind, (media_type, _) in KINDS_OF_XML.items()}

    def judged(body: bytes) -> str:
        kind = next((kind for kind, text in DOCUMENTS.items() if text[:9] in body), "XLSX")
        snapshot = Snapshot(body=body, media_type=media_types.get(kind, ""), charset=None, url="http://a/")
        plain = Snapshot(body=DOCUMENTS[kind] % b"1", media_type=snapshot.media_type, charset=None, url="")
        return f"{detector.fingerprint(snapshot)} {detector.compare(plain, snapshot)}"

    with pool.Pool(limit_s=2.0) as short, pytest.MonkeyPatch.context() as patch:
        patch.setattr(pool, "_shared", short)
        harmed = harm(judged, canary, secret)
    assert {what: told for what, told in harmed.items() if told != "it was blown up"} == {}


class _Text(ContentHandler):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []

    def characters(self, content: str) -> None:
        self.parts.append(content)


def test_a_reader_with_entities_on_is_found_out(canary: Canary, secret: Path) -> None:
    def with_entities(body: bytes) -> str:
        text = _Text()
        parser = xml.sax.make_parser()  # noqa: S317  # that it is vulnerable is the point
        parser.setFeature(feature_external_ges, True)
        parser.setContentHandler(text)
        parser.parse(BytesIO(body))
        return "".join(text.parts)

    told = ", ".join(harm(with_entities, canary, secret).values())
    assert "a file was read" in told
    assert "a connection was made" in told
    assert "it was blown up" in told
