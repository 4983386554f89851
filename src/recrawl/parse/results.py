"""SPARQL results in JSON: whether they are whole, and their rows, so that many pages become one document."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from recrawl.parse.pool import ParseFailed, shared

T = TypeVar("T")

# A parsed document takes some twenty times its size, and a busy process has better things to do.
_TAME_BYTES = 256 * 1024
MAX_PARSED_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Rows:
    """One page of rows, each written as JSON in one way only. A yes or no is a page without rows."""

    variables: tuple[str, ...]
    n_rows: int
    text: bytes = b""  # the rows, with a comma and a line break between them


def rows(body: bytes, page: int = 1) -> Rows | ParseFailed:
    """The rows of a results document; `ParseFailed` where it is none, or not all of one."""
    if len(body) > MAX_PARSED_BYTES:
        return ParseFailed("memory", f"longer than {MAX_PARSED_BYTES:,} bytes")
    if len(body) > _TAME_BYTES:
        return shared().run(parsed, body, page)
    try:
        return parsed(body, page)
    except (ValueError, RecursionError) as problem:
        return ParseFailed("error", f"{type(problem).__name__}: {problem}"[:200])


def parsed(body: bytes, page: int) -> Rows:
    """As `rows`, here and now, for as long as it takes."""
    document = json.loads(body)
    head = document.get("head") if isinstance(document, dict) else None
    if not isinstance(head, dict):
        raise ValueError("not a document of SPARQL results: it has no head")  # noqa: TRY004 - it was read
    if isinstance(document.get("boolean"), bool):
        return Rows((), 0)
    results = document.get("results")
    found = _all(dict, results.get("bindings") if isinstance(results, dict) else None)
    variables = _all(str, head.get("vars"))
    if found is None or variables is None:
        raise ValueError("not a document of SPARQL results: it has no bindings")
    return Rows(tuple(variables), len(found), BETWEEN.join(_line(row, page) for row in found))


def opening(variables: Sequence[str]) -> bytes:
    """What stands before the rows of a results document."""
    head = json.dumps({"vars": list(variables)}, ensure_ascii=False, separators=(",", ":")).encode()
    return b'{"head":' + head + b',"results":{"bindings":[\n'


CLOSING = b"\n]}}\n"
BETWEEN = b",\n"


def _all(kind: type[T], values: object) -> list[T] | None:
    """The list, if it is one and holds nothing else."""
    return values if isinstance(values, list) and all(isinstance(one, kind) for one in values) else None


def _line(row: dict[str, Any], page: int) -> bytes:
    # A blank node's name holds for its own page alone: the same one on another page is another node.
    named = {name: _renamed(term, page) if page > 1 else term for name, term in row.items()}
    return json.dumps(named, ensure_ascii=False, sort_keys=True, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def _renamed(term: Any, page: int) -> Any:
    if isinstance(term, dict) and term.get("type") == "bnode":
        return {**term, "value": f"p{page}-{term.get('value')}"}
    return term
