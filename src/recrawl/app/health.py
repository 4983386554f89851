"""How the house is: its figures, its soundness, and what a person should see to."""

from __future__ import annotations

import os
import sqlite3
import tomllib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from math import isfinite, isnan
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from recrawl.app import config as configuration
from recrawl.app.build import ARCHIVE_FOLDER, STORE_FILE
from recrawl.app.ledger import past, round_row
from recrawl.app.mending import mended
from recrawl.app.quantity import iso
from recrawl.app.rows import Row, number
from recrawl.app.spending import free_at, purse_of
from recrawl.contracts import Store
from recrawl.model import DAY_S
from recrawl.purse import Purse
from recrawl.remember.sqlite import sums
from recrawl.terms import granted, noted_terms

if TYPE_CHECKING:
    from recrawl.app.build import House

T = TypeVar("T")


def status(house: House) -> Row:
    """The figures of the whole house."""
    from recrawl.app.notices import listed

    now = house.clock.now()
    counts = house.store.counts(now)
    terms = noted_terms(house.store)
    schedule = house.config.schedule
    purse, poor_until = purse_of(house), free_at(house, now)
    per_day, n_bytes = purse.per_day, purse.saved(now)[1]
    ready_at = max(house.store.ready_at(now), now if isnan(poor_until) else poor_until)
    return {
        **counts,
        "budget_per_day": per_day,
        "budget_bytes_per_day": purse.bytes_per_day,
        "visits_saved": None if per_day is None else int(Purse(house.store, per_day, None).n_free(now)),
        "bytes_saved": None if purse.bytes_per_day is None else max(0, int(n_bytes)),
        "bytes_owed": None if purse.bytes_per_day is None else max(0, int(-n_bytes)),
        "free_at": iso(poor_until),
        "budget_last_24h": number(granted(house.store).visits(now - DAY_S, now)),
        "visits_last_24h": house.store.n_visits_since(now - DAY_S),
        "second_looks_last_24h": house.store.n_second_since(now - DAY_S),
        "rule": f"{schedule.policy}:{schedule.goal}" if terms is None else terms.rule,
        "price": None if terms is None else number(terms.price),
        "demand_per_day": None if terms is None else terms.demand_per_day,
        "full_hosts": 0 if terms is None else len(terms.dear),
        "priced_at": None if terms is None else iso(terms.priced_at),
        "next_visit_at": iso(ready_at) if isfinite(ready_at) else None,
        "last_round": round_row(last[-1]) if (last := past(house.store)) else None,
        "archive_files": len(house.store.files()),
        "archive_bytes": sum(house.store.files().values()),
        "archive_carried": len(house.store.carried()),
        "notices": len(told := listed(house)),
        "notices_failing": [row["name"] for row in told if row["trouble"]],
        "store": str(house.home / STORE_FILE),
        "archive": str(house.home / ARCHIVE_FOLDER),
    }


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it was left."""

    where: str
    what: str


def verify(house: House, progress: Callable[[int], object] = lambda _: None) -> Iterator[Problem]:
    """Read the whole store and every byte of the archive; yield what is damaged. What a crash left torn is
    cut off first."""
    if not house.kept:
        return
    house.recovered = mended(house.archive, house.store)
    yield from unsound(house.home / STORE_FILE)
    with house.archive.recording():  # meanwhile no file is exchanged for another
        kept = (version for version in house.store.versions() if version.file)  # else it was erased
        for version, what in house.archive.verify(_counted(kept, progress)):
            where = _url(house.store, version.resource_id) or version.file
            yield Problem(f"{where} version {version.seq}" if version.seq else where, what)


def _url(store: Store, resource_id: int) -> str:
    """Looked up for what is damaged alone: there may be a million others."""
    found = store.resources(after=resource_id - 1, limit=1)
    return next((resource.url for resource, _, _ in found if resource.id == resource_id), "")


def unsound(store: Path) -> Iterator[Problem]:
    """What SQLite itself finds wrong with a store."""
    with closing(sqlite3.connect(f"{store.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        try:
            found = [row[0] for row in connection.execute("PRAGMA integrity_check")]
            broken = connection.execute("PRAGMA foreign_key_check").fetchall()
            sums.register(connection)
            found += sums.disagreements(connection)
        # the last: what SQLite says of a damaged name has that name in it
        except (sqlite3.DatabaseError, UnicodeDecodeError) as problem:
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
    values = configuration.values(config)

    def origin(name: str, variable: str) -> str:
        section, _, field = name.partition(".")
        if variable in {key.upper() for key in os.environ}:
            return "environment"
        return configuration.FILE_NAME if field in in_file.get(section, {}) else "default"

    return [
        {
            "name": name,
            "value": values[name],
            "written": shown,
            "from": origin(name, env),
            "variable": env,
            "description": about,
        }
        for name, shown, env, about in configuration.rows(config)
    ]
