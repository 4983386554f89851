"""Data: what it says counts, not how it is written down.

Each kind has a form: six functions that stand at the top level of a module, so that they can run where they
can be killed. `read` makes something of the bytes, as far as the lens lets it through; the others work on
what was read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Generic, TypeVar, cast

from recrawl.detect.exact import Exact
from recrawl.detect.selectors import nothing
from recrawl.detect.unread import noted
from recrawl.model import Changed, Part, Snapshot, Verdict
from recrawl.parse import bags
from recrawl.parse.pool import ParseFailed, shared

T = TypeVar("T")

_MOST_BYTES = 16 << 20
_TAME_BYTES = 64 * 1024  # smaller ones are read at once; larger ones where they can be killed


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """How differences are written down, one to a line."""

    n_lines: int  # no more than these
    n_characters: int  # of one value
    added: str
    removed: str

    def clipped(self, text: str) -> str:
        return clipped(text, self.n_characters)

    def change(self, where: str, before: str, after: str) -> str:
        return f"{where}: {self.clipped(before)} → {self.clipped(after)}"


BRIEF = Style(n_lines=6, n_characters=80, added="+", removed="−")  # for a line of evidence
WHOLE = Style(n_lines=10_000, n_characters=2_000, added="+ ", removed="- ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """How two documents differ: in words, as a share of both together, and line by line for people."""

    counts: tuple[str, ...]  # "1 cell changed", "2 rows added"
    magnitude: float
    lines: tuple[str, ...] = ()
    n_lines: int = 0  # how many there are in all
    notes: tuple[str, ...] = ()  # what concerns the whole of it: a column that is gone
    otherwise: str = "the same in another order"  # where nothing was added, removed or changed

    def sentence(self) -> str:
        more = " …" if self.n_lines > len(self.lines) else ""
        shown = f": {'; '.join(self.lines)}{more}" if self.lines else ""
        said = f"{', '.join(self.counts)}{shown}"
        return "; ".join([*self.notes, *([said] if said else [])]) or self.otherwise

    def listed(self) -> list[str]:
        n_more = self.n_lines - len(self.lines)
        more = [f"… and {n_more:,} more"] if n_more else []
        return [*self.notes, *self.lines, *more] or [self.otherwise]


@dataclass(frozen=True, slots=True)
class Form(Generic[T]):
    """What makes a detector of one kind of data."""

    read: Callable[[Snapshot], T]  # through the include and ignore rules of the lens
    digest: Callable[[T], str]  # of all that counts, masks applied
    differences: Callable[[T, T, Style], Differences]  # masks applied
    parts: Callable[[T, T], Sequence[Part]]  # whatever is masked
    empty: Callable[[T], bool]  # whether nothing counts of it
    texts: Callable[[T], Iterable[str]]  # what it says in words, masks applied; no names of fields


class Structured:
    """A detector for data."""

    def __init__(self, name: str, form: Form[Any], *, tame_bytes: int = _TAME_BYTES) -> None:
        self.name = name
        self._form = form
        self._tame_bytes = tame_bytes

    def fingerprint(self, snapshot: Snapshot) -> str:
        if too_large(snapshot):
            return Exact().fingerprint(snapshot)
        found = self._run(_digested, snapshot)
        return noted(snapshot, found) if isinstance(found, ParseFailed) else found

    def compare(self, before: Snapshot, after: Snapshot) -> Verdict:
        if too_large(before) or too_large(after):
            return Exact().compare(before, after)
        found = self._run(_compared, before, after)
        if isinstance(found, ParseFailed):
            return self._verdict_on_failure(before, after)
        if found is None:
            return Verdict(changed=Changed.NO, evidence="it says the same")
        return Verdict(changed=Changed.YES, magnitude=found.magnitude, evidence=found.sentence())

    def differing(self, before: Snapshot, after: Snapshot) -> Sequence[Part]:
        if too_large(before) or too_large(after):
            return ()
        found = self._run(_parted, before, after)
        return () if isinstance(found, ParseFailed) else found

    def listed(self, before: Snapshot, after: Snapshot) -> list[str] | ParseFailed:
        """Every difference on a line of its own: `where: old → new`, `+ added` or `- removed`; none where
        they say the same."""
        if too_large(before) or too_large(after):
            return ParseFailed("size", f"more than {_MOST_BYTES:,} bytes")
        return self._run(_listed, before, after)

    def unmatched(self, snapshot: Snapshot) -> str:
        """What to tell of data in which nothing is found that their lens includes; else nothing."""
        include = snapshot.lens.include
        if not include or too_large(snapshot):
            return ""
        return nothing(include) if self._run(_emptied, snapshot) is True else ""

    def words(self, snapshot: Snapshot) -> dict[str, int] | None:
        """How often each of the commonest occurs, without the noisy ones; None where it cannot be read."""
        found = None if too_large(snapshot) else self._run(_worded, snapshot)
        return None if isinstance(found, ParseFailed) else found

    def _verdict_on_failure(self, before: Snapshot, after: Snapshot) -> Verdict:
        """Each for itself: that tells which of them cannot be read."""
        old, new = self._run(_digested, before), self._run(_digested, after)
        for one, which in ((old, "earlier"), (new, "new")):
            if isinstance(one, ParseFailed):
                why = clipped(one.detail or one.reason)
                evidence = f"the {which} copy cannot be read as {self.name}: {why}"
                return Verdict(changed=Changed.UNKNOWN, evidence=evidence)
        if old == new:
            return Verdict(changed=Changed.NO, evidence="it says the same")
        return Verdict(changed=Changed.YES, magnitude=1.0, evidence="it changed too much to list")

    def _run(self, function: Callable[..., T], *snapshots: Snapshot) -> T | ParseFailed:
        packed = any(snapshot.body[:2] == b"PK" for snapshot in snapshots)  # its size says nothing
        # Nor does it bound what a selector has to do.
        chosen = any(snapshot.lens.include or snapshot.lens.ignore for snapshot in snapshots)
        if packed or chosen or sum(len(snapshot.body) for snapshot in snapshots) > self._tame_bytes:
            bare = (replace(one, memo=None) for one in snapshots)  # what was read of it need not travel
            return shared().run(_elsewhere, function, self._form, *bare)
        try:
            return function(self._form, *snapshots)
        except Exception as problem:  # whatever strange bytes provoke; the pool does the same
            return ParseFailed("error", f"{type(problem).__name__}: {problem}")


def _elsewhere(function: Callable[..., T], form: Form[Any], *snapshots: Snapshot) -> T:
    """In a process of its own, each snapshot is read once too."""
    return function(form, *(replace(one, memo={}) for one in snapshots))


def _read(form: Form[T], snapshot: Snapshot) -> T:
    """Once for all that is asked of a snapshot through the same lens: reading takes longest."""
    return _once(snapshot, form.read, lambda: form.read(snapshot))


def _digested(form: Form[Any], snapshot: Snapshot) -> str:
    return _once(snapshot, form.digest, lambda: form.digest(_read(form, snapshot)))


def _once(snapshot: Snapshot, what: object, found: Callable[[], T]) -> T:
    if snapshot.memo is None:
        return found()
    key = what, snapshot.lens
    if key not in snapshot.memo:
        snapshot.memo[key] = found()
    return cast(T, snapshot.memo[key])


def _compared(form: Form[Any], before: Snapshot, after: Snapshot) -> Differences | None:
    """None where they say the same."""
    if _digested(form, before) == _digested(form, after):
        return None
    return form.differences(_read(form, before), _read(form, after), BRIEF)


def _listed(form: Form[Any], before: Snapshot, after: Snapshot) -> list[str]:
    if _digested(form, before) == _digested(form, after):
        return []
    return form.differences(_read(form, before), _read(form, after), WHOLE).listed()


def _parted(form: Form[Any], before: Snapshot, after: Snapshot) -> Sequence[Part]:
    return form.parts(_read(form, before), _read(form, after))


def _worded(form: Form[Any], snapshot: Snapshot) -> dict[str, int]:
    """Only those that may be kept: a large document has more than should travel."""
    return bags.most(bags.telling(bags.counted("\n".join(form.texts(_read(form, snapshot))))))


def _emptied(form: Form[Any], snapshot: Snapshot) -> bool:
    """Whether there is something, but nothing of what the lens includes."""
    whole = replace(snapshot, lens=replace(snapshot.lens, include=()))
    return form.empty(form.read(snapshot)) and not form.empty(form.read(whole))


def too_large(snapshot: Snapshot) -> bool:
    """Beyond this it is judged by its bytes: to read it would take more memory and time than it is worth."""
    return len(snapshot.body) > _MOST_BYTES


def hashed(lines: Iterable[str]) -> str:
    """One digest for many lines, each of them ended so that none runs into the next."""
    digest = hashlib.sha256()
    rest = iter(lines)
    while batch := list(islice(rest, 1_000)):
        digest.update("\x00".join([*batch, ""]).encode("utf-8", "surrogatepass"))
    return f"sha256:{digest.hexdigest()}"


def clipped(text: str, most: int = BRIEF.n_characters) -> str:
    """Short, and nothing in it that could steer a terminal."""
    clean = "".join(c if c.isprintable() else "�" for c in text[: most + 1])
    return f"{clean[:most]}…" if len(clean) > most else clean


def counted(n: int, noun: str, plural: str, done: str) -> tuple[str, ...]:
    """
    >>> counted(2, "row", "rows", "added"), counted(0, "row", "rows", "added")
    (('2 rows added',), ())
    """
    return (f"{n:,} {noun if n == 1 else plural} {done}",) if n else ()
