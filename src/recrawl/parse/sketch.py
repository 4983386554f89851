"""A page in outline: enough to tell what sort of page it is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from recrawl.model import Body
from recrawl.parse import charset as charsets
from recrawl.parse import html
from recrawl.parse.pool import ParseFailed, shared

_AROUND = "nav, header, footer, aside, [role=navigation], [role=banner], [role=contentinfo]"
# Dialogs that ask for consent, by what the tools that make them call them.
_CONSENT = (
    "#onetrust-consent-sdk, #onetrust-banner-sdk, #didomi-host, .qc-cmp2-container, #qc-cmp2-container, "
    "#CybotCookiebotDialog, .fc-consent-root, #usercentrics-root, #cmpbox, #cmpwrapper, #consent-wall, "
    "#cookie-wall, .cookie-wall, .cookiewall, .consent-wall, #gdpr-consent, [id^=sp_message_container]"
)
# A page in whose source, without capital letters, nothing of this stands has no such element. To look for it
# there is several times as fast as in the tree.
_NAMED = (re.compile(rb"id\s*="), re.compile(rb"class\s*="))
_NAMING_AROUND = (re.compile(b"<(?:nav|header|footer|aside)"), re.compile(rb"role\s*="))
_NAMING_SIGNS = (re.compile(b"<(?:script|iframe|form)"),)
_NAMING_INPUTS = (re.compile(b"<(?:form|input)"),)
_NAMING_HEADINGS = (re.compile(b"<h[12]"),)
_ADDRESSES = (("script", "src"), ("iframe", "src"), ("form", "action"))
_SIGNS = "script[src], iframe[src], form[action]"
_CHALLENGES = "[id*=captcha i], [class*=captcha i], [id*=challenge i], [class*=cf- i]"
# Scripts without spaces between words: two characters are taken for one.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_Naming = tuple[re.Pattern[bytes], ...]
_MOST_TEXT = 4_000  # characters of the text that are kept
_MOST_BODY = 100_000
_MOST_WORDS = 5_000  # that are told apart
_MOST_ADDRESSES = 100
_MOST_CHARACTERS = 300  # of a title, a heading or an address


@dataclass(frozen=True, slots=True)
class Sketch:
    title: str
    heading: str
    body: str  # what is read, without menus, headers and footers
    n_words: int  # in the same
    n_words_in_all: int  # with menus, headers and footers
    n_words_of_consent: int  # in dialogs that ask for consent, which are counted nowhere else
    n_passwords: int  # fields for one
    n_forms: int
    addresses: tuple[str, ...]  # of scripts, frames and the targets of forms
    names: frozenset[str]  # ids and classes of what may be a challenge's

    @property
    def text(self) -> str:
        """The beginning of what is read."""
        return self.body[:_MOST_TEXT]

    def words(self) -> frozenset[str]:
        """What is read, each word once and in lower case. Made only where two pages are compared."""
        spaced = self.body if self.body.isascii() else _UNSPACED.sub(r" \g<0> ", self.body)
        return frozenset(spaced.lower().split()[:_MOST_WORDS])


def sketch(body: Body, charset: str | None = None) -> Sketch | ParseFailed:
    if (large := html.too_large(body)) is not None:
        return large
    whole = bytes(body)
    return drawn(whole, charset) if html.tame(whole) else shared().run(drawn, whole, charset)


def drawn(body: bytes, charset: str | None) -> Sketch:
    """As `sketch`, here and now, for as long as it takes."""
    source = charsets.text(body, charset).encode("utf-8", "replace")
    lowered = source.lower()
    tree = LexborHTMLParser(source)
    signs = _chosen(tree, _SIGNS, lowered, _NAMING_SIGNS)
    addresses = tuple(
        (node.attributes.get(name) or "")[:_MOST_CHARACTERS].lower()
        for tag, name in _ADDRESSES
        for node in [node for node in signs if node.tag == tag and name in node.attributes][:_MOST_ADDRESSES]
    )
    names = frozenset(
        value.lower()
        for node in _chosen(tree, _CHALLENGES, lowered, _NAMED)[:20]
        for value in (node.attributes.get("id"), node.attributes.get("class"))
        if value
    )
    if tree.root is not None:
        html.strip(tree.root, lowered)
    title = _text(html.title(tree))
    heading = _text(tree.css_first("h1, h2") if _named(lowered, _NAMING_HEADINGS) else None)
    n_of_consent = _cut(_chosen(tree, _CONSENT, lowered, _NAMED))
    beside = _chosen(tree, _AROUND, lowered, _NAMING_AROUND)
    n_in_all = _n_words_in(tree.body) if beside else -1
    inputs = _chosen(tree, "form, input[type=password i]", lowered, _NAMING_INPUTS)
    n_forms = sum(node.tag == "form" for node in inputs)
    _cut(beside)
    found = tree.body.text(separator=" ").split() if tree.body is not None else []
    text = " ".join(found)
    n_words = len(found) + _n_unspaced(text) // 2
    return Sketch(
        title=title,
        heading=heading,
        body=text[:_MOST_BODY],
        n_words=n_words,
        n_words_in_all=n_words if n_in_all < 0 else n_in_all,
        n_words_of_consent=n_of_consent,
        n_passwords=len(inputs) - n_forms,
        n_forms=n_forms,
        addresses=addresses,
        names=names,
    )


def around(tree: LexborHTMLParser, lowered: bytes) -> list[LexborNode]:
    """What is no part of a sketch's body: menus, headers, footers, and dialogs that ask for consent."""
    return _chosen(tree, f"{_CONSENT}, {_AROUND}", lowered, _NAMED + _NAMING_AROUND)


def _chosen(tree: LexborHTMLParser, selector: str, lowered: bytes, naming: _Naming) -> list[LexborNode]:
    return tree.css(selector) if _named(lowered, naming) else []


def _named(lowered: bytes, naming: _Naming) -> bool:
    return any(pattern.search(lowered) for pattern in naming)


def _text(node: LexborNode | None) -> str:
    return "" if node is None else " ".join(node.text(separator=" ").split())[:_MOST_CHARACTERS]


def _n_words_in(node: LexborNode | None) -> int:
    return 0 if node is None else _n_words(node.text(separator=" "))


def _n_words(text: str) -> int:
    return len(text.split()) + _n_unspaced(text) // 2


def _n_unspaced(text: str) -> int:
    return 0 if text.isascii() else len(_UNSPACED.findall(text))


def _cut(nodes: Iterable[LexborNode]) -> int:
    """Cut them out of the tree; how many words went with them."""
    found = {node.mem_id: node for node in nodes}
    topmost = [node for node in found.values() if not _below(node, found)]
    n_words = sum(map(_n_words_in, topmost))
    for node in topmost:
        node.decompose()
    return n_words


def _below(node: LexborNode, others: dict[int, LexborNode]) -> bool:
    parent = node.parent
    while parent is not None:
        if parent.mem_id in others:
            return True
        parent = parent.parent
    return False
