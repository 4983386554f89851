"""A whole life on a virtual clock: what is told of is visited soon while the source tells the truth, and the
budget is not wasted for long on one that lies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from pathlib import Path

import numpy as np

from recrawl.contracts import Predictor
from recrawl.detect.choose import detector_name
from recrawl.detect.feed import Feed
from recrawl.detect.text import Text
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.live.runner import Landed, Runner
from recrawl.live.virtual import VirtualClock
from recrawl.live.worker import Worker
from recrawl.livingweb import Document, Form, Script
from recrawl.livingweb.answers import Answers
from recrawl.livingweb.world import World
from recrawl.loop import Loop
from recrawl.model import DAY_S, Fetch, Manner, NewResource, Outcome, Request, Settings
from recrawl.parse.feed import document, instant
from recrawl.remember.memory import MemoryStore
from recrawl.remember.warc import WarcArchive
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index
from recrawl.simulate.processes import Daily, Given, Never, Poisson, Process

START_AT = 1_750_032_000.0
HOST, MAP = "a.localhost", "http://a.localhost/sitemap.xml"
N_PAGES, PER_DAY, DAYS = 24, 9.0, 36.0
EVERY_S = DAY_S / 4  # how often the sitemap is looked at


@dataclass
class Web:
    """A sitemap and the pages that it lists, asked without a network; answers take no time."""

    world: World
    clock: VirtualClock

    def __post_init__(self) -> None:
        self.answers = Answers(self.world, seed=0, port=80)

    async def fetch(self, request: Request) -> Fetch:
        now = self.clock.now()
        answer = self.answers.answer(HOST, request.url.removeprefix(f"http://{HOST}"), {}, {}, now)
        return Fetch(
            request=request, outcome=Outcome.OK, url=request.url, started_at=now, ended_at=now,
            status=answer.status, headers=tuple(answer.headers.items()), body=answer.body, wire=answer.body,
        )  # fmt: skip


@dataclass
class Life:
    """What was visited when, and what had changed when."""

    visited_at: Mapping[str, list[float]]
    changed_at: Mapping[str, list[float]]

    def delays_s(self, start_at: float) -> list[float]:
        """From each change after `start_at` to the next visit."""
        return [
            next((seen for seen in self.visited_at[url] if seen >= at), inf) - at
            for url, changes in self.changed_at.items()
            for at in changes
            if start_at <= at < START_AT + (DAYS - 6.0) * DAY_S
        ]

    def n_visits(self, url: str, start_at: float) -> int:
        return sum(at >= start_at for at in self.visited_at[url])


def lived(
    folder: Path,
    predictor: Predictor,
    *,
    lies: Process,
    paces: list[float],
    watch_map: bool = True,
    masking: bool = True,
) -> Life:
    """`paces` are the pages' changes a day; with `masking`, the sitemap's noise is learned and left out."""
    pages = [Document(host=HOST, path=f"/{i}", process=Poisson(pace)) for i, pace in enumerate(paces)]
    sitemap = Document(host=HOST, path="/sitemap.xml", form=Form.SITEMAP, process=lies)
    world = World(Script((*pages, sitemap)), seed=4, born_at=START_AT - DAY_S)
    urls = [f"http://{HOST}{page.path}" for page in pages]
    end_at = START_AT + DAYS * DAY_S
    clock, store = VirtualClock(START_AT), MemoryStore()
    loop = Loop(
        store=store,
        predictor=predictor,
        policy=Index(Fresh()),
        rule="index:fresh",
        per_day=PER_DAY,
        reprice_every_s=DAY_S,
    )
    store.add([NewResource(url=url, host=HOST) for url in urls], START_AT)
    if watch_map:
        often = Settings(max_gap_s=EVERY_S, manner=Manner(mask=masking))
        store.add([NewResource(url=MAP, host=HOST, settings=often)], START_AT)
    visited_at: dict[str, list[float]] = {url: [] for url in (*urls, MAP)}

    def watch(landed: Landed) -> None:
        visited_at[landed.lease.resource.url].append(landed.absorbed.visit.at)

    async def main() -> None:
        runner = Runner(
            loop=loop,
            fetcher=Web(world, clock),
            archive=WarcArchive(folder, now=clock.now),
            detectors={"feed": Feed(), "text": Text()},
            choose=detector_name,
            clock=clock,
            min_delay_s=1.0,
            worker=Worker(threads=False),
            look_again_s=inf,
            watch=watch,
        )
        await runner.run(until_at=end_at)

    clock.run(main())
    lives = {url: world.life(page.place, end_at).truth_at for url, page in zip(urls, pages, strict=True)}
    changed_at = {url: at[(at >= START_AT) & (at < end_at)].tolist() for url, at in lives.items()}
    return Life(visited_at, changed_at)


def test_what_a_truthful_sitemap_tells_of_is_visited_soon(tmp_path: Path) -> None:
    paces = [0.08] * N_PAGES
    alone = lived(tmp_path / "a", Rhythm(), lies=Never(), paces=paces, watch_map=False)
    told = lived(tmp_path / "b", Rhythm(), lies=Never(), paces=paces)
    later_at = START_AT + 12 * DAY_S
    assert np.median(told.delays_s(later_at)) < 0.5 * DAY_S
    assert np.mean(told.delays_s(later_at)) < 0.5 * np.mean(alone.delays_s(later_at))


def test_a_sitemap_that_lies_does_not_waste_the_budget_for_long(tmp_path: Path) -> None:
    """Half of the pages never change; every night it says of all of them that they just did. Whoever always
    believed it would soon visit nothing but those: they are due first. Its times are not masked as noise
    here, so that nothing but disbelief helps."""
    paces = [0.0, 0.3] * (N_PAGES // 2)
    lied_to = lived(tmp_path / "a", Rhythm(), lies=Daily(3.0), paces=paces, masking=False)
    later_at = START_AT + 24 * DAY_S
    visits = [lied_to.n_visits(f"http://{HOST}/{i}", later_at) for i in range(N_PAGES)]
    assert sum(visits[::2]) < 0.5 * sum(visits)


def test_a_sitemap_that_lies_says_at_its_own_times_that_everything_was_modified() -> None:
    page = Document(host=HOST, path="/p", process=Given((START_AT + 20.0,)))
    lies = Given((START_AT + 10.0, START_AT + 40.0))
    sitemap = Document(host=HOST, path="/sitemap.xml", form=Form.SITEMAP, process=lies)
    world = World(Script((page, sitemap)), seed=0, born_at=START_AT)
    answers = Answers(world, seed=0, port=80)
    said = []
    for seconds in (0.0, 10.0, 20.0, 30.0, 40.0):
        body = answers.answer(HOST, "/sitemap.xml", {}, {}, START_AT + seconds).body
        said += [instant(entry.updated) - START_AT for entry in document(body).entries]
    assert said == [0.0, 10.0, 20.0, 20.0, 40.0]
    assert (world.life(sitemap.place, START_AT + 50.0).truth_at - START_AT).tolist() == [10.0, 20.0, 40.0]
