"""Which detector judges what."""

from __future__ import annotations

import re

from recrawl.detect.text import HTML
from recrawl.model import Kind

_BY_KIND = {
    Kind.PAGE: "text",
    Kind.JSON: "json",
    Kind.CSV: "table",
    Kind.RDF: "rdf",
    Kind.SPARQL: "results",
    Kind.FEED: "feed",
    Kind.SITEMAP: "feed",
    Kind.FILE: "exact",
}
_BY_MEDIA_TYPE = {
    **dict.fromkeys(HTML, "text"),
    "text/plain": "text",
    "application/json": "json",
    "text/json": "json",
    "text/csv": "table",
    "text/tab-separated-values": "table",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "table",
    "application/rss+xml": "feed",
    "application/atom+xml": "feed",
    "application/feed+json": "feed",
    "application/sparql-results+json": "results",
    "application/ld+json": "rdf",
    "application/rdf+xml": "rdf",
    "application/n-quads": "rdf",
    "application/n-triples": "rdf",
    "application/trig": "rdf",
    "text/turtle": "rdf",
    "application/x-turtle": "rdf",
    "text/n3": "rdf",
}
_XML = frozenset({"application/xml", "text/xml"})
_FEED_ROOT = re.compile(rb"<(?:\w+:)?(?:rss|feed|urlset|sitemapindex)[\s>]")
_RDF_ROOT = re.compile(rb"<rdf:RDF[\s>]")


def detector_name(kind: Kind, media_type: str, start: bytes = b"") -> str:
    """The name of the detector for a resource of this kind that came back as this media type.

    `start` are the first bytes of the body: servers call everything XML, and the root element tells.

    >>> detector_name(Kind.AUTO, "text/html"), detector_name(Kind.AUTO, "text/csv")
    ('text', 'table')
    >>> detector_name(Kind.AUTO, "text/xml", b"<?xml version='1.0'?><urlset>")
    'feed'
    """
    if kind is not Kind.AUTO:
        return _BY_KIND[kind]
    if media_type in _XML:
        if _FEED_ROOT.search(start):
            return "feed"
        return "rdf" if _RDF_ROOT.search(start) else "exact"
    if media_type.endswith("+json"):
        return _BY_MEDIA_TYPE.get(media_type, "json")
    return _BY_MEDIA_TYPE.get(media_type, "exact")
