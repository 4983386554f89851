"""RDF in any serialisation, as N-Quads lines whose blank nodes have names that depend on the graph alone.

Call it where it can be killed: there are small graphs whose blank nodes take for ever to name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from pyoxigraph import CanonicalizationAlgorithm, Dataset, Quad, RdfFormat, parse

from recrawl.parse import charset

# What servers call it, where that is not the registered name.
_NICKNAMES = {
    "application/x-turtle": RdfFormat.TURTLE,
    "text/rdf+n3": RdfFormat.N3,
    "text/n3": RdfFormat.N3,
    "application/x-trig": RdfFormat.TRIG,
    "text/nquads": RdfFormat.N_QUADS,
    "text/x-nquads": RdfFormat.N_QUADS,
    "application/json": RdfFormat.JSON_LD,
    "application/xml": RdfFormat.RDF_XML,
    "text/xml": RdfFormat.RDF_XML,
    "application/owl+xml": RdfFormat.RDF_XML,
}
_VAGUE = frozenset({"", "text/plain", "application/octet-stream", "binary/octet-stream", "text/html"})
_DECLARED = re.compile(rb"\s*<\?xml[^>]*?\sencoding\s*=\s*[\"']([A-Za-z0-9_.:-]{1,40})")
_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")
_ENTITY = re.compile(rb"(<!ENTITY\s{1,20}[\w.:-]{1,200}\s{1,20})'([^'\"<]{0,2000})'")
_NESTED = re.compile(rb"<!ENTITY[^>&]{0,2000}&(?!(?:lt|gt|amp|quot|apos|#\d{1,8}|#x[0-9A-Fa-f]{1,8});)")
_HEAD_BYTES = 64 * 1024  # where a document type is
_PROLOG = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml|<!--|<!DOCTYPE|<[\w.-]+:RDF[\s>])", re.IGNORECASE)


def quads(body: bytes, media_type: str, url: str) -> list[Quad]:
    """All statements of a document; `url` is what relative references are resolved against."""
    form = format_of(body, media_type, url)
    try:
        return list(parse(_quoted(_utf8(body, form), form), format=form, base_iri=url or None))
    except SyntaxError as problem:
        if form == RdfFormat.JSON_LD and "remote context" in str(problem):
            raise RemoteContextError(str(problem)) from None
        raise


class RemoteContextError(ValueError):
    """What the terms of JSON-LD mean is said in another document, which is not fetched."""


def _utf8(body: bytes, form: RdfFormat) -> bytes:
    """RDF is written in UTF-8, but XML says itself in what it is written."""
    marked = body[:2] in (b"\xff\xfe", b"\xfe\xff")
    declared = _DECLARED.match(body[:512]) if form == RdfFormat.RDF_XML else None
    label = declared[1].decode("ascii").lower() if declared else "utf-8"
    if not marked and label in ("utf-8", "utf8"):
        return body
    # Had it been UTF-16, the declaration could not have been read byte by byte.
    wrong = not marked and label.startswith(("utf-16", "utf16", "ucs"))
    text = body.decode("utf-8" if wrong else charset.detected(body, label), errors="replace")
    return _DECLARATION.sub("", text.removeprefix("\ufeff")).encode("utf-8", "replace")


def _quoted(body: bytes, form: RdfFormat) -> bytes:
    """XML lets entities be written in single quotes, the parser does not. Entities stand for namespaces here:
    one that is made of others is refused, since a few lines of them unpack to more than fits anywhere."""
    if form != RdfFormat.RDF_XML or b"<!ENTITY" not in body:
        return body
    if _NESTED.search(body):
        raise ValueError("it declares an entity that is made of others")
    return _ENTITY.sub(rb'\1"\2"', body[:_HEAD_BYTES]) + body[_HEAD_BYTES:]


@dataclass(frozen=True, slots=True)
class Statements:
    """Of one graph: those without blank nodes by their text, which says all of them, and those with some."""

    ground: dict[str, Quad]
    blank: list[Quad]


def divided(statements: Iterable[Quad]) -> Statements:
    ground: dict[str, Quad] = {}
    blank: list[Quad] = []
    for quad in statements:
        line = str(quad)
        if "_:" in line:  # in a word of text, too: that does no harm
            blank.append(quad)
        else:
            ground[line] = quad
    return Statements(ground, blank)


def canonical(statements: Statements) -> list[str]:
    """Sorted N-Quads in RDFC-1.0 form: equal exactly where the graphs are the same.

    Only statements with blank nodes have a say in how these are named, so only they are looked at closely.
    """
    graph = Dataset(statements.blank)
    graph.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
    return sorted({*statements.ground, *map(str, graph)})


def format_of(body: bytes, media_type: str, url: str) -> RdfFormat:
    """By what the server says, else by the ending of the address, else by how it begins."""
    known = _NICKNAMES.get(media_type)
    if known is None and media_type not in _VAGUE:
        known = RdfFormat.from_media_type(media_type)
    if known is not None:
        return known
    extension = url.partition("#")[0].partition("?")[0].rpartition("/")[2].rpartition(".")[2]
    by_name = RdfFormat.from_extension(extension.lower()) if extension else None
    if by_name is not None:
        return by_name
    if body[:512].lstrip()[:1] in (b"{", b"["):
        return RdfFormat.JSON_LD
    return RdfFormat.RDF_XML if _PROLOG.match(body[:512]) else RdfFormat.TURTLE
