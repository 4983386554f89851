"""Versions as people ask for them: the one in force at a moment, its text, and what differs between two."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, nextafter
from types import MappingProxyType
from typing import ParamSpec, TypeVar

from recrawl.app.comparison import N_CHARACTERS, N_OF_LINE, N_PAIRS, Pair, beside, compared
from recrawl.app.quantity import instant, iso
from recrawl.contracts import Archive, Detector, Store
from recrawl.errors import BadInputError
from recrawl.model import CLEAR, Lens, Resource, Snapshot, Version

P = ParamSpec("P")
T = TypeVar("T")
_HTML = frozenset({"text/html", "application/xhtml+xml"})
_TEXTUAL = frozenset({"application/json", "application/xml", "application/javascript", "application/sql"})
_ENDINGS = ("+json", "+xml", "-json")
_MORE = "; --raw compares all of the text"
MOST_BYTES = 16 << 20  # of what is shown or compared as text
MOST_BESIDE = 2 << 20  # of what is set side by side on a page


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between two versions; `lines` is None where they cannot be shown side by side."""

    before: Version
    after: Version
    differs: bool
    lines: Sequence[str] | None
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sides:
    """The same for a page: data as a list of what they say differently, text as stretches of lines side by
    side; neither where there is nothing to show but the remark. `whole` where that is all that differs."""

    before: Version
    after: Version
    differs: bool
    remark: str = ""
    listed: Sequence[str] = ()
    stretches: Sequence[Sequence[Pair]] = ()
    whole: bool = True


def history(store: Store, resource: Resource) -> list[Version]:
    """The versions that are part of the resource's history, oldest first."""
    return [version for version in store.versions(resource.id) if not version.flag]


def in_force(versions: Sequence[Version], at: float) -> Version | None:
    """The version that was the newest at this moment; None before the first."""
    until_at = after(at)
    return next((version for version in reversed(versions) if version.at < until_at), None)


def after(at: float) -> float:
    """When the moment is over. One that is told to the second is all of that second: so are times shown.

    >>> after(5.0), after(5.25) > 5.25, after(5.25) < 5.26
    (6.0, True, True)
    """
    return at + 1.0 if at.is_integer() else nextafter(at, inf)


def shown(store: Store, resource: Resource, which: str | None, *, evidence: bool = False) -> Version | None:
    """What `which` names, else the newest; None where there is nothing for that time.

    What was kept as evidence only is named by its number, or found by its time where `evidence` is wanted.
    """
    seq = None if which is None else number(which)
    if seq is not None:
        known = next((version for version in store.versions(resource.id) if version.seq == seq), None)
        if known is None:
            return named(history(store, resource), f"v{seq}")
        return known if known.file or not known.flag else None  # erased: there is nothing left of it
    until_at = inf if which is None else after(moment(which))
    if not evidence:
        return next(iter(store.history(resource.id, until_at=until_at, newest_first=True, limit=1)), None)
    newest = None
    for version in store.versions(resource.id):
        if version.at < until_at and (version.file or not version.flag):
            newest = version
    return newest


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
    if len(snapshot.body) > MOST_BYTES:
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


def difference(
    archive: Archive,
    before: Version,
    after: Version,
    *,
    by_words: bool = False,
    lens: Lens = CLEAR,
    raw: bool = False,
    detectors: Mapping[str, Detector] = MappingProxyType({}),
) -> Difference:
    """Of data what they say, where a detector can list it; else of the text, where there is text; else a
    plain statement. It is what counts through the lens; all of the text where `raw` is set."""
    found = _told(archive, before, after, lens, raw, detectors)
    if isinstance(found, Difference):
        return found
    lines = _run(compared, *found, _title(before), _title(after), by_words)
    if lines is None:
        return Difference(before, after, True, None, "Too much differs to be shown line by line.")
    return Difference(before, after, True, lines)


