"""SPARQL results: which solutions there are counts, not their order or the labels of blank nodes.

Graphs (the answers to CONSTRUCT and DESCRIBE) are judged as RDF.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter, defaultdict
from typing import Any

from recrawl.detect import rdf
from recrawl.detect.structured import Differences, Structured, between, hashed
from recrawl.model import Snapshot

_N_ROUNDS = 3
RESULTS = frozenset({"application/sparql-results+json", "application/json", "text/json", ""})


def Results() -> Structured:  # noqa: N802 - it stands where a class could
    """The detector `results`."""
    return Structured("results", digest, differences, tame_bytes=0)


def digest(snapshot: Snapshot) -> str:
    if not _tabular(snapshot):
        return rdf.digest(snapshot)
    return hashed(sorted(f"{n} {row}" for row, n in solutions(snapshot).items()))


def differences(before: Snapshot, after: Snapshot) -> Differences:
    if not _tabular(before) or not _tabular(after):
        return rdf.differences(before, after)
    old, new = solutions(before), solutions(after)
    return between(
        {row: f"{n} times" for row, n in sorted(old.items())},
        {row: f"{n} times" for row, n in sorted(new.items())},
        noun="solution",
        plural="solutions",
    )


def solutions(snapshot: Snapshot) -> Counter[str]:
    """Each solution as a line, with how often it comes."""
    document = json.loads(bytes(snapshot.body))
    if "boolean" in document:
        return Counter({f"ASK {str(document['boolean']).lower()}": 1})
    rows: list[dict[str, dict[str, Any]]] = document["results"]["bindings"]
    names = _blank_names(rows)
    return Counter(
        " ".join(f"?{variable}={_term(term, names)}" for variable, term in sorted(row.items()))
        for row in rows
    )


def _blank_names(rows: list[dict[str, dict[str, Any]]]) -> dict[str, str]:
    """Blank nodes named by the solutions they are in, a few steps far: labels differ with every answer."""
    where: dict[str, list[tuple[str, dict[str, dict[str, Any]]]]] = defaultdict(list)
    for row in rows:
        for variable, term in row.items():
            if term.get("type") == "bnode":
                where[str(term["value"])].append((variable, row))
    names = dict.fromkeys(where, "")
    for _ in range(_N_ROUNDS if where else 0):
        names = {
            label: hashlib.sha256(
                "\n".join(
                    sorted(
                        f"{variable}:"
                        + " ".join(f"{name}={_term(term, names)}" for name, term in sorted(row.items()))
                        for variable, row in said
                    )
                ).encode()
            ).hexdigest()[:8]
            for label, said in where.items()
        }
    return names


def _term(term: dict[str, Any], names: dict[str, str]) -> str:
    value = str(term.get("value", ""))
    match term.get("type"):
        case "uri":
            return f"<{value}>"
        case "bnode":
            return f"_:{names.get(value, '')}"
        case _:
            language = term.get("xml:lang")
            kind = term.get("datatype")
            suffix = f"@{str(language).lower()}" if language else f"^^<{kind}>" if kind else ""
            return json.dumps(value, ensure_ascii=False) + suffix


def _tabular(snapshot: Snapshot) -> bool:
    return snapshot.media_type in RESULTS
