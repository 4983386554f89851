"""What is new in a thread, edited or gone, between two looks at some of its pages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from math import inf, isnan, nan

from recrawl.detect import records
from recrawl.detect.masks import Masks
from recrawl.detect.records import Nouns, Table
from recrawl.detect.structured import BRIEF, WHOLE, Differences, Style
from recrawl.model import Leaf, Post

NOUNS = Nouns(
    record="post", records="posts", value="field", values="fields", field="field", at="post", bare=True
)
_APART_S = 120.0  # times to the minute and times to the second may be of one moment
_N_WORDS = 12  # of a post that are shown in evidence


@dataclass(frozen=True)
class Threadful:
    """The pages of a thread that were looked at, through a lens."""

    leaves: tuple[Leaf, ...]
    header: tuple[str, ...]
    masks: Masks
    asked_for: bool = True
    at: float = nan  # when they were fetched

    @cached_property
    def posts(self) -> dict[str, Post]:
        """By their keys, in the order in which they stand; one on two pages is the later one."""
        return {post.key: post for leaf in self.leaves for post in leaf.posts}

    @property
    def ended(self) -> bool:
        return all(leaf.ended for leaf in self.leaves)

    @cached_property
    def table(self) -> Table:
        rows = [tuple(getattr(post, name) for name in self.header) for post in self.posts.values()]
        return Table("", self.header, rows)

    @cached_property
    def rows(self) -> dict[str, records.Row]:
        """What counts of each post, masks applied."""
        table = records.masked(self.table, self.masks, NOUNS, ("key",)) if self.masks else self.table
        return dict(zip(self.posts, table.rows, strict=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    """How the posts of two snapshots differ."""

    new: tuple[Post, ...]  # in order of time
    edited: tuple[tuple[Post, Post], ...]
    gone: tuple[Post, ...]
    older: tuple[Post, ...]  # there before, on pages that the earlier look had not come to; in order of time

    def __bool__(self) -> bool:
        return bool(self.new or self.edited or self.gone)


def news(before: Threadful, after: Threadful) -> News:
    renamed = _renamed(before, after)
    met = set(renamed.values())
    edited = [
        (before.posts[key], post)
        for key, post in after.posts.items()
        if key in before.posts and after.rows[key] != before.rows[key]
    ]
    unseen = [post for post in _unseen(before, after) if post.key not in met]
    waiting = _waiting(before, after)
    new, older = (
        tuple(sorted((post for post in unseen if (post.key in waiting) is late), key=_at))
        for late in (False, True)
    )
    gone = [post for post in _missing(before, after) if post.key not in renamed]
    return News(new=new, edited=tuple(edited), gone=tuple(gone), older=older)


def _waiting(before: Threadful, after: Threadful) -> set[str]:
    """Posts that were there at the earlier look, on pages that it led on to and did not come to; or on all,
    where it found none: something else had stood there."""
    if before.posts and not before.leaves[-1].next_url:
        return set()
    known = {leaf.url for leaf in before.leaves} if before.posts else set()
    further = (leaf for leaf in after.leaves if leaf.url not in known)
    return {post.key for leaf in further for post in leaf.posts if post.at < before.at - _APART_S}


def _renamed(before: Threadful, after: Threadful) -> dict[str, str]:
    """Posts that have another key now and say the same, at the same time: a site may number anew, or be read
    another way."""
    known = {row[1:]: key for key, row in before.rows.items() if key not in after.posts and any(row[1:])}
    found: dict[str, str] = {}
    for key, row in after.rows.items():
        old = known.get(row[1:]) if key not in before.posts else None
        if old is not None and not abs(after.posts[key].at - before.posts[old].at) > _APART_S:
            found[old] = key
    return found


def _unseen(before: Threadful, after: Threadful) -> Iterator[Post]:
    """Posts that were not there. Those of a page that was not looked at may be old: they are where the page
    comes before the others, or where they were said no later than what was known."""
    known_urls = {leaf.url for leaf in before.leaves}
    first = min((leaf.number for leaf in before.leaves), default=0)
    latest_at = max((post.at for post in before.posts.values() if not isnan(post.at)), default=inf)
    for leaf in after.leaves:
        elsewhere = bool(known_urls) and leaf.url not in known_urls
        earlier = elsewhere and 0 < leaf.number < first
        for post in leaf.posts:
            # Where later pages were removed, people go on talking on an earlier one.
            old = (earlier and not post.at > latest_at) or (
                elsewhere and not leaf.number and post.at < latest_at
            )
            if post.key not in before.posts and not old and after.posts[post.key] is post:
                yield post


def _missing(before: Threadful, after: Threadful) -> Iterator[Post]:
    """Posts that are no longer there, from pages that are in both, or behind which the thread ends now. At
    the old end of what was looked at they may have moved to a page that was not, or have been the last of
    those shown."""
    if not after.posts:
        return
    falling = _falling([post for leaf in before.leaves for post in leaf.posts])
    pages = {leaf.url: leaf for leaf in after.leaves}
    numbers = {leaf.number for leaf in after.leaves}
    last = after.leaves[-1]
    end = 0 if last.next_url else last.number
    ended = False
    for leaf in before.leaves:
        if ended or 0 < end < leaf.number:  # the thread ends before that page now
            yield from (post for post in leaf.posts if post.key not in after.posts)
            continue
        # Not all pages have a number; one that led on, and no longer does, is the end all the same.
        ended = leaf.url == last.url and bool(leaf.next_url) and not last.next_url
        now = pages.get(leaf.url)
        if now is None:
            continue
        if not leaf.number:
            # Nothing but what lies between two posts that stayed is known to be gone.
            stayed = False
        elif falling:
            stayed = not (leaf.next_url or now.next_url) or leaf.number + 1 in numbers
        else:
            stayed = leaf.number == 1 or leaf.number - 1 in numbers
        for post in reversed(leaf.posts) if falling else leaf.posts:
            if post.key in after.posts:
                stayed = True
            elif stayed:
                yield post


def _falling(posts: Sequence[Post]) -> bool:
    """Whether the newest come first."""
    steps = [later.at - earlier.at for earlier, later in pairwise(posts) if later.at != earlier.at]
    return sum(step < 0 for step in steps) > sum(step > 0 for step in steps)


def told(before: Threadful, after: Threadful, found: News, style: Style) -> Differences:
    new = [style.added + _shown(post, style) for post in found.new]
    if style == BRIEF:
        new.reverse()  # the newest is what people want to know of
    edited = [
        style.change(f"[{style.clipped(old.author or old.key)}]", *_edited(old, post, style))
        for old, post in found.edited
    ]
    gone = [style.removed + _shown(post, style) for post in found.gone]
    older = [style.added + _shown(post, style) for post in found.older]
    lines = [*new, *edited, *gone, *older]
    n_both = len(before.posts) + len(after.posts)
    n_differing = len(found.new) + len(found.gone) + 2 * len(found.edited)
    return Differences(
        counts=(
            *_number(len(found.new), "new post" if len(found.new) == 1 else "new posts"),
            *_number(len(found.edited), "edited"),
            *_number(len(found.gone), "gone"),
            *_number(len(found.older), "older post" if len(found.older) == 1 else "older posts"),
        ),
        magnitude=min(1.0, n_differing / max(n_both, 1)),
        lines=tuple(lines[: style.n_lines]),
        n_lines=len(lines),
        otherwise="the same posts",
    )


def _shown(post: Post, style: Style) -> str:
    when = (
        f"{datetime.fromtimestamp(post.at, UTC):%Y-%m-%d %H:%M} "
        if style == WHOLE and post.at == post.at
        else ""
    )
    who = f"{style.clipped(post.author)}: " if post.author else ""
    return f"{when}{who}{style.clipped(_said(post, style))}"


def _said(post: Post, style: Style) -> str:
    words = post.text.split()
    return " ".join(words) if style == WHOLE else _few(words, 0)


def _edited(old: Post, post: Post, style: Style) -> tuple[str, str]:
    """Where they differ first, with a few words before it."""
    was, now = old.text.split(), post.text.split()
    if style == WHOLE:
        return " ".join(was), " ".join(now)
    pairs = enumerate(zip(was, now, strict=False))
    at = next((i for i, (one, other) in pairs if one != other), min(len(was), len(now)))
    begin = max(0, at - _N_WORDS // 3)
    return _few(was, begin), _few(now, begin)


def _few(words: Sequence[str], begin: int) -> str:
    some = words[begin : begin + _N_WORDS]
    return f"{'… ' if begin else ''}{' '.join(some)}{' …' if begin + _N_WORDS < len(words) else ''}"


def _number(n: int, done: str) -> tuple[str, ...]:
    return (f"{n:,} {done}",) if n else ()


def _at(post: Post) -> float:
    return inf if isnan(post.at) else post.at
