"""Discussions: what was said when and by whom, and where a board says that something was said."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

from recrawl.model.units import DAY_S


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    """What somebody said in a thread."""

    key: str  # tells it from others of its thread: the site's own number, or a digest of who, when and what
    at: float = nan  # when it was said; NaN: the page does not say
    author: str = ""
    text: str = ""
    number: int = 0  # its place in the thread, the first being 1; 0: not known
    edited_at: float = nan
    coarse_s: float = 0.0  # where its time is counted back from the fetch: how long the unit is

    @property
    def moment_at(self) -> float:
        """When it was said, where that can be learned from. All that was said "2 years ago" was not said at
        once."""
        return self.at if self.coarse_s <= DAY_S else nan


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaf:
    """One page of a thread. Addresses are absolute, and empty where there is no such page."""

    url: str
    posts: tuple[Post, ...]  # in the order in which they stand
    title: str = ""
    number: int = 0  # which page this is, the first being 1; 0: not known
    next_url: str = ""
    last_url: str = ""
    ended: bool = True  # False: nothing says that the page was sent to its end


@dataclass(frozen=True, slots=True, kw_only=True)
class Topic:
    """A thread as a board's index tells of it."""

    url: str
    title: str = ""
    last_at: float = nan  # when somebody last spoke in it
    n_posts: int = -1  # -1: it does not say
