"""Terms of RDF as people read them. A term comes as N-Triples write it."""

from __future__ import annotations

import re

from recrawl.detect.structured import Style, clipped

# Names that every reader of RDF knows by their short form.
_PREFIXES = {
    "http://www.w3.org/1999/02/22-rdf-syntax-ns#": "rdf",
    "http://www.w3.org/2000/01/rdf-schema#": "rdfs",
    "http://www.w3.org/2001/XMLSchema#": "xsd",
    "http://www.w3.org/2002/07/owl#": "owl",
    "http://www.w3.org/2004/02/skos/core#": "skos",
    "http://purl.org/dc/terms/": "dct",
    "http://purl.org/dc/elements/1.1/": "dc",
    "http://xmlns.com/foaf/0.1/": "foaf",
    "http://www.w3.org/ns/dcat#": "dcat",
    "http://www.w3.org/ns/prov#": "prov",
    "http://www.w3.org/ns/shacl#": "sh",
    "http://rdfs.org/ns/void#": "void",
    "http://schema.org/": "schema",
    "https://schema.org/": "schema",
}
_LITERAL = re.compile(r'"((?:[^"\\]|\\.)*)"(?:@([A-Za-z0-9-]+)|\^\^<([^>]*)>)?', re.DOTALL)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_PLAIN = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def text(term: str) -> str:
    """What it says: a literal without quotes, language and type, an address without brackets.

    >>> text('"a \\\\"b\\\\""@en'), text("<http://example.org/>")
    ('a "b"', 'http://example.org/')
    """
    if found := _LITERAL.fullmatch(term):
        return _ESCAPE.sub(_unescaped, found[1]) if "\\" in found[1] else found[1]
    return term[1:-1] if term.startswith("<") and term.endswith(">") else term


def shown(term: str, style: Style) -> str:
    """For a line of evidence: well-known names in short, long addresses by their ends."""
    if term.startswith("<") and not term.startswith("<<"):
        return _address(term[1:-1], style)
    found = _LITERAL.fullmatch(term)
    if found is None:
        return style.clipped(term)
    language, kind = found[2], found[3]
    suffix = f"@{language}" if language else f"^^{_address(kind, style)}" if kind else ""
    return f'"{style.clipped(text(term))}"{suffix}'


def _address(iri: str, style: Style) -> str:
    for start, prefix in _PREFIXES.items():
        if iri.startswith(start) and re.fullmatch(r"[\w-]+", iri[len(start) :]):
            return f"{prefix}:{iri[len(start) :]}"
    most = style.n_characters // 2
    return f"<…{clipped(iri[-most:], most)}>" if len(iri) > most else f"<{clipped(iri, most)}>"


def _unescaped(found: re.Match[str]) -> str:
    letter = found[1]
    return chr(int(letter[1:], 16)) if letter[0] in "uU" and letter[1:] else _PLAIN.get(letter, letter)
