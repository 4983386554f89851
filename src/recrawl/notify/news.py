"""News: something happened of which people may want to be told.

It is kept until it is told, and holds nothing of what a resource says: that is read where it is kept, when
the message is written. What was erased meanwhile is then told of no more.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from math import nan
from typing import Any


class What(StrEnum):
    CHANGE = "change"
    POSTS = "posts"  # a change of a thread
    GONE = "gone"
    BACK = "back"
    SILENT = "silent"  # for longer than its forecast can explain
    HOST = "host"  # in trouble, or over it
    TROUBLE = "trouble"  # our own


@dataclass(frozen=True, slots=True, kw_only=True)
class News:
    what: What
    key: str  # of several with the same key one is told
    at: float
    resource_id: int = 0
    url: str = ""
    host: str = ""
    since_at: float = nan  # of a change the informative visit before; of a silence the last change
    significant: bool | None = None
    p: float = nan  # of a silence: how probable it was
    words: str = ""  # in our own words alone

    def row(self) -> dict[str, Any]:
        return asdict(self)


def news_of(row: dict[str, Any]) -> News:
    return News(**{**row, "what": What(row["what"])})
