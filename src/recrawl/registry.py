"""Parts chosen by name. Built-ins come in through the same entry points as anyone's."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any

from recrawl.errors import PluginError, RecrawlError, UnknownPartError

SINGULAR = {
    "predictors": "predictor",
    "policies": "policy",
    "goals": "goal",
    "handlers": "handler",
    "detectors": "detector",
    "stores": "store",
    "archives": "archive",
    "importers": "importer",
}
GROUPS = tuple(SINGULAR)


def names(group: str) -> list[str]:
    """What can be chosen in this group."""
    return sorted(_offered(group).names)


def check(group: str, name: str) -> EntryPoint:
    """Refused where nobody offers it; nothing is loaded."""
    found = _offered(group).select(name=name)
    if not found:
        raise UnknownPartError(
            f"There is no {SINGULAR[group]} called {name!r}; choose one of: {', '.join(names(group))}."
        )
    return next(iter(found))


def part(group: str, name: str) -> Callable[..., Any]:
    """The class or factory behind a name."""
    entry = check(group, name)
    try:
        loaded: Callable[..., Any] = entry.load()
    except Exception as problem:
        raise PluginError(
            f"{name!r} of {group} cannot be loaded ({problem}); reinstall the package it comes from: "
            f"{_package(entry)}."
        ) from problem
    return loaded


def made(group: str, name: str) -> Any:
    """One of it, where it is made of nothing else."""
    make = part(group, name)
    try:
        return make()
    except RecrawlError:
        raise
    except Exception as problem:
        raise PluginError(
            f"{name!r} of {group} cannot be made ({problem}); choose another, or tell those who wrote it: "
            f"{_package(check(group, name))}."
        ) from problem


def _package(entry: EntryPoint) -> str:
    return entry.dist.name if entry.dist else entry.value


@cache
def _offered(group: str) -> EntryPoints:
    """By all packages: to read what each of them offers takes longer than most parts take to load."""
    return entry_points(group=f"recrawl.{group}")
