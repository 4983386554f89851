"""Which detector judges what, where servers are vague."""

from __future__ import annotations

import time

import pytest

from recrawl.detect.choose import START_BYTES, detector_name
from recrawl.model import Kind

PROLOG = b"<?xml version='1.0'?>\n"
LONG = PROLOG + b"<!-- " + b"Made by hand. " * 400 + b" -->\n<?xml-stylesheet href='a.xsl'?>\n"
TURTLE = b"@prefix e: <http://example.org/> . e:a e:b e:c ."
RDF_XML = b"<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
RSS_1 = b"<rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#' xmlns='http://purl.org/rss/1.0/'>"


@pytest.mark.parametrize(
    ("media_type", "start", "path", "name"),
    [
        ("text/xml", LONG + b"<urlset xmlns='x'>", "/a", "feed"),
        ("application/xml", LONG + b"<rss version='2.0'>", "/a", "feed"),
        ("application/xml", b"\xef\xbb\xbf" + PROLOG + RDF_XML, "/a", "rdf"),
        ("application/xml", RSS_1, "/a", "feed"),
        ("text/xml", PROLOG + b"<sparql xmlns='x'>", "/a", "results"),
        ("text/xml", PROLOG + b"<!-- <rss> --><gpx>", "/a", "exact"),
        ("text/xml", b"<!--" + b" " * START_BYTES, "/terms.rdf", "rdf"),
        ("text/html", PROLOG + b"<feed xmlns='x'>", "/a", "feed"),
        ("text/html", b"<!DOCTYPE html><html><body><feed>", "/a.csv", "text"),
        ("text/html", b'\n{"a": 1}', "/a", "json"),
        ("text/html", b"{{ template }}<p>", "/a", "text"),
        ("text/plain", b'{"a": 1}', "/a", "json"),
        ("text/plain", b'[{"a": 1}]', "/a", "json"),
        ("text/plain", b"[1, 2]", "/a", "json"),
        ("text/plain", b"[section]\na = 1", "/a.ini", "text"),
        ("text/plain", b"[1] A footnote", "/a", "text"),
        ("text/plain", b"{not json}", "/a", "text"),
        ("text/plain", b"id,price\n1,2\n", "/prices.CSV?v=2", "table"),
        ("text/plain", b"id,price\n1,2\n", "/prices", "text"),
        ("text/plain", TURTLE, "/terms.ttl", "rdf"),
        ("text/plain", b"<http://e/a> <http://e/b> <http://e/c> .", "/terms.nt", "rdf"),
        ("text/plain", b"<html>", "/prices.csv", "text"),
        ("application/octet-stream", b"id\tprice\n", "/prices.tsv", "table"),
        ("application/octet-stream", b"\x1f\x8b\0\0", "/prices.csv", "exact"),
        ("application/octet-stream", b"PK\x03\x04", "/prices.xlsx", "table"),
        ("application/octet-stream", b"PK\x03\x04", "/prices.zip", "exact"),
        ("application/octet-stream", b'{"@context": {}}', "/a.jsonld", "rdf"),
        ("application/octet-stream", b"\x7fELF", "/a", "exact"),
        ("application/vnd.ms-excel", b"PK\x03\x04", "/a", "table"),
        ("application/vnd.ms-excel", b"\xd0\xcf\x11\xe0", "/a.xls", "exact"),
        ("application/vnd.ms-excel", b"a;b\n1;2\n", "/a.csv", "table"),
        ("application/zip", b"PK\x03\x04", "/a.zip", "exact"),
        ("", b"<rss version='2.0'>", "", "feed"),
        ("application/sparql-results+xml", b"", "", "results"),
        ("application/pdf", b'{"a": 1}', "/a.json", "exact"),
    ],
)
def test_the_beginning_and_the_ending_tell(media_type: str, start: bytes, path: str, name: str) -> None:
    url = f"https://example.org{path}" if path else ""
    assert detector_name(Kind.AUTO, media_type, start, url=url) == name
    assert detector_name(Kind.FILE, media_type, start, url=url) == "exact"


@pytest.mark.parametrize(
    "bait",
    [
        b"<!--" * 4096,
        b"<?x?>" * 3000,
        b"<!DOCTYPE " * 1600,
        b'{"' + b"\\" * 16_000,
        b"[1," * 5000,
        b" " * 16_000,
    ],
)
def test_no_beginning_takes_long(bait: bytes) -> None:
    begun = time.process_time()
    for _ in range(20):
        assert detector_name(Kind.AUTO, "text/plain", bait) in ("text", "json")
    assert time.process_time() - begun < 1.0  # a quadratic one takes as long for each
