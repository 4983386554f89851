"""A letter in the forms that recipients read: plain text, Markdown, HTML, and JSON for programs."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from math import isnan
from typing import Any

from recrawl.notify.letter import MOST_CHARS, Item, Letter, facts, heading, sides, subject, told
from recrawl.notify.safety import in_fence, in_html, in_markdown, line, linkable

FORMAT = 1  # of the JSON document


class Form(StrEnum):
    TEXT = "text"
    MARKDOWN = "markdown"
    HTML = "html"


def body(letter: Letter, form: Form) -> str:
    """Without its subject."""
    write: Callable[[Item], str] = {Form.TEXT: _text, Form.MARKDOWN: _markdown, Form.HTML: _html}[form]
    parts = [write(item) for item in letter.items]
    if letter.n_more:
        more = f"… and {letter.n_more:,} more; `recrawl list` and `recrawl history URL` show all."
        parts.append(f"<p>{in_html(more)}</p>" if form is Form.HTML else more)
    return "\n".join(parts) if form is Form.HTML else "\n\n".join(parts)


def _text(item: Item) -> str:
    return "\n".join(
        [heading(item), *_addresses(item), *told(item), *facts(item), *_lines(item), *_cut(item)]
    )


def _markdown(item: Item) -> str:
    addresses = [f"<{url}>" if linkable(url) else in_markdown(url) for url in _addresses(item)]
    head = [f"**{in_markdown(heading(item))}**", *addresses, *map(in_markdown, told(item)), *facts(item)]
    fenced = ["```diff", *map(in_fence, _lines(item)), "```"] if item.lines else []
    # a line that ends in two spaces ends there
    return "\n".join(["  \n".join(head), *fenced, *_cut(item)])


def _html(item: Item) -> str:
    said = [f"<p><strong>{in_html(heading(item))}</strong>"]
    for url in _addresses(item):
        shown = in_html(url)
        said.append(f'<br><a href="{shown}">{shown}</a>' if linkable(url) else f"<br>{shown}")
    said += [f"<br>{in_html(fact)}" for fact in (*told(item), *facts(item))]
    said.append("</p>")
    if item.lines:
        said.append(f"<pre>{in_html(chr(10).join(_lines(item)))}</pre>")
    said += [f"<p>{in_html(cut)}</p>" for cut in _cut(item)]
    return "".join(said)


def _addresses(item: Item) -> list[str]:
    return [line(url, 4 * MOST_CHARS) for url in (item.news.url, item.link) if url]


def _lines(item: Item) -> list[str]:
    return [line(one, MOST_CHARS) for one in item.lines]


def _cut(item: Item) -> list[str]:
    n = item.n_lines - len(item.lines)
    return [f"… and {n:,} more lines came or went."] if n > 0 and item.lines else []


def document(letter: Letter) -> dict[str, Any]:
    """For programs. What strangers wrote is in it as it was written, within limits."""
    return {
        "format": FORMAT,
        "id": letter.id,
        "notice": letter.notice,
        "made_at": _iso(letter.made_at),
        "subject": subject(letter),
        "text": body(letter, Form.TEXT),
        "news": [_row(item) for item in letter.items],
        "n_more": letter.n_more,
    }


def _row(item: Item) -> dict[str, Any]:
    news = item.news
    return {
        "what": news.what.value,
        "key": news.key,
        "url": news.url or None,
        "host": news.host or None,
        "at": _iso(news.at),
        "since_at": _iso(news.since_at),
        "n_changes": item.n_news,
        "significant": news.significant,
        "p": None if isnan(news.p) else news.p,
        "title": item.title or None,
        "words": item.words or news.words,
        "added": sides(item.lines)[0],
        "removed": sides(item.lines)[1],
        "n_lines": item.n_lines,
        "version": item.version,
        "before": item.before,
        "link": item.link or None,
    }


def _iso(at: float) -> str | None:
    if isnan(at):
        return None
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
