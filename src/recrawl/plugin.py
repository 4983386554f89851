"""Whose code failed: told from the traceback, where an error is told to people.

Nothing stands before a part. From where the error was raised outward, the first line in the package of a part
that is in use says whose it is: also where that had called NumPy or recrawl, and they raised it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from traceback import walk_tb

from recrawl.errors import PluginError, RecrawlError

_given: dict[str, list[str]] = {}  # by the package that their code is in, the parts that others have written


def given(module: str, part: str) -> None:
    """That this part is in use from now on, in words."""
    known = _given.setdefault(_package(module), [])
    if part not in known:
        known.append(part)


@contextmanager
def named() -> Iterator[None]:
    """What somebody else's part raises inside says whose it is."""
    try:
        yield
    except RecrawlError:
        raise  # it has been told whose it is, or is about what the user said
    except Exception as problem:
        if words := _words(problem):
            raise PluginError(words) from problem
        raise


def _words(problem: Exception) -> str:
    """Empty where it is nobody else's."""
    for frame, line in reversed(list(walk_tb(problem.__traceback__))):
        if parts := _given.get(_package(str(frame.f_globals.get("__name__")))):
            code = frame.f_code
            said = " ".join(f"{type(problem).__name__}: {problem}".split())
            return (
                f"The {' or the '.join(parts)} failed in {code.co_qualname}: {said} "
                f"({Path(code.co_filename).name}, line {line}). Choose another, or tell those who wrote it; "
                "`recrawl --traceback COMMAND` shows all that led there."
            )
    return ""


def _package(module: str) -> str:
    return module.partition(".")[0]
