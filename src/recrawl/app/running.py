"""A `recrawl run` beside something else: begun and ended with it, begun anew where it ends by itself."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

REST_S = 5.0  # after trouble twice as long each time
LONGEST_REST_S = 600.0
_TROUBLE = 3  # its exit code
PATIENCE_S = 60.0  # what is in the air when it is to end still comes down


@contextmanager
def beside(home: Path) -> Iterator[None]:
    """As long as this goes on. What it says goes where our own talk goes."""
    over = threading.Event()
    keeper = threading.Thread(target=_kept, args=(home, over), name="recrawl-run")
    keeper.start()
    try:
        yield
    finally:
        over.set()
        keeper.join()


def _kept(home: Path, over: threading.Event) -> None:
    rest_s = REST_S
    while not over.is_set():
        # Its own process: what it does must not wait for pages, nor they for it.
        with subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "recrawl", "run", "--home", str(home)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for us; we end it in good order
        ) as run:
            while run.poll() is None and not over.wait(0.2):
                pass
            if run.poll() is None:
                run.terminate()
                try:
                    run.wait(PATIENCE_S)
                except subprocess.TimeoutExpired:
                    run.kill()
        over.wait(rest_s)
        # while nothing is watched it ends at once, and may be needed any moment
        rest_s = min(2.0 * rest_s, LONGEST_REST_S) if run.returncode == _TROUBLE else REST_S
