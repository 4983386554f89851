"""Somebody else's part at work: what goes wrong in one of its methods says whose it is.

The part becomes one of a class of its own, derived from the one that it was made of, with the same name: it
is still an instance of all that it was one of, has what it had and nothing else, and is copied as before.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, wraps
from inspect import getattr_static, isfunction
from pathlib import Path
from traceback import walk_tb
from typing import Any

from recrawl.errors import PluginError, RecrawlError

_ASKED_ON = ("forecast", "quote", "pick", "usual")  # what these give is the part's too, and is asked on
_MARK = "_recrawl_guarded"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a part comes from."""

    what: str  # such as predictor
    name: str
    place: str  # module:class
    package: str


def guarded(part: Any, origin: Origin, before: str = "") -> Any:
    """The same part. `before` is what was called to get it."""
    kind: type = type(part)
    with suppress(TypeError):  # what is not written in Python stays as it is, and so do its errors
        object.__setattr__(part, "__class__", _guarding(kind, origin, before))
    return part


@cache
def _guarding(kind: type, origin: Origin, before: str) -> type:
    if hasattr(kind, _MARK):
        return kind
    own: dict[str, Any] = {
        "__slots__": (),  # else one that has slots could not change its class
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,  # the store keeps memories under it
        "__doc__": kind.__doc__,
        _MARK: True,
    }
    for name in dir(kind):
        found = None if name.startswith("_") else getattr_static(kind, name)
        if isfunction(found):
            own[name] = _watched(found, origin, before, name)
        elif isinstance(found, property) and found.fget is not None:
            own[name] = property(_watched(found.fget, origin, before, name), found.fset, found.fdel)
    return type(kind)(kind.__name__, (kind,), own)


def _watched(method: Callable[..., Any], origin: Origin, before: str, name: str) -> Callable[..., Any]:
    path = f"{before}{name}"

    @wraps(method)
    def watched(*args: Any, **kwargs: Any) -> Any:
        try:
            given = method(*args, **kwargs)
        except RecrawlError:
            raise  # it has been told whose it is, or is about what the user said
        except Exception as problem:
            raise PluginError(_words(problem, origin, path)) from problem
        if name not in _ASKED_ON:
            return given
        return guarded(given, origin, before if name == "pick" else f"{path}().")

    return watched


def _words(problem: Exception, origin: Origin, path: str) -> str:
    said = " ".join(f"{type(problem).__name__}: {problem}".split())
    return (
        f"The {origin.what} {origin.name!r} ({origin.place}, of {origin.package}) failed in {path}: {said} "
        f"({_place(problem, origin)}). Choose another {origin.what}, or tell those who wrote it; "
        "`recrawl --traceback COMMAND` shows all that led there."
    )


def _place(problem: Exception, origin: Origin) -> str:
    """The last line of theirs, or where they handed something to others that cannot be used."""
    root = origin.place.partition(":")[0].partition(".")[0]
    frames = [(frame, line) for frame, line in walk_tb(problem.__traceback__)][1:]  # the first is ours
    theirs = [one for one in frames if str(one[0].f_globals.get("__name__")).partition(".")[0] == root]
    if not (theirs or frames):
        return "called wrongly"  # with arguments that it does not take
    frame, line = (theirs or frames)[-1]
    return f"{Path(frame.f_code.co_filename).name}, line {line}"
