"""Versions as people ask for them: the one in force at a moment, its text, and what differs between two."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recrawl.app.quantity import instant, iso
from recrawl.contracts import Archive, Store
from recrawl.errors import BadInputError
from recrawl.model import Resource, Snapshot, Version

_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXTUAL = frozenset({"application/json", "application/xml", "application/javascript", "application/sql"})
_ENDINGS = ("+json", "+xml", "-json")
N_CONTEXT = 3
_MOST_BYTES = 16 << 20  # of what is shown or compared as text


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between two versions; `lines` is None where they cannot be shown side by side."""

    before: Version
    after: Version
    differs: bool
    lines: Sequence[str] | None
    remark: str = ""


def history(store: Store, resource: Resource) -> list[Version]:
    """The versions that are part of the resource's history, oldest first."""
    return [version for version in store.versions(resource.id) if not version.flag]


def in_force(versions: Sequence[Version], at: float) -> Version | None:
    """The version that was the newest at this moment; None before the first."""
    return next((version for version in reversed(versions) if version.at <= at), None)


def number(which: str) -> int | None:
    """The number of a version that is named by it, as v3; None for what names a moment.

    >>> number("v3"), number("2026")
    (3, None)
    """
    found = re.fullmatch(r"v([0-9]{1,9})", which)
    return int(found[1]) if found else None


def named(versions: Sequence[Version], which: str) -> Version:
    """A version by its number, as v3, or by a moment at which it was in force."""
    seq = number(which)
    found = (
        in_force(versions, moment(which))
        if seq is None
        else next((version for version in versions if version.seq == seq), None)
    )
    if found is None:
        newest = ", ".join(f"v{version.seq}" for version in versions[-8:]) or "none"
        what = f"version {which}" if seq is not None else f"version as early as {which}"
        raise BadInputError(f"There is no {what}; the newest are: {newest}.")
    return found


def moment(which: str) -> float:
    try:
        return instant(which)
    except BadInputError as problem:
        raise BadInputError(f"{str(problem).rstrip('.')}; a version's number is written as v3.") from None


def text(snapshot: Snapshot) -> str | None:
    """What a person would read; None for bytes that are no text, or too much of it."""
    if len(snapshot.body) > _MOST_BYTES:
        return None
    kind = snapshot.media_type
    if kind in _HTML:
        from recrawl.parse import html

        found = html.text(snapshot.body, snapshot.charset)
        return found if isinstance(found, str) else None
    if kind.startswith("text/") or kind in _TEXTUAL or kind.endswith(_ENDINGS) or _looks_textual(snapshot):
        return characters(snapshot)
    return None


def characters(snapshot: Snapshot) -> str:
    """The characters that the bytes stand for, whatever they are."""
    from recrawl.parse import charset

    return charset.text(snapshot.body, snapshot.charset)


def _looks_textual(snapshot: Snapshot) -> bool:
    if snapshot.media_type not in ("", "application/octet-stream"):
        return False
    whole = bytes(snapshot.body)
    try:
        whole.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return b"\0" not in whole


def difference(archive: Archive, before: Version, after: Version, *, by_words: bool = False) -> Difference:
    """Of the text where there is text; else a plain statement."""
    if before.digest == after.digest and before.gone == after.gone:
        return Difference(before, after, False, [], "The same bytes.")
    if before.gone or after.gone:
        remark = "It came back." if before.gone else "It went away: the server said that it is not there."
        return Difference(before, after, before.gone != after.gone, None, remark)
    old, new = text(archive.snapshot(before)), text(archive.snapshot(after))
    if old is None or new is None:
        remark = f"Bytes differ: {before.n_bytes} before, {after.n_bytes} after; they are no text to compare."
        return Difference(before, after, True, None, remark)
    if old == new:
        return Difference(before, after, False, [], "The bytes differ, the text does not.")
    lines = _compared(old, new, _title(before), _title(after), by_words)
    if lines is None:
        return Difference(before, after, True, None, "Too much differs to be shown line by line.")
    return Difference(before, after, True, lines)


def _title(version: Version) -> str:
    return f"version {version.seq}, {iso(version.at)}"


def _compared(old: str, new: str, before: str, after: str, by_words: bool) -> list[str] | None:
    """Comparing hostile texts can take for ever, so it happens where it can be ended."""
    from recrawl.parse.pool import ParseFailed, shared

    lines = shared().run(compared, old, new, before, after, by_words)
    return None if isinstance(lines, ParseFailed) else lines


def compared(old: str, new: str, before: str, after: str, by_words: bool) -> list[str]:
    """A unified difference; by words, changed lines stand once, with [-what went-] and {+what came+}."""
    old_lines, new_lines = old.splitlines(), new.splitlines()
    if not by_words:
        return list(difflib.unified_diff(old_lines, new_lines, before, after, n=N_CONTEXT, lineterm=""))
    return [f"--- {before}", f"+++ {after}", *_by_words(old_lines, new_lines)]


def _by_words(old: list[str], new: list[str]) -> Iterator[str]:
    for group in difflib.SequenceMatcher(None, old, new).get_grouped_opcodes(N_CONTEXT):
        first, last = group[0], group[-1]
        yield f"@@ -{first[1] + 1},{last[2] - first[1]} +{first[3] + 1},{last[4] - first[3]} @@"
        for operation, i1, i2, j1, j2 in group:
            if operation == "equal":
                yield from old[i1:i2]
            else:
                yield from _marked("\n".join(old[i1:i2]), "\n".join(new[j1:j2])).split("\n")


def _marked(old: str, new: str) -> str:
    before, after = old.split(" "), new.split(" ")
    pieces: list[str] = []
    for operation, i1, i2, j1, j2 in difflib.SequenceMatcher(None, before, after).get_opcodes():
        went, came = " ".join(before[i1:i2]), " ".join(after[j1:j2])
        if operation == "equal":
            pieces.append(went)
            continue
        pieces.append(" ".join([f"[-{went}-]"] * bool(went) + [f"{{+{came}+}}"] * bool(came)))
    return " ".join(piece for piece in pieces if piece)
