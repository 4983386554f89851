"""The text that a reader of an HTML page sees."""

from __future__ import annotations

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.model import Body
from recrawl.parse import charset as charsets
from recrawl.parse.pool import ParseFailed, shared

# What is not text for people, or is shown only where something else is missing.
_UNSEEN = ["script", "style", "template", "noscript", "noframes", "noembed", "iframe"]

# Elements that begin and end a line, so that the words on either side do not become one.
_BLOCKS = frozenset(
    re.findall(
        r"\w+",
        """
        address article aside audio blockquote body br button canvas caption center dd details dialog dir div
        dl dt fieldset figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 header hgroup hr html input
        legend li listing main menu nav object ol optgroup option p plaintext pre search section select
        summary table tbody td textarea tfoot th thead title tr ul video xmp
        """,
    )
)

# Some 20 KB of legal HTML keep the parser busy for seconds and fill 600 MB, because open formatting elements
# are made anew in every block: the cost grows with the square of the number of tags, or of the attributes in
# one tag. Depth cannot be told without parsing (a closing tag may close nothing), but both counts are bounded
# by the bytes and by the number of "<". The worst document that is still tame took 0.07 s and 80 MB.
_TAME_BYTES = 32 * 1024
_TAME_TAGS = 1_000
MOST_BYTES = 16 << 20  # of a document; what is larger is data for programs


def text(body: Body, charset: str | None = None) -> str | ParseFailed:
    """The visible text of an HTML document: one line for each block, single spaces between words.

    `charset` is what the Content-Type header said. A document that cannot be parsed within the limits gives
    a `ParseFailed`.
    """
    if len(body) > MOST_BYTES:
        return ParseFailed("size", f"{len(body):,} bytes are more than {MOST_BYTES:,}")
    whole = bytes(body)
    if tame(whole):
        return visible(whole, charset)
    return shared().run(visible, whole, charset)


def tame(body: bytes) -> bool:
    """Whether even the worst document of this shape is parsed at once, so that no other process is needed."""
    return len(body) <= _TAME_BYTES and body.count(b"<") <= _TAME_TAGS


def visible(body: bytes, charset: str | None) -> str:
    """As `text`, here and now, for as long as it takes."""
    tree = LexborHTMLParser(charsets.text(body, charset))
    root = tree.root
    if root is None:
        return ""
    title = tree.css_first("head > title")
    parts = [title.text() if title is not None else "", "\n"]
    if tree.head is not None:
        tree.head.decompose()
    root.strip_tags(_UNSEEN, recursive=True)
    parts.extend(_pieces(root))
    lines = (" ".join(line.split()) for line in "".join(parts).split("\n"))
    return "\n".join(line for line in lines if line)


def _pieces(root: LexborNode) -> list[str]:
    """Text nodes in order, with a newline wherever a block begins or ends between two of them."""
    pieces: list[str] = []
    block = -1
    for node in root.traverse(include_text=True):
        tag = node.tag
        if tag == "-text":
            around = _block(node)
            if around != block:
                pieces.append("\n")
                block = around
            # A line break in the source is no more than a space.
            pieces.append((node.text_content or "").replace("\n", " "))
        elif tag in _BLOCKS:
            pieces.append("\n")
    return pieces


def _block(node: LexborNode) -> int:
    parent = node.parent
    while parent is not None and parent.tag not in _BLOCKS:
        parent = parent.parent
    return -1 if parent is None else parent.mem_id
