"""Elements of a page: their text, their times, and where they lead."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Sequence

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.errors import BadUrlError
from recrawl.parse.html import BLOCKS, UNSEEN
from recrawl.parse.threads.times import MOST_WRITTEN, told
from recrawl.urls import joined

# What stands in or beside the text of a post and is none of it.
BESIDE = (
    "time, form, button, nav, select, .signature, .sig, .post-signature, .message-signature, .likes, "
    ".like-count, .reactions, .reactionsBar, .share, .notice, .lastedited, .message-lastEdit, .sr-only"
)
_SESSION = re.compile(r"[?&](?:sid|s|PHPSESSID)=[0-9A-Fa-f]{24,64}(?=&|#|\Z)")
_MACHINE = ("datetime", "data-time", "data-timestamp", "data-date", "data-utime", "data-epoch")
_NUMBER = re.compile(r"[0-9]+")
_MOST_DEPTH = 1_000
_MOST_WITHIN = 20  # posts within posts: what is looked for in each would be looked for in all that are in it


def beside(tree: LexborHTMLParser, posts: Iterable[LexborNode] = ()) -> set[int]:
    """What is no part of a post's text on this page, other posts included."""
    return {node.mem_id for node in tree.css(BESIDE)}.union(node.mem_id for node in posts)


def text(node: LexborNode | None, outside: Container[int]) -> str:
    """What a reader sees of it, a line for each block."""
    return "" if node is None else "\n".join(lines(node, outside))


def lines(node: LexborNode, outside: Container[int] = ()) -> list[str]:
    """Line by line, without the elements that are `outside`. The tree stays as it is: others may look at
    it."""
    found: list[str] = []
    pieces: list[str] = []
    for other in walk(node, outside):
        if other is None:
            if pieces and (row := " ".join("".join(pieces).split())):
                found.append(row)
            pieces = []
        else:
            pieces.append(other.text_content or "")
    return found


def walk(node: LexborNode, outside: Container[int] = ()) -> Iterator[LexborNode | None]:
    """Every text below an element in its order, and None wherever a block begins or ends."""
    here: LexborNode | None = node.child
    depth = 0
    while here is not None:
        tag = here.tag
        below = None
        if tag == "-text":
            yield here
        elif tag in BLOCKS:
            yield None
        if tag not in UNSEEN and here.is_element_node and here.mem_id not in outside:
            below = here.child
        if below is not None:
            here, depth = below, depth + 1
            continue
        while here is not None and here.next is None and depth:
            here, depth = here.parent, depth - 1
            if here is not None and here.tag in BLOCKS:
                yield None
        here = here.next if here is not None else None
    yield None


def deep(root: LexborNode) -> bool:
    """Whether elements lie so deep within each other that selectors, which look at all that is around each,
    take their time. No forum writes such pages; who leaves tags open may."""
    here: LexborNode | None = root.child
    depth = 0
    while here is not None:
        if depth > _MOST_DEPTH:
            return True
        below = here.child
        if below is not None:
            here, depth = below, depth + 1
            continue
        while here is not None and here.next is None and depth:
            here, depth = here.parent, depth - 1
        here = here.next if here is not None else None
    return False


def line(node: LexborNode | None) -> str:
    """Its text on one line."""
    return "" if node is None else " ".join(node.text().split())


def first(node: LexborNode, selectors: Iterable[str]) -> LexborNode | None:
    """What the first selector chooses that chooses anything."""
    for selector in selectors:
        if (found := node.css_first(selector)) is not None:
            return found
    return None


def chosen(tree: LexborHTMLParser, selector: str, most: int) -> list[LexborNode]:
    """What a selector chooses, each element once, however many of its alternatives choose it; but for what
    lies deep within others that it chooses."""
    found = list({node.mem_id: node for node in tree.css(selector)[: 4 * most]}.values())
    return [node for node, n in zip(found, _n_around(found), strict=True) if n < _MOST_WITHIN][:most]


def _n_around(nodes: Sequence[LexborNode]) -> Iterator[int]:
    """For each, within how many of the others it lies. No element is passed twice, however deep they lie."""
    chosen = {node.mem_id for node in nodes}
    n_of: dict[int, int] = {}  # of an element: how many of them it lies in, itself included
    for node in nodes:
        way: list[int] = []
        around: LexborNode | None = node
        while around is not None and around.mem_id not in n_of:
            way.append(around.mem_id)
            around = around.parent
        n = 0 if around is None else n_of[around.mem_id]
        for mem_id in reversed(way):
            n += mem_id in chosen
            n_of[mem_id] = n
        yield n_of[node.mem_id] - 1


def attribute(node: LexborNode, name: str) -> str:
    return (node.attributes.get(name) or "").strip()


def written(node: LexborNode | None) -> str:
    """The time that an element tells: what it says to programs before what it says to people."""
    if node is None:
        return ""
    attributes = node.attributes
    for name in _MACHINE:
        if value := (attributes.get(name) or "").strip():
            return value
    title = (attributes.get("title") or "").strip()
    if title and len(title) <= MOST_WRITTEN and told(title):
        # "31 January at 13:00" as a title of "2 minutes ago": both are of the fetch's zone, one is exact
        return title
    inner = node.css_first("[datetime], [data-time], [data-timestamp], [data-utime]")
    if inner is not None and inner.mem_id != node.mem_id:
        return written(inner)
    shown = line(node)
    if len(shown) <= MOST_WRITTEN:
        return shown
    return ""


def led(base: str, href: str) -> str:
    """The address that a link on `base` leads to, without the number of a session; empty where it is none."""
    if not href or href.startswith(("#", "javascript:", "mailto:")):
        return ""
    try:
        return _sessionless(joined(base, href))
    except BadUrlError:
        return ""


def _sessionless(url: str) -> str:
    found = _SESSION.search(url)
    if found is None:
        return url
    before, after = url[: found.start()], url[found.end() :]
    first = found[0].startswith("?") and after.startswith("&")
    return f"{before}?{after[1:]}" if first else before + after


def base(tree: LexborHTMLParser, url: str) -> str:
    """The address that the links of a page are relative to."""
    node = tree.css_first("base[href]")
    return (led(url, attribute(node, "href")) if node is not None else "") or url


def digits(text: str) -> str:
    """The last number in a name, as in `post-123`."""
    found = _NUMBER.findall(text[-100:])
    return found[-1] if found else ""


def title(tree: LexborHTMLParser) -> str:
    return line(first(tree.root, ("h1", ".topic-title", "title")) if tree.root is not None else None)[:500]
