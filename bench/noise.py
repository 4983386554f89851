"""What noise costs with and without masks, on a living web where the truth is known.

For every kind of noise and every form of document: visits at random gaps through the real path (a server,
the fetcher, the judgement, the archive, the store). An alarm is false where nothing had changed since the
last visit that told something; a change is lost where a visit after it says "no change". "Plain" is what the
detector alone says of two answers in a row.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np

from recrawl.contracts import Detector
from recrawl.detect.choose import detector_name
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.live.asking import request_for
from recrawl.live.ground import Ground
from recrawl.live.repeat import second_look
from recrawl.livingweb import Disguise, Document, Form, LivingWeb, Noise, Script, Trouble
from recrawl.loop import Loop
from recrawl.model import DAY_S, HOUR_S, Changed, Fetch, Kind, NewResource, Resource, Settings, Snapshot
from recrawl.observe.http import HttpFetcher
from recrawl.registry import part
from recrawl.remember.memory import MemoryStore
from recrawl.remember.warc import WarcArchive
from recrawl.schedule.policies.uniform import Uniform
from recrawl.simulate.processes import Never, Poisson, Process
from recrawl.urls import host_key

BORN_AT = 1_767_225_600.0
JUDGES = ("exact", "json", "rdf", "table", "text")
FORMS = (Form.PAGE, Form.JSON, Form.CSV, Form.TURTLE)
PER_DAY = 0.3  # changes; about every fourth visit finds one


class HandClock:
    """Moves when it is set, or when somebody sleeps on it."""

    speed = 1.0

    def __init__(self) -> None:
        self.at = BORN_AT + DAY_S

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += max(0.0, seconds)
        await asyncio.sleep(0)


@dataclass
class Tally:
    """What happened to the documents of one kind."""

    n_visits: int = 0
    n_changes: int = 0  # visits that came after a change
    n_false_plain: int = 0
    n_false: int = 0
    n_lost_plain: int = 0
    n_lost: int = 0
    n_repeats: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(Tally)))

    @property
    def removed(self) -> float:
        """The share of false alarms that were removed; NaN where there were none."""
        return 1.0 - self.n_false / self.n_false_plain if self.n_false_plain else float("nan")

    @property
    def lost(self) -> float:
        return self.n_lost / self.n_changes if self.n_changes else float("nan")


@dataclass(frozen=True)
class Trial:
    """One kind of noise, or of wall, on some documents."""

    name: str
    form: Form
    documents: tuple[Document, ...]


def trials(n_documents: int) -> Iterator[Trial]:
    for form in FORMS:
        for noise in Noise:
            if form is Form.PAGE or noise not in (Noise.AGE, Noise.VISIBLE):
                yield _trial(noise.value, form, n_documents, noise=noise)
    for disguise in Disguise:
        starts = Poisson(0.3)
        troubles = (Trouble(disguise=disguise, starts=starts, lasts_s=8 * HOUR_S),)
        yield _trial(f"wall: {disguise.value}", Form.PAGE, n_documents, troubles=troubles)


def _trial(
    name: str, form: Form, n: int, *, noise: Noise = Noise.NONE, troubles: tuple[Trouble, ...] = ()
) -> Trial:
    # Half of them never change: there every alarm is false.
    lives: list[Process] = [Never() if i % 2 else Poisson(PER_DAY) for i in range(n)]
    slug = "".join(letter for letter in name if letter.isalnum())
    documents = tuple(
        Document(
            host=f"{slug}-{form.value}-{i}.localhost",
            path="/",
            form=form,
            process=life,
            noise=noise,
            troubles=troubles,
        )
        for i, life in enumerate(lives)
    )
    return Trial(name, form, documents)


class Observer:
    """Visits documents of a living web, as `recrawl run` would, at the moments that it is told."""

    def __init__(self, web: LivingWeb, clock: HandClock, folder: Path) -> None:
        self.web, self.clock = web, clock
        self.fetcher = HttpFetcher(clock=clock, user_agent="recrawl-bench/1", min_delay_s=2.0, spool=folder)
        self.detectors: dict[str, Detector] = {name: part("detectors", name)() for name in JUDGES}
        store = MemoryStore()
        self.loop = Loop(
            store=store, predictor=GammaFilter(), policy=Uniform(), rule="uniform", per_day=None, lease_s=1e6
        )
        self.ground = Ground(
            loop=self.loop,
            archive=WarcArchive(folder / "archive", now=clock.now),
            detectors=self.detectors,
            choose=detector_name,
            min_delay_s=2.0,
        )
        self._last: dict[int, tuple[float, Fetch]] = {}

    def add(self, documents: Sequence[Document]) -> list[Resource]:
        settings = Settings(allow_private=True, min_gap_s=1.0)
        urls = [self.web.url(document) for document in documents]
        new = [NewResource(url=url, host=host_key(url), settings=settings) for url in urls]
        self.loop.store.add(new, self.clock.now())
        return [found for url in urls if (found := self.loop.store.find(url)) is not None]

    async def visit(self, resource: Resource) -> Tally:
        lease = self.loop.claim(resource.id, self.clock.now())
        assert lease is not None, resource.url
        request = request_for(lease, allow_private=True, access=None, tail_s=0.0)
        fetch = await self.fetcher.fetch(request)
        judgement = self.ground.judged(lease, fetch)
        n_repeats = 0
        if judgement.wants_repeat:
            repeat = await second_look(
                request,
                fetch,
                fetcher=self.fetcher,
                clock=self.clock,
                min_delay_s=2.0,
                stopping=asyncio.Event(),
                charge=lambda _n, _bytes: asyncio.sleep(0),
            )
            n_repeats = 1
            judgement = self.ground.judged(lease, fetch, repeat)
        self.ground.absorb([(lease, fetch, judgement)], self.clock.now())
        visit = judgement.visit
        tally = self._plain(resource, fetch)
        tally.n_repeats = n_repeats
        if visit.informative and np.isfinite(visit.since_at):
            true = self._differs(resource.url, visit.since_at, visit.at)
            tally.n_false = int(visit.changed is Changed.YES and not true)
            tally.n_lost = int(visit.changed is Changed.NO and true)
        return tally

    def _plain(self, resource: Resource, fetch: Fetch) -> Tally:
        before = self._last.get(resource.id)
        self._last[resource.id] = (fetch.ended_at, fetch)
        if before is None:
            return Tally(n_visits=1)
        true = self._differs(resource.url, before[0], fetch.ended_at)
        alarm = self._fingerprint(before[1]) != self._fingerprint(fetch)
        return Tally(
            n_visits=1,
            n_changes=int(true),
            n_false_plain=int(alarm and not true),
            n_lost_plain=int(true and not alarm),
        )

    def _fingerprint(self, fetch: Fetch) -> str:
        start = bytes(fetch.body[:4096])
        detector = self.detectors[detector_name(Kind.AUTO, fetch.media_type, start)]
        return detector.fingerprint(Snapshot(body=fetch.body, media_type=fetch.media_type, url=fetch.url))

    def _differs(self, url: str, since_at: float, at: float) -> bool:
        return self.web.version_at(url, since_at) != self.web.version_at(url, at)


async def measured(n_documents: int, n_visits: int, *, seed: int = 0) -> dict[tuple[str, str], Tally]:
    """A tally for each kind of noise and form."""
    found = list(trials(n_documents))
    clock = HandClock()
    rng = np.random.default_rng(seed)
    script = Script(tuple(document for trial in found for document in trial.documents))
    tallies: dict[tuple[str, str], Tally] = defaultdict(Tally)
    with tempfile.TemporaryDirectory() as folder:
        async with LivingWeb(script, clock=clock, seed=seed, born_at=BORN_AT, keep_log=False) as web:
            observer = Observer(web, clock, Path(folder))
            watched = [(trial, observer.add(trial.documents)) for trial in found]
            try:
                for _ in range(n_visits):
                    clock.at += DAY_S * rng.exponential()
                    for trial, resources in watched:
                        for resource in resources:
                            tallies[trial.name, trial.form.value] += await observer.visit(resource)
            finally:
                await observer.fetcher.aclose()
    return dict(tallies)


def main() -> None:
    n_documents, n_visits = (int(said) for said in sys.argv[1:3]) if len(sys.argv) > 2 else (4, 60)
    tallies = asyncio.run(measured(n_documents, n_visits))
    print(f"{n_documents} documents of each kind, {n_visits} visits to each; plain → ours")
    print("noise            form    visits changes  false alarms removed  changes lost repeats")
    for (name, form), t in [*tallies.items(), (("all", ""), sum(tallies.values(), Tally()))]:
        alarms, lost = f"{t.n_false_plain} → {t.n_false}", f"{t.n_lost_plain} → {t.n_lost}"
        counts = (
            f"{t.n_visits:>6} {t.n_changes:>7} {alarms:>13} {t.removed:>7.1%} {lost:>13} {t.n_repeats:>7}"
        )
        print(f"{name:<16} {form:<7} {counts}")


if __name__ == "__main__":
    main()
