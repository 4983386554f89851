"""Where on a page a line stands, in a few words that an edit elsewhere does not change.

`footer>p.made` and `#news>ul>li` name the elements from the nearest landmark or id down to the line's own.
Positions are left out, so that what is put in above moves nothing; so are names that look made up, since
they are others on the next visit.
"""

from __future__ import annotations

import re
from functools import lru_cache

from selectolax.lexbor import LexborNode

_ANCHORS = frozenset({"header", "nav", "main", "aside", "footer", "dialog", "body", "html", "head", "title"})
_N_BELOW = 5  # elements that are named below the landmark; the nearest to the line count
_MOST_STEPS = 50  # that are kept of the way to an element
_SHORTEST_HUMP = 3
_HEXADECIMAL = re.compile(r"[0-9a-f]{6,}")


class Places:
    """The places of the blocks of one page; the way to each element is found once."""

    def __init__(self) -> None:
        self._ways: dict[int, tuple[str, ...]] = {}
        self._places: dict[int, str] = {}

    def place(self, block: LexborNode) -> str:
        """The path to a block; that of the page's title is `title`."""
        at = block.mem_id
        if at not in self._places:
            way = self._way(block)
            if len(way) > _N_BELOW + 1:
                way = (way[0], "…", *way[-_N_BELOW:])
            self._places[at] = ">".join(way) or "body"
        return self._places[at]

    def _way(self, block: LexborNode) -> tuple[str, ...]:
        """The elements from the nearest landmark or id down to this one."""
        below: list[tuple[int, str]] = []
        way: tuple[str, ...] = ()
        node: LexborNode | None = block
        while node is not None:
            at, tag = node.mem_id, node.tag or ""
            if at in self._ways or tag.startswith("-"):
                way = self._ways.get(at, ())
                break
            attributes = node.attributes
            name = attributes.get("id")
            named = bool(name) and lasting(name or "")
            below.append((at, f"#{name}" if named else tag + _class(attributes.get("class"))))
            node = None if named or tag in _ANCHORS else node.parent
        for at, step in reversed(below):
            # What lies deep is known by its landmark and by what is near.
            way = (*way, step) if len(way) < _MOST_STEPS else (way[0], *way[-_N_BELOW:], step)
            self._ways[at] = way
        return way


def _class(names: str | None) -> str:
    return next((f".{name}" for name in (names or "").split()[:8] if lasting(name)), "")


@lru_cache(maxsize=4096)
def lasting(name: str) -> bool:
    """Whether a name looks as if a person had given it: words, perhaps with a small number.

    >>> [lasting(name) for name in ("top", "price-2", "navBar", "css-1q2w3e", "sc-bdVaJa", "post-81723")]
    [True, True, True, False, False, False]
    """
    if len(name) > 40 or not re.fullmatch(r"[\w-]+", name):
        return False
    parts = [part for part in re.split(r"[-_]+", name) if part]
    return any(map(str.isalpha, name)) and all(map(_spoken, parts))


def _spoken(part: str) -> bool:
    if part.isdigit():
        return len(part) <= 2
    letters = part.rstrip("0123456789")
    if not letters.isalpha() or len(part) - len(letters) > 2:
        return False
    if len(letters) >= 5 and not re.search(r"[aeiouyäöü]", letters.lower()) and letters.isascii():
        return False
    if _HEXADECIMAL.fullmatch(part):
        return False
    if letters.isupper() or letters.islower():
        return True
    humps = re.findall(r"[A-Z]?[^A-Z]+|[A-Z]+", letters)
    return all(len(hump) >= _SHORTEST_HUMP for hump in humps)
