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
from recrawl.model import Ints

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


def text_rows(folder: Path, resources: Ints) -> Iterator[tuple[int, dict[str, Any]]]:
    """All of `texts.jsonl.xz` that is of these resources (numbers, in order) and has a time, as it comes and
    with the resource's place; `digest` is None where none was said.

    Raises BadInputError where the resources are not in order, since they then cannot be read one after the
    other.
    """
    known = {number: place for place, number in enumerate(resources.tolist())}
    latest = -1
    for row in _rows(folder / TEXTS):
        number = _number(row)
        place = -1 if number is None else known.get(number, -1)
        if place < 0 or not _moment(row.get("at")):
            continue
        if place < latest:
            raise BadInputError(
                f"{folder / TEXTS}: a resource stands after one with a higher number; sort it by resource "
                "and at."
            )
        latest = place
        digest = row.get("digest")
        written = isinstance(digest, str) and digest.isprintable()  # half a character is not
        yield place, {**row, "digest": digest if written else None}


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
