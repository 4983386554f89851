"""Threads of forum software: who spoke when, what was edited and removed since, and on which page it is."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from math import ceil, nan
from zlib import crc32

import numpy as np

from recrawl.livingweb.kinds import Markup
from recrawl.livingweb.script import Document
from recrawl.model import Floats

_N_RECENT = 5  # only so many of the newest posts are edited or removed
_IN_PATH = re.compile(r"(.*/)page-([0-9]{1,6})")


@dataclass(frozen=True, slots=True)
class Said:
    """A post as it stands."""

    i: int  # the how-manieth to be made, the opening one being 0: never given to another
    at: float
    edition: int = 0  # how often it was edited
    edited_at: float = nan


class _Deed(IntEnum):
    POST = 0
    EDIT = 1
    REMOVE = 2


@dataclass(frozen=True, slots=True)
class Talk:
    """A thread's life: its posts at each moment since it was opened."""

    opened_at: float
    deeds: tuple[tuple[float, _Deed, int], ...]  # when, what, and to which post

    def standing(self, at: float) -> tuple[Said, ...]:
        """What can be read at that moment, the oldest first."""
        posts = {0: Said(0, self.opened_at)}
        for done_at, deed, i in self.deeds:
            if done_at > at:
                break
            if deed is _Deed.POST:
                posts[i] = Said(i, done_at)
            elif deed is _Deed.EDIT:
                posts[i] = replace(posts[i], edition=posts[i].edition + 1, edited_at=done_at)
            else:
                del posts[i]
        return tuple(posts.values())

    @property
    def content_at(self) -> Floats:
        """When anything became another."""
        return np.array([at for at, _, _ in self.deeds])

    @property
    def listed_at(self) -> Floats:
        """When what a board says of it became another: an edit is no news there."""
        return np.array([at for at, deed, _ in self.deeds if deed is not _Deed.EDIT])

    @property
    def posts_at(self) -> Floats:
        """Of all posts after the opening one, removed since or not."""
        return np.array([at for at, deed, _ in self.deeds if deed is _Deed.POST])


def talk(key: str, opened_at: float, posts_at: Floats, edits_at: Floats, removals_at: Floats) -> Talk:
    """Which post is edited or removed depends on the key, the moment and what was before it alone, so that a
    life that is known further ahead begins alike."""
    wanted = sorted(
        [
            *((float(at), _Deed.POST) for at in posts_at),
            *((float(at), _Deed.EDIT) for at in edits_at),
            *((float(at), _Deed.REMOVE) for at in removals_at),
        ]
    )
    deeds: list[tuple[float, _Deed, int]] = []
    there, n_made = [0], 1
    for at, deed in wanted:
        if deed is _Deed.POST:
            i, n_made = n_made, n_made + 1
            there.append(i)
        else:
            # The opening post may be edited, and stays for good.
            recent = (there if deed is _Deed.EDIT else there[1:])[-_N_RECENT:]
            if not recent:
                continue
            i = recent[crc32(f"{key} {deed.name} {at!r}".encode()) % len(recent)]
            if deed is _Deed.REMOVE:
                there.remove(i)
        deeds.append((at, deed, i))
    return Talk(opened_at, tuple(deeds))


def n_pages(n_posts: int, document: Document) -> int:
    return max(1, ceil(n_posts / document.posts_per_page))


def page_target(document: Document, page: int) -> str:
    """Path and query string of one page of a thread."""
    if page == 1:
        return document.path
    match document.markup:
        case Markup.PHPBB:
            return f"{document.path}?start={(page - 1) * document.posts_per_page}"
        case Markup.XENFORO:
            return f"{document.path}page-{page}"
        case _:
            return f"{document.path}?page={page}"


def page_asked(document: Document, params: Mapping[str, str], in_path: int) -> int:
    """Which page a request is for; 0 where there can be none such."""
    if document.markup is Markup.XENFORO:
        return in_path
    if document.markup is Markup.PHPBB:
        start = _whole(params.get("start", "0"))
        return start // document.posts_per_page + 1 if start % document.posts_per_page == 0 else 0
    return max(0, _whole(params.get("page", "1")))


def without_page(path: str) -> tuple[str, int]:
    """The path of the thread, and the page where the path names one."""
    found = _IN_PATH.fullmatch(path)
    return (found[1], int(found[2])) if found else (path, 1)


def _whole(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 9 else -1
