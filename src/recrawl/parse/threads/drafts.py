"""Posts as a page shows them, before their times are read together."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan

from recrawl.model import Post
from recrawl.parse.threads.times import Moment, moments

MOST_POSTS = 10_000  # of a page; the first ones
MOST_CHARACTERS = 200_000  # of one post


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A post with its times as they are written."""

    key: str = ""  # empty: nothing on the page tells it from others
    author: str = ""
    text: str = ""
    written: str = ""
    edited: str = ""
    number: int = 0


def posts(drafts: Sequence[Draft], *, at: float, zone_s: float = 0.0) -> tuple[Post, ...]:
    """In the order in which they stand. No two have the same key."""
    some = drafts[:MOST_POSTS]
    said = moments([one.written for one in some], at=at, zone_s=zone_s)
    edits = moments([one.edited for one in some], at=at, zone_s=zone_s)
    found: list[Post] = []
    n_seen: Counter[str] = Counter()
    for draft, moment, edited in zip(some, said, edits, strict=True):
        text = draft.text[:MOST_CHARACTERS]
        key = draft.key[:500] or digest(draft.author, _exact(moment), text)
        n_seen[key] += 1
        one = Post(
            key=f"{key} #{n_seen[key]}" if n_seen[key] > 1 else key,
            at=moment.at,
            author=draft.author[:200],
            text=text,
            number=draft.number,
            edited_at=edited.at,
            coarse_s=moment.coarse_s,
        )
        found.append(one)
    return tuple(found)


def digest(*said: str) -> str:
    return hashlib.sha256("\x00".join(said).encode("utf-8", "surrogatepass")).hexdigest()[:20]


def _exact(moment: Moment) -> str:
    """What is counted back from the fetch differs on the next one."""
    return "" if moment.coarse_s or isnan(moment.at) else f"{moment.at:.0f}"
