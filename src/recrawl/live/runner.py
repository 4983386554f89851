"""Shell 1: the loop on a clock that really runs.

Many fetches are in the air at once, at most one a host. What came back is judged in a few threads of their
own, since a hostile page may keep its parser busy for seconds. Everything else (claiming, judging what takes
no time, archiving, learning, recording) happens in one worker thread, several visits at a time: one fsync and
one transaction serve them all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import inf

from recrawl.contracts import Archive, Clock, Detector, Fetcher
from recrawl.errors import ArchiveError, RecrawlError
from recrawl.live.asking import request_for
from recrawl.live.claim import claimed
from recrawl.live.ground import Brought, Ground, Landed
from recrawl.live.judgement import ChooseDetector, Judgement
from recrawl.live.pause import pause
from recrawl.live.repeat import second_look
from recrawl.live.trouble import Trouble, passes
from recrawl.live.turns import Continuous, Repriced, Turns
from recrawl.live.worker import Worker
from recrawl.loop import Loop
from recrawl.model import Access, Fetch, Lease, Request, Resource
from recrawl.observe.pacing import MAX_CRAWL_DELAY_S

__all__ = ["Landed", "Runner"]

N_TOGETHER = 64
N_JUDGES = 8  # more than there are parsing processes: small pages need none


class Runner:
    """Runs the loop against the real web. In the last `tail_s` of a lease no request is sent any more: what
    was sent before must come to its end, and the host have its rest, before another may claim it.

    `lack` says what room there should be on the disk, and is empty where there is enough; `tell` takes what
    people should know meanwhile.
    """

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
        lack: Callable[[], str] = lambda: "",
        tell: Callable[[str], object] = lambda _: None,
    ) -> None:
        self.loop = loop
        self.fetcher = fetcher
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
        self._ground = Ground(
            loop=loop, archive=archive, detectors=detectors, choose=choose, min_delay_s=min_delay_s
        )
        self._lack = lack
        self._trouble = Trouble(clock=clock, tell=tell)
        self._patient = False  # a run for ever waits until our own trouble is over
        self._worker = worker or Worker()
        self._call = self._worker.call
        self._judges = Worker(threads=self._worker.threads, n_threads=N_JUDGES)
        self._flying: dict[asyncio.Task[None], Lease] = {}
        self._grounded: list[Lease] = []  # claimed, and not asked for after all
        self._lost: list[tuple[Lease, float]] = []  # asked for and not recorded, with the hosts' gates
        self._down: list[Brought] = []
        self._recording: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._stopping = asyncio.Event()
        self._problem: BaseException | None = None

    def stop(self) -> None:
        """End soon: nothing new is claimed, what is in the air comes down and is recorded."""
        self._stopping.set()
        self._news.set()

    async def run(self, *, until_at: float = inf, once: bool = False, turns: Turns | None = None) -> None:
        """Visit until `until_at`, or until stopped; with `once`, until what is due now has been visited; with
        `turns` of its own, until those are over."""
        began_at = self.clock.now()
        ends = once or turns is not None
        turns = Repriced(turns or Continuous(self.loop), self.loop, self.clock)
        self._patient = not once
        try:
            await self._call(self.loop.start, began_at)
            while not self._stopping.is_set() and self._problem is None:
                self._news.clear()  # before anything is asked: what comes meanwhile ends the pause
                now = self.clock.now()
                if now >= until_at:
                    break
                wake_at = now + self.look_again_s * self.clock.speed
                try:
                    await self._give_back()
                    lack = await self._lacking()
                    n_free = self._trouble.n_allowed(lack, len(self._flying), self.concurrency)
                    if n_free and await self._claim(turns, now, n_free):
                        continue
                    if ends and not self._busy() and await self._call(turns.over, began_at, now):
                        break
                    if n_free:
                        wake_at = min(wake_at, await self._call(turns.wake_at, now))
                except RecrawlError as problem:
                    self._met(problem)
                await self._pause(min(wake_at, until_at) - now)
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
            await self._lacking()
            self._take_off(await claimed(resource, loop=self.loop, worker=self._worker, clock=self.clock))
            while self._busy() and self._problem is None:
                self._news.clear()
                await self._pause(self.look_again_s * self.clock.speed)
        finally:
            self._watchers.remove(landed.append)
            await self._land()
        if self._problem is not None:
            raise self._problem
        return landed[0]

    async def _lacking(self) -> str:
        lack = await self._call(self._lack)
        if lack and not self._patient:
            raise ArchiveError(f"Nothing can be visited now: {lack}.")
        return lack

    async def rest(self, until_at: float) -> None:
        """Until then, or until stopped."""
        await pause(max(until_at - self.clock.now(), 0.0), clock=self.clock, until=self._stopping)

    async def _claim(self, turns: Turns, now: float, n_free: int) -> bool:
        for lease in (leases := await self._call(turns.due, now, n_free)):
            self._take_off(lease)
        return bool(leases)

    # -- in the air ------------------------------------------------------------------------------------

    def _take_off(self, lease: Lease) -> None:
        try:
            request = request_for(
                lease,
                allow_private=self.allow_private,
                access=self.access_for(lease.resource),
                tail_s=self.tail_s,
            )
        except RecrawlError as problem:  # our secrets cannot be read: nothing is asked without them
            self._problem = self._problem or problem
            self._grounded.append(lease)
            return
        task = asyncio.create_task(self._fly(lease, request))
        self._flying[task] = lease
        task.add_done_callback(self._came_down)

    async def _fly(self, lease: Lease, request: Request) -> None:
        # If it comes to nothing: it may have asked, and nobody knows for how long the host wants its rest.
        gate_at = self.clock.now() + max(self.min_delay_s, MAX_CRAWL_DELAY_S)
        try:
            fetch = await self.fetcher.fetch(request)
            gate_at = self._ground.gate_at(fetch)
            judgement: Judgement | None = None
            if not self._ground.quick(lease, fetch):
                judgement = await self._judges.call(self._ground.judged, lease, fetch)
            if judgement and judgement.wants_repeat and (repeat := await self._looked_again(request, fetch)):
                gate_at = self._ground.gate_at(repeat)
                judgement = await self._judges.call(self._ground.judged, lease, fetch, repeat)
                fetch = replace(fetch, ended_at=repeat.ended_at, wait_s=max(fetch.wait_s, repeat.wait_s))
        except Exception as problem:  # whatever it is, the lease is given back
            self._lose(lease, gate_at, problem)
            return
        self._down.append((lease, fetch, judgement))
        if self._recording is None:
            self._recording = asyncio.create_task(self._record())

    async def _looked_again(self, request: Request, fetch: Fetch) -> Fetch | None:
        return await second_look(
            request,
            fetch,
            fetcher=self.fetcher,
            clock=self.clock,
            min_delay_s=self.min_delay_s,
            stopping=self._stopping,
            charge=lambda n, n_bytes: self._call(self.loop.charge, n, n_bytes, self.clock.now()),
        )

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
                for landed in await self._recorded(batch):
                    for watch in self._watchers:
                        watch(landed)
        except Exception as problem:  # it ends the run, from the run's own coroutine
            self._problem = self._problem or problem
        finally:
            self._recording = None
            self._news.set()

    async def _recorded(self, batch: list[Brought]) -> list[Landed]:
        try:
            landed, lost = await self._call(self._ground.take_in, batch, self.clock.now())
        except Exception as problem:  # whatever it is, the leases are given back
            landed, lost = [], [(down, problem) for down in batch]
        for (lease, fetch, _), why in lost:
            self._lose(lease, self._ground.gate_at(fetch), why)
        if landed:
            self._trouble.recorded()
        return landed

    def _lose(self, lease: Lease, gate_at: float, problem: Exception) -> None:
        """A visit is not recorded, because of trouble of our own. Its host was asked all the same."""
        self._lost.append((lease, gate_at))
        self._met(problem)

    def _met(self, problem: Exception) -> None:
        if self._patient and passes(problem):
            self._trouble.met(problem)
        else:
            self._problem = self._problem or problem

    async def _give_back(self) -> None:
        while self._lost:  # more may come meanwhile, at the end
            lease, gate_at = self._lost[0]
            await self._call(self.loop.lose, [lease], gate_at)
            del self._lost[0]

    # -- coming and going ------------------------------------------------------------------------------

    def _busy(self) -> bool:
        return bool(self._flying or self._down or self._recording)

    async def _pause(self, seconds: float) -> None:
        await pause(max(seconds, 0.0), clock=self.clock, until=self._news)

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
        now = self.clock.now()
        try:
            await self._give_back()
            if left:
                # What was cut short may just have asked, and nobody knows what rest the host wants.
                rest_s = max(self.min_delay_s, MAX_CRAWL_DELAY_S)
                await self._call(self.loop.release, left, now, now + rest_s)
            if self._grounded:
                await self._call(self.loop.release, self._grounded, now, now)
            await self._call(self.loop.finish, wait=not self._stopping.is_set())  # no lesson delays a stop
        except RecrawlError as problem:  # they end by themselves, later
            self._problem = self._problem or problem

    async def aclose(self) -> None:
        self._worker.close()
