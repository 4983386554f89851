"""Existing WARC files as history: every answer in them becomes a visit of its own date.

The files are read twice: once through, to know what there is of which URL and when, then record by record in
the order of time. Nothing is asked of anybody, and no budget is charged.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING

from recrawl.app.pasts import DAMAGED, TOLD_EVERY, Imported, Work, damaged
from recrawl.app.sources import Candidate, Refused
from recrawl.app.watchlist import N_TOGETHER, admitted
from recrawl.contracts import Store
from recrawl.errors import BadInputError, StoreError
from recrawl.model import NewResource, Settings
from recrawl.remember.catalogue import Catalogue
from recrawl.remember.foreign import Damage, Source, sources
from recrawl.urls import is_file_url

if TYPE_CHECKING:
    from recrawl.app.build import House

N_PASSES = 3
PAUSE_S = 2.0  # for a visit that is under way to come to its end

UNWATCHED = "not watched"
PRIVATE = "on this machine or network, and not allowed by --allow-private"

# What people watch: neither the pictures nor the style sheets nor the scripts of a page.
_WATCHED_TYPES = frozenset(
    {
        "application/json", "application/ld+json", "application/n-quads", "application/n-triples",
        "application/pdf", "application/trig", "application/xhtml+xml", "application/xml",
        "application/x-turtle", "text/csv", "text/html", "text/json", "text/n3", "text/plain",
        "text/tab-separated-values", "text/turtle", "text/xml",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    }
)  # fmt: skip
_WATCHED_ENDINGS = ("+json", "+xml")
_NOT_WATCHED = frozenset({"image/svg+xml", "application/manifest+json"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What is taken in: what is watched, or with `add` all that is worth watching; all of it matching."""

    add: bool = False
    match: str | None = None
    tags: tuple[str, ...] = ()
    allow_private: bool = False

    def matches(self, url: str) -> bool:
        return self.match is None or fnmatchcase(url, self.match)

    def wants(self, url: str, media_type: str) -> bool:
        if self.match is not None:
            return self.matches(url)
        return (
            media_type not in _NOT_WATCHED
            and not url.endswith("/robots.txt")
            and (media_type in _WATCHED_TYPES or media_type.endswith(_WATCHED_ENDINGS))
        )


def run(
    house: House,
    paths: Sequence[Path],
    choice: Choice,
    result: Imported,
    *,
    strict: bool = False,
    tell: Callable[[str], object] = lambda _: None,
    whole: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> None:
    """Take the past in. Whoever breaks this off between `whole` parts may begin anew with the same files:
    what is recorded stays, and is not taken in again."""
    for path in paths:
        if not path.exists():
            raise BadInputError(f"{path} is not there; name a WARC or WACZ file, or a folder of them.")
    store = house.store  # makes the home, where something is to be recorded there
    folder = house.home if house.home.is_dir() else Path(gettempdir())
    with _roomy(folder), Catalogue(folder / f"import-{os.getpid()}.sqlite") as catalogue:
        _read(catalogue, paths, result, strict=strict, tell=tell)
        if choice.add:
            with whole():
                _add(catalogue, store, choice, result, house.clock.now())
        catalogue.watch(resource.url for resource, _, _ in store.resources() if choice.matches(resource.url))
        n_answers = catalogue.n_watched()
        result.skipped[UNWATCHED] += catalogue.n_answers() - n_answers - result.skipped[PRIVATE]
        work = Work(house, catalogue, result, strict=strict, tell=tell, whole=whole, n_answers=n_answers)
        busy: Sequence[str] | None = None
        for turn in range(N_PASSES):
            busy = work.through(
                catalogue.watched() if busy is None else iter(busy), last=turn == N_PASSES - 1
            )
            if not busy:
                break
            asyncio.run(house.clock.sleep(PAUSE_S * house.clock.speed))


@contextmanager
def _roomy(folder: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as problem:
        raise StoreError(
            f"What the files hold cannot be noted in {folder} ({problem}); make room there, and begin anew."
        ) from problem


def _read(
    catalogue: Catalogue,
    paths: Sequence[Path],
    result: Imported,
    *,
    strict: bool,
    tell: Callable[[str], object],
) -> None:
    def skipped(damage: Damage) -> None:
        if strict:
            raise damaged(damage)
        result.skipped[DAMAGED] += 1
        result.name(damage)

    def progress(source: Source) -> None:
        result.n_read += 1
        if result.n_read % TOLD_EVERY == 0:
            tell(f"Reading {source.name} … {result.n_read:,} records so far")

    n_files = 0

    def files() -> Iterator[Source | Damage]:
        nonlocal n_files
        for file in sources(paths):
            n_files += 1
            yield file

    catalogue.take(files(), skipped, progress)
    if not n_files:
        where = ", ".join(map(str, paths))
        raise BadInputError(f"There are no WARC or WACZ files in {where}; name some, or a folder of them.")


def _add(catalogue: Catalogue, store: Store, choice: Choice, result: Imported, now: float) -> None:
    """Watch what was found, as `recrawl add` would."""
    settings = Settings(allow_private=True) if choice.allow_private else Settings()
    waiting: list[NewResource] = []
    for url, n_answers, media_type in catalogue.found():
        if is_file_url(url) or not choice.wants(url, media_type):
            continue
        new = admitted(Candidate(url, "in a WARC file"), settings, choice.tags, ())
        if isinstance(new, Refused):
            if store.find(url) is None:
                result.skipped[PRIVATE] += n_answers
            continue
        waiting.append(new)
        if len(waiting) == N_TOGETHER:
            result.n_added += store.add(waiting, now)[0]
            waiting.clear()
    if waiting:
        result.n_added += store.add(waiting, now)[0]
