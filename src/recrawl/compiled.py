"""Loops that are compiled to machine code, where a loop is the natural form and columns are not.

A compiled function may call others; all of them take and return plain numbers and arrays. What was compiled is
kept beside the source, or in the user's cache folder, so that only the first call waits for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from recrawl.errors import BadInputError

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Decorates a function. The same arguments give the same bits on one machine, compiled or not."""
    try:
        from numba import njit
    except ImportError as error:
        raise BadInputError(
            "Replaying histories needs numba, which is not installed; install it with "
            "`pip install 'recrawl[simulate]'`."
        ) from error
    # Division by zero gives infinity, as in NumPy; other threads may run meanwhile.
    return cast(F, njit(cache=True, nogil=True, error_model="numpy")(function))
