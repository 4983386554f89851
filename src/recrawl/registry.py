"""Parts chosen by name. Built-ins come in through the same entry points as anyone's.

What others wrote is looked at when it is made: what cannot be had, or lacks something, says whose it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from typing import Any

from recrawl.errors import PluginError, RecrawlError, UnknownPartError
from recrawl.plugin import given

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
# What the parts of these groups must have; the others are asked for themselves before they are made.
_HAVE = {
    "predictors": ("width", "learn", "forecast", "memory", "recall"),
    "policies": ("name", "quote"),
    "goals": ("name", "worth"),
    "handlers": ("schemes", "kinds", "media_types", "fetch", "aclose"),
    "detectors": ("name", "fingerprint", "compare", "differing"),
}


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


def ours(group: str, name: str) -> bool:
    """Whether it comes with recrawl itself."""
    return check(group, name).module.partition(".")[0] == __name__.partition(".")[0]


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
    if ours(group, name):
        return loaded
    given(entry.module, f"{SINGULAR[group]} {name!r} ({entry.value}, of {_package(entry)})")
    return _checked(entry, group, loaded) if group in _HAVE else loaded


def made(group: str, name: str) -> Any:
    """One of it, where it is made of nothing else."""
    return _one(group, name, part(group, name))


def _checked(entry: EntryPoint, group: str, make: Callable[..., Any]) -> Callable[..., Any]:
    """It makes the same, or says whose it is that cannot be made, or lacks what it must have."""

    @wraps(make)  # whoever asks what it can be made of is told
    def one(*args: Any, **kwargs: Any) -> Any:
        found = _one(group, entry.name, make, *args, **kwargs)
        missing = [name for name in _HAVE[group] if not hasattr(found, name)]
        if missing:
            raise PluginError(
                f"{entry.name!r} of {group} has no {' and no '.join(missing)}, which every {SINGULAR[group]} "
                f"has; choose another, or tell those who wrote it: {_package(entry)}."
            )
        return found

    return one


def _one(group: str, name: str, make: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    try:
        return make(*args, **kwargs)
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
