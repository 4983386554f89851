"""What counts of a resource: its owner's rules, and what was learned to be noise."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from enum import StrEnum


class Learned(StrEnum):
    """How it was found out that a part is noise."""

    REPEAT = "repeat"  # it differed between two looks, moments apart
    TURN = "turn"  # one of a few values stands there: a second look brought the last visit's back
    HISTORY = "history"  # it differed on every visit, as only a clock, a counter or a nonce does


@dataclass(frozen=True, slots=True)
class Part:
    """A place where two snapshots differ, and what stood there; None: there was nothing.

    The place is in the detector's own terms (a path of elements, a JSON path, a column). Where several
    things stand there and not all of them differ, `spot` tells this one from the others.
    """

    place: str
    before: str | None
    after: str | None
    spot: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mask:
    """A part that says nothing although it differs: where it is, and what it looks like there.

    `shape` is the text that stands there, with `{time}`, `{number}`, `{code}`, `{word}` and `{…}` for what
    comes and goes, or `{or}` between texts that take turns. It must prove itself: what is the same on visit
    after visit is no noise.
    """

    place: str
    shape: str
    learned: Learned = Learned.REPEAT
    at: float = 0.0
    example: str = ""  # what stood there when it was learned
    last: str = ""  # a digest of what stood there on the last visit
    n_differed: int = 0  # visits since it was learned that found something else there than the one before
    n_same: int = 0  # … and that found the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicion:
    """A part that differed on the last visits in a row, and looks like a clock or a nonce."""

    place: str
    shape: str
    value: str
    n: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """What is known of a resource's differences that are no changes."""

    masks: tuple[Mask, ...] = ()
    suspicions: tuple[Suspicion, ...] = ()
    recent: tuple[str, ...] = ()  # the contents before the newest, newest first, by their short digests
    places: tuple[str, ...] = ()  # where the last change was, by short digests
    twins: tuple[str, ...] = ()  # contents that the server gives in turn; the last one came last
    n_stayed: int = 0  # visits in a row after which that was still the last one
    n_returns: int = 0  # how often an earlier content came back
    disguise: str = ""  # what the last answer looked like instead of the resource: a login page …
    disguised_at: float = 0.0  # when it began to look like something else
    alias: str = ""  # the newest version's fingerprint through the present lens


@dataclass(frozen=True, slots=True, kw_only=True)
class Lens:
    """What counts of a snapshot. The default lets everything through."""

    include: tuple[str, ...] = ()  # selectors: only what they choose counts
    ignore: tuple[str, ...] = ()  # selectors: what they choose does not count
    keys: tuple[str, ...] = ()  # the columns that tell the rows of a table apart
    main: bool = False  # of a page only its main content
    masks: tuple[Mask, ...] = ()

    @property
    def digest(self) -> str:
        """Short, and the same for the same view: what was judged through another lens compares anew."""
        masks = sorted((mask.place, mask.shape) for mask in self.masks)
        seen = (self.include, self.ignore, self.keys, self.main, masks)
        if not any(seen):
            return ""
        return hashlib.sha256(repr(seen).encode("utf-8", "surrogatepass")).hexdigest()[:12]


CLEAR = Lens()
SILENCE = Noise()
