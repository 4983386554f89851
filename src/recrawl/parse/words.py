"""The words of a page in reading order, as fast as they can be had: most visits ask for nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.model import Body
from recrawl.parse import charset as charsets
from recrawl.parse import html, sketch, spelling
from recrawl.parse.pool import ParseFailed, shared

MOST_BYTES = 1 << 20  # of a document; of a larger one the lines are read, as of one that is compared

_BETWEEN = "\x1f"  # white space, and in no page
# Two pieces of text that touch: whether they are one word depends on the elements between them.
_TOUCHING = re.compile(rf"{_BETWEEN}(?<=\S{_BETWEEN})(?=[\S{_BETWEEN}])")
_FEWEST = 500  # words: of a page with less to read nobody asks how many stand outside
_MOST_AROUND = 50  # elements; in a page with more of them nobody counts


@dataclass(frozen=True, slots=True)
class Words:
    text: str  # one space between two
    n_outside: int = 0  # so many at least stand outside menus, headers, footers and requests for consent


def words(body: Body, charset: str | None = None, *, count: bool = False) -> Words | ParseFailed:
    """Of an HTML document of at most `MOST_BYTES`. They are those of the lines that `page.read` gives. Those
    outside are counted where that is wanted."""
    whole = bytes(body)
    return told(whole, charset, count) if html.tame(whole) else shared().run(told, whole, charset, count)


def told(body: bytes, charset: str | None, count: bool) -> Words:
    """As `words`, here and now, for as long as it takes."""
    source = charsets.text(body, charset).encode("utf-8", "replace")
    lowered = source.lower()
    tree = LexborHTMLParser(source)
    root = tree.root
    if root is None:
        return Words("")
    html.strip(root, lowered)
    title = html.title(tree)
    name = "" if title is None else title.text()
    text = _apart(tree, root, lowered) or _joined(root)
    found = spelling.plain(f"{name}\n{text}").split()
    n_outside = _n_outside(tree, lowered, len(found) - len(name.split())) if count else 0
    return Words(" ".join(found), n_outside)


def _apart(tree: LexborHTMLParser, root: LexborNode, lowered: bytes) -> str | None:
    """The text piece by piece, where each piece begins and ends with a word of its own; else None. That is
    twice as fast, and hardly ever so in a large page."""
    body = tree.body
    plain = b"\0" not in lowered and b"<![" not in lowered  # else a text might not be all of it
    if body is None or not plain or len(lowered) > html.TAME_BYTES:
        return None
    if any(part.tag not in ("head", "body") for part in root.iter()):
        return None
    text = body.text(separator=_BETWEEN)
    return None if _TOUCHING.search(text) else text


def _joined(root: LexborNode) -> str:
    text = html.broken(root)
    if text is None:
        return "\n".join(line for _, line in html.below(root))
    return text.replace("\0", "\n")


def _n_outside(tree: LexborHTMLParser, lowered: bytes, n_words: int) -> int:
    around = sketch.around(tree, lowered) if n_words >= _FEWEST else []
    if len(around) > _MOST_AROUND:
        return 0
    for node in around:
        n_words -= len(node.text(separator=" ").split())
        if n_words < _FEWEST:  # what stands in one another counts more than once: stop before that takes long
            break
    return n_words if n_words >= _FEWEST else 0
