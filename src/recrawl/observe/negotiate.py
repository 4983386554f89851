"""What to ask a server for: the Accept header by kind. Pure.

Of several serialisations that a server has, the one that we hold already is asked for first: a server that
gives now this one, now that one, must not look like a change.
"""

from __future__ import annotations

from dataclasses import replace

from recrawl.model import Kind, Request

ANYTHING = "*/*"
_LAST_RESORT = 0.1  # better any answer, recorded as what it is, than a 406

# From the most to the least welcome. Turtle comes first since it is what most servers do well.
RDF = {
    "text/turtle": 1.0,
    "application/n-triples": 0.9,
    "application/trig": 0.9,
    "application/n-quads": 0.9,
    "application/rdf+xml": 0.8,
    "application/ld+json": 0.7,
}
# A graph that a query makes: what is simplest to compare.
GRAPH = {"application/n-triples": 1.0, "text/turtle": 0.9, "application/rdf+xml": 0.5}
RESULTS = {"application/sparql-results+json": 1.0, "application/json": 0.5}

_FAMILIES = {
    Kind.RDF: RDF,
    Kind.JSON: {
        "application/json": 1.0,
        "application/geo+json": 0.9,
        "application/ld+json": 0.9,
        "text/json": 0.8,
    },
    Kind.CSV: {
        "text/csv": 1.0,
        "text/tab-separated-values": 0.9,
        "application/csv": 0.8,
        "text/plain": 0.5,
    },
    Kind.FEED: {
        "application/atom+xml": 1.0,
        "application/rss+xml": 1.0,
        "application/feed+json": 0.9,
        "application/rdf+xml": 0.8,
        "application/xml": 0.7,
        "text/xml": 0.7,
    },
    Kind.SITEMAP: {"application/xml": 1.0, "text/xml": 0.9, "application/gzip": 0.8, "text/plain": 0.7},
    Kind.PAGE: {"text/html": 1.0, "application/xhtml+xml": 0.9, "text/plain": 0.5},
}
# What a copy says about a resource that says nothing itself. Pages are left out: all servers send those
# to whoever asks for anything, and some send other things to whoever asks for them by name.
_TOLD = {
    **dict.fromkeys(RDF, Kind.RDF),
    "application/json": Kind.JSON,
    "application/geo+json": Kind.JSON,
    "text/csv": Kind.CSV,
    "text/tab-separated-values": Kind.CSV,
    "application/atom+xml": Kind.FEED,
    "application/rss+xml": Kind.FEED,
    "application/feed+json": Kind.FEED,
}


def negotiated(request: Request) -> Request:
    """The request with its Accept header; one that says itself what it accepts stays as it is."""
    if request.accept != ANYTHING:
        return request
    fitting = accept(request.kind, request.media_type)
    return request if fitting == ANYTHING else replace(request, accept=fitting)


def accept(kind: Kind, held: str = "") -> str:
    """What to ask for, given the media type of the copy held.

    >>> accept(Kind.CSV)
    'text/csv, text/tab-separated-values;q=0.9, application/csv;q=0.8, text/plain;q=0.5, */*;q=0.1'
    >>> accept(Kind.AUTO), accept(Kind.AUTO, "text/html")
    ('*/*', '*/*')
    >>> accept(Kind.AUTO, "application/n-quads")[:41]
    'application/n-quads, text/turtle;q=0.9, a'
    """
    family = _FAMILIES.get(_TOLD.get(held, kind) if kind is Kind.AUTO else kind)
    return ANYTHING if family is None else f"{wanted(family, held)}, {ANYTHING};q={_LAST_RESORT:g}"


def wanted(family: dict[str, float], held: str = "") -> str:
    """The family by its weights, best first; what is held, if it belongs here, before all others."""
    weights = dict(family)
    if held in weights:
        weights = {name: min(q, 0.9) for name, q in weights.items()} | {held: 1.0}
    ranked = sorted(weights.items(), key=lambda item: -item[1])
    return ", ".join(name if q == 1.0 else f"{name};q={q:g}" for name, q in ranked)
