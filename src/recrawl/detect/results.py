"""SPARQL results: which solutions there are counts, not their order or the labels of blank nodes.

Graphs (the answers to CONSTRUCT and DESCRIBE) are judged as RDF.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator

from recrawl.detect import rdf, records, table
from recrawl.detect.json import Document
from recrawl.detect.rdf import Graph
from recrawl.detect.records import Nouns, Table, Twins
from recrawl.detect.structured import Differences, Form, Structured, Style, hashed
from recrawl.detect.table import Book, lines, through
from recrawl.detect.terms import text as said
from recrawl.model import Part, Snapshot
from recrawl.parse import solutions
from recrawl.parse.solutions import Solution, Term

NOUNS = Nouns(
    record="solution", records="solutions", value="value", values="values", field="column", at="row"
)
_N_ROUNDS = 20
_STRING = "http://www.w3.org/2001/XMLSchema#string"


def Results() -> Structured:  # noqa: N802 - it stands where a class could
    """The detector `results`."""
    return Structured("results", Form(read, digest, differences, parts, empty, texts), tame_bytes=0)


def read(snapshot: Snapshot) -> Book | Graph | Document:
    if snapshot.media_type not in solutions.MEDIA_TYPES:
        return rdf.read(snapshot)
    found = solutions.read(bytes(snapshot.body))
    return through(snapshot.lens, [_table(found.variables, found.rows, found.answer)], _variable)


def empty(document: Book | Graph | Document) -> bool:
    return table.empty(document) if isinstance(document, Book) else rdf.empty(document)


def texts(document: Book | Graph | Document) -> Iterator[str]:
    if not isinstance(document, Book):
        return rdf.texts(document)
    cells = (cell for one in document.masked(NOUNS) for row in one.rows for cell in row)
    return (said(cell) for cell in cells if cell.startswith('"'))


def digest(document: Book | Graph | Document) -> str:
    if not isinstance(document, Book):
        return rdf.digest(document)
    return hashed(line for one in document.masked(NOUNS) for line in lines(one))


def differences(before: Book | Graph | Document, after: Book | Graph | Document, style: Style) -> Differences:
    if not isinstance(before, Book) and not isinstance(after, Book):
        return rdf.differences(before, after, style)
    if not isinstance(before, Book) or not isinstance(after, Book):
        kinds = "it was a graph and is a table now", "it was a table and is a graph now"
        return Differences(counts=(), magnitude=1.0, notes=(kinds[isinstance(before, Book)],))
    (old,), (new,) = before.masked(NOUNS), after.masked(NOUNS)
    said = [
        *(f"variable ?{name} added" for name in new.header if name not in old.header),
        *(f"variable ?{name} removed" for name in old.header if name not in new.header),
    ]
    return records.differences([_twins(old, new, after.keys)], style, said)


def parts(before: Book | Graph | Document, after: Book | Graph | Document) -> tuple[Part, ...]:
    if not isinstance(before, Book) and not isinstance(after, Book):
        return rdf.parts(before, after)
    if not isinstance(before, Book) or not isinstance(after, Book):
        return ()
    (old,), (new,) = before.tables, after.tables
    return records.differing([_twins(old, new, after.keys)])


def _twins(old: Table, new: Table, wanted: tuple[str, ...]) -> Twins:
    return Twins(old, new, records.keys(old, new, wanted), NOUNS)


def _variable(name: str) -> str:
    return name.removeprefix("?").removeprefix("$")


def _table(variables: tuple[str, ...], rows: list[Solution], answer: bool | None) -> Table:
    if answer is not None:
        return Table("", ("ASK",), [(str(answer).lower(),)])
    names = _blank_names(rows)
    return Table(
        "",
        variables,
        [tuple(_written(row[v], names) if v in row else "" for v in variables) for row in rows],
    )


def _blank_names(rows: list[Solution]) -> dict[str, str]:
    """Blank nodes named by the solutions they are in: labels differ with every answer. What one is named
    depends on the names beside it, so it is done again until that tells no more of them apart."""
    where: dict[str, list[tuple[str, Solution]]] = defaultdict(list)
    for row in rows:
        for variable, term in row.items():
            if term.kind == "bnode":
                where[term.value].append((variable, row))
    names = dict.fromkeys(where, "")
    n_names = 1
    for _ in range(_N_ROUNDS if where else 0):
        names = {label: _named(label, said, names) for label, said in where.items()}
        if len(set(names.values())) == n_names:
            break
        n_names = len(set(names.values()))
    return names


def _named(label: str, said: Iterable[tuple[str, Solution]], names: dict[str, str]) -> str:
    told = sorted(
        f"{variable}: "
        + " ".join(
            f"{name}={'itself' if term == Term('bnode', label) else _written(term, names)}"
            for name, term in sorted(row.items())
        )
        for variable, row in said
    )
    content = f"{names[label]}\n" + "\n".join(told)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _written(term: Term, names: dict[str, str]) -> str:
    match term.kind:
        case "uri":
            return f"<{term.value}>"
        case "bnode":
            return f"_:{names.get(term.value, '')}"
        case _:
            typed = term.datatype and term.datatype != _STRING
            suffix = f"@{term.language.lower()}" if term.language else f"^^<{term.datatype}>" if typed else ""
            return json.dumps(term.value, ensure_ascii=False) + suffix
