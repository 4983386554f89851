"""Learning from first sights in a process of its own: it takes seconds, and visits go on meanwhile."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Thread

from recrawl.learn.sights.model import Trained
from recrawl.parse.pool import ParseFailed, Pool
from recrawl.sighted import Lessons, learned

LIMIT_S = 300.0
MEMORY_BYTES = 4 << 30  # of addresses: libraries reserve much more than they use


def elsewhere(found: Lessons, now: float) -> Future[Trained | None]:
    """What was learned; None too where it took too long or came to nothing: the next day has another try."""
    done: Future[Trained | None] = Future()
    # No thread that a run would have to wait for at its end: the process ends with the pipe to it.
    Thread(target=_learn, args=(done, found, now), name="recrawl-study", daemon=True).start()
    return done


def _learn(done: Future[Trained | None], found: Lessons, now: float) -> None:
    model: Trained | ParseFailed | None = None
    try:
        with Pool(n_workers=1, limit_s=LIMIT_S, memory_bytes=MEMORY_BYTES) as pool:
            model = pool.run(learned, found, now)
    finally:
        done.set_result(None if isinstance(model, ParseFailed) else model)
