"""Pages and style sheets whose links lead elsewhere: to what is kept of the same moment."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote, urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.model import Body
from recrawl.parse import charset as charsets
from recrawl.parse.html import MOST_BYTES, tame
from recrawl.parse.pool import ParseFailed, shared

_LINKS = ("href", "src", "poster", "background", "data", "xlink:href")
_SETS = ("srcset", "imagesrcset")
# What would name the window that a link opens, tell a third party, or ask for what a replayed answer lacks.
_DROPPED = ("target", "ping", "crossorigin", "integrity", "nonce", "attributionsrc")
# Connections to elsewhere that no policy of the page's server can forbid.
_AHEAD = frozenset({"preconnect", "dns-prefetch", "prefetch", "prerender", "preload", "modulepreload"})
_WEB = re.compile(r"https?://", re.IGNORECASE)
_IGNORED = re.compile(r"[\t\n\r]")  # by browsers, within a URL
_SAFE = "!#$%&*+,-./:;=?@[]_~"  # of what may stand in a URL, what means nothing in HTML and CSS

# Each repetition is bounded or ends at the next mark, so that no sheet takes more than linear time.
_CSS_LINK = re.compile(
    r"""url\(\s{0,20}(?:"([^"\n]{0,4096})"|'([^'\n]{0,4096})'|([^"'()\s]{0,4096}))\s{0,20}\)"""
    r"""|@import\s{1,20}(?:"([^"\n]{0,4096})"|'([^'\n]{0,4096})')""",
    re.IGNORECASE,
)
_CANDIDATE = re.compile(r"[\s,]*(\S+)([^,]*)(?:,|$)")


def page(body: Body, charset: str | None, base: str, prefix: str) -> str | ParseFailed:
    """An HTML document whose links begin with `prefix` and go on with what they meant, as absolute URLs."""
    return _bounded(relinked_page, body, charset, base, prefix)


def sheet(body: Body, charset: str | None, base: str, prefix: str) -> str | ParseFailed:
    """The same for CSS."""
    return _bounded(relinked_sheet, body, charset, base, prefix)


def _bounded(
    function: Callable[[bytes, str | None, str, str], str],
    body: Body,
    charset: str | None,
    base: str,
    prefix: str,
) -> str | ParseFailed:
    if len(body) > MOST_BYTES:
        return ParseFailed("size", f"{len(body):,} bytes are more than {MOST_BYTES:,}")
    whole = bytes(body)
    if tame(whole):
        return function(whole, charset, base, prefix)
    return shared().run(function, whole, charset, base, prefix)


def relinked_sheet(body: bytes, charset: str | None, base: str, prefix: str) -> str:
    return _in_style(charsets.text(body, charset), base, prefix)


def relinked_page(body: bytes, charset: str | None, base: str, prefix: str) -> str:
    """As `page`, here and now, for as long as it takes."""
    tree = LexborHTMLParser(charsets.text(body, charset))
    base = _base(tree, base)
    for node in tree.css("base, meta[http-equiv]"):
        node.decompose()
    for node in tree.css("link[rel]"):
        if _AHEAD & set((node.attributes.get("rel") or "").lower().split()):
            node.decompose()
    for node in tree.css("*"):
        _relink(node, base, prefix)
    for node in tree.css("style"):
        text = node.child
        if text is not None and text.tag == "-text":
            text.replace_with(_in_style(text.text_content or "", base, prefix))
    return tree.html or ""


def _base(tree: LexborHTMLParser, base: str) -> str:
    found = tree.css_first("base[href]")
    said = found.attributes.get("href") if found is not None else None
    joined = _joined(base, said or "")
    return joined or base


def _relink(node: LexborNode, base: str, prefix: str) -> None:
    said = node.attributes
    if not said:
        return
    for name in _DROPPED:
        if name in said:
            del node.attrs[name]
    for name in _LINKS:
        target = said.get(name)
        if target and not target.startswith("#"):
            node.attrs[name] = _led(target, base, prefix)
    for name in _SETS:
        if candidates := said.get(name):
            parts = (
                _led(url.rstrip(","), base, prefix) + size for url, size in _CANDIDATE.findall(candidates)
            )
            node.attrs[name] = ", ".join(parts)
    if style := said.get("style"):
        node.attrs["style"] = _in_style(style, base, prefix)


def _in_style(text: str, base: str, prefix: str) -> str:
    def led(found: re.Match[str]) -> str:
        target = next((group for group in found.groups() if group), "")
        if not target or target.startswith("#"):
            return found[0]
        leads = _led(target, base, prefix)
        if leads == target:
            return found[0]
        return f'@import "{leads}"' if found[0].startswith("@") else f'url("{leads}")'

    return _CSS_LINK.sub(led, text)


def _led(target: str, base: str, prefix: str) -> str:
    """Where it leads to now; what is no link to the web stays as it is."""
    joined = _joined(base, target)
    return target if joined is None else prefix + joined


def _joined(base: str, target: str) -> str | None:
    try:
        joined = urljoin(base, _IGNORED.sub("", target).strip())
    except ValueError:
        return None
    return quote(joined, safe=_SAFE) if _WEB.match(joined) else None
