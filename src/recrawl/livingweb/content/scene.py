"""What a writer knows of the document it writes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from recrawl.livingweb.script import Document
from recrawl.livingweb.talk import Said
from recrawl.model import Floats

N_SLOTS = 20
# Versions rewrite one slot each, 7 slots on every time: 7 * 3 = 1 modulo 20, so every slot has its turn.
_STRIDE_BACK = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One line of a listing."""

    url: str
    title: str
    changed_at: float
    n_changes: int
    last: Said | None = None  # of a thread of forum software: its last post, and what its text is drawn from
    key: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    document: Document
    key: str  # the seed and the place: all its text is drawn from this
    url: str
    born_at: float
    content_at: Floats  # its changes so far; their number is its version
    listed: tuple[Listed, ...] = ()  # what a listing lists, or what a page links to
    page: int = 1  # of a thread
    posts: tuple[Said, ...] = ()  # of a thread of forum software, all that stand

    @property
    def version(self) -> int:
        return len(self.content_at)

    def made_at(self, version: int) -> float:
        """When that version came into being."""
        return float(self.content_at[version - 1]) if version else self.born_at

    def edition(self, slot: int) -> int:
        """The version that last rewrote this slot of `N_SLOTS`; 0: it still is as it was."""
        return max(0, self.version - (self.version - _STRIDE_BACK * slot) % N_SLOTS)


def iso(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
