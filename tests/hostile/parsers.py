"""H14 and H19-H23: what a server can do to the reading of what it sent."""

from __future__ import annotations

import gzip
import io
import zipfile
from typing import Any

from openpyxl import Workbook
from tests.hostile.case import PAGE, Case
from tests.hostile.origin import Reply

from recrawl.checks.fetcher import said
from recrawl.model import Changed, Kind, Outcome

OK = Outcome.OK
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"


def page(body: bytes, media_type: str = "text/html", **fields: str) -> bytes:
    return said("200 OK", body, Content_Type=media_type, **fields)


def packed(body: bytes) -> bytes:
    return page(gzip.compress(body, 1), Content_Encoding="gzip")


def case(row: str, name: str, reply: Reply, changed: Changed = Changed.YES, **more: Any) -> Case:
    figures: dict[str, Any] = {"replies": {"/": reply}, "outcome": OK, "changed": changed, **more}
    return Case(row=row, name=name, **figures)


def zip_bomb(n_entries: int, n_bytes: int, name: str = "xl/worksheets/sheet{}.xml") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as pack:
        for i in range(n_entries):
            pack.writestr(name.format(i), bytes(n_bytes))
    return stream.getvalue()


def workbook(cell: str, **sheets: bytes) -> bytes:
    """A spreadsheet of one cell; `sheets` take the place of what it holds (`sheet1` …)."""
    book, plain, stream = Workbook(), io.BytesIO(), io.BytesIO()
    assert book.active is not None
    book.active.append([cell])
    book.save(plain)
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.infolist():
            name = entry.filename.rpartition("/")[2].removesuffix(".xml")
            new.writestr(entry.filename, sheets.get(name, old.read(entry)))
    return stream.getvalue()


SHEET = b'<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>%s</sheetData></worksheet>'


UNREADABLE: dict[str, Any] = {"outcome": Outcome.UNREADABLE, "changed": Changed.UNKNOWN}
ZIPS = [
    case("H14", name, page(body, XLSX), media_type=XLSX, before=workbook("a"), **UNREADABLE)
    for name, body in [
        ("16 MiB in a sheet", zip_bomb(1, 16 << 20)),
        ("10,001 entries", zip_bomb(10_001, 0, "{}")),
        ("more than a GiB, as it says", zip_bomb(1, 9).replace(b"\x09\0\0\0\x14", b"\xff\xff\xff\x7f\x14")),
        ("half of one", workbook("b")[:-2_000]),
        (
            "half a million rows in 36 KB",
            workbook("b", sheet1=SHEET % (b"<row><c><v>1</v></c></row>" * 500_000)),
        ),
    ]
] + [
    case("H14", name, page(body, "application/zip"), media_type="application/zip", today="never opened")
    for name, body in [
        ("names that climb out", zip_bomb(3, 9, "../../../tmp/hostile{}")),
        ("a bomb in a bomb", zip_bomb(1, 1 << 20, "outer{}.zip")),
    ]
]

WORDS = "<html><title>T</title><p>Änderung über Nacht: 今日は雨</html>"
LATIN = "<html><title>T</title><p>Änderung über Nacht</html>"
CHARSETS = [
    *(
        case("H19", name, page(sent, f"text/html; charset={charset}"), Changed.NO, before=held.encode())
        for name, charset, sent, held in [
            ("an unknown name", "x-nonsense", WORDS.encode(), WORDS),
            ("a codec that unpacks", "zlib_codec", WORDS.encode(), WORDS),
            ("a codec that is slow", "punycode", WORDS.encode(), WORDS),
            ("a BOM against the header", "iso-8859-1", b"\xef\xbb\xbf" + WORDS.encode(), WORDS),
            ("UTF-16 against the header", "utf-8", b"\xff\xfe" + WORDS.encode("utf-16-le"), WORDS),
            ("a header against the meta", "utf-8", b"<meta charset=latin1>" + WORDS.encode(), WORDS),
            ("Latin-1 that is windows-1252", "iso-8859-1", LATIN.encode("cp1252"), LATIN),
        ]
    ),
    case("H19", "bytes that are no UTF-8", page(b"<p>Rain \xff\xfe\xc3( today.", "text/html; charset=utf-8")),
    case("H19", "a charset with control characters", page(PAGE, 'text/html; charset="\x01\x02"'), Changed.NO),
]

