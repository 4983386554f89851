"""RDF in any serialisation, as N-Quads lines whose blank nodes have names that depend on the graph alone.

Call it where it can be killed: there are small graphs whose blank nodes take for ever to name.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict

from pyoxigraph import BlankNode, CanonicalizationAlgorithm, Dataset, Quad, RdfFormat, parse

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
}
_N_ROUNDS = 3


def quads(body: bytes, media_type: str, url: str) -> list[Quad]:
    """All statements of a document; `url` is what relative references are resolved against."""
    return list(parse(body, format=_format(body, media_type, url), base_iri=url or None))


def canonical(statements: list[Quad]) -> list[str]:
    """Sorted N-Quads in RDFC-1.0 form: equal exactly where the graphs are the same."""
    graph = Dataset(statements)
    graph.canonicalize(CanonicalizationAlgorithm.RDFC_1_0)
    return sorted(str(quad) for quad in graph)


def described(statements: list[Quad]) -> set[str]:
    """Statements with every blank node named by what is said of it, a few steps far.

    Good for telling what was added and removed: the canonical names of RDFC-1.0 may all change when one
    statement does. Blank nodes that look alike share a name, so this is no test of equality.
    """
    about: dict[BlankNode, list[tuple[str, str, object]]] = defaultdict(list)
    for quad in statements:
        if isinstance(quad.subject, BlankNode):
            about[quad.subject].append((">", str(quad.predicate), quad.object))
        if isinstance(quad.object, BlankNode):
            about[quad.object].append(("<", str(quad.predicate), quad.subject))
    names = dict.fromkeys(about, "")
    for _ in range(_N_ROUNDS):
        names = {
            node: _hashed(
                sorted(f"{way} {predicate} {_name(other, names)}" for way, predicate, other in said)
            )
            for node, said in about.items()
        }
    return {
        f"{_name(quad.subject, names)} {quad.predicate} {_name(quad.object, names)}"
        + (f" {_name(quad.graph_name, names)}" if str(quad.graph_name) != "DEFAULT" else "")
        for quad in statements
    }


def _name(term: object, names: dict[BlankNode, str]) -> str:
    return f"_:{names.get(term, '')}" if isinstance(term, BlankNode) else str(term)


def _hashed(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _format(body: bytes, media_type: str, url: str) -> RdfFormat:
    known = _NICKNAMES.get(media_type) or (RdfFormat.from_media_type(media_type) if media_type else None)
    if known is not None:
        return known
    extension = url.rpartition("/")[2].partition("?")[0].rpartition(".")[2]
    by_name = RdfFormat.from_extension(extension) if extension else None
    if by_name is not None:
        return by_name
    start = body[:512].lstrip()
    if start[:1] in (b"{", b"["):
        return RdfFormat.JSON_LD
    return RdfFormat.RDF_XML if start[:5] in (b"<?xml", b"<rdf:") else RdfFormat.TURTLE