def sides(
    archive: Archive,
    before: Version,
    after: Version,
    *,
    lens: Lens = CLEAR,
    raw: bool = False,
    detectors: Mapping[str, Detector] = MappingProxyType({}),
) -> Sides:
    """As `difference`, for a page, which holds only so much."""
    if max(before.n_bytes, after.n_bytes) > MOST_BESIDE and before.digest != after.digest:
        remark = "Too large to be compared here; download both."
        return Sides(before=before, after=after, differs=True, remark=remark, whole=False)
    found = _told(archive, before, after, lens, raw, detectors)
    if isinstance(found, Difference):
        listed, whole = _bounded((found.lines or ())[2:])  # without the titles
        return Sides(
            before=before,
            after=after,
            differs=found.differs,
            remark=found.remark.replace(_MORE, ""),
            listed=listed,
            whole=whole,
        )
    stretches, whole = _run(beside, *found) or ([], False)
    remark = "" if stretches else "Too much differs to be shown; download both."
    return Sides(before=before, after=after, differs=True, remark=remark, stretches=stretches, whole=whole)


def _bounded(lines: Sequence[str]) -> tuple[list[str], bool]:
    """So many as a page holds, and whether that is all."""
    kept: list[str] = []
    n = 0
    for line in lines:
        n += len(line[:N_OF_LINE])
        if len(kept) == N_PAIRS or n > N_CHARACTERS:
            return kept, False
        kept.append(line[:N_OF_LINE])
    return kept, True


def _told(
    archive: Archive,
    before: Version,
    after: Version,
    lens: Lens,
    raw: bool,
    detectors: Mapping[str, Detector],
) -> Difference | tuple[str, str]:
    """What differs, or both texts where that is still to be found out."""
    if before.digest == after.digest and before.gone == after.gone:
        return Difference(before, after, False, [], "The same bytes.")
    if before.gone or after.gone:
        remark = "It came back." if before.gone else "It went away: the server said that it is not there."
        return Difference(before, after, before.gone != after.gone, None, remark)
    old, new = (replace(archive.snapshot(version), lens=lens) for version in (before, after))
    listed = None if raw else _listed(old, new, before, after, detectors)
    if listed is not None:
        remark = "" if listed else f"The bytes differ, what counts does not{_MORE}."
        titles = [f"--- {_title(before)}", f"+++ {_title(after)}"] if listed else []
        return Difference(before, after, bool(listed), [*titles, *listed], remark)
    olds, news = (text(snapshot) if raw else counting(snapshot) for snapshot in (old, new))
    if olds is None or news is None:
        sizes = f"{before.n_bytes:,} before, {after.n_bytes:,} after"
        remark = f"The bytes differ ({sizes}); they are no text to compare."
        return Difference(before, after, True, None, remark)
    if olds == news:
        what = "the text does not" if raw or lens == CLEAR else f"what counts does not{_MORE}"
        return Difference(before, after, False, [], f"The bytes differ, {what}.")
    return olds, news


def counting(snapshot: Snapshot) -> str | None:
    """What a person would read of it through its lens."""
    from recrawl.detect.text import lines

    if snapshot.lens == CLEAR and snapshot.media_type not in _HTML:
        return text(snapshot)
    found = lines(snapshot)
    return text(snapshot) if found is None else "\n".join(found)


def _listed(
    old: Snapshot, new: Snapshot, before: Version, after: Version, detectors: Mapping[str, Detector]
) -> list[str] | None:
    """Every difference between data of one kind; None where no detector lists them."""
    name, other = (version.detector.partition("~")[0] for version in (before, after))
    # Whatever lists differences has this method; those that judge texts and bytes have none.
    lists: Callable[[Snapshot, Snapshot], object] | None = getattr(detectors.get(name), "listed", None)
    found = lists(old, new) if lists is not None and name == other else None
    return found if isinstance(found, list) else None


def _title(version: Version) -> str:
    return f"version {version.seq}, {iso(version.at)}"


def _run(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | None:
    """Comparing hostile texts can take for ever, so it happens where it can be ended; None where it was."""
    from recrawl.parse.pool import ParseFailed, shared

    found = shared().run(function, *args, **kwargs)
    return None if isinstance(found, ParseFailed) else found
