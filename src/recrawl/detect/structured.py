"""Data: what it says counts, not how it is written down.

A structured detector has two functions that stand at the top level of a module, so that they can run where
they can be killed: `digest` gives one for all that a document says, `differences` what two of them say
differently.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from recrawl.detect.exact import Exact
from recrawl.model import Changed, Snapshot, Verdict
from recrawl.parse.pool import ParseFailed, shared

T = TypeVar("T")

N_SHOWN = 6
_SHOWN_CHARACTERS = 80
_MOST_BYTES = 16 << 20
_TAME_BYTES = 64 * 1024  # smaller ones are read at once; larger ones where they can be killed


@dataclass(frozen=True, slots=True, kw_only=True)
class Differences:
    """How two documents differ, counted in `noun`s; `shown` are a few of them, for people."""

    noun: str
    plural: str
    n_before: int
    n_after: int
    n_added: int = 0
    n_removed: int = 0
    n_changed: int = 0
    shown: tuple[str, ...] = ()

    @property
    def n(self) -> int:
        return self.n_added + self.n_removed + self.n_changed

    @property
    def magnitude(self) -> float:
        """The share of both documents together that is not in the other one."""
        differing = self.n_added + self.n_removed + 2 * self.n_changed
        return min(1.0, differing / max(self.n_before + self.n_after, 1))

    def sentence(self) -> str:
        counts = [
            (self.n_changed, "changed"), (self.n_added, "added"), (self.n_removed, "removed"),
        ]  # fmt: skip
        said = [f"{n:,} {self.noun if n == 1 else self.plural} {done}" for n, done in counts if n]
        if not said:
            return f"the same {self.plural} in another order"
        more = " …" if self.n > len(self.shown) else ""
        return f"{', '.join(said)}: {'; '.join(self.shown)}{more}" if self.shown else ", ".join(said)


Digest = Callable[[Snapshot], str]
Compare = Callable[[Snapshot, Snapshot], Differences]


class Structured:
    """A detector made of a digest and a comparison."""

    def __init__(
        self, name: str, digest: Digest, differences: Compare, *, tame_bytes: int = _TAME_BYTES
    ) -> None:
        self.name = name
        self._digest = digest
        self._differences = differences
        self._tame_bytes = tame_bytes

    def fingerprint(self, snapshot: Snapshot) -> str:
        if _too_large(snapshot):
            return Exact().fingerprint(snapshot)
        found = self._run(self._digest, snapshot)
        return "" if isinstance(found, ParseFailed) else found

    def compare(self, before: Snapshot, after: Snapshot) -> Verdict:
        if _too_large(before) or _too_large(after):
            return Exact().compare(before, after)
        old, new = self._run(self._digest, before), self._run(self._digest, after)
        for one, which in ((old, "earlier"), (new, "new")):
            if isinstance(one, ParseFailed):
                evidence = (
                    f"the {which} copy cannot be read as {self.name}: {clipped(one.detail or one.reason)}"
                )
                return Verdict(changed=Changed.UNKNOWN, evidence=evidence)
        if old == new:
            return Verdict(changed=Changed.NO, evidence="it says the same")
        found = self._run(self._differences, before, after)
        if isinstance(found, ParseFailed):  # too much to compare in the time; that it changed is certain
            return Verdict(changed=Changed.YES, magnitude=1.0, evidence="it changed too much to list")
        return Verdict(changed=Changed.YES, magnitude=found.magnitude, evidence=found.sentence())

    def _run(self, function: Callable[..., T], *snapshots: Snapshot) -> T | ParseFailed:
        packed = any(snapshot.body[:2] == b"PK" for snapshot in snapshots)  # its size says nothing
        if packed or sum(len(snapshot.body) for snapshot in snapshots) > self._tame_bytes:
            return shared().run(function, *snapshots)
        try:
            return function(*snapshots)
        except Exception as problem:  # whatever strange bytes provoke; the pool does the same
            return ParseFailed("error", f"{type(problem).__name__}: {problem}")


def _too_large(snapshot: Snapshot) -> bool:
    """Beyond this it is judged by its bytes: to read it would take more memory and time than it is worth."""
    return len(snapshot.body) > _MOST_BYTES


def hashed(lines: Iterable[str]) -> str:
    """One digest for many lines, each of them ended so that none runs into the next."""
    digest = hashlib.sha256()
    for line in lines:
        digest.update(line.encode("utf-8", "surrogatepass"))
        digest.update(b"\x00")
    return f"sha256:{digest.hexdigest()}"


def clipped(text: str, most: int = _SHOWN_CHARACTERS) -> str:
    """Short, and nothing in it that could steer a terminal."""
    clean = "".join(c if c.isprintable() else "�" for c in text[: most + 1])
    return f"{clean[:most]}…" if len(clean) > most else clean


def between(
    before: dict[str, str],
    after: dict[str, str],
    *,
    noun: str,
    plural: str,
    shown: Callable[[str], str] = clipped,
) -> Differences:
    """The differences of two sets of named values."""
    added = [name for name in after if name not in before]
    removed = [name for name in before if name not in after]
    changed = [name for name, value in before.items() if name in after and after[name] != value]
    lines = [
        *(f"{shown(name)}: {clipped(before[name])} → {clipped(after[name])}" for name in changed[:N_SHOWN]),
        *(f"+{shown(name)}" for name in added[:N_SHOWN]),
        *(f"−{shown(name)}" for name in removed[:N_SHOWN]),
    ]
    return Differences(
        noun=noun,
        plural=plural,
        n_before=len(before),
        n_after=len(after),
        n_added=len(added),
        n_removed=len(removed),
        n_changed=len(changed),
        shown=tuple(lines[:N_SHOWN]),
    )
