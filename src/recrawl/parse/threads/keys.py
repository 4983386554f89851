"""What a page itself tells its posts apart by."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from recrawl.parse.threads.elements import attribute, digits, led
from recrawl.parse.threads.outline import Element

_LEAST_SHARE = 0.9
_THINGS = ("post", "comment", "message", "msg", "reply", "answer", "item", "entry", "node")
# Others name the author, the thread, or the post that is answered.
_DATA = ("data-id", *(f"data-{thing}{dash}id" for thing in _THINGS for dash in ("-", "", "_")))


def told_apart(elements: Sequence[Element], blocks: Sequence[tuple[int, ...]], url: str) -> list[str]:
    """An id, a data attribute, or an address of their own: the first of these that nearly all have and no two
    share. Empty where there is none."""
    for way in (_by_id, _by_data, _by_anchor, _by_link):
        found = [way(elements, block, url) for block in blocks]
        there = [key for key in found if key]
        if len(there) >= _LEAST_SHARE * len(blocks) and len(set(there)) == len(there):
            return found
    return [""] * len(blocks)


def _by_id(elements: Sequence[Element], block: tuple[int, ...], _: str) -> str:
    value = attribute(elements[block[0]].node, "id")
    return value if digits(value) else ""


def _by_data(elements: Sequence[Element], block: tuple[int, ...], _: str) -> str:
    attributes = elements[block[0]].node.attributes
    return next((value for name in _DATA if (value := attributes.get(name))), "")


def _by_anchor(elements: Sequence[Element], block: tuple[int, ...], _: str) -> str:
    for i in block[1:]:
        value = attribute(elements[i].node, "name") if elements[i].tag == "a" else ""
        value = value or attribute(elements[i].node, "id")
        if digits(value):
            return value
    return ""


def _by_link(elements: Sequence[Element], block: tuple[int, ...], url: str) -> str:
    """A link of the time, or to a place on this page."""
    for i in block:
        one = elements[i]
        if one.tag != "a" or not (href := attribute(one.node, "href")):
            continue
        place = urlsplit(href).fragment
        if digits(place):
            return place
        if one.n_times and digits(href):
            return led(url, href)
    return ""
