"""How the house is: its figures, its soundness, and what a person should see to."""

from __future__ import annotations

import os
import platform
import shutil
import sqlite3
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version as installed_version
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from recrawl import __version__
from recrawl.app import config as configuration
from recrawl.app.build import ARCHIVE_FOLDER, STORE_FILE
from recrawl.app.quantity import iso
from recrawl.app.registry import GROUPS, names, part
from recrawl.app.rows import Row, number
from recrawl.errors import RecrawlError
from recrawl.observe.chromium import browser_found
from recrawl.terms import noted_terms

if TYPE_CHECKING:
    from recrawl.app.build import House

T = TypeVar("T")

_DAY_S = 86_400.0
_LOW_DISK_BYTES = 2**30
_LIBRARIES = ("aiohttp", "numpy", "pydantic", "selectolax", "yarl")
# Well before and after anyone will run this version: a clock outside is wrong.
_SANE_CLOCK = (1_735_689_600.0, 4_102_444_800.0)


def status(house: House) -> Row:
    """The figures of the whole house."""
    now = house.clock.now()
    counts = house.store.counts(now)
    terms = noted_terms(house.store)
    schedule = house.config.schedule
    ready_at = house.store.ready_at(now)
    return {
        **counts,
        "budget_per_day": schedule.budget if terms is None else terms.per_day,
        "visits_last_24h": house.store.n_visits_since(now - _DAY_S),
        "rule": f"{schedule.policy}:{schedule.goal}" if terms is None else terms.rule,
        "price": None if terms is None else number(terms.price),
        "demand_per_day": None if terms is None else terms.demand_per_day,
        "priced_at": None if terms is None else iso(terms.priced_at),
        "next_visit_at": iso(ready_at) if isfinite(ready_at) else None,
        "archive_files": len(house.store.files()),
        "archive_bytes": sum(house.store.files().values()),
        "store": str(house.home / STORE_FILE),
        "archive": str(house.home / ARCHIVE_FOLDER),
    }


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it was left."""

    where: str
    what: str


def verify(house: House, progress: Callable[[int], object] = lambda _: None) -> Iterator[Problem]:
    """Read the whole store and every byte of the archive; yield what is damaged."""
    urls = {resource.id: resource.url for resource, _, _ in house.store.resources()}
    yield from _unsound(house.home / STORE_FILE)
    for version, what in house.archive.verify(_counted(house.store.versions(), progress)):
        where = f"{urls.get(version.resource_id, version.file)}"
        yield Problem(f"{where} version {version.seq}" if version.seq else where, what)


def _unsound(store: Path) -> Iterator[Problem]:
    with closing(sqlite3.connect(f"{store.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        try:
            found = [row[0] for row in connection.execute("PRAGMA integrity_check")]
            broken = connection.execute("PRAGMA foreign_key_check").fetchall()
        except sqlite3.DatabaseError as problem:
            found, broken = [str(problem)], []
    yield from (Problem(str(store), what) for what in found if what != "ok")
    yield from (Problem(str(store), f"a row of {row[0]} refers to what is not there") for row in broken)


def _counted(items: Iterable[T], progress: Callable[[int], object]) -> Iterator[T]:
    for n, item in enumerate(items, 1):
        progress(n)
        yield item


def settings(config: configuration.Config, home: Path) -> list[Row]:
    """Every setting, its value, and where that comes from."""
    path = home / configuration.FILE_NAME
    in_file = tomllib.loads(path.read_text("utf-8")) if path.exists() else {}

    def source(name: str, variable: str) -> str:
        section, _, field = name.partition(".")
        if variable in {key.upper() for key in os.environ}:
            return "environment"
        return configuration.FILE_NAME if field in in_file.get(section, {}) else "default"

    return [
        {"name": name, "value": value, "from": source(name, env), "variable": env, "description": about}
        for name, value, env, about in configuration.rows(config)
    ]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing the doctor looked at. `ok` None: worth knowing, not wrong."""

    name: str
    ok: bool | None
    finding: str


def doctor(house: House) -> Iterator[Check]:
    """Look at everything that can be looked at without asking the network."""
    yield Check("recrawl", True, f"{__version__} on Python {platform.python_version()}, {platform.system()}")
    yield Check("libraries", True, ", ".join(f"{name} {installed_version(name)}" for name in _LIBRARIES))
    yield Check("home", True, str(house.home))
    yield from _configured(house)
    yield _clock(house.clock.now())
    yield _disk(house.home)
    yield from (_parts(group) for group in GROUPS)
    yield _names_resolved()
    yield _browser()
    yield from _kept(house)


def _configured(house: House) -> Iterator[Check]:
    path = house.home / configuration.FILE_NAME
    yield Check("settings", True, str(path) if path.exists() else f"defaults; {path} would change them")
    for row in settings(house.config, house.home):
        if row["from"] != "default":
            yield Check("settings", True, f"{row['name']} = {row['value']} (from {row['from']})")
    if not house.config.fetching.contact:
        finding = "none is set: set fetching.contact, so that servers' owners can reach you"
        yield Check("contact", None, finding)


def _clock(now: float) -> Check:
    sane = _SANE_CLOCK[0] < now < _SANE_CLOCK[1]
    return Check(
        "clock", sane, f"{iso(now)}" if sane else f"{iso(now)} cannot be right: set the system's clock"
    )


def _disk(home: Path) -> Check:
    there = next(folder for folder in (home, *home.parents) if folder.exists())
    free = shutil.disk_usage(there).free
    enough = free >= _LOW_DISK_BYTES
    return Check("disk", enough, f"{free / 2**30:.1f} GiB free" + ("" if enough else ": make room soon"))


def _parts(group: str) -> Check:
    broken = []
    for name in names(group):
        try:
            part(group, name)
        except RecrawlError as problem:
            broken.append(str(problem))
    return Check(group, not broken, "; ".join(broken) or ", ".join(names(group)))


def _names_resolved() -> Check:
    path = Path("/etc/resolv.conf")
    text = path.read_text("utf-8", errors="replace") if path.exists() else ""
    servers = [line.split()[1] for line in text.splitlines() if line.startswith("nameserver ")]
    if servers:
        return Check("names", True, f"asked of {', '.join(servers)}")
    return Check("names", None, f"no server of names in {path}: only addresses can be visited")


def _browser() -> Check:
    there, finding = browser_found()
    return Check("browser", there or None, finding if there else f"pages cannot be rendered; {finding}")


def _kept(house: House) -> Iterator[Check]:
    if not (house.home / STORE_FILE).exists():
        yield Check("store", None, "there is none yet: `recrawl add URL` makes it")
        return
    problems = list(_unsound(house.home / STORE_FILE))
    counts = house.store.counts(house.clock.now())
    finding = (
        f"sound: {counts['resources']} resources, {counts['visits']} visits, {counts['versions']} versions"
    )
    yield Check("store", not problems, "; ".join(problem.what for problem in problems) or finding)
    folder = house.home / ARCHIVE_FOLDER
    short = [
        name
        for name, length in house.store.files().items()
        if not (folder / name).exists() or (folder / name).stat().st_size < length
    ]
    finding = f"{len(house.store.files())} files, all there; `recrawl verify` reads every byte"
    missing = f"missing or too short: {', '.join(short)}; put them back from a copy"
    yield Check("archive", not short, missing if short else finding)
