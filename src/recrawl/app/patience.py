"""Waiting for other processes, a little at a time."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event

STEP_S = 0.05


def patient(
    seconds: float, told: Callable[[], object] = lambda: None, stop: Event | None = None
) -> Callable[[], Callable[[], bool]]:
    """Makes waits of this length on the wall, each of which says False at its end, or once `stop` is set;
    `told` is called when one really begins."""
    pause = stop or Event()

    def begun() -> Callable[[], bool]:
        left = round(seconds / STEP_S)

        def wait() -> bool:
            nonlocal left
            if left == round(seconds / STEP_S):
                told()
            left -= 1
            return left > 0 and not pause.wait(STEP_S)

        return wait

    return begun
