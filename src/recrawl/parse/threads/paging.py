"""The pages of a thread: which one this is, which is next, and which is the last."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.parse.threads.elements import attribute, chosen, led, line

_BARS = (
    ".pagination, .pageNav, .pagelinks, .pagenav, .threadpagenav, .pagination_top, .PageNav, .pager, "
    ".paginate, .paginator, .ipsPagination, .pages, [role=navigation][aria-label], nav[aria-label]"
)
_NEXT = (
    "link[rel~=next][href]", "a[rel~=next][href]", "a.pageNav-jump--next[href]", ".pagination .next a[href]",
    ".pagination a.next[href]", "a.pagination_next[href]", ".ipsPagination_next a[href]", "a.morelink[href]",
)  # fmt: skip
_CURRENT = (
    ".pageNav-page--current, [aria-current=page], .active, .current, .currentPage, .selected, strong, "
    ".pagination_current"
)
_SAYING_NEXT = frozenset(
    re.findall(
        r"\S+",
        "next › » > → >> older newer weiter nächste suivant suivante siguiente successiva próxima volgende "
        "nästa neste næste następna další следующая вперед sonraki 次へ 下一页 다음",
    )
)
_IN_URL = re.compile(
    r"(?:[?&](?:page|p|pg|pagenumber|paged)=|/page-?/?|/p)([0-9]{1,6})(?=[/&#?]|\.html?\Z|\Z)"
)
_MOST_LINKS = 400


@dataclass(frozen=True, slots=True, kw_only=True)
class Paging:
    number: int = 0
    next_url: str = ""
    last_url: str = ""


def paging(tree: LexborHTMLParser, url: str, base: str) -> Paging:
    """Of an HTML page. One that says nothing of others is the only one."""
    links = [link for bar in chosen(tree, _BARS, 8) for link in _links(bar, base)][:_MOST_LINKS]
    host = urlsplit(url).netloc
    here = [(words, target) for words, target in links if urlsplit(target).netloc == host]
    numbered = {int(words): target for words, target in here if words.isdecimal() and len(words) <= 6}
    next_url = _next(tree, base) or next((to for words, to in here if words.casefold() in _SAYING_NEXT), "")
    if urlsplit(next_url).netloc != host or next_url == url:
        next_url = ""
    number = _number(tree, url)
    if not number and not next_url and not numbered:
        number = 1
    if not number and next_url and (after := next((n for n, to in numbered.items() if to == next_url), 0)):
        number = after - 1
    last = max(numbered, default=0)
    further = numbered[last] if last > number else next_url
    return Paging(number=number, next_url=next_url, last_url=further if next_url else url)


def in_url(url: str) -> int:
    """The number of a page as its address has it; 0 where it has none.

    >>> in_url("http://h/t/a/7?page=3"), in_url("http://h/threads/a.7/page-2"), in_url("http://h/t/7")
    (3, 2, 0)
    """
    found = _IN_URL.search(url)
    return int(found[1]) if found else 0


def _links(bar: LexborNode, base: str) -> Iterator[tuple[str, str]]:
    for node in bar.css("a[href]")[:_MOST_LINKS]:
        if target := led(base, attribute(node, "href")):
            yield line(node), target


def _next(tree: LexborHTMLParser, base: str) -> str:
    for selector in _NEXT:
        node = tree.css_first(selector)
        if node is not None and (target := led(base, attribute(node, "href"))):
            return target
    return ""


def _number(tree: LexborHTMLParser, url: str) -> int:
    for bar in chosen(tree, _BARS, 8):
        for node in bar.css(_CURRENT)[:8]:
            words = line(node)
            if words.isdecimal() and len(words) <= 6:
                return int(words)
    return in_url(url)
