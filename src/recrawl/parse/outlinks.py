"""Where a page leads to: its links to other places on the web, for whoever follows them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.errors import BadUrlError
from recrawl.model import Body, Header
from recrawl.parse import charset as charsets
from recrawl.parse import html
from recrawl.parse.pool import ParseFailed, shared
from recrawl.urls import MAX_URL_BYTES, joined

AGENT = "recrawl"  # the name by which a page may mean us, unless somebody calls us otherwise
MOST_LINKS = 6_000  # different addresses, the first ones
MOST_ELEMENTS = 60_000  # that are looked at for them

_FOLLOWED = "a[href], area[href], iframe[src], frame[src]"
_FORBIDDING = frozenset({"nofollow", "none"})
_OTHER_SCHEME = re.compile(r"(?!https?:)[a-z][a-z0-9+.\-]{0,30}:", re.IGNORECASE)
_PLAIN = re.compile(r"(?:/[A-Za-z0-9_-][A-Za-z0-9_.-]*)+/?|/")  # a path in canonical form
_MOST_PLAIN = 1_000  # characters
_IGNORED = re.compile(r"[\t\n\r]")  # by browsers, within a URL
# Rules of an X-Robots-Tag that have a colon themselves; before any other one stands a crawler's name.
_WITH_COLON = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})


@dataclass(frozen=True, slots=True)
class Outlink:
    """One link. Several to the same place are one: the first, which may be followed if any of them may."""

    url: str  # canonical
    nofollow: bool = False  # its author does not vouch for where it leads


def outlinks(
    body: Body, charset: str | None, url: str, headers: Iterable[Header] = (), *, agent: str = AGENT
) -> tuple[Outlink, ...] | ParseFailed:
    """The links of an HTML document that came from `url`, in its order, or why it cannot be read.

    `agent` is the name by which a page or the answer's headers may ask us alone to follow none of them.
    """
    if (large := html.too_large(body)) is not None:
        return large
    whole, every = bytes(body), forbids(headers, agent)
    if html.tame(whole):
        return found(whole, charset, url, agent, every)
    return shared().run(found, whole, charset, url, agent, every)


def found(body: bytes, charset: str | None, url: str, agent: str, nofollow: bool) -> tuple[Outlink, ...]:
    """As `outlinks`, here and now, for as long as it takes; with `nofollow` none may be followed."""
    tree = LexborHTMLParser(charsets.text(body, charset))
    every = nofollow or any(asks(node, agent) for node in tree.css("meta[name][content]"))
    base = _base(tree, url)
    known: dict[str, str | None] = {}  # what was written, and where it leads
    links: dict[str, Outlink] = {}
    for node, written in _written(tree):
        if written not in known:
            known[written] = _led(base, written)
        target = known[written]
        if target is None:
            continue
        before = links.get(target)
        if before is not None and not before.nofollow:
            continue
        if before is None and len(links) == MOST_LINKS:
            break
        links[target] = Outlink(target, every or "nofollow" in _rel(node))
    return tuple(links.values())


def forbids(headers: Iterable[Header], agent: str) -> bool:
    """Whether an X-Robots-Tag asks everybody, or us, to follow no link.

    >>> forbids([("X-Robots-Tag", "noindex, nofollow")], "recrawl")
    True
    >>> forbids([("X-Robots-Tag", "otherbot: noindex, nofollow")], "recrawl")
    False
    """
    for name, value in headers:
        if name.lower() != "x-robots-tag":
            continue
        meant = ""  # whom the rules are for: everybody
        for part in value.lower().split(","):
            before, colon, rest = part.strip().partition(":")
            if colon and before.strip() not in _WITH_COLON:
                meant, before = before.strip(), rest
            if meant in ("", agent) and before.strip() in _FORBIDDING:
                return True
    return False


def resolved(written: Iterable[str], url: str, base: str = "") -> tuple[str, ...]:
    """Where links of the document at `url` lead, each place once, in canonical form, the first ones; not to
    itself. `base` is what its base element says."""
    place = (_led(url, base) if base else None) or url
    origin = (_led(place, "/") or place).rstrip("/")
    found: dict[str, None] = {}
    for link in dict.fromkeys(written):
        path = link.removeprefix(origin)
        if len(path) <= _MOST_PLAIN and _PLAIN.fullmatch(path):
            target: str | None = (
                f"{origin}{path}"  # as it is, and most are: the long way takes ten times as long
            )
        else:
            target = None if not link or link.startswith("#") else _led(place, link)
        if target is not None and target != url:
            found[target] = None
            if len(found) == MOST_LINKS:
                break
    return tuple(found)


def asks(meta: LexborNode, agent: str) -> bool:
    """Whether a meta element asks everybody, or us, to follow no link."""
    said = meta.attributes
    if (said.get("name") or "").strip().lower() not in ("robots", agent):
        return False
    return any(part.strip() in _FORBIDDING for part in (said.get("content") or "").lower().split(","))


def _base(tree: LexborHTMLParser, url: str) -> str:
    node = tree.css_first("base[href]")
    said = (node.attributes.get("href") or "") if node is not None else ""
    return _led(url, said) or url


def _written(tree: LexborHTMLParser) -> Iterator[tuple[LexborNode, str]]:
    for n, node in enumerate(tree.css(_FOLLOWED)):
        if n == MOST_ELEMENTS:
            return
        said = node.attributes
        written = (said.get("href") if "href" in said else said.get("src")) or ""
        if written and not written.startswith("#"):
            yield node, written


def _led(base: str, written: str) -> str | None:
    """Where it leads, in canonical form; None where that is no place on the web."""
    text = _IGNORED.sub("", written).strip()
    if len(text) > MAX_URL_BYTES or _OTHER_SCHEME.match(text):
        return None
    text, hash_, _ = text.partition("#")
    if not text and hash_:
        return None
    # As browsers read it: a backslash is a slash as far as the path goes.
    path, mark, query = text.partition("?")
    try:
        return joined(base, f"{path.replace(chr(92), '/')}{mark}{query}".replace(" ", "%20"))
    except BadUrlError:
        return None


def _rel(node: LexborNode) -> list[str]:
    return (node.attributes.get("rel") or "").lower().split()
