"""The text that a reader of an HTML page sees."""

from __future__ import annotations

import re
from collections.abc import Iterator

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.model import Body
from recrawl.parse import charset as charsets
from recrawl.parse.pool import ParseFailed, shared

# What is not text for people, or is shown only where something else is missing.
UNSEEN = ("script", "style", "template", "noscript", "noframes", "noembed", "iframe")
_NAMING_UNSEEN = re.compile(f"<(?:{'|'.join(UNSEEN)})".encode())

# Elements that begin and end a line, so that the words on either side do not become one.
BLOCKS = frozenset(
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

_BLOCK_TAG = re.compile(rf"</?(?:{'|'.join(sorted(BLOCKS))})(?:\s[^<>]*)?>")
_TAG = re.compile(r"<[^<>]*>")

# Some 20 KB of legal HTML keep the parser busy for seconds and fill 600 MB, because open formatting elements
# are made anew in every block: the cost grows with the square of the number of tags, or of the attributes in
# one tag. Depth cannot be told without parsing (a closing tag may close nothing), but both counts are bounded
# by the bytes and by the number of "<". The worst document that is still tame took 0.07 s and 80 MB.
TAME_BYTES = 32 * 1024
_TAME_TAGS = 1_000
MOST_BYTES = 16 << 20  # of a document; what is larger is data for programs


def text(body: Body, charset: str | None = None) -> str | ParseFailed:
    """The visible text of an HTML document: one line for each block, single spaces between words.

    `charset` is what the Content-Type header said. A document that cannot be parsed within the limits gives
    a `ParseFailed`.
    """
    if (large := too_large(body)) is not None:
        return large
    whole = bytes(body)
    if tame(whole):
        return visible(whole, charset)
    return shared().run(visible, whole, charset)


def too_large(body: Body) -> ParseFailed | None:
    if len(body) <= MOST_BYTES:
        return None
    return ParseFailed("size", f"{len(body):,} bytes are more than {MOST_BYTES:,}")


def tame(body: bytes) -> bool:
    """Whether even the worst document of this shape is parsed at once, so that no other process is needed."""
    return len(body) <= TAME_BYTES and body.count(b"<") <= _TAME_TAGS


def visible(body: bytes, charset: str | None) -> str:
    """As `text`, here and now, for as long as it takes."""
    return "\n".join(all_lines(LexborHTMLParser(charsets.text(body, charset))))


def all_lines(tree: LexborHTMLParser) -> list[str]:
    """The lines that `seen` gives, without their blocks: several times as fast, as no node is looked at."""
    root = tree.root
    if root is None:
        return []
    root.strip_tags(list(UNSEEN), recursive=True)
    text = broken(root)
    if text is None:
        return [line for _, line in seen(tree)]
    title = tree.css_first("head > title")
    pieces = [title.text() if title is not None else "", *text.split("\x00")]
    return [line for piece in pieces if (line := " ".join(piece.split()))]


def strip(root: LexborNode, lowered: bytes) -> None:
    """Cut out of the tree what is not seen. `lowered` is the source in UTF-8 without capital letters: what is
    not named in it need not be looked for."""
    if _NAMING_UNSEEN.search(lowered):
        root.strip_tags(list(UNSEEN), recursive=True)


def title(tree: LexborHTMLParser) -> LexborNode | None:
    head = tree.head
    return None if head is None else next((node for node in head.iter() if node.tag == "title"), None)


def broken(root: LexborNode) -> str | None:
    """The text of a tree from which the unseen is cut, without the title, and with a zero byte wherever a
    line begins or ends.

    Read off the tree as it is written out: there `<` and `>` stand nowhere but around tags, and in what is
    not written out as text. Where they do, or might, it is None: every node must be looked at after all.
    """
    written = "".join(part.html or "" for part in root.iter() if part.tag != "head")
    first, *others = written.split("<!--")
    written = first + "".join(other.partition("-->")[2] for other in others)
    text = _TAG.sub("", _BLOCK_TAG.sub("\x00", written))
    if "<" in text or "\x00" in written or "<xmp" in written or "<plaintext" in written:
        return None
    return text.replace("&nbsp;", " ").replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def seen(tree: LexborHTMLParser) -> Iterator[tuple[LexborNode | None, str]]:
    """The title and then every line, each with the block that it stands in. What is not seen is cut out of
    the tree."""
    root = tree.root
    if root is None:
        return
    root.strip_tags(list(UNSEEN), recursive=True)
    title = tree.css_first("head > title")
    if title is not None and (line := " ".join(title.text().split())):
        yield title, line
    yield from below(root)


def below(root: LexborNode) -> Iterator[tuple[LexborNode | None, str]]:
    """Every line of a tree from which the unseen is cut, but for the title."""
    for part in root.iter():
        if part.tag != "head":
            yield from lines(part)


def lines(root: LexborNode) -> Iterator[tuple[LexborNode | None, str]]:
    """Every line below an element: it begins wherever a block begins or ends between two pieces of text."""
    pieces: list[str] = []
    inside: LexborNode | None = None
    inside_id = -1
    for node in root.traverse(include_text=True):
        tag = node.tag
        if tag == "-text":
            around = block(node)
            around_id = -1 if around is None else around.mem_id
            if around_id != inside_id:
                if pieces and (line := " ".join("".join(pieces).split())):
                    yield inside, line
                pieces, inside, inside_id = [], around, around_id
            pieces.append(node.text_content or "")
        elif tag in BLOCKS and pieces:
            if line := " ".join("".join(pieces).split()):
                yield inside, line
            pieces, inside, inside_id = [], None, -1
    if line := " ".join("".join(pieces).split()):
        yield inside, line


def block(node: LexborNode) -> LexborNode | None:
    """The element whose line the node is part of."""
    parent = node.parent
    while parent is not None and parent.tag not in BLOCKS:
        parent = parent.parent
    return parent
