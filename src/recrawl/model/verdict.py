"""Two snapshots, one judgement."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from math import nan

from recrawl.model.body import Body
from recrawl.model.fetch import Header
from recrawl.model.lens import CLEAR, Lens
from recrawl.model.post import Post


class Changed(IntEnum):
    """Unknown is not no: it moves nothing and teaches nothing."""

    UNKNOWN = -1
    NO = 0
    YES = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Bytes as they were at one moment, what the server said they are, and what of them counts."""

    body: Body
    media_type: str = ""
    charset: str | None = None
    url: str = ""
    lens: Lens = CLEAR
    headers: tuple[Header, ...] = ()  # of the answer that brought it
    # When it was fetched: "3 hours ago" is counted from then. NaN: not known.
    at: float = field(default=nan, compare=False)
    # What was read of the body, by what was asked of it: so that one judgement reads it once. None: not kept.
    memo: dict[object, object] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Whether a resource changed, how much, and on what evidence.

    `magnitude` runs from 0 (the same) to 1 (nothing in common). `significant` is None where no test of
    significance was made.
    """

    changed: Changed
    magnitude: float = 0.0
    significant: bool | None = None
    evidence: str = ""
    posts: tuple[Post, ...] = ()  # of a thread: those that are new, in order of time
    said_at: tuple[float, ...] = ()  # when each new thing was said, where all of them are known and say it
    older: tuple[
        Post, ...
    ] = ()  # of a thread: those that were there before, on pages that nobody had come to
