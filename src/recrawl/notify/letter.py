"""A message as it is written: what a person is told, before it has the form that its recipient reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isnan

from recrawl.model import DAY_S, HOUR_S
from recrawl.notify.news import News, What
from recrawl.notify.safety import line

MOST_ITEMS = 200  # in one letter; of what is more, how many
MOST_SHOWN = 20  # of them with what came and went
MOST_LINES = 12  # of what came and went, of one item
MOST_CHARS = 300  # of a line


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One piece of news, or all changes of one resource, with what can be said of it. Its texts may be a
    stranger's, but not the news."""

    news: News
    n_news: int = 1
    title: str = ""  # the page's own
    words: str = ""  # what happened
    lines: tuple[str, ...] = ()  # what came and went, as `recrawl diff` has it
    n_lines: int = 0  # all there were
    version: int | None = None  # the number under which it is kept
    before: int | None = None
    link: str = ""

    @property
    def name(self) -> str:
        return line(self.title, MOST_CHARS) or self.news.url or self.news.host


@dataclass(frozen=True, slots=True, kw_only=True)
class Letter:
    id: str
    notice: str
    made_at: float
    items: tuple[Item, ...]
    n_more: int = 0  # beside those

    @property
    def n(self) -> int:
        return sum(item.n_news for item in self.items) + self.n_more


_DID = {
    What.CHANGE: "Changed",
    What.POSTS: "New posts",
    What.GONE: "Gone",
    What.BACK: "Back",
    What.SILENT: "Silent",
    What.HOST: "Host",
    What.TROUBLE: "Trouble",
}


def sides(lines: Iterable[str]) -> tuple[list[str], list[str]]:
    """What came, and what went. Of data some lines say both.

    >>> sides(["+ a row", "-a line", "price: 5 → 6"])
    (['a row', 'price: 6'], ['a line', 'price: 5'])
    """
    came, went = [], []
    for one in lines:
        before, arrow, after = one.rpartition(" → ")
        if one.startswith("+"):
            came.append(one[1:].removeprefix(" "))
        elif one.startswith("-"):
            went.append(one[1:].removeprefix(" "))
        elif arrow:
            went.append(before)
            came.append(f"{before.partition(': ')[0]}: {after}")
        else:
            came.append(one)
    return came, went


def heading(item: Item) -> str:
    """What happened to what, in one line.

    >>> heading(Item(news=News(what=What.GONE, key="", at=0.0, url="https://a.example/")))
    'Gone: https://a.example/'
    """
    return line(f"{_DID[item.news.what]}: {item.name or item.news.words}", MOST_CHARS)


def subject(letter: Letter) -> str:
    """
    >>> subject(Letter(id="", notice="ops", made_at=0.0, items=(), n_more=3))
    '3 news'
    """
    if letter.n == 1 and letter.items:
        return heading(letter.items[0])
    changes = {What.CHANGE, What.POSTS}
    noun = "changes" if letter.items and {item.news.what for item in letter.items} <= changes else "news"
    return line(f"{letter.n:,} {noun}{_where(letter)}", MOST_CHARS)


def _where(letter: Letter) -> str:
    hosts = sorted({item.news.host for item in letter.items if item.news.host})
    if not hosts:
        return ""
    others = (
        f" and {len(hosts) - 1} other hosts" if len(hosts) > 2 else f" and {hosts[-1]}" * (len(hosts) > 1)
    )
    return f" on {hosts[0]}{others}"


def told(item: Item) -> list[str]:
    """What happened, in words that may be a stranger's: one line, or none."""
    words = line(item.words, MOST_CHARS) or line(item.news.words, MOST_CHARS)
    return [words] if words else []


def facts(item: Item) -> list[str]:
    """What else is to be said, line by line, in our own words."""
    news = item.news
    said = [f"{item.n_news:,} changes together."] if item.n_news > 1 else []
    if news.what is What.SILENT:
        length = _span(news.at - news.since_at)
        said.append(f"No change for {length}; so long a silence had a probability of {percent(news.p)}.")
    if news.what in (What.CHANGE, What.POSTS) and news.significant is not None:
        said.append("Significant." if news.significant else "Slight: no more than chance.")
    since = "" if isnan(news.since_at) else f" (the look before: {moment(news.since_at)})"
    said.append(f"Seen {moment(news.at)}{'' if news.what is What.SILENT else since}.")
    if item.version is not None and item.before is not None:
        kept = f"Kept as version {item.version}, after version {item.before}"
        said.append(f"{kept}; `recrawl diff` shows all of it.")
    elif item.version is not None:
        said.append(f"Kept as version {item.version}.")
    return said


def percent(p: float) -> str:
    """
    >>> percent(0.0042), percent(0.00000001)
    ('0.42 %', 'less than 0.001 %')
    """
    return f"{100 * p:.2g} %" if p >= 1e-5 else "less than 0.001 %"


def moment(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M} UTC"


def _span(seconds: float) -> str:
    return f"{seconds / DAY_S:.1f} days" if seconds >= 2 * DAY_S else f"{seconds / HOUR_S:.1f} hours"
