"""Linear algebra on one thread.

How many threads share a product of matrices shows in its last bits, so that a process with other limits would
learn other numbers from the same visits. Nor does anybody want those threads: whoever replays has a draw on
every core, and whoever runs shares the machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import threadpoolctl  # type: ignore[import-untyped]

_guard = Lock()
_limits: list[Any] = []  # while anybody is within
_n_within = 0


@contextmanager
def one_thread() -> Iterator[None]:
    """Within, NumPy's, SciPy's and scikit-learn's own loops use one thread. OpenMP's are this thread's alone.
    Those of BLAS are the whole process's: who comes first limits them and who goes last lifts that, else
    one that ends would lift it for all."""
    global _n_within
    loaded = threadpoolctl.ThreadpoolController()
    blas = loaded.select(user_api="blas")
    with loaded.select(user_api="openmp").limit(limits=1):
        with _guard:
            if any(one.get_num_threads() != 1 for one in blas.lib_controllers):  # or loaded since
                _heeded()
                _limits.append(blas.limit(limits=1))
            _n_within += 1
        try:
            yield
        finally:
            with _guard:
                _n_within -= 1
                while not _n_within and _limits:  # at the end those that the first one found
                    _heeded()
                    _limits.pop().restore_original_limits()
                    _heeded()


def _heeded() -> None:
    """Newer threadpoolctl does what the first thread says that comes, and nothing that others say, until
    that one is through."""
    clear = getattr(threadpoolctl.OpenBLASController, "clear_controlling_thread", None)
    if clear is not None:
        clear(force=True)
