"""Pages for people: only the words that they see count."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from recrawl.detect import edits, selectors
from recrawl.detect.exact import Exact
from recrawl.detect.masks import Masks
from recrawl.detect.spots import Placed, parts, unmasked
from recrawl.detect.unread import noted
from recrawl.model import Changed, Lens, Part, Snapshot, Verdict
from recrawl.parse import charset, html, page, spelling
from recrawl.parse import words as pagewords
from recrawl.parse.bags import counted
from recrawl.parse.page import Reading, View
from recrawl.parse.pool import ParseFailed
from recrawl.parse.words import Words

HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXTUAL = frozenset(
    {"application/json", "application/xml", "application/javascript", "application/ecmascript"}
)
_MOST_CHARACTERS = 4 << 20  # as words they take up some 30 times as much memory
_COUNTS = "counts"
_PLACE = "text"  # of every line of a document without elements


class Text:
    """Two snapshots are the same when they show the same words in the same order.

    Of HTML that is the visible text, of other text all of it; what holds no text, or more than a person
    could read, is judged by its bytes. A lens may choose elements, leave some out and mask lines. The
    fingerprint of a document that cannot be parsed is empty, and the verdict on it unknown.
    """

    name = "text"

    def fingerprint(self, snapshot: Snapshot) -> str:
        words = _words(snapshot)
        if isinstance(words, Words):
            return _digest(words.text)
        reading = words if isinstance(words, ParseFailed) else _read(snapshot)
        if reading is None:
            return Exact().fingerprint(snapshot)
        if isinstance(reading, ParseFailed):
            return noted(snapshot, reading)
        # No word holds a zero byte: what is looked for and not found is no empty text.
        return _digest(" ".join(edits.words(_lines(reading, snapshot.lens))) if reading.found else "\0")

    def compare(self, before: Snapshot, after: Snapshot) -> Verdict:
        """The magnitude is the share of words, of both together, that the other one lacks."""
        # Whoever keeps what is read asks for the places next.
        old, new = (_read(side, placed=side.memo is not None) for side in (before, after))
        for reading, which in ((old, "earlier"), (new, "new")):
            if isinstance(reading, ParseFailed):
                why = f"the {which} copy cannot be parsed ({reading.reason}: {reading.detail})"
                return Verdict(changed=Changed.UNKNOWN, evidence=why)
        if isinstance(old, Reading) and isinstance(new, Reading):
            if old.found and new.found:
                return _verdict(_lines(old, before.lens), _lines(new, after.lens))
            return _verdict_on_looking(old.found, new.found, after.lens)
        if old is new:
            return Exact().compare(before, after)
        evidence = "it no longer holds text to read" if new is None else "it holds text to read now"
        return Verdict(changed=Changed.YES, magnitude=1.0, evidence=evidence)

    def differing(self, before: Snapshot, after: Snapshot) -> Sequence[Part]:
        """Line by line, each at its place in the page."""
        old, new = _read(before, placed=True), _read(after, placed=True)
        if not (isinstance(old, Reading) and isinstance(new, Reading) and old.found and new.found):
            return ()
        return parts(Placed(old.lines, old.places), Placed(new.lines, new.places))

    def at_once(self, snapshot: Snapshot) -> bool:
        """Whether its fingerprint is had within a moment, whatever is in it."""
        lens, size = snapshot.lens, len(snapshot.body)
        if lens.include or lens.ignore or lens.main or lens.masks or size > html.TAME_BYTES:
            return False
        return not is_html(snapshot) or html.tame(bytes(snapshot.body))

    def words(self, snapshot: Snapshot) -> dict[str, int] | None:
        """How often each occurs of those that count; None where there is nothing to read."""
        known = _words(snapshot)
        if isinstance(known, Words):
            return counted(known.text)
        reading = known if isinstance(known, ParseFailed) else _read(snapshot)
        if not isinstance(reading, Reading) or not reading.found:
            return None
        return counted("\n".join(_lines(reading, snapshot.lens)))

    def unmatched(self, snapshot: Snapshot) -> str:
        """What to tell of a page on which nothing is found that its lens includes; else nothing."""
        if not snapshot.lens.include:
            return ""
        lens = replace(snapshot.lens, masks=())
        if not _view(lens, placed=False).include or not is_html(snapshot):
            return ""
        reading = _read(replace(snapshot, lens=lens))
        return "" if not isinstance(reading, Reading) or reading.found else selectors.nothing(lens.include)


def lines(snapshot: Snapshot) -> list[str] | None:
    """What counts of it, line by line; None where it holds no text that can be read."""
    reading = _read(snapshot)
    return _lines(reading, snapshot.lens) if isinstance(reading, Reading) else None


def count_outside(snapshot: Snapshot) -> None:
    """Have the fingerprint count the words that `n_words_outside` tells. Where that will be asked for, the
    page is saved from being read again; where not, some time is lost."""
    if snapshot.memo is not None:
        snapshot.memo[_COUNTS] = True


def n_words_outside(snapshot: Snapshot) -> int:
    """At least so many words of a page stand outside its menus, headers, footers and requests for consent, as
    far as its fingerprint has shown."""
    found = (snapshot.memo or {}).get(Words)
    return found.n_outside if isinstance(found, Words) else 0


def _digest(content: str) -> str:
    return f"sha256:{hashlib.sha256(content.encode('utf-8', 'surrogatepass')).hexdigest()}"


def _words(snapshot: Snapshot) -> Words | ParseFailed | None:
    """What a fingerprint is made of, where that is all words of a page; None where its lines must be read."""
    lens = snapshot.lens
    if lens.include or lens.ignore or lens.main or lens.masks or not is_html(snapshot):
        return None
    memo = {} if snapshot.memo is None else snapshot.memo
    if len(snapshot.body) > pagewords.MOST_BYTES or View(placed=True) in memo:
        return None
    found = memo[Words] = memo.get(Words) or pagewords.words(
        snapshot.body, snapshot.charset, count=_COUNTS in memo
    )
    return found if isinstance(found, Words | ParseFailed) else None


def _read(snapshot: Snapshot, *, placed: bool = False) -> Reading | ParseFailed | None:
    """What a reader sees, line by line; None where there is nothing to read."""
    view = _view(snapshot.lens, placed=placed or bool(snapshot.lens.masks))
    if snapshot.memo is None:
        return _reading(snapshot, view)
    kept = snapshot.memo.get(replace(view, placed=True), snapshot.memo.get(view))
    if isinstance(kept, Reading):
        return kept
    found = snapshot.memo[view] = _reading(snapshot, view)
    return found


def _reading(snapshot: Snapshot, view: View) -> Reading | ParseFailed | None:
    beginning = snapshot.body[:1024]
    if is_html(snapshot):
        if len(snapshot.body) > html.MOST_BYTES:
            return None
        reading = page.read(snapshot.body, snapshot.charset, view)
        if isinstance(reading, ParseFailed):
            return reading
        return reading if sum(map(len, reading.lines)) <= _MOST_CHARACTERS else None
    media_type = snapshot.media_type.lower()
    if _textual(media_type) and b"\0" not in beginning and len(snapshot.body) <= _MOST_CHARACTERS:
        found = spelling.plain(charset.text(snapshot.body, snapshot.charset)).splitlines()
        return Reading(found, [_PLACE] * len(found) if view.placed else [])
    return None


def is_html(snapshot: Snapshot) -> bool:
    media_type = snapshot.media_type.lower()
    return media_type in HTML or (not media_type and snapshot.body[:1024].lstrip()[:1] == b"<")


def _textual(media_type: str) -> bool:
    kind, _, subtype = media_type.partition("/")
    return kind in ("", "text") or media_type in _TEXTUAL or subtype.endswith(("+xml", "+json"))


def _view(lens: Lens, *, placed: bool) -> View:
    include, ignore = (
        tuple((one.language.value, one.expression) for one in selectors.speaking(said, *selectors.PAGE))
        for said in (lens.include, lens.ignore)
    )
    return View(include=include, ignore=ignore, main=lens.main, placed=placed)


def _lines(reading: Reading, lens: Lens) -> list[str]:
    masks = Masks(lens.masks)
    return list(unmasked(Placed(reading.lines, reading.places), masks)) if masks else reading.lines


def _verdict_on_looking(found_before: bool, found_after: bool, lens: Lens) -> Verdict:
    if found_before == found_after:
        return Verdict(changed=Changed.NO, evidence=f"still {selectors.nothing(lens.include)}")
    evidence = (
        f"what is looked for is gone: {selectors.nothing(lens.include)}"
        if found_before
        else "what is looked for is there now"
    )
    return Verdict(changed=Changed.YES, magnitude=1.0, evidence=evidence)


def _verdict(old_lines: Sequence[str], new_lines: Sequence[str]) -> Verdict:
    old, new = edits.words(old_lines), edits.words(new_lines)
    if old == new:
        return Verdict(changed=Changed.NO, evidence="the same words")
    # Lines that stayed have the same words on both sides: only the others need be counted.
    changes = edits.edits(old_lines, new_lines)
    if changes is None:
        changes = [edits.Edit(0, len(old_lines), 0, len(new_lines))]
    had = Counter(edits.words([line for edit in changes for line in old_lines[edit.i1 : edit.i2]]))
    has = Counter(edits.words([line for edit in changes for line in new_lines[edit.j1 : edit.j2]]))
    added, removed = _more(has, had), _more(had, has)
    n_added, n_removed = sum(added.values()), sum(removed.values())

    def telling(went: Sequence[str], came: Sequence[str]) -> bool:
        """What only moved tells little, unless nothing did anything else."""
        other = any(word in removed for word in went) or any(word in added for word in came)
        return other or not (n_added or n_removed)

    seen = edits.shown(old_lines, new_lines, changes, telling)
    said = _counts(n_added, n_removed) if n_added or n_removed else "the same words in another order"
    return Verdict(
        changed=Changed.YES,
        magnitude=(n_added + n_removed) / (len(old) + len(new)),
        evidence=f'{said}: "{seen}"' if seen else said,
    )


def _more(some: Mapping[str, int], others: Mapping[str, int]) -> dict[str, int]:
    """How much more often there is a word here than there; faster than taking counters from each other."""
    there = dict(others).get
    return {word: n - there(word, 0) for word, n in some.items() if n > there(word, 0)}


def _counts(n_added: int, n_removed: int) -> str:
    """`3 words added, 1 removed`."""
    counts = [(n_added, "added"), (n_removed, "removed")]
    (first, what), *rest = [(n, done) for n, done in counts if n]
    said = f"{first:,} {'word' if first == 1 else 'words'} {what}"
    return ", ".join([said, *(f"{n:,} {done}" for n, done in rest)])
