"""Discussions out of plain posts: each thread a resource, each post an event."""

from __future__ import annotations

import json
from typing import Any

from recrawl.corpora.importing import Intake, Option
from recrawl.corpora.sources.batch import unusable
from recrawl.corpora.sources.files import files
from recrawl.corpora.sources.lines import Flaw, lines
from recrawl.corpora.sources.moments import UNREADABLE, iso, within

MAX_TEXT_CHARS = 100_000
_MAX_LINE_BYTES = 16 << 20
_MILLISECONDS = 1e11  # seconds since 1970 reach this in the year 5138
_ENDINGS = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz", ".jsonl.bz2", ".jsonl.xz", ".jsonl.zst")


class Posts:
    """Each line an object: `thread` (a URL, or any name), `at` (ISO 8601, or seconds or milliseconds since
    1970), and what else is known of `user`, `text`, `title`, `board`, `forum` and `id`.
    """

    name = "posts"
    summary = 'posts as JSON lines: {"thread": …, "at": …, "user": …, "text": …, "title": …, "board": …}'
    options: tuple[Option, ...] = (Option("board", "word", "The board of posts that name none."),)

    def __init__(self, *, board: str | None = None) -> None:
        self._board = board
        self._told: dict[str, int] = {}  # what each thread's posts said of it last

    def read(self, source: str, into: Intake) -> None:
        into.about(kind="thread", observation="every-change", resolution_s=1)
        found = files(into.local(source), *_ENDINGS)
        n_done, n_lines = into.position or (0, 0)
        for n, file in enumerate(found):
            into.progress(n, len(found), "files")
            for number, line in lines(file, max_bytes=_MAX_LINE_BYTES):
                if n < n_done or (n == n_done and number <= n_lines):
                    continue
                where = f"{file.name}:{number}"
                if isinstance(line, Flaw):
                    into.skip(where, str(line))
                elif line.strip():
                    why = self._take(line, where, into)
                    if why:
                        into.skip(where, why)
                into.reached([n, number])

    def _take(self, line: bytes, where: str, into: Intake) -> str:
        """Add a post; why not, where it cannot be."""
        try:
            said = json.loads(line)
        except (ValueError, RecursionError):
            return "not JSON"
        if not isinstance(said, dict):
            return "not an object"
        thread = said.get("thread")
        if not isinstance(thread, str | int) or isinstance(thread, bool) or not str(thread).strip():
            return "no thread"
        try:
            at = _moment(said.get("at"))
        except ValueError as problem:
            return str(problem)
        url = str(thread).strip()
        if (why := unusable(url)) is not None:
            return why
        board = _word(said.get("board")) or self._board
        host = board if board or "://" in url else "posts"
        words = {name: _word(said.get(name)) for name in ("title", "forum")} | {"board": board}
        facts = {name: word for name, word in words.items() if word}
        said_of_it = hash((*facts.items(),))
        if self._told.get(url) != said_of_it:  # most posts say nothing new of their thread
            self._told[url] = said_of_it
            into.resource(url, host=host, **facts)
        into.add(url, at, _word(said.get("id")) or where, host=host, where=where)
        into.post(url, at, _word(said.get("user")), str(said.get("text") or "")[:MAX_TEXT_CHARS])
        return ""


def _moment(said: Any) -> float:
    if isinstance(said, str):
        return iso(said)[0]
    if isinstance(said, bool) or not isinstance(said, int | float):
        raise ValueError(UNREADABLE)  # noqa: TRY004  # of a value, as its callers read it
    try:
        return within(said / 1_000 if abs(said) >= _MILLISECONDS else float(said))
    except OverflowError:
        raise ValueError(UNREADABLE) from None


def _word(said: Any) -> str | None:
    return str(said)[:1_000] if isinstance(said, str | int) and str(said) else None
