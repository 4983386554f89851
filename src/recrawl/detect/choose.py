"""Which detector judges what.

What a server calls a thing is believed where it is precise (`text/csv`). Where it is vague (`text/plain`,
`application/octet-stream`, XML of any kind) the beginning of the body tells, and after it the ending of the
address. The same answer to the same address is always judged the same way.
"""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from recrawl.detect.text import HTML
from recrawl.model import Kind

START_BYTES = 16 * 1024  # of the body: prologs and comments can be long

_BY_KIND = {
    Kind.PAGE: "text",
    Kind.JSON: "json",
    Kind.CSV: "table",
    Kind.RDF: "rdf",
    Kind.SPARQL: "results",
    Kind.FEED: "feed",
    Kind.SITEMAP: "feed",
    Kind.THREAD: "thread",
    Kind.BOARD: "board",
    Kind.FILE: "exact",
}
_BY_MEDIA_TYPE = {
    **dict.fromkeys(HTML, "text"),
    "text/plain": "text",
    "text/markdown": "text",
    "application/json": "json",
    "text/json": "json",
    "text/x-json": "json",
    "text/csv": "table",
    "text/x-csv": "table",
    "application/csv": "table",
    "application/x-csv": "table",
    "text/comma-separated-values": "table",
    "text/tab-separated-values": "table",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "table",
    "application/rss+xml": "feed",
    "application/atom+xml": "feed",
    "application/feed+json": "feed",
    "application/sparql-results+json": "results",
    "application/sparql-results+xml": "results",
    "application/ld+json": "rdf",
    "application/rdf+xml": "rdf",
    "application/owl+xml": "rdf",
    "application/n-quads": "rdf",
    "application/n-triples": "rdf",
    "application/trig": "rdf",
    "application/x-trig": "rdf",
    "text/turtle": "rdf",
    "application/x-turtle": "rdf",
    "text/n3": "rdf",
    "text/rdf+n3": "rdf",
}
_XML = frozenset({"application/xml", "text/xml"})
_UNNAMED = frozenset(
    {
        "",
        "application/octet-stream",
        "binary/octet-stream",
        "application/x-download",
        "application/force-download",
        "application/download",
    }
)
_SHEETS = frozenset({"application/vnd.ms-excel", "application/zip", "application/x-zip-compressed"})
_BY_ENDING = {
    "csv": "table", "tsv": "table", "tab": "table",
    "json": "json", "geojson": "json",
    "ttl": "rdf", "nt": "rdf", "nq": "rdf", "trig": "rdf", "n3": "rdf", "rdf": "rdf", "owl": "rdf",
    "jsonld": "rdf",
    "rss": "feed", "atom": "feed",
    "srj": "results", "srx": "results",
}  # fmt: skip
_FEED_ROOTS = frozenset({"rss", "feed", "urlset", "sitemapindex"})
_BEFORE_ROOT = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:<\?.{0,8192}?\?>\s*|<!--.{0,16384}?-->\s*|<!DOCTYPE[^>\[]{0,1024}>\s*){0,50}",
    re.DOTALL,
)
_ROOT = re.compile(rb"<(?:[\w.-]{1,40}:)?([\w.-]{1,40})([^>]{0,8192})", re.DOTALL)
_DOCTYPE = re.compile(rb"<!doctype\s+html\b", re.IGNORECASE)
_PAGE_ROOTS = frozenset({"html", "head", "body"})
_RSS_1 = b"http://purl.org/rss/1.0/"
# An object whose first member has a name, or an array of values: no prose and no INI file begins so.
_JSON = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*(?:\{\s*(?:\"(?:[^\"\\]|\\.){0,200}\"\s*:|\}\s*\Z)"
    rb"|\[\s*(?:[\[{\"]|\]\s*\Z|(?:-?\d[\d.eE+-]{0,40}|true|false|null)\s*[,\]]\s*(?:[-\d\[{\"tfn]|\Z)))",
    re.DOTALL,
)


def detector_name(kind: Kind, media_type: str, start: bytes = b"", *, url: str = "") -> str:
    """The name of the detector for a resource of this kind that came back as this media type.

    `start` is the beginning of the body, `START_BYTES` of it, and `url` the resource's own address (not where
    redirects led, which may be another place every day).

    >>> detector_name(Kind.AUTO, "text/html"), detector_name(Kind.AUTO, "text/csv")
    ('text', 'table')
    >>> detector_name(Kind.AUTO, "text/xml", b"<?xml version='1.0'?><urlset>")
    'feed'
    >>> detector_name(Kind.AUTO, "text/plain", b"id,price", url="http://example.org/prices.csv?v=2")
    'table'
    """
    if kind is not Kind.AUTO:
        return _BY_KIND[kind]
    if media_type in _XML:
        return _by_root(start) or _by_ending(url, among=("rdf", "feed", "results")) or "exact"
    if media_type in HTML:  # feeds and JSON are often called so; what else is, is a page
        return _by_root(start) or ("json" if _JSON.match(start) else "text")
    if media_type == "text/plain" or media_type in _UNNAMED:
        # What is called a stream of bytes is no page for browsers either; what is called nothing may be.
        vague = "text" if not media_type and _is_page(start) else _BY_MEDIA_TYPE.get(media_type, "exact")
        return _by_start(start, url) or _by_ending(url, start) or vague
    if media_type in _SHEETS:
        packed = start.startswith(b"PK\x03\x04")
        sheet = packed and (media_type == "application/vnd.ms-excel" or _ending(url) == "xlsx")
        return "table" if sheet or (not packed and _by_ending(url, start) == "table") else "exact"
    if media_type.endswith("+json"):
        return _BY_MEDIA_TYPE.get(media_type, "json")
    return _BY_MEDIA_TYPE.get(media_type, "exact")


def _by_start(start: bytes, url: str) -> str:
    if start.startswith(b"PK\x03\x04"):
        return "table" if _ending(url) == "xlsx" else "exact"
    if _JSON.match(start):
        return "rdf" if _ending(url) == "jsonld" else "json"
    return _by_root(start)


def _root(start: bytes) -> re.Match[bytes] | None:
    """The root element; nothing may be asked of what follows comments, else they are tried for ever."""
    before = _BEFORE_ROOT.match(start)
    return _ROOT.match(start, before.end() if before else 0)


def _is_page(start: bytes) -> bool:
    root = _root(start)
    named = root is not None and root[1].decode("ascii", "replace").lower() in _PAGE_ROOTS
    return named or _DOCTYPE.search(start[:1024]) is not None


def _by_root(start: bytes) -> str:
    """By the root element of XML; nothing where that says nothing, or lies beyond the beginning."""
    root = _root(start)
    if root is None:
        return ""
    name = root[1].decode("ascii", "replace")
    if name == "RDF":
        return "feed" if _RSS_1 in root[2] else "rdf"
    if name == "sparql":
        return "results"
    return "feed" if name in _FEED_ROOTS else ""


def _by_ending(url: str, start: bytes = b"", *, among: tuple[str, ...] = ()) -> str:
    """By the ending of the address, unless the content is plainly something else: bytes, or a page."""
    found = _BY_ENDING.get(_ending(url), "")
    if b"\0" in start or (found == "table" and start.lstrip()[:1] == b"<"):
        return ""
    return found if not among or found in among else ""


def _ending(url: str) -> str:
    return urlsplit(url).path.rpartition("/")[2].lower().rpartition(".")[2] if url else ""
