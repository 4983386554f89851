"""Topics of a Discourse forum: out of files that were saved from it, or asked for page by page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from recrawl.corpora.importing import Intake, Option
from recrawl.corpora.sources.files import files, is_url, open_bytes
from recrawl.corpora.sources.lines import Flaw, lines, pieces
from recrawl.corpora.sources.moments import iso
from recrawl.errors import BadInputError
from recrawl.parse import html
from recrawl.parse.pool import ParseFailed

N_TOGETHER = 20  # posts that a forum gives for one request
MAX_TOPIC_BYTES = 64 << 20
MAX_TEXT_CHARS = 100_000
_N_REFUSED = 5  # topics in a row that cannot be had: then the forum is in trouble, not the topics
_PEOPLE = frozenset({1, 2})  # posts and moderators' posts; 3 is "closed", "pinned", 4 a whisper
_ENDINGS = (".json", ".jsonl", ".ndjson", ".json.gz", ".jsonl.gz", ".ndjson.gz", ".jsonl.xz", ".jsonl.zst")
_BY_LINE = re.compile(r"\.(?:jsonl|ndjson)(?:\.\w+)?$", re.IGNORECASE)
_NOT_JSON = "not JSON"
_NO_TOPIC = "not a topic (an object with post_stream.posts)"
_TOPIC_PATH = re.compile(r"(.*?)/t/(?:[^/]+/)?(\d+)(?:/\d+)?(?:\.json)?/?")


class Discourse:
    """A topic is a resource, a post an event at the time it was written. What was edited later is not told
    apart: a forum says only when a post was changed last.
    """

    name = "discourse"
    summary = "Discourse topics: saved JSON, a folder or JSON lines of it, or a forum's address"
    options: tuple[Option, ...] = (
        Option("topics", "words", "Ask the forum for these topics, by their numbers."),
        Option("latest", "count", "Ask the forum for so many of the topics that were posted in last."),
        Option("base", "word", "Of files: the forum's address, so that topics have URLs."),
    )

    def __init__(self, *, topics: Sequence[str] = (), latest: int = 0, base: str | None = None) -> None:
        self._topics = tuple(topics)
        self._latest = latest
        self._base = None if base is None else base.rstrip("/")
        if not all(re.fullmatch(r"[0-9]{1,18}", topic) for topic in self._topics):
            raise BadInputError("--topics takes topics' numbers, such as --topics 12 --topics 345.")
        if self._base is not None and not is_url(self._base):
            raise BadInputError(f"--base {base} is no address; write https://forum.example.org.")

    def read(self, source: str, into: Intake) -> None:
        into.about(kind="thread", observation="every-change", resolution_s=1)
        named = _TOPIC_PATH.fullmatch(source.partition("?")[0])
        if not is_url(source) or _BY_LINE.search(source):
            if self._topics or self._latest:
                raise BadInputError("--topics and --latest say what to ask a forum for; give its address.")
            self._saved(into.local(source), into)
        elif named and not (self._topics or self._latest):
            self._asked(named[1], [named[2]], into)
        else:
            self._asked(source.rstrip("/"), list(self._topics), into)

    # -- files -----------------------------------------------------------------------------------------

    def _saved(self, path: Path, into: Intake) -> None:
        board = urlsplit(self._base).hostname if self._base else None
        board = board or (path if path.is_dir() else path.absolute().parent).name
        into.about(title=f"Topics of {board}", **({"source": self._base} if self._base else {}))
        found = files(path, *_ENDINGS)
        n_done, n_lines = into.position or (0, 0)
        for n, file in enumerate(found, 1):
            if n <= n_done:
                continue
            for number, topic in _topics_in(file):
                if n == n_done + 1 and number <= n_lines:
                    continue
                where = f"{file.name}:{number}"
                if isinstance(topic, Flaw):
                    into.skip(where, str(topic))
                elif not _is_topic(topic):
                    into.skip(where, _NO_TOPIC)
                else:
                    stream = topic["post_stream"]
                    n_named = len(stream["stream"]) if isinstance(stream.get("stream"), list) else 0
                    n_missing = n_named - _add(into, topic, board, self._base, where)
                    if n_missing > 0:
                        into.leave_out("posts that a topic names and its file does not hold", n_missing)
                into.reached([n - 1, number])
            into.reached([n, 0])
            into.progress(n, len(found), "files")

    # -- a forum ---------------------------------------------------------------------------------------

    def _asked(self, base: str, topics: list[str], into: Intake) -> None:
        board = urlsplit(base).hostname or base
        into.about(title=f"Topics of {board}", source=base)
        todo, n_done = into.position or (None, 0)
        if todo is None:
            todo = list(dict.fromkeys([*topics, *self._listed(base, into)]))
        if not todo:
            raise BadInputError(f"Say which topics of {base} to take: --latest 100, or --topics 12.")
        n_refused = 0
        for n, name in enumerate(todo, 1):
            if n <= n_done:
                continue
            address = f"{base}/t/{name}"
            try:
                topic = self._topic(address, into)
            except BadInputError as problem:
                n_refused += 1
                if n_refused in (len(todo), _N_REFUSED):
                    raise
                into.skip(f"{address} ({problem})", "the topic cannot be had")
            else:
                n_refused = 0
                _add(into, topic, board, base, address)
            into.reached([todo, n])
            into.progress(n, len(todo), "topics")

    def _listed(self, base: str, into: Intake) -> list[str]:
        """The topics that were posted in last, page by page."""
        found: dict[str, None] = {}
        page = 0
        while len(found) < self._latest:
            answer = _parsed(into.ask(f"{base}/latest.json?page={page}", accept="application/json"), base)
            listed = answer.get("topic_list")
            listed = listed if isinstance(listed, dict) else {}
            topics = listed.get("topics")
            fresh = [str(topic["id"]) for topic in _objects(topics) if isinstance(topic.get("id"), int)]
            if not set(fresh) - found.keys():  # also where a forum gives the same page for ever
                break
            found.update(dict.fromkeys(fresh))
            into.progress(len(found), self._latest, "topics listed")
            if not listed.get("more_topics_url"):
                break
            page += 1
        return list(found)[: self._latest]

    def _topic(self, address: str, into: Intake) -> dict[str, Any]:
        """A topic with all its posts: the first ones come with it, the others some at a time."""
        topic = _parsed(
            into.ask(f"{address}.json", max_bytes=MAX_TOPIC_BYTES, accept="application/json"), address
        )
        if not _is_topic(topic):
            raise BadInputError(f"{address}.json is {_NO_TOPIC}; see whether this is a Discourse forum.")
        posts = topic["post_stream"]["posts"]
        here = {post.get("id") for post in _objects(posts)}
        stream = topic["post_stream"].get("stream")
        missing = (
            [one for one in stream if isinstance(one, int) and one not in here]
            if isinstance(stream, list)
            else []
        )
        for at in range(0, len(missing), N_TOGETHER):
            wanted = "&".join(f"post_ids[]={one}" for one in missing[at : at + N_TOGETHER])
            answer = _parsed(into.ask(f"{address}/posts.json?{wanted}", accept="application/json"), address)
            more = answer.get("post_stream")
            posts.extend(_objects(more.get("posts") if isinstance(more, dict) else None))
        return topic


def _topics_in(file: Path) -> Iterator[tuple[int, Any]]:
    """One topic a line; or one document, with a topic or a list of them, over many lines."""
    if not _BY_LINE.search(file.name):
        whole = bytearray()
        with open_bytes(file) as stream:
            for piece in pieces(stream):
                if isinstance(piece, Flaw):
                    yield 1, piece
                    return
                whole += piece
                if len(whole) > MAX_TOPIC_BYTES:
                    break
        if len(whole) > MAX_TOPIC_BYTES:
            yield 1, Flaw(f"longer than {MAX_TOPIC_BYTES >> 20} MiB; save it as JSON lines")
            return
        found = _loaded(whole)
        yield from enumerate(found if isinstance(found, list) else [found], 1)
        return
    for number, line in lines(file, max_bytes=MAX_TOPIC_BYTES):
        if isinstance(line, Flaw) or line.strip():
            yield number, line if isinstance(line, Flaw) else _loaded(line)


def _loaded(data: bytes | bytearray) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return Flaw(_NOT_JSON)


def _parsed(data: bytes, address: str) -> dict[str, Any]:
    found = _loaded(data)
    if not isinstance(found, dict):
        raise BadInputError(f"{address} did not answer with JSON; see whether this is a Discourse forum.")
    return found


def _objects(found: object) -> list[dict[str, Any]]:
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _is_topic(found: object) -> bool:
    if not isinstance(found, dict) or not isinstance(found.get("post_stream"), dict):
        return False
    return isinstance(found["post_stream"].get("posts"), list) and isinstance(found.get("id"), int)


def _add(into: Intake, topic: dict[str, Any], board: str, base: str | None, where: str) -> int:
    """Add the topic; how many posts it holds."""
    url = f"{base}/t/{topic['id']}" if base else f"t/{topic['id']}"
    into.resource(
        url,
        host=board,
        board=board,
        forum=str(topic.get("category_id") or ""),
        title=str(topic.get("title") or "")[:1_000],
    )
    seen: set[object] = set()
    for place, post in enumerate(topic["post_stream"]["posts"], 1):
        here = f"{where}, post {place}"
        if not isinstance(post, dict):
            into.skip(here, "not a post")
            continue
        name = post.get("id", f"{topic['id']}.{place}")
        if not isinstance(name, int | str) or name in seen:
            into.leave_out("posts that come twice")
            continue
        seen.add(name)
        if post.get("post_type", 1) not in _PEOPLE:
            into.leave_out("notes of the forum's own (closed, moved …)")
            continue
        try:
            at, _ = iso(str(post.get("created_at")))
        except ValueError as problem:
            into.skip(here, str(problem))
            continue
        into.add(url, at, str(name), host=board, where=here)
        text = _text(post)
        if text is None:
            into.leave_out("texts of posts that cannot be parsed (the posts are in)")
        else:
            into.post(url, at, str(post.get("username") or "") or None, text)
    return len(seen)


def _text(post: dict[str, Any]) -> str | None:
    cooked = post.get("cooked")
    if not isinstance(cooked, str):
        return str(post.get("raw") or "")[:MAX_TEXT_CHARS]
    found = html.text(cooked.encode("utf-8", "replace"), "utf-8")
    return None if isinstance(found, ParseFailed) else found[:MAX_TEXT_CHARS]
