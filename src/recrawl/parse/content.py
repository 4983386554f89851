"""The main content of a page: what people come for, without menus, sidebars and footers.

What the page itself says (`main`, `article`) is believed where it holds enough of the text. Else it is the
smallest element that holds nearly all prose, prose being text of which little is links. A page in which none
can be told is main content as a whole.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.parse import html

_AROUND = (  # unless it stands in an article, as a headline's own header does
    "nav, aside, footer, header, menu, dialog, [role=navigation], [role=banner], [role=contentinfo], "
    "[role=complementary], [role=search], [role=dialog], [role=alertdialog]"
)
_SAID = ("main, [role=main]", "article, [role=article]", "[itemprop=articleBody]")
_SHARE_AROUND = 0.2  # of the prose that what stands around may hold
_SHARE_SAID = 0.5  # of the prose that what the page calls its main content must hold
_SHARE_HELD = 0.85  # of the prose that the smallest element must hold
_MOST_LINKS = 0.5  # of a line's characters
_SHORTEST = 25  # characters of a line of prose; shorter ones are labels

Line = tuple[LexborNode | None, str]


def around(tree: LexborHTMLParser) -> list[LexborNode]:
    """The elements that stand around it. What holds a good part of the prose is content, whatever it is
    called: some pages are one large header."""
    if tree.body is None:
        return []
    prose = _prose(tree.body)
    held, most = _held(prose), _SHARE_AROUND * sum(n for _, n in prose)
    return [
        node
        for node in tree.css(_AROUND)
        if held[node.mem_id] <= most and (node.tag in ("nav", "aside") or not _within(node, "article"))
    ]


def main(tree: LexborHTMLParser) -> LexborNode | None:
    """The element that holds the main content of a tree from which `around` is cut; None: all of it."""
    body = tree.body
    if body is None:
        return None
    prose = _prose(body)
    held, total = _held(prose), sum(n for _, n in prose)
    if not total:
        return None
    for selector in _SAID:
        found = tree.css(selector)
        said = found[0] if len(found) == 1 else _common(found, body) if found else None
        if said is not None and held[said.mem_id] >= _SHARE_SAID * total:
            return said
    return _smallest(body, held, _SHARE_HELD * total)


def _prose(body: LexborNode) -> list[tuple[LexborNode, int]]:
    """The blocks with lines of prose, and how many characters of it."""
    linked: Counter[int] = Counter()
    for link in body.css("a"):
        block = html.block(link)
        if block is not None:
            linked[block.mem_id] += len(" ".join(link.text().split()))
    lengths: dict[int, int] = defaultdict(int)
    blocks: dict[int, LexborNode] = {}
    for block, line in html.lines(body):
        if block is not None:
            lengths[block.mem_id] += len(line)
            blocks[block.mem_id] = block
    return [
        (blocks[at], n - linked[at])
        for at, n in lengths.items()
        if n >= _SHORTEST and linked[at] <= _MOST_LINKS * n
    ]


def _held(prose: Iterable[tuple[LexborNode, int]]) -> Counter[int]:
    """How much prose each element holds, with all that is in it."""
    held: Counter[int] = Counter()
    for block, n in prose:
        node: LexborNode | None = block
        while node is not None:
            held[node.mem_id] += n
            node = node.parent
    return held


def _smallest(body: LexborNode, held: Counter[int], enough: float) -> LexborNode:
    node = body
    while True:
        inner = next((child for child in node.iter() if held[child.mem_id] >= enough), None)
        if inner is None or inner.tag in ("p", "td", "tr", "tbody", "table", "ul", "ol", "li"):
            return node  # a page that is one paragraph or one table keeps what stands beside it
        node = inner


def _common(nodes: Sequence[LexborNode], body: LexborNode) -> LexborNode:
    """The nearest element that holds them all."""
    paths = [_path(node) for node in nodes]
    first = {node.mem_id for node in paths[0]}
    for path in paths[1:]:
        first &= {node.mem_id for node in path}
    return next((node for node in paths[0] if node.mem_id in first), body)


def _path(node: LexborNode | None) -> list[LexborNode]:
    found = []
    while node is not None:
        found.append(node)
        node = node.parent
    return found


def _within(node: LexborNode, tag: str) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.tag == tag:
            return True
        parent = parent.parent
    return False
