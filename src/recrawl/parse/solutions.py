"""What a SPARQL results document says, in JSON or XML: the solutions of a SELECT or the answer to an ASK."""

from __future__ import annotations

import json
from typing import Any, NamedTuple
from xml.etree.ElementTree import Element

from recrawl.parse.xml import children, local, tree

XML = frozenset({"application/sparql-results+xml"})
MEDIA_TYPES = XML | {"application/sparql-results+json", "application/json", "text/json", ""}
_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"


class Term(NamedTuple):
    kind: str  # "uri", "bnode" or "literal"
    value: str
    language: str = ""
    datatype: str = ""


Solution = dict[str, Term]


class Document(NamedTuple):
    variables: tuple[str, ...]
    rows: list[Solution]
    answer: bool | None = None  # to an ASK


def read(body: bytes) -> Document:
    return _from_xml(tree(body)) if body.lstrip()[:1] == b"<" else _from_json(json.loads(body))


def _from_json(document: Any) -> Document:
    if isinstance(document.get("boolean"), bool):
        return Document((), [], document["boolean"])
    rows = [{name: _term(term) for name, term in row.items()} for row in document["results"]["bindings"]]
    said = document.get("head", {}).get("vars") or ()
    return Document(_variables(map(str, said), rows), rows)


def _term(term: dict[str, Any]) -> Term:
    kind = str(term.get("type"))
    value = str(term.get("value", ""))
    if kind in ("uri", "bnode"):
        return Term(kind, value)
    return Term("literal", value, str(term.get("xml:lang") or ""), str(term.get("datatype") or ""))


def _from_xml(root: Element) -> Document:
    if local(root) != "sparql":
        raise ValueError(f"<{local(root)}> is no document of SPARQL results")
    for answer in children(root, "boolean"):
        return Document((), [], (answer.text or "").strip() == "true")
    said = [v.get("name", "") for head in children(root, "head") for v in children(head, "variable")]
    rows = [
        {
            binding.get("name", ""): _element(term)
            for binding in children(result, "binding")
            for term in binding
        }
        for results in children(root, "results")
        for result in children(results, "result")
    ]
    return Document(_variables(said, rows), rows)


def _element(term: Element) -> Term:
    value = term.text or ""
    if local(term) in ("uri", "bnode"):
        return Term(local(term), value.strip())
    return Term("literal", value, term.get(_LANGUAGE, ""), term.get("datatype", ""))


def _variables(said: Any, rows: list[Solution]) -> tuple[str, ...]:
    """As the head names them, and any that solutions have besides."""
    return tuple(dict.fromkeys([*said, *(name for row in rows for name in row)]))
