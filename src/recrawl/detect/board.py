"""Boards: which threads there are, and where somebody spoke. The order does not count."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import inf, isnan
from typing import Any

from recrawl.detect import records
from recrawl.detect.masks import Masks
from recrawl.detect.records import Nouns, Table, Twins
from recrawl.detect.selectors import Language, speaking
from recrawl.detect.spoken import Spoken
from recrawl.detect.structured import BRIEF, WHOLE, Differences, Form, Style, hashed, too_large
from recrawl.model import Changed, Part, Snapshot, Telling, Topic, Verdict
from recrawl.parse import threads
from recrawl.parse.pool import ParseFailed

NOUNS = Nouns(
    record="thread", records="threads", value="field", values="fields", field="field", at="thread", bare=True
)
_ALL = ("url", "title", "n_posts", "last_at")
_ALSO = {"replies": "n_posts", "posts": "n_posts", "updated": "last_at", "time": "last_at"}
MOST_TOLD = 10_000
_DISCOURSE = re.compile(r"(https?://[^/]+(?:/[^/]+){0,3}?/t)/(?:[^/]+/)?([0-9]+)\Z")
_FORUM = re.compile(r"([?&])f=[0-9]+(&|\Z)")


@dataclass(frozen=True)
class Boardful:
    """The threads of a board, through a lens."""

    listed: tuple[tuple[Topic, float], ...]  # each with how coarse its time is
    header: tuple[str, ...]
    masks: Masks
    asked_for: bool = True

    @cached_property
    def topics(self) -> dict[str, tuple[Topic, float]]:
        return {topic.url: (topic, coarse_s) for topic, coarse_s in self.listed}

    @cached_property
    def table(self) -> Table:
        rows = [
            tuple(_written(getattr(topic, name)) for name in self.header) for topic, _ in self.topics.values()
        ]
        return Table("", self.header, rows)

    @cached_property
    def rows(self) -> dict[str, dict[str, str]]:
        """What counts of each thread, masks applied."""
        table = records.masked(self.table, self.masks, NOUNS, ("url",)) if self.masks else self.table
        return {
            url: dict(zip(self.header, row, strict=True))
            for url, row in zip(self.topics, table.rows, strict=True)
        }


class Board(Spoken):
    """The detector `board`."""

    def __init__(self) -> None:
        form = Form(read, digest, differences, parts, empty, texts)
        super().__init__("board", form, judged, n_threads, "threads")

    def told_of(self, before: Snapshot, after: Snapshot) -> tuple[Telling, ...]:
        """The threads that moved, or are new, with the time at which somebody last spoke in them."""
        if too_large(before) or too_large(after):
            return ()
        found = self._run(_told, before, after)
        return () if isinstance(found, ParseFailed) else found


def read(snapshot: Snapshot) -> Boardful:
    include, ignore = (
        {_name(selector.expression) for selector in speaking(rules, Language.FIELD)}
        for rules in (snapshot.lens.include, snapshot.lens.ignore)
    )
    wanted = (include or set(_ALL)) - ignore | {"url"}
    listed = tuple(
        one
        for page in threads.pages(bytes(snapshot.body), snapshot.media_type, snapshot.charset, snapshot.url)
        for one in threads.listed(page.body, page.media_type, page.charset, page.url, snapshot.at)
    )
    header = tuple(name for name in _ALL if name in wanted)
    return Boardful(listed, header, Masks(snapshot.lens.masks), not include or not include.isdisjoint(_ALL))


def _name(field: str) -> str:
    name = field.strip().lower()
    return _ALSO.get(name, name)


def _written(value: str | float) -> str:
    return value if isinstance(value, str) else "" if value != value or value < 0 else f"{value:.0f}"


def empty(read: Boardful) -> bool:
    return not read.asked_for


def texts(read: Boardful) -> Iterator[str]:
    return (row.get("title", "") for row in read.rows.values())


def digest(read: Boardful) -> str:
    return hashed(value for row in sorted(tuple(row.values()) for row in read.rows.values()) for value in row)


def parts(before: Boardful, after: Boardful) -> tuple[Part, ...]:
    """Of titles alone. In a busy board the times and numbers differ on every visit, and are no noise."""
    return records.differing([Twins(_named(before.table), _named(after.table), ["url"], NOUNS)])


def _named(table: Table) -> Table:
    places = [i for i, name in enumerate(table.header) if name in ("url", "title")]
    rows = [tuple(row[i] for i in places) for row in table.rows]
    return Table("", tuple(table.header[i] for i in places), rows)


# -- which threads moved -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Moves:
    new: tuple[Topic, ...]
    moved: tuple[Topic, ...]
    renamed: tuple[tuple[Topic, Topic], ...]

    def __bool__(self) -> bool:
        return bool(self.new or self.moved or self.renamed)


def moves(before: Boardful, after: Boardful) -> Moves:
    """A thread that falls off the end of a list is no news, and neither is one that comes up there."""
    known_at = [topic.last_at for topic, _ in before.listed if not isnan(topic.last_at)]
    oldest_at = min(known_at, default=-inf)
    new: list[Topic] = []
    moved: list[Topic] = []
    renamed: list[tuple[Topic, Topic]] = []
    for url, (topic, coarse_s) in after.topics.items():
        if url not in before.topics:
            if not topic.last_at <= oldest_at:
                new.append(topic)
            continue
        old, was_coarse_s = before.topics[url]
        was, now = before.rows[url], after.rows[url]
        if _spoke(was, now, old, topic, max(coarse_s, was_coarse_s)):
            moved.append(topic)
        elif was.get("title") != now.get("title"):
            renamed.append((old, topic))
    return Moves(new=tuple(new), moved=tuple(moved), renamed=tuple(renamed))


def _spoke(was: dict[str, str], now: dict[str, str], old: Topic, topic: Topic, coarse_s: float) -> bool:
    if was.get("n_posts") != now.get("n_posts") and topic.n_posts >= 0 and old.n_posts >= 0:
        return True
    # A time that is counted back from the fetch moves with it, by up to the unit that it is counted in.
    return was.get("last_at") != now.get("last_at") and topic.last_at - old.last_at > coarse_s


def differences(before: Boardful, after: Boardful, style: Style) -> Differences:
    return _in_words(before, after, moves(before, after), style)


def _in_words(before: Boardful, after: Boardful, found: Moves, style: Style) -> Differences:
    lines = [style.added + _shown(topic, style) for topic in found.new]
    lines += [f"in {_shown(topic, style)}" for topic in found.moved]
    lines += [style.change("title", old.title, topic.title) for old, topic in found.renamed]
    counts = ((found.new, "new"), (found.moved, "with new posts"), (found.renamed, "renamed"))
    return Differences(
        counts=tuple(
            f"{len(some):,} thread{'s' if len(some) > 1 else ''} {done}" for some, done in counts if some
        ),
        magnitude=min(1.0, len(lines) / max(len(before.topics), len(after.topics), 1)),
        lines=tuple(lines[: style.n_lines]),
        n_lines=len(lines),
        otherwise="the same threads",
    )


def _shown(topic: Topic, style: Style) -> str:
    title = style.clipped(topic.title)
    return f"{title} ({topic.url})" if title and style == WHOLE else title or style.clipped(topic.url)


def judged(before: Boardful, after: Boardful) -> Verdict:
    if before.topics and not after.topics:
        return Verdict(changed=Changed.UNKNOWN, evidence="no threads are found in the new copy")
    found = moves(before, after)
    if not found:
        return Verdict(changed=Changed.NO, evidence="nobody has spoken in its threads")
    said = _in_words(before, after, found, BRIEF)
    return Verdict(changed=Changed.YES, magnitude=said.magnitude, evidence=said.sentence())


def n_threads(read: Boardful) -> int:
    return len(read.topics)


def _told(form: Form[Any], before: Snapshot, after: Snapshot) -> tuple[Telling, ...]:
    found = moves(form.read(before), form.read(after))
    tellings = (
        Telling(url, topic.last_at) for topic in (*found.new, *found.moved) for url in spellings(topic.url)
    )
    return tuple(one for one, _ in zip(tellings, range(MOST_TOLD), strict=False))


def spellings(url: str) -> tuple[str, ...]:
    """The addresses under which a thread may be watched.

    >>> spellings("http://h.example/t/a-title/7")[1:]
    ('http://h.example/t/7', 'http://h.example/t/a-title/7.json', 'http://h.example/t/7.json')
    >>> spellings("http://h.example/viewtopic.php?f=2&t=7")[1:]
    ('http://h.example/viewtopic.php?t=7',)
    """
    if found := _DISCOURSE.match(url):
        short = f"{found[1]}/{found[2]}"
        return tuple(dict.fromkeys((url, short, f"{url}.json", f"{short}.json")))
    if _FORUM.search(url):
        return url, _FORUM.sub(lambda found: found[1] if found[2] else "", url, count=1)
    return (url,)
