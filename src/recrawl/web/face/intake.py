"""Adding from the web face: read, shown, and added once somebody has said yes; each in a thread of its own.

A sitemap is fetched as politely as a visit and may take minutes, and fifty thousand resources take seconds to
add: whoever asked may look again meanwhile. What was read is kept for a while, and for no longer than this
server runs.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from secrets import token_urlsafe

from recrawl.app.build import House, open_house
from recrawl.app.drafts import Draft, Given, drafted, watch
from recrawl.app.sources import Refused
from recrawl.contracts import Clock
from recrawl.errors import BadInputError, NotWatchedError, RecrawlError
from recrawl.model import Settings

N_AT_ONCE = 2
N_KEPT = 8
WAIT_S = 2.0  # so long whoever asked is kept waiting


class Stage(StrEnum):
    READING = "reading"
    READY = "ready"
    ADDING = "adding"
    DONE = "done"
    FAILED = "failed"


@dataclass(slots=True)
class Job:
    key: str
    given: Given
    settings: Settings
    tags: tuple[str, ...]
    stage: Stage = Stage.READING
    draft: Draft | None = None
    n_new: int = 0
    n_known: int = 0
    n_refused: int = 0
    n_done: int = 0  # of those that are being added
    refused: list[Refused] = field(default_factory=list)
    full: bool = False
    trouble: str = ""
    stop: Callable[[], object] | None = None  # while it is read

    @property
    def busy(self) -> bool:
        return self.stage in (Stage.READING, Stage.ADDING)


class Intakes:
    def __init__(self, home: Path, clock: Clock) -> None:
        self._home, self._clock = home, clock
        self._threads = ThreadPoolExecutor(N_AT_ONCE, "recrawl-intake")
        self._jobs: OrderedDict[str, Job] = OrderedDict()

    async def begin(
        self, given: Given, settings: Settings, tags: tuple[str, ...], *, at_once: bool = False
    ) -> Job:
        """Read what is given; with `at_once`, add it too."""
        done = [key for key, job in self._jobs.items() if not job.busy]
        for key in done[: max(0, len(self._jobs) - N_KEPT + 1)]:
            del self._jobs[key]
        if len(self._jobs) >= N_KEPT:
            raise BadInputError(f"{N_KEPT} lists are being read or added already; wait for one of them.")
        job = Job(token_urlsafe(12), given, settings, tags)
        self._jobs[job.key] = job
        return await self._awaited(job, self._threads.submit(self._read, job, at_once))

    async def confirm(self, key: str) -> Job:
        """Add what was read; once, however often it is said."""
        job = self.find(key)
        if job.stage is not Stage.READY:
            return job
        job.stage = Stage.ADDING
        return await self._awaited(job, self._threads.submit(self._add, job))

    def find(self, key: str) -> Job:
        if key not in self._jobs:
            raise NotWatchedError("What was read is kept for a while only; give the list again.")
        return self._jobs[key]

    def close(self) -> None:
        """What is being read is broken off; what is being added is added."""
        for job in self._jobs.values():
            if job.stop is not None:
                job.stop()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _awaited(self, job: Job, future: Future[None]) -> Job:
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(future)), WAIT_S)
        return job

    def _read(self, job: Job, at_once: bool) -> None:
        with _ending(job), open_house(self._home, clock=self._clock) as house:
            draft = asyncio.run(_stoppable(job, drafted(house, job.given, job.settings, job.tags)))
            job.draft, job.full = draft, draft.full
            job.n_new, job.n_known = len(draft.new), len(draft.known)
            job.n_refused, job.refused = draft.refused.n_refused, draft.refused.refused
            job.stage = Stage.ADDING if at_once else Stage.READY
            if at_once:
                self._add_in(house, job)

    def _add(self, job: Job) -> None:
        with _ending(job), open_house(self._home, clock=self._clock) as house:
            self._add_in(house, job)

    def _add_in(self, house: House, job: Job) -> None:
        draft, job.draft = job.draft, None
        if draft is None:
            raise AssertionError("only what was read is added")

        def told(n: int) -> None:
            job.n_done = n

        added = watch(house.store, draft, house.clock.now(), told)
        job.n_new, job.n_known = added.n_added, added.n_known
        job.stage = Stage.DONE


async def _stoppable(job: Job, reading: Awaitable[Draft]) -> Draft:
    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    job.stop = lambda: loop.call_soon_threadsafe(task.cancel) if task else None
    try:
        return await reading
    finally:
        job.stop = None


@contextmanager
def _ending(job: Job) -> Iterator[None]:
    """However it ends, nobody waits for it for ever."""
    try:
        yield
    except RecrawlError as problem:
        job.trouble = str(problem)
    finally:
        if job.busy:
            job.stage = Stage.FAILED
            job.trouble = job.trouble or "It was broken off; give the list again."
