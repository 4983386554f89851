"""A page, read through what its reader cares for: chosen elements, the main content, or all of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.model import Body
from recrawl.parse import charset as charsets
from recrawl.parse import content, html, places, select, spelling
from recrawl.parse.pool import ParseFailed, shared

Selectors = tuple[tuple[str, str], ...]  # pairs of language ("css", "xpath") and expression
VALUE = "value"  # the place of what is no element: an attribute, a count


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What of a page is read. What is ignored is left out first, then only main content and what is included
    is kept."""

    include: Selectors = ()
    ignore: Selectors = ()
    main: bool = False
    placed: bool = False  # whether the place of every line is wanted


_WHOLE = View()


@dataclass(frozen=True, slots=True)
class Reading:
    """The lines that were read; `found` is False where nothing is there that was to be included."""

    lines: list[str]
    places: list[str]  # of each line; empty where they were not wanted
    found: bool = True


def read(body: Body, charset: str | None = None, view: View = View()) -> Reading | ParseFailed:  # noqa: B008
    """What is read of an HTML document, or why it cannot be."""
    if (large := html.too_large(body)) is not None:
        return large
    whole = bytes(body)
    # To choose elements can take the square, or worse, of how many there are.
    if html.tame(whole) and not (view.include or view.ignore or view.main):
        return reading(whole, charset, view)
    return shared().run(reading, whole, charset, view)


def reading(body: bytes, charset: str | None, view: View) -> Reading:
    """As `read`, here and now, for as long as it takes."""
    tree = LexborHTMLParser(charsets.text(body, charset))
    found = True
    if view == _WHOLE:
        lines = html.all_lines(tree)
        return Reading(spelling.plain("\n".join(lines)).split("\n") if lines else [], [])
    if view.include or view.ignore or view.main:
        chosen = _chosen(tree, view)
        found = chosen is not None
        read = [] if chosen is None else list(chosen)
    else:
        read = list(html.seen(tree))
    lines = spelling.plain("\n".join(line for _, line in read)).split("\n") if read else []
    return Reading(lines, _places(read) if view.placed else [], found)


def _places(read: Iterable[content.Line]) -> list[str]:
    known = places.Places()
    return [VALUE if block is None else known.place(block) for block, _ in read]


def _chosen(tree: LexborHTMLParser, view: View) -> list[content.Line] | None:
    """The lines that count; None where nothing is there that was to be included."""
    root = tree.root
    if root is None:
        return None if view.include else []
    # Everything is chosen before anything is cut out, since that moves the rest.
    wanted = [_as_it_stands(one) for one in select.chosen(tree, view.include)]
    outside = [node for node in select.chosen(tree, view.ignore) if isinstance(node, LexborNode)]
    outside += tree.css(",".join(html.UNSEEN))
    if any(node.mem_id == root.mem_id for node in outside):
        return None if view.include else []
    wanted = _cut(outside, wanted)
    if view.main:
        wanted = _cut(content.around(tree), wanted)
    if view.include and not wanted:
        return None
    heart = content.main(tree) if view.main else None
    if view.include:
        return [line for one in _apart(wanted) for line in _lines(one, heart)]
    return list(html.lines(heart or tree.body or root) if view.main else html.seen(tree))


def _as_it_stands(one: select.Chosen) -> select.Chosen:
    """A script is not seen, but somebody who chose it wants to read it."""
    return one.text() if isinstance(one, LexborNode) and one.tag in html.UNSEEN else one


def _cut(outside: list[LexborNode], wanted: Iterable[select.Chosen]) -> list[select.Chosen]:
    """Cut these out of the tree; what is left of the wanted. Nothing that was within them may be touched."""
    ids = {node.mem_id for node in outside}
    left = [one for one in wanted if isinstance(one, str) or not (one.mem_id in ids or _below(one, ids))]
    topmost = {node.mem_id: node for node in outside if not _below(node, ids)}
    for node in topmost.values():
        node.decompose()
    return left


def _apart(wanted: list[select.Chosen]) -> list[select.Chosen]:
    """Without elements that come again, alone or within another."""
    found: list[select.Chosen] = []
    known: set[int] = set()
    every = {one.mem_id for one in wanted if not isinstance(one, str)}
    for one in wanted:
        if not isinstance(one, str):
            if one.mem_id in known or _below(one, every):
                continue
            known.add(one.mem_id)
        found.append(one)
    return found


def _lines(one: select.Chosen, heart: LexborNode | None) -> Iterator[content.Line]:
    if isinstance(one, str):
        if line := " ".join(one.split()):
            yield None, line
    elif heart is None or one.mem_id == heart.mem_id or _below(one, {heart.mem_id}):
        yield from html.lines(one)
    elif _below(heart, {one.mem_id}):
        yield from html.lines(heart)


def _below(node: LexborNode, ids: set[int]) -> bool:
    """Whether one of these is around it."""
    parent = node.parent
    while parent is not None:
        if parent.mem_id in ids:
            return True
        parent = parent.parent
    return False
