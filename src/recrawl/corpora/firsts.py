"""What a corpus keeps of contents: the whole pages of first visits, and what versions said.

Both files are read line by line; what cannot be used is passed over, as it is in the events of a corpus.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from recrawl.corpora.sources.lines import Flaw, lines
from recrawl.errors import BadInputError

PAGES, TEXTS = "first_html.jsonl.xz", "texts.jsonl.xz"
MAX_LINE_BYTES = 16 << 20  # 400,000 characters of which each may be written as six and more


@dataclass(frozen=True, slots=True)
class FirstPage:
    """The raw HTML that the first visit brought."""

    resource: int
    at: float
    html: str


def first_pages(folder: Path) -> Iterator[FirstPage]:
    """Those of `first_html.jsonl.xz`, each resource's once; none where there is no such file."""
    seen: set[int] = set()
    for row in _rows(folder / PAGES):
        number, at, html = _number(row), row.get("at"), row.get("html")
        if number is not None and number not in seen and isinstance(html, str) and _moment(at):
            seen.add(number)
            yield FirstPage(number, float(row["at"]), html)


def text_rows(folder: Path) -> Iterator[dict[str, Any]]:
    """All of `texts.jsonl.xz` whose resource and time are numbers, as they come; `digest` is None where none
    was said."""
    for row in _rows(folder / TEXTS):
        if _number(row) is not None and _moment(row.get("at")):
            digest = row.get("digest")
            written = isinstance(digest, str) and digest.isprintable()  # half a character is not
            yield {**row, "digest": digest if written else None}


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        return
    for number, line in lines(path, max_bytes=MAX_LINE_BYTES):
        if isinstance(line, Flaw):
            raise BadInputError(f"{path}, line {number}: {line}; get the file again, or take it away.")
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row


def _number(row: dict[str, Any]) -> int | None:
    value = row.get("resource")
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _moment(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12
