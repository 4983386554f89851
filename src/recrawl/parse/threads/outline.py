"""A page as a flat list of its elements, each with how much is said in it and which times it tells."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborNode

from recrawl.parse.html import UNSEEN
from recrawl.parse.threads.times import told

MOST_ELEMENTS = 200_000
_SHORT = 40  # characters of a text that may be nothing but a time
_TITLE = 60  # of an attribute that may be nothing but a time
_LONG = 90  # and of one that tells a time among other things: then with a clock
_CLOCK = re.compile(r"[0-9][:.h][0-9]{2}")
_TIMES = ("datetime", "data-time", "data-timestamp", "data-utime", "data-epoch")
_MUTE = frozenset({*UNSEEN, "head", "nav", "select", "textarea"})
_LINKED = frozenset({"a", "button", "label", "summary", "time"})


@dataclass(slots=True)
class Element:
    """One of them. What is counted is what stands in it or below it."""

    node: LexborNode
    tag: str
    words: tuple[str, ...]  # of its class
    parent: int
    depth: int
    mute: bool  # no text for readers
    linked: bool  # in a link or a button
    time: str = ""  # the time that it tells itself, as it is written
    end: int = 0  # the place after the last element below it
    n_times: int = 0
    n_said: int = 0  # characters outside links
    n_linked: int = 0  # characters in links
    n_own: int = 0  # characters that stand in it and in nothing below it


def outline(root: LexborNode) -> list[Element]:
    """In the order in which they stand: what is below an element follows it, up to its `end`."""
    elements: list[Element] = []
    places: dict[int, int] = {}
    known: dict[str, bool] = {}
    for node in root.traverse(include_text=True):
        around = node.parent
        parent = -1 if around is None else places.get(around.mem_id, -1)
        if node.tag == "-text":
            if parent >= 0:
                _hear(elements[parent], node.text_content or "", known)
            continue
        if not node.is_element_node:
            continue
        if len(elements) == MOST_ELEMENTS:
            break
        places[node.mem_id] = len(elements)
        elements.append(_element(node, parent, elements, known))
    for i in range(len(elements) - 1, -1, -1):
        one = elements[i]
        one.end = max(one.end, i + 1)
        one.n_times += bool(one.time)
        if one.parent >= 0:
            above = elements[one.parent]
            above.end = max(above.end, one.end)
            above.n_times += one.n_times
            above.n_said += one.n_said
            above.n_linked += one.n_linked
    return elements


def below(elements: Sequence[Element], i: int) -> list[int]:
    """The elements right below it."""
    found: list[int] = []
    at = i + 1
    while at < elements[i].end:
        found.append(at)
        at = elements[at].end
    return found


def step(one: Element) -> str:
    """What it is, as its like are: its tag, and a word of its class."""
    word = next((word for word in one.words if not any(c.isdigit() for c in word)), "")
    return f"{one.tag}.{word}" if word else one.tag


def _element(node: LexborNode, parent: int, elements: list[Element], known: dict[str, bool]) -> Element:
    attributes = node.attributes
    tag = node.tag or ""
    above = elements[parent] if parent >= 0 else None
    mute = tag in _MUTE or (above is not None and above.mute)
    time = next((value.strip() for name in _TIMES if (value := attributes.get(name))), "")
    if not time and not mute:
        title = (attributes.get("title") or "").strip()
        if title and len(title) <= _TITLE and any(c.isdigit() for c in title) and _tells(title, known):
            time = title
    return Element(
        node=node,
        tag=tag,
        words=tuple((attributes.get("class") or "").split()[:6]),
        parent=parent,
        depth=above.depth + 1 if above is not None else 0,
        mute=mute,
        linked=tag in _LINKED or (above is not None and above.linked),
        # An element within one that tells a time tells the same.
        time="" if mute or (above is not None and above.time) else time,
    )


def _hear(element: Element, text: str, known: dict[str, bool]) -> None:
    plain = " ".join(text.split())
    if not plain or element.mute:
        return
    if element.time:
        return
    if _tells(plain, known):
        element.time = plain
        return
    element.n_own += len(plain)
    if element.linked:
        element.n_linked += len(plain)
    else:
        element.n_said += len(plain)


def _tells(text: str, known: dict[str, bool]) -> bool:
    if len(text) > _LONG or text.isdecimal() or (len(text) > _SHORT and not _CLOCK.search(text)):
        return False
    if text not in known:
        known[text] = told(text)
    return known[text]
