"""Threads: what was said counts, by whom it was said, and nothing around it.

A visit sees the last pages of a long thread, not all of it. So posts are held against each other by their
keys, and what a snapshot cannot know of it does not tell.
"""

from __future__ import annotations

from collections.abc import Iterator

from recrawl.detect import records
from recrawl.detect.masks import Masks
from recrawl.detect.posts import NOUNS, Threadful, news, told
from recrawl.detect.records import Twins
from recrawl.detect.selectors import Language, speaking
from recrawl.detect.spoken import Spoken
from recrawl.detect.structured import BRIEF, Differences, Form, Style, hashed
from recrawl.model import Changed, Lens, Part, Snapshot, Verdict
from recrawl.parse import threads

_ALL = ("key", "author", "text")
_ALSO = {"content": "text", "body": "text", "message": "text", "user": "author", "username": "author"}


class Thread(Spoken):
    """The detector `thread`."""

    def __init__(self) -> None:
        form = Form(read, digest, differences, parts, empty, texts)
        super().__init__("thread", form, judged, n_posts, "posts")


def read(snapshot: Snapshot) -> Threadful:
    header, asked_for = _counting(snapshot.lens)
    found = threads.pages(bytes(snapshot.body), snapshot.media_type, snapshot.charset, snapshot.url)
    leaves = threads.leaves(found, snapshot.at)
    return Threadful(leaves, header, Masks(snapshot.lens.masks), asked_for, snapshot.at)


def _counting(lens: Lens) -> tuple[tuple[str, ...], bool]:
    include, ignore = (
        {_name(selector.expression) for selector in speaking(rules, Language.FIELD)}
        for rules in (lens.include, lens.ignore)
    )
    wanted = (include or set(_ALL)) - ignore | {"key"}
    return tuple(name for name in _ALL if name in wanted), not include or not include.isdisjoint(_ALL)


def _name(field: str) -> str:
    name = field.strip().lower()
    return _ALSO.get(name, name)


def empty(read: Threadful) -> bool:
    return not read.asked_for


def texts(read: Threadful) -> Iterator[str]:
    places = [i for i, name in enumerate(read.header) if name != "key"]
    return (row[i] for row in read.rows.values() for i in places)


def digest(read: Threadful) -> str:
    """The order does not count: some sites put the best first."""
    return hashed(value for row in sorted(read.rows.values()) for value in row)


def parts(before: Threadful, after: Threadful) -> tuple[Part, ...]:
    return records.differing([Twins(before.table, after.table, ["key"], NOUNS)])


def differences(before: Threadful, after: Threadful, style: Style) -> Differences:
    return told(before, after, news(before, after), style)


def judged(before: Threadful, after: Threadful) -> Verdict:
    if before.posts and not after.posts:
        return Verdict(changed=Changed.UNKNOWN, evidence="no posts are found in the new copy")
    found = news(before, after)
    if not found and not found.older:
        return Verdict(changed=Changed.NO, evidence="nobody has said anything new")
    if before.ended and not after.ended:
        return Verdict(changed=Changed.UNKNOWN, evidence="the new copy breaks off")
    said = told(before, after, found, BRIEF)
    return Verdict(
        # That there was more to read than could be read at once is no change.
        changed=Changed.YES if found else Changed.UNKNOWN,
        magnitude=said.magnitude if found else 0.0,
        evidence=said.sentence(),
        posts=found.new,
        said_at=tuple(post.moment_at for post in found.new) if _connected(before, after) else (),
        older=found.older,
    )


def _connected(before: Threadful, after: Threadful) -> bool:
    """Whether nothing can have come and gone unseen: a feed shows the last few posts, whatever came before
    them."""
    numbered = any(leaf.number for leaf in after.leaves)
    return numbered or not before.posts or not before.posts.keys().isdisjoint(after.posts)


def n_posts(read: Threadful) -> int:
    return len(read.posts)
