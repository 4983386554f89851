"""Shell 1: the loop on a clock that really runs.

Many fetches are in the air at once, at most one a host. What came back is judged in a few threads of their
own, since a hostile page may keep its parser busy for seconds. Everything else (claiming, archiving,
learning, recording) happens in one worker thread, several visits at a time: one fsync and one transaction
serve them all.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf

from recrawl.contracts import Archive, Clock, Detector, Fetcher
from recrawl.errors import BusyHostError, RecrawlError
from recrawl.finding import Finding
from recrawl.live.gates import answered
from recrawl.live.judgement import ChooseDetector, Judgement, judged
from recrawl.live.worker import Worker
from recrawl.loop import Absorbed, Loop
from recrawl.model import Access, Fetch, Lease, Request, Resource, Version
from recrawl.observe.pacing import MAX_CRAWL_DELAY_S

# Servers lie about "not modified": every so often the whole thing is asked for.
FULL_EVERY = 10
N_TOGETHER = 64
N_JUDGES = 8  # more than there are parsing processes: small pages need none
RETRY_CLAIM_S = 0.2
VISIT_PATIENCE_S = 300.0  # on the wall: longer than that nobody who asks for a visit now waits for the host


@dataclass(frozen=True, slots=True, kw_only=True)
class Landed:
    """A visit that has been recorded, for whoever watches."""

    lease: Lease
    fetch: Fetch
    absorbed: Absorbed


class Runner:
    """Runs the loop against the real web. In the last `tail_s` of a lease no request is sent any more: what
    was sent before must come to its end, and the host have its rest, before another may claim it."""

    def __init__(
        self,
        *,
        loop: Loop,
        fetcher: Fetcher,
        archive: Archive,
        detectors: Mapping[str, Detector],
        choose: ChooseDetector,
        clock: Clock,
        min_delay_s: float,
        tail_s: float = 0.0,
        concurrency: int = 64,
        grace_s: float = 8.0,
        look_again_s: float = 2.0,
        worker: Worker | None = None,
        allow_private: bool = False,
        access_for: Callable[[Resource], Access | None] = lambda _: None,
        watch: Callable[[Landed], object] = lambda _: None,
    ) -> None:
        self.loop = loop
        self.fetcher = fetcher
        self.archive = archive
        self.detectors = detectors
        self.choose = choose
        self.clock = clock
        self.min_delay_s = min_delay_s
        self.tail_s = tail_s
        self.concurrency = concurrency
        self.grace_s = grace_s
        # Resources that another process adds are noticed within this time on the wall.
        self.look_again_s = look_again_s
        self.allow_private = allow_private  # for every visit of this run, whatever the settings say
        self.access_for = access_for
        self._watchers: list[Callable[[Landed], object]] = [watch]
        self._worker = worker or Worker()
        self._call = self._worker.call
        self._judges = Worker(threads=self._worker.threads, n_threads=N_JUDGES)
        self._flying: dict[asyncio.Task[None], Lease] = {}
        self._grounded: list[Lease] = []  # claimed, and not asked for after all
        self._down: list[tuple[Lease, Fetch, Judgement]] = []
        self._recording: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._stopping = asyncio.Event()
        self._problem: BaseException | None = None

    def stop(self) -> None:
        """End soon: nothing new is claimed, what is in the air comes down and is recorded."""
        self._stopping.set()
        self._news.set()

    async def run(self, *, until_at: float = inf, once: bool = False) -> None:
        """Visit until `until_at`, or until stopped; with `once`, until what is due now has been visited."""
        began_at = self.clock.now()
        try:
            await self._call(self.loop.start, began_at)
            while not self._stopping.is_set() and self._problem is None:
                now = self.clock.now()
                if now >= until_at:
                    break
                if await self._call(self.loop.must_reprice, now):
                    await self._call(self.loop.reprice, now)
                n_free = self.concurrency - len(self._flying)
                leases = await self._call(self.loop.due, now, n_free) if n_free else []
                for lease in leases:
                    self._take_off(lease)
                if leases:
                    continue
                if once and not self._busy() and await self._call(self._nothing_left, began_at):
                    break
                wake_at = await self._call(self.loop.wake_at, now)
                await self._pause(min(wake_at, until_at, now + self.look_again_s * self.clock.speed) - now)
        finally:
            await self._land()
        if self._problem is not None:
            raise self._problem

    async def visit(self, resource: Resource) -> Landed:
        """Visit this one now, as soon as its host may be asked; not if that takes minutes."""
        landed: list[Landed] = []
        self._watchers.append(landed.append)
        try:
            await self._call(self.loop.start, self.clock.now())
            self._take_off(await self._claimed(resource))
            while self._busy() and self._problem is None:
                await self._pause(self.look_again_s * self.clock.speed)
        finally:
            self._watchers.remove(landed.append)
            await self._land()
        if self._problem is not None:
            raise self._problem
        return landed[0]

    async def _claimed(self, resource: Resource) -> Lease:
        patient_until_at = self.clock.now() + VISIT_PATIENCE_S * self.clock.speed
        while True:
            now = self.clock.now()
            lease = await self._call(self.loop.claim, resource.id, now)
            if lease is not None:
                return lease
            gate_at = await self._call(self.loop.store.gate_at, resource.host)
            if gate_at > patient_until_at:
                raise BusyHostError(
                    f"{resource.host} asked to be left alone, or was in trouble; visit it again in "
                    f"{gate_at - now:.0f} seconds."
                )
            if now >= patient_until_at:
                raise BusyHostError(
                    f"{resource.host} is being visited by another process, or one was killed that did; "
                    "visit it again in a quarter of an hour."
                )
            await self.clock.sleep(RETRY_CLAIM_S * self.clock.speed)

    # -- in the air ------------------------------------------------------------------------------------

    def _take_off(self, lease: Lease) -> None:
        try:
            request = self._request(lease)
        except RecrawlError as problem:  # our secrets cannot be read: nothing is asked without them
            self._problem = self._problem or problem
            self._grounded.append(lease)
            return
        task = asyncio.create_task(self._fly(lease, request))
        self._flying[task] = lease
        task.add_done_callback(self._came_down)

    def _request(self, lease: Lease) -> Request:
        resource, standing = lease.resource, lease.standing
        held = standing.version if standing.version and not standing.version.gone else None
        # Validators are sent only for a copy that we hold, and not always: else a liar would hide for ever.
        conditional = held is not None and standing.n_informative % FULL_EVERY != FULL_EVERY - 1
        return Request(
            url=resource.url,
            etag=standing.etag if conditional else None,
            last_modified=standing.last_modified if conditional else None,
            allow_private=self.allow_private or resource.effective.allow_private,
            kind=resource.effective.kind,
            media_type=held.media_type if held else "",
            manner=resource.effective.manner,
            access=self.access_for(resource),
            not_after_at=lease.until_at - self.tail_s,
            leased_host=resource.host,
        )

    async def _fly(self, lease: Lease, request: Request) -> None:
        fetch = await self.fetcher.fetch(request)
        judgement = await self._judges.call(self._judged, lease, fetch)
        self._down.append((lease, fetch, judgement))
        if self._recording is None:
            self._recording = asyncio.create_task(self._record())

    def _came_down(self, task: asyncio.Task[None]) -> None:
        self._flying.pop(task, None)
        if not task.cancelled() and task.exception() is not None:
            self._problem = self._problem or task.exception()
        self._news.set()

    # -- on the ground ---------------------------------------------------------------------------------

    async def _record(self) -> None:
        """Record what has come down, together, until nothing is left."""
        try:
            while self._down:
                batch, self._down = self._down[:N_TOGETHER], self._down[N_TOGETHER:]
                for landed in await self._call(self._absorb, batch, self.clock.now()):
                    for watch in self._watchers:
                        watch(landed)
        except Exception as problem:  # it ends the run, from the run's own coroutine
            self._problem = self._problem or problem
        finally:
            self._recording = None
            self._news.set()

    def _absorb(self, batch: list[tuple[Lease, Fetch, Judgement]], now: float) -> list[Landed]:
        findings = [self._finding(lease, fetch, judgement) for lease, fetch, judgement in batch]
        files = self.archive.sync()  # before the store hears of it: what it knows of is on the disk
        absorbed = self.loop.absorb(findings, now, files)
        return [
            Landed(lease=lease, fetch=fetch, absorbed=done)
            for (lease, fetch, _), done in zip(batch, absorbed, strict=True)
        ]

    def _judged(self, lease: Lease, fetch: Fetch) -> Judgement:
        return judged(
            lease,
            fetch,
            fetch_id=uuid.uuid4().hex,
            detectors=self.detectors,
            choose=self.choose,
            load=self.archive.snapshot,
        )

    def _finding(self, lease: Lease, fetch: Fetch, judgement: Judgement) -> Finding:
        return Finding(
            lease=lease,
            visit=judgement.visit,
            gate_at=fetch.ended_at + max(self.min_delay_s, fetch.wait_s),
            answered=answered(fetch, lease.resource.host),
            versions=self._archived(fetch, judgement),
            etag=fetch.header("etag"),
            last_modified=fetch.header("last-modified"),
        )

    def _archived(self, fetch: Fetch, judgement: Judgement) -> tuple[Version, ...]:
        if judgement.version is None:
            return ()
        placed = self.archive.put(fetch, judgement.version, judgement.same_as)
        return () if judgement.same_as is not None else (placed,)

    # -- coming and going ------------------------------------------------------------------------------

    def _busy(self) -> bool:
        return bool(self._flying or self._down or self._recording)

    def _nothing_left(self, began_at: float) -> bool:
        out_of_allowance = self.loop.n_free(self.clock.now()) == 0
        return out_of_allowance or self.loop.store.counts(began_at)["due"] == 0

    async def _pause(self, seconds: float) -> None:
        self._news.clear()
        sleep = asyncio.create_task(self.clock.sleep(max(seconds, 0.0)))
        news = asyncio.create_task(self._news.wait())
        try:
            await asyncio.wait({sleep, news}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            sleep.cancel()
            news.cancel()

    async def _land(self) -> None:
        """Let what is in the air come down for a while, record it, and give back the rest."""
        if self._flying:
            await asyncio.wait(list(self._flying), timeout=self.grace_s)
        left = list(self._flying.values())
        for task in list(self._flying):
            task.cancel()
        await asyncio.gather(*list(self._flying), return_exceptions=True)
        self._judges.abandon()
        while self._recording is not None:
            await asyncio.shield(self._recording)
        if left:
            # What was cut short may just have asked, and nobody knows for how long the host wants its rest.
            rest_s = max(self.min_delay_s, MAX_CRAWL_DELAY_S)
            now = self.clock.now()
            await self._call(self.loop.release, left, now, now + rest_s)
        if self._grounded:
            now = self.clock.now()
            await self._call(self.loop.release, self._grounded, now, now)

    async def aclose(self) -> None:
        self._worker.close()
