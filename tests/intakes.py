"""Imports as a user runs them, also ones that are killed on the way, and what they wrote."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from recrawl.corpora.importing import Importer, Intake
from recrawl.corpora.run import Imported, imported
from recrawl.corpora.sources.download import Web

Event = tuple[int, str | None]


class CutOffError(Exception):
    """What a kill looks like to a test."""


class _Cutting:
    """An intake whose process is killed when its importer has reached so much."""

    def __init__(self, into: Intake, n_left: int) -> None:
        self._into = into
        self._n_left = n_left

    def __getattr__(self, name: str) -> Any:
        return getattr(self._into, name)

    def reached(self, position: Any) -> None:
        self._into.reached(position)
        self._n_left -= 1
        if self._n_left == 0:
            raise CutOffError


class Cut:
    """An importer that does not live to see the end."""

    def __init__(self, importer: Importer, n_reached: int) -> None:
        self.name, self.summary, self.options = importer.name, importer.summary, importer.options
        self._importer = importer
        self._n_reached = n_reached

    def read(self, source: str, into: Intake) -> None:
        self._importer.read(source, _Cutting(into, self._n_reached))


def run(
    importer: Importer, source: Path | str, folder: Path, *, strict: bool = False, web: Web | None = None
) -> Imported:
    ticks = count(step=10)  # so that everything reached is saved
    return imported(importer, str(source), folder, strict=strict, web=web, watch=lambda: float(next(ticks)))


def run_cut(
    make: Callable[[], Importer],
    source: Path | str,
    folder: Path,
    *,
    n_reached: int,
    web: Callable[[], Web] = Web,
) -> Imported:
    """Import what a first attempt left when it was killed."""
    with pytest.raises(CutOffError):
        run(Cut(make(), n_reached), source, folder, web=web())
    done = run(make(), source, folder, web=web())
    assert done.went_on
    return done


def rows(folder: Path, name: str = "events") -> list[dict[str, Any]]:
    names = {row["resource"]: row["url"] or row["path"] for row in resources(folder)}
    table: list[dict[str, Any]] = pq.read_table(folder / f"{name}.parquet").to_pylist()
    return [{**row, "name": names[row["resource"]]} for row in table]


def resources(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(folder / "resources.parquet").to_pylist()
    return found


def events(folder: Path, name: str = "events") -> dict[str, list[Event]]:
    """By URL, when and with which digest."""
    found: dict[str, list[Event]] = {}
    for row in rows(folder, name):
        found.setdefault(row["name"], []).append((row["at"], row["digest"]))
    return found
