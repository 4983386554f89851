"""Pages for people: only the words that they see count."""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import islice

from recrawl.detect.exact import Exact
from recrawl.model import Changed, Snapshot, Verdict
from recrawl.parse import charset, html
from recrawl.parse.pool import ParseFailed

HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXTUAL = frozenset(
    {"application/json", "application/xml", "application/javascript", "application/ecmascript"}
)
_MOST_CHARACTERS = 4 << 20  # as words they take up some 30 times as much memory
_SHOWN_WORDS = 5  # on each side
_SHOWN_CHARACTERS = 24  # of a word


class Text:
    """Two snapshots are the same when they show the same words in the same order.

    Of HTML that is the visible text, of other text all of it; what holds no text, or more than a person
    could read, is judged by its bytes. The fingerprint of a document that cannot be parsed is empty, and the
    verdict on it unknown.
    """

    name = "text"

    def fingerprint(self, snapshot: Snapshot) -> str:
        words = _words(snapshot)
        if words is None:
            return Exact().fingerprint(snapshot)
        if isinstance(words, ParseFailed):
            return ""
        content = " ".join(words).encode("utf-8", "surrogatepass")
        return f"sha256:{hashlib.sha256(content).hexdigest()}"

    def compare(self, before: Snapshot, after: Snapshot) -> Verdict:
        """The magnitude is the share of words, of both together, that the other one lacks."""
        old, new = _words(before), _words(after)
        for words, which in ((old, "earlier"), (new, "new")):
            if isinstance(words, ParseFailed):
                why = f"the {which} copy cannot be parsed ({words.reason}: {words.detail})"
                return Verdict(changed=Changed.UNKNOWN, evidence=why)
        if isinstance(old, list) and isinstance(new, list):
            return _verdict(old, new)
        if old is new:
            return Exact().compare(before, after)
        evidence = "it no longer holds text to read" if new is None else "it holds text to read now"
        return Verdict(changed=Changed.YES, magnitude=1.0, evidence=evidence)


def _words(snapshot: Snapshot) -> list[str] | ParseFailed | None:
    """What a reader sees, word by word; None where there is nothing to read."""
    media_type = snapshot.media_type.lower()
    beginning = snapshot.body[:1024]
    if media_type in HTML or (not media_type and beginning.lstrip()[:1] == b"<"):
        if len(snapshot.body) > html.MOST_BYTES:
            return None
        seen = html.text(snapshot.body, snapshot.charset)
        if isinstance(seen, ParseFailed):
            return seen
    elif _textual(media_type) and b"\0" not in beginning and len(snapshot.body) <= _MOST_CHARACTERS:
        seen = charset.text(snapshot.body, snapshot.charset)
    else:
        return None
    return seen.split() if len(seen) <= _MOST_CHARACTERS else None


def _textual(media_type: str) -> bool:
    kind, _, subtype = media_type.partition("/")
    return kind in ("", "text") or media_type in _TEXTUAL or subtype.endswith(("+xml", "+json"))


def _verdict(old: list[str], new: list[str]) -> Verdict:
    if old == new:
        return Verdict(changed=Changed.NO, evidence="the same words")
    had, has = Counter(old), Counter(new)
    added, removed = has - had, had - has
    n_added, n_removed = added.total(), removed.total()
    if not n_added and not n_removed:
        return Verdict(changed=Changed.YES, evidence="the same words in another order")
    return Verdict(
        changed=Changed.YES,
        magnitude=(n_added + n_removed) / (len(old) + len(new)),
        evidence=f'{_counts(n_added, n_removed)}: "{_shown(added, removed)}"',
    )


def _counts(n_added: int, n_removed: int) -> str:
    """`3 words added, 1 removed`."""
    counts = [(n_added, "added"), (n_removed, "removed")]
    (first, what), *rest = [(n, done) for n, done in counts if n]
    said = f"{first:,} {'word' if first == 1 else 'words'} {what}"
    return ", ".join([said, *(f"{n:,} {done}" for n, done in rest)])


def _shown(added: Counter[str], removed: Counter[str]) -> str:
    parts = [
        f"{sign}{_clipped(word)}" for sign, words in (("+", added), ("−", removed)) for word in _first(words)
    ]
    more = len(added) > _SHOWN_WORDS or len(removed) > _SHOWN_WORDS
    return " ".join(parts) + (" …" if more else "")


def _first(words: Counter[str]) -> list[str]:
    return list(islice(words, _SHOWN_WORDS))


def _clipped(word: str) -> str:
    """Evidence is read on terminals too: nothing in it may steer one."""
    clean = "".join(c if c.isprintable() else "�" for c in word[:_SHOWN_CHARACTERS])
    return f"{clean}…" if len(word) > _SHOWN_CHARACTERS else clean
