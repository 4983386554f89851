"""Loops that are compiled to machine code, where a loop is the natural form and columns are not.

A compiled function may call others; all of them take and return plain numbers and arrays. What was compiled
is kept beside the source, or in the user's cache folder, so that only the first call waits for it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar, cast

from recrawl.errors import BadInputError
from recrawl.model import Floats

F = TypeVar("F", bound=Callable[..., object])

_quick: list[Callable[..., object]] = []  # of which no compiler has heard yet


def compiled(function: F) -> F:
    """Decorates a function. The same arguments give the same bits on one machine, compiled or not."""
    try:
        from numba import njit
    except ImportError as error:
        raise BadInputError(
            "Replaying histories needs numba, which is not installed; install it with "
            "`pip install 'recrawl[simulate]'`."
        ) from error
    callable_when_compiled(*_quick)
    _quick.clear()
    # Division by zero gives infinity, as in NumPy; other threads may run meanwhile.
    try:
        made = njit(cache=True, nogil=True, error_model="numpy")(function)
    except RuntimeError:  # neither folder can be written: every process compiles for itself
        made = njit(nogil=True, error_model="numpy")(function)
    _stamp(made, function)
    return cast(F, made)


def quick(function: F) -> F:
    """Decorates a function that compiled ones may call. For everybody else it stays as it is, slower and with
    the same results: no numba is needed, nor waited for."""
    _quick.append(function)
    return function


@quick
def wide(value: float) -> float:
    """A number out of an array of narrow ones, in full width. What it is added to or compared with would else
    be made as narrow by NumPy, but not by a compiler; to which `float` of a narrow number is a narrow one."""
    return float(value) + 0.0


@quick
def total(values: Floats) -> float:
    """From the first to the last: NumPy adds up in another order than a compiler does."""
    added = 0.0
    for value in values:
        added += value
    return added


def hurried(function: F) -> F:
    """Decorates a function of `quick` ones: called, it is compiled where numba is installed. `plain` is the
    function as it stands, for when there is too little to do to wait for a compiler."""
    made: list[F] = []

    @wraps(function)
    def call(*args: object) -> object:
        if not made:
            made.append(compiled(function) if can_compile() else function)
        return made[0](*args)

    return cast(F, call)


def plain(function: F) -> F:
    """What was decorated with `hurried`, as it stands."""
    return cast(F, function.__wrapped__)  # type: ignore[attr-defined]


def can_compile() -> bool:
    return find_spec("numba") is not None


def callable_when_compiled(*functions: Callable[..., object]) -> None:
    """Plain functions that compiled ones may call; they stay plain for everybody else."""
    from numba.extending import register_jitable

    for function in functions:
        register_jitable(error_model="numpy")(function)


def _stamp(made: Any, function: Callable[..., object]) -> None:
    """Numba compiles anew when the file that a function is in has changed; here, also when another file has
    that holds something it calls."""
    kept: Any = getattr(getattr(made, "_cache", None), "_cache_file", None)
    if hasattr(kept, "_source_stamp"):
        files = sorted(path for path in _files(function, set()) if path.is_file())
        kept._source_stamp = (kept._source_stamp, [(file.stat().st_mtime_ns, file.name) for file in files])


def _files(function: Any, known: set[Any]) -> set[Path]:
    """Where the function is, and all of ours that it calls, directly or not."""
    plain = getattr(function, "py_func", function)
    code = getattr(plain, "__code__", None)
    if code is None or plain in known or not plain.__module__.startswith("recrawl."):
        return set()
    known.add(plain)
    around = (cell.cell_contents for cell in plain.__closure__ or ())
    called = [*(plain.__globals__.get(name) for name in code.co_names), *around]
    return {Path(code.co_filename)}.union(*(_files(one, known) for one in called if callable(one)))