TREES = [
    case("H20", "100,000 deep", packed(b"<div>" * 100_000 + b"deep"), **UNREADABLE),
    case(
        "H20",
        "100,000 attributes",
        packed(b"<p " + b" ".join(b"a%d=1" % i for i in range(100_000)) + b">wide"),
        **UNREADABLE,
    ),
    case("H20", "misnested b and i", packed(b"<b><i><p>x" * 20_000 + b"</b></i>" * 20_000)),
    case(
        "H20",
        "fonts made anew in every block",
        packed(b"".join(b"<font size=%d><p>x" % i for i in range(6_000))),
        **UNREADABLE,
    ),
    case("H20", "500,000 entities", packed(b"<p>" + b"&amp;" * 500_000)),
    case("H20", "a table in a table", packed(b"<table><tr><td>" * 30_000 + b"x")),
    case(
        "H20",
        "the same hostile bytes again",
        packed(b"<div>" * 100_000),
        Changed.NO,
        before=b"<div>" * 100_000,
    ),
]

BOMB = b"<!DOCTYPE x [<!ENTITY a '%s'>%s]>" % (
    b"ha" * 50,
    b"".join(b"<!ENTITY %c '%s'>" % (98 + i, b"&%c;" % (97 + i) * 50) for i in range(9)),
)
KINDS_OF_XML = {
    "RSS": ("application/rss+xml", b"<rss><channel><item><title>%s</title></item></channel></rss>"),
    "Atom": ("application/atom+xml", b"<feed><entry><id>1</id><title>%s</title></entry></feed>"),
    "a sitemap": ("application/xml", b"<urlset><url><loc>%s</loc></url></urlset>"),
    "RDF/XML": (
        "application/rdf+xml",
        b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x/">'
        b'<rdf:Description rdf:about="http://a/"><x:b>%s</x:b></rdf:Description></rdf:RDF>',
    ),
    "SVG": ("image/svg+xml", b'<svg xmlns="http://www.w3.org/2000/svg"><text>%s</text></svg>'),
    "GPX": ("application/gpx+xml", b"<gpx><name>%s</name></gpx>"),
}
XML = [
    case(
        "H21",
        f"a bomb in {name}",
        page(BOMB + document % b"&j;", media_type),
        media_type=media_type,
        before=document % b"http://a/",
        kind=Kind.SITEMAP if name == "a sitemap" else Kind.AUTO,
        **({"today": "no detector reads it: bytes are compared"} if name in ("SVG", "GPX") else UNREADABLE),
    )
    for name, (media_type, document) in KINDS_OF_XML.items()
] + [case("H21", "a bomb in XHTML", page(BOMB + b"<html>&j;</html>", "application/xhtml+xml"))]

BAIT = "the baits for single patterns are in test_baits.py"
BAITS = [
    case("H22", "titles", packed(b"<title>" * 20_000), today=BAIT),
    case("H22", "metas", page(b"<meta " * 150 + b"<p>x"), today=BAIT),
    case("H22", "a long Content-Type", page(PAGE, "text/html" + "; charset" * 800), Changed.NO, today=BAIT),
    case("H22", "addresses", page(b"<p>" + b"a." * 2_000 + b"@"), today=BAIT),
    case(
        "H23",
        "many similar lines",
        packed(b"<br>".join(b"%d the same words over and over %d" % (i, i + 1) for i in range(8_000))),
        before=b"<br>".join(b"%d the same words over and over" % i for i in range(8_000)),
        today="that it changed is told at once; showing how is bounded, in test_baits.py",
    ),
]


PARSERS = [*ZIPS, *CHARSETS, *TREES, *XML, *BAITS]
