"""The plug points for looking at resources and judging what is found."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from recrawl.model import (
    Fetch,
    Hold,
    Kind,
    Part,
    Request,
    Snapshot,
    Verdict,
)


class Clock(Protocol):
    """The only source of time; a fast one makes days pass in seconds for everything that asks it."""

    speed: float  # seconds on this clock per second on the wall

    def now(self) -> float: ...
    async def sleep(self, seconds: float) -> None: ...


class Fetcher(Protocol):
    """The only asynchronous contract. Remote trouble comes back as a value."""

    async def fetch(self, request: Request) -> Fetch: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Premises:
    """What a handler is made with."""

    clock: Clock
    max_bytes: int  # the largest body, where the request's manner says nothing else
    total_s: float  # the longest that one fetch may take, on the wall
    folders: tuple[Path, ...] = ()  # files may be visited in these and below them
    spool: Path | None = None  # where large bodies may lie while they are worked on


class Handler(Protocol):
    """Looks at resources that take more than one plain request. A request comes here for its URL's scheme,
    else for its kind, else (where the kind is auto) for the media type of the copy held.

    Whatever it needs of the web it asks of `web`, so that robots.txt, the shield, the delays and the limits
    hold for it too. Remote trouble comes back as a value."""

    schemes: frozenset[str]  # http and https cannot be claimed
    kinds: frozenset[Kind]
    media_types: frozenset[str]

    async def fetch(self, request: Request, web: Fetcher) -> Fetch: ...
    async def aclose(self) -> None: ...


class Gates(Protocol):
    """Who may ask a host that a fetch is led to and that its caller's lease does not cover: one at a time,
    whatever leads there and in whichever process."""

    async def enter(self, host: str, *, holding: Collection[str], patience_s: float) -> Hold | float:
        """Wait for the host, for `patience_s` on the clock at most, less where waiting while `holding` others
        might be a circle. A number instead of the hold: the host must still be left alone for so long."""

    async def leave(self, hold: Hold, gate_at: float, answered: bool | None) -> None:
        """Let the host go; it is left alone until `gate_at`, and longer where it did not answer (None: it was
        not asked)."""


class Detector(Protocol):
    """Judges two snapshots. Pure."""

    name: str

    def fingerprint(self, snapshot: Snapshot) -> str:
        """A digest of what counts: two snapshots with equal ones have not changed."""

    def compare(self, before: Snapshot, after: Snapshot) -> Verdict: ...
    def differing(self, before: Snapshot, after: Snapshot) -> Sequence[Part]:
        """The parts in which they differ, whatever the lens masks; none where it cannot tell them apart."""
