"""The table of readings as a graph, in every serialisation of RDF."""

from __future__ import annotations

import json
from collections.abc import Callable
from xml.sax.saxutils import escape, quoteattr

from recrawl.livingweb.content.data import XSD, readings
from recrawl.livingweb.content.noise import hidden, visible
from recrawl.livingweb.content.scene import Scene, iso

_LABEL = "http://www.w3.org/2000/01/rdf-schema#label"
_MODIFIED = "http://purl.org/dc/terms/modified"
_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"


def turtle(scene: Scene) -> str:
    token, stamp = hidden(scene.document), visible(scene.document)
    rows = [
        f'<#r{r.id}> rdfs:label "{r.label}"@en ; <#amount> {r.amount:.2f} ; <#revision> {r.revision} ;\n'
        f'    dct:modified "{iso(r.revised_at)}"^^xsd:dateTime .\n'
        for r in readings(scene)
    ]
    return (
        (f"# {token}\n" if token else "")
        + "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        + "@prefix dct: <http://purl.org/dc/terms/> .\n"
        + f"@prefix xsd: <{XSD}> .\n\n"
        + (f'<> dct:provenance "{stamp}" .\n' if stamp else "")
        + "".join(rows)
    )


def _statements(scene: Scene) -> list[tuple[str, str, str, str]]:
    """Subject, predicate, literal and its datatype, as IRIs; every document says the same of them."""
    return [
        statement
        for r in readings(scene)
        for subject in [f"{scene.url}#r{r.id}"]
        for statement in (
            (subject, _LABEL, r.label, f"{XSD}string"),
            (subject, f"{scene.url}#amount", f"{r.amount:.2f}", f"{XSD}decimal"),
            (subject, f"{scene.url}#revision", str(r.revision), f"{XSD}integer"),
            (subject, _MODIFIED, iso(r.revised_at), f"{XSD}dateTime"),
        )
    ]


def _n_triples(scene: Scene) -> str:
    return "".join(
        f"<{s}> <{p}> {json.dumps(value, ensure_ascii=False)}^^<{datatype}> .\n"
        for s, p, value, datatype in _statements(scene)
    )


def _rdf_xml(scene: Scene) -> str:
    lines = []
    for s, p, value, datatype in _statements(scene):
        at = max(p.rfind("#"), p.rfind("/")) + 1
        about = f"<rdf:Description rdf:about={quoteattr(s)}>"
        said = (
            f'<x:{p[at:]} xmlns:x={quoteattr(p[:at])} rdf:datatype="{datatype}">{escape(value)}</x:{p[at:]}>'
        )
        lines.append(f"{about}{said}</rdf:Description>\n")
    return f'<rdf:RDF xmlns:rdf="{_RDF}">\n{"".join(lines)}</rdf:RDF>\n'


def _json_ld(scene: Scene) -> str:
    nodes = [
        {"@id": s, p: [{"@value": value, "@type": datatype}]} for s, p, value, datatype in _statements(scene)
    ]
    return json.dumps(nodes, ensure_ascii=False, indent=0) + "\n"


# Turtle is TriG, and N-Triples are N-Quads, where there are no named graphs.
WRITERS: dict[str, Callable[[Scene], str]] = {
    "text/turtle": _n_triples,
    "application/n-triples": _n_triples,
    "application/trig": _n_triples,
    "application/n-quads": _n_triples,
    "application/rdf+xml": _rdf_xml,
    "application/ld+json": _json_ld,
}
