"""SPARQL queries as text: what they ask for, and how to ask for it by the page. Pure.

Only as much grammar as that takes: comments, strings, IRIs, names and brackets are told apart, so that no
word inside them is taken for a keyword. Whether the rest makes sense, the endpoint knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from yarl import URL

from recrawl.errors import BadQueryError, BadUrlError
from recrawl.urls import MAX_QUERY_URL_BYTES, parsed

_TOKEN = re.compile(
    r"""
      (?P<space>\s+|\#[^\r\n]*)
    | (?P<iri><(?:[^\x00-\x20<>"{}|^`\\]|\\[uU][0-9A-Fa-f]{4,8})*>)
    | (?P<string>'''(?:'{0,2}(?:[^'\\]|\\.))*'''|\"""(?:"{0,2}(?:[^"\\]|\\.))*\"""
        |'(?!'')(?:[^'\\\r\n]|\\.)*'|"(?!"")(?:[^"\\\r\n]|\\.)*")
    | (?P<name>[?$@]\w[\w-]*|(?:\w[\w.-]*)?:(?:[\w:%-]|\.(?=[\w:%.-])|\\.)*)
    | (?P<word>\w+)
    | (?P<open>[({\[]) | (?P<close>[)}\]])
    | (?P<quote>['"])
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_CLOSING = {"(": ")", "{": "}", "[": "]"}
_PROLOGUE = frozenset({"PREFIX", "BASE", "VERSION"})
_CHANGING = frozenset(["INSERT", "DELETE", "LOAD", "CLEAR", "CREATE", "DROP", "COPY", "MOVE", "ADD", "WITH"])


class Form(StrEnum):
    SELECT = "SELECT"
    ASK = "ASK"
    CONSTRUCT = "CONSTRUCT"
    DESCRIBE = "DESCRIBE"

    @property
    def makes_graph(self) -> bool:
        return self in (Form.CONSTRUCT, Form.DESCRIBE)


@dataclass(frozen=True, slots=True)
class Query:
    """A query that was read. `tail` is where a LIMIT may be put: the end, or before a last VALUES."""

    text: str
    form: Form
    limited: bool  # it has a LIMIT or OFFSET of its own
    ordered: bool
    tail: int

    @property
    def pageable(self) -> bool:
        return self.form is Form.SELECT and not self.limited

    def window(self, n_rows: int, offset: int) -> str:
        """The same query for some of its rows."""
        # On a line of its own: the query may end in a comment.
        bounds = f"\nLIMIT {n_rows} OFFSET {offset}\n"
        return f"{self.text[: self.tail].rstrip()}{bounds}{self.text[self.tail :]}".rstrip("\n")


@dataclass(frozen=True, slots=True)
class _Word:
    text: str  # in capitals
    at: int
    depth: int


def read(text: str) -> Query:
    """What a query asks for; raises BadQueryError where it cannot be one that only reads."""
    text = text.strip()
    words, n_braces = _outline(text)
    outer = [word for word in words if word.depth == 0]
    first = next((word for word in outer if word.text not in _PROLOGUE), None)
    if first is None:
        raise BadQueryError("This is not a SPARQL query: it asks for nothing; begin it with SELECT, ASK …")
    if first.text in _CHANGING:
        raise BadQueryError(f"{first.text} changes data, and recrawl only looks; give a query instead.")
    if first.text not in list(Form):
        raise BadQueryError(
            f"This is not a SPARQL query: after its prefixes stands {first.text[:40]!r}; "
            "begin it with SELECT, ASK, CONSTRUCT or DESCRIBE."
        )
    form = Form(first.text)
    if n_braces == 0 and form is not Form.DESCRIBE:
        raise BadQueryError(f"This {form} has no pattern; write what it is to match in {{ … }}.")
    modifiers = [word.text for word in outer if word.at > first.at]
    last_values = next((word.at for word in reversed(outer) if word.text == "VALUES"), len(text))
    return Query(
        text=text,
        form=form,
        limited="LIMIT" in modifiers or "OFFSET" in modifiers,
        ordered="ORDER" in modifiers,
        tail=last_values,
    )


def _outline(text: str) -> tuple[list[_Word], int]:
    """The bare words with their depth in brackets, and how many braces there are."""
    words: list[_Word] = []
    stack: list[str] = []
    n_braces = 0
    for kind, found, at in _tokens(text):
        match kind:
            case "word":
                words.append(_Word(found.upper(), at, len(stack)))
            case "open":
                stack.append(_CLOSING[found])
                n_braces += found == "{"
            case "close":
                if not stack or stack.pop() != found:
                    raise BadQueryError(f"{_where(text, at)}: this {found} closes nothing; mend the query.")
            case "quote":
                raise BadQueryError(f"{_where(text, at)}: this string does not end; mend the query.")
    if stack:
        raise BadQueryError(f"The query ends before its last {stack[-1]}; mend it.")
    return words, n_braces


def _tokens(text: str) -> Iterator[tuple[str, str, int]]:
    for found in _TOKEN.finditer(text):
        yield found.lastgroup or "", found[0], found.start()


def _where(text: str, at: int) -> str:
    line = text.count("\n", 0, at) + 1
    return f"Line {line}, column {at - text.rfind(chr(10), 0, at)}"


# -- as a URL ------------------------------------------------------------------------------------------


def query_url(endpoint: str, text: str) -> str:
    """The canonical URL of a query at an endpoint: what the resource is called."""
    url = parsed(endpoint)
    if "query" in url.query:
        raise BadUrlError(f"{endpoint} has a query already; give the endpoint alone.")
    named = str(url.extend_query({"query": read(text).text}))
    if len(named) > MAX_QUERY_URL_BYTES:
        raise BadQueryError(
            f"As a URL this query would be {len(named):,} bytes long, and at most {MAX_QUERY_URL_BYTES:,} "
            "can be watched; shorten it."
        )
    return str(parsed(named, max_bytes=MAX_QUERY_URL_BYTES))


def asked_by(url: str) -> tuple[URL, Query]:
    """The URL without its query, and the query."""
    whole = parsed(url, max_bytes=MAX_QUERY_URL_BYTES)
    said = whole.query.getall("query", [])
    if len(said) != 1:
        raise BadUrlError(
            f"{url[:200]} does not name an endpoint with one query; "
            "add it with `recrawl add --sparql ENDPOINT --query …`."
        )
    return whole.without_query_params("query"), read(said[0])
