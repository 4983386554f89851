"""Lists of threads as forum programs show them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.model import Topic
from recrawl.parse.threads.elements import attribute, chosen, first, led, line, written
from recrawl.parse.threads.times import Moment, moments

MOST_TOPICS = 10_000
_COUNT = re.compile(r"[0-9][0-9.,\u00a0 ]{0,12}[KkM]?")
_PAGE = re.compile(r"/(?:latest|unread|page-[0-9]+)/?\Z|[?&](?:start|page|p|goto|view)=[^&#]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A thread with its time as it is written."""

    url: str
    title: str = ""
    written: str = ""
    n_posts: int = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class Markup:
    """Where a program puts what in its lists. Of several selectors the first that chooses anything counts."""

    row: str
    title: tuple[str, ...]
    when: tuple[str, ...]
    replies: tuple[str, ...] = ()


MARKUPS: tuple[Markup, ...] = (
    Markup(  # XenForo 2
        row=".structItem--thread",
        title=(
            ".structItem-title a[data-tp-primary]",
            ".structItem-title a:last-of-type",
            ".structItem-title a",
        ),
        when=(".structItem-cell--latest time", ".structItem-latestDate", "time"),
        replies=(".structItem-cell--meta dl:first-child dd", ".structItem-cell--meta dd"),
    ),
    Markup(  # XenForo 1
        row="li.discussionListItem",
        title=("h3.title a.PreviewTooltip", "h3.title a"),
        when=(".lastPost .DateTime", ".DateTime"),
        replies=(".stats .major dd",),
    ),
    Markup(  # phpBB 3
        row="ul.topics li.row",
        title=("a.topictitle",),
        when=("dd.lastpost time", "dd.lastpost"),
        replies=("dd.posts",),
    ),
    Markup(  # vBulletin 4
        row="li.threadbit",
        title=("a.title", "a[id^='thread_title_']"),
        when=(".threadlastpost dd:last-child", ".threadlastpost"),
        replies=(".threadstats li:first-child", ".threadstats"),
    ),
    Markup(  # vBulletin 3
        row="tr:has(a[id^='thread_title_'])",
        title=("a[id^='thread_title_']",),
        when=("td[title*='Replies'] .smallfont", "td.alt2 .smallfont"),
        replies=("a[onclick^='who']",),
    ),
    Markup(  # MyBB
        row="tr.inline_row",
        title=("[id^='tid_'] a", ".subject_new a", ".subject_old a"),
        when=(".lastpost",),
        replies=("a[onclick^='MyBB.whoPosted']",),
    ),
    Markup(  # Discourse, as crawlers see it
        row="tr.topic-list-item",
        title=("a.title",),
        when=("td:last-child time", "td:last-child"),
        replies=(".replies .posts", ".posts"),
    ),
    Markup(  # HyperKitty: mailing lists
        row="div.thread, .thread-list .thread",
        title=(".thread-title a", "a"),
        when=(".thread-date [title]", ".thread-date", "time"),
        replies=(".participant-count", ".comment-count"),
    ),
)


def rows(tree: LexborHTMLParser, base: str) -> list[Row]:
    """By the first markup that fits."""
    for markup in MARKUPS:
        found = [row for node in chosen(tree, markup.row, MOST_TOPICS) for row in _row(node, markup, base)]
        if found:
            return found
    return []


def topics(rows: Sequence[Row], *, at: float, zone_s: float = 0.0) -> list[tuple[Topic, float]]:
    """Each with how coarse its time is: the unit that was counted back in, 0 for a real time."""
    some = rows[:MOST_TOPICS]
    read = moments([row.written for row in some], at=at, zone_s=zone_s)
    found: dict[str, tuple[Topic, float]] = {}
    for row, moment in zip(some, read, strict=True):
        found.setdefault(row.url, _topic(row, moment))
    return list(found.values())


def thread_url(url: str) -> str:
    """The address of a thread's first page, where a link leads to its last.

    >>> thread_url("http://h/threads/a.7/latest"), thread_url("http://h/viewtopic.php?t=7&start=20")
    ('http://h/threads/a.7/', 'http://h/viewtopic.php?t=7')
    """
    short = _PAGE.sub(lambda found: "/" if found[0][0] == "/" else "", url, count=2)
    return short if "?" in short or "&" not in short else short.replace("&", "?", 1)


def count(text: str) -> int:
    """A number as people write it: 1,234 or 1.2K; -1: there is none.

    >>> count("Replies: 1,234"), count("1.2K"), count("none")
    (1234, 1200, -1)
    """
    found = _COUNT.search(text[:200])
    if found is None:
        return -1
    digits = found[0].strip().replace("\u00a0", "")
    if digits[-1] in "KkM":
        try:
            return round(float(digits[:-1].replace(",", ".")) * (1_000_000 if digits[-1] == "M" else 1_000))
        except ValueError:
            return -1
    plain = re.sub(r"[^0-9]", "", digits)
    return int(plain) if len(plain) < 12 else -1


def _row(node: LexborNode, markup: Markup, base: str) -> Iterator[Row]:
    named = first(node, markup.title)
    if named is None:
        return
    url = led(base, attribute(named, "href"))
    n_replies = count(line(first(node, markup.replies))) if markup.replies else -1
    if url:
        yield Row(
            url=thread_url(url),
            title=line(named)[:500],
            written=written(first(node, markup.when)),
            n_posts=n_replies + 1 if n_replies >= 0 else -1,
        )


def _topic(row: Row, moment: Moment) -> tuple[Topic, float]:
    return Topic(url=row.url, title=row.title, last_at=moment.at, n_posts=row.n_posts), moment.coarse_s
