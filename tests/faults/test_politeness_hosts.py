"""What servers ask for holds over a whole run: Retry-After, robots.txt, rest when in trouble, no circles.

Judged from the server's own log, on a clock that runs fast; each check is also made on a twin with one fault.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import replace
from math import inf
from pathlib import Path

import pytest

from recrawl.app.build import House
from recrawl.app.config import Config
from recrawl.app.config import Fetching as FetchingConfig
from recrawl.contracts import Fetcher
from recrawl.live import ground
from recrawl.live.clock import FastClock, WallClock
from recrawl.livingweb import Document, Host, LivingWeb, Redirect, Script, Served, Trouble, violations
from recrawl.model import Fetch, NewResource, Outcome, Request, Settings, Visit
from recrawl.observe.http import HttpFetcher
from recrawl.observe.robots import Rules
from recrawl.urls import host_key

START_AT = 1.7e9
DAY_S = 86_400.0
DELAY_S = 2.0

Fetching = AbstractAsyncContextManager[Fetcher]


class Spell:
    """A home, a living web and a clock for both."""

    def __init__(self, tmp_path: Path, script: Script, *, speed: float, gap_s: float) -> None:
        self.clock = FastClock(start_at=START_AT, speed=speed) if speed > 1.0 else WallClock()
        config = Config(fetching=FetchingConfig(min_delay=DELAY_S, slow_factor=0.0))  # type: ignore[call-arg]
        self.house = House(tmp_path / "home", config, self.clock)
        self.web = LivingWeb(script, clock=self.clock)
        self.settings = Settings(min_gap_s=gap_s, max_gap_s=gap_s, allow_private=True)

    async def run(
        self,
        for_s: float,
        *,
        fetcher: Callable[[], Fetching] | None = None,
        once: bool = False,
        meanwhile: Callable[[LivingWeb], object] = lambda _: None,
    ) -> list[Served]:
        """The server's log of a run of that length on the clock; half-way through, something happens."""
        async with self.web as web:
            new = [NewResource(url=u, host=host_key(u), settings=self.settings) for u in web.urls()]
            self.house.store.add(new, self.clock.now())
            async with fetcher() if fetcher else self.house.fetcher() as here:
                runner = self.house.runner(self.house.loop(per_day=1e9), here)
                happening = asyncio.create_task(self._happen(for_s / 2, meanwhile, web))
                try:
                    await runner.run(until_at=self.clock.now() + for_s, once=once)
                finally:
                    happening.cancel()
                    await runner.aclose()
            return list(web.log)

    async def _happen(self, after_s: float, what: Callable[[LivingWeb], object], web: LivingWeb) -> None:
        await self.clock.sleep(after_s)
        what(web)

    def visits(self) -> list[Visit]:
        store = self.house.store
        return [visit for resource, _, _ in store.resources() for visit in store.visits(resource.id)]

    def close(self) -> None:
        self.house.close()


class Forgetful:
    """A twin that neither remembers nor tells what a server asked for."""

    def __init__(self, spell: Spell) -> None:
        self._spell = spell

    async def fetch(self, request: Request) -> Fetch:
        clock = self._spell.clock
        async with HttpFetcher(clock=clock, user_agent="recrawl-twin", min_delay_s=DELAY_S) as fresh:
            return replace(await fresh.fetch(request), wait_s=0.0)


class Trusting(HttpFetcher):
    """A twin that takes a robots.txt that cannot be read for one that allows everything."""

    async def _rules_for(self, trip: object) -> Rules:
        rules = await super()._rules_for(trip)  # type: ignore[arg-type]
        return rules if isinstance(rules, Rules) and not rules.closed else Rules()


# -- P4 ----------------------------------------------------------------------------------------------------


def busy_hosts() -> Script:
    """They answer 429 whatever they are asked for, and want 500 s of rest each time."""
    trouble = Trouble(status=429, retry_after_s=500.0)
    names = [f"busy{i}.localhost" for i in range(10)]
    return Script(
        tuple(Document(host=name, path=f"/{i}", troubles=(trouble,)) for name in names for i in range(3))
    )


@pytest.mark.slow
@pytest.mark.parametrize("twin", [False, True])
def test_nobody_comes_back_before_retry_after_is_over(tmp_path: Path, twin: bool) -> None:
    script = busy_hosts()
    spell = Spell(tmp_path, script, speed=300.0, gap_s=50.0)
    forgetful = (lambda: nullcontext(Forgetful(spell))) if twin else None
    log = asyncio.run(spell.run(1_500.0, fetcher=forgetful))
    spell.close()
    n_pages = sum(served.status == 429 for served in log)
    assert n_pages >= 20  # they do come back
    # a fast server reads its clock coarsely
    assert bool(violations(log, script, delay_s=DELAY_S, tolerance_s=1.0)) == twin


# -- P5 ----------------------------------------------------------------------------------------------------


def pages_while_closed(log: list[Served]) -> list[Served]:
    """Pages asked for between a robots.txt that answered 5xx and the next one that did not."""
    closed: set[str] = set()
    wrong = []
    for served in sorted(log, key=lambda served: served.started_at):
        if served.path == "/robots.txt":
            (closed.add if served.status >= 500 else closed.discard)(served.host)
        elif served.host in closed:
            wrong.append(served)
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("twin", [False, True])
def test_no_page_is_asked_for_once_robots_txt_answers_503(tmp_path: Path, twin: bool) -> None:
    names = [f"flips{i}.localhost" for i in range(4)]
    script = Script(tuple(Document(host=name, path=f"/{i}") for name in names for i in range(3)))
    spell = Spell(tmp_path, script, speed=40_000.0, gap_s=3_600.0)

    def close(web: LivingWeb) -> None:
        for name in names:
            web.misbehave(f"http://{name}:{web.port}/robots.txt", 503)

    def trusting() -> Fetching:
        return Trusting(clock=spell.clock, user_agent="recrawl-twin", min_delay_s=DELAY_S)

    log = asyncio.run(spell.run(2.5 * DAY_S, fetcher=trusting if twin else None, meanwhile=close))
    spell.close()
    seen = {served.host for served in log if served.path == "/robots.txt" and served.status == 503}
    assert seen == set(names)
    assert sum(served.path != "/robots.txt" for served in log) > 4 * 3 * 10
    assert bool(pages_while_closed(log)) == twin


# -- hosts in trouble --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("twin", [False, True])
def test_a_host_in_trouble_is_tried_less_and_less_whatever_is_due_there(
    tmp_path: Path, twin: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    down = (Trouble(status=503),)
    entries = [Document(host="sick.localhost", path=f"/{i}", troubles=down) for i in range(40)]
    healthy = Document(host="well.localhost", path="/")
    if twin:
        monkeypatch.setattr(ground, "answered", lambda *_: None)
    spell = Spell(tmp_path, Script((*entries, healthy)), speed=1_000.0, gap_s=300.0)
    log = asyncio.run(spell.run(3_600.0))
    spell.close()
    tried = [served for served in log if served.host == "sick.localhost" and served.path != "/robots.txt"]
    # in an hour 60, 120, 240, 480, 960 and 1920 s lie between them, each up to a quarter more
    assert (2 <= len(tried) <= 7) != twin
    assert sum(served.host == "well.localhost" for served in log) >= 8


# -- cut short ---------------------------------------------------------------------------------------------


def test_a_host_whose_visit_was_cut_short_is_left_alone_all_the_same(tmp_path: Path) -> None:
    """It may just have been asked, and may want minutes of rest; so may those that redirects led to."""
    script = Script(
        (
            Redirect(host="quick.localhost", path="/on", to=("endless.localhost", "/")),
            Document(host="endless.localhost", path="/", slow_s=100.0),
        )
    )
    spell = Spell(tmp_path, script, speed=1.0, gap_s=3_600.0)

    async def run() -> None:
        async with spell.web as web, spell.house.fetcher() as fetcher:
            url = f"http://quick.localhost:{web.port}/on"
            spell.house.store.add([NewResource(url=url, host=host_key(url), settings=spell.settings)], 0.0)
            runner = spell.house.runner(spell.house.loop(), fetcher)
            runner.grace_s = 0.1
            running = asyncio.create_task(runner.run())
            while not any(served.path == "/robots.txt" and "endless" in served.host for served in web.log):
                await spell.clock.sleep(0.05)
            await spell.clock.sleep(DELAY_S + 0.5)  # it has asked for the page by now
            runner.stop()
            await running
            await runner.aclose()
            now = spell.clock.now()
            store = spell.house.store
            assert store.gate_at(f"quick.localhost:{web.port}") > now + 290.0
            assert now < store.gate_at(f"endless.localhost:{web.port}") < now + 60.0
            assert store.counts(now)["leased"] == 0

    asyncio.run(run())
    spell.close()


# -- circles -----------------------------------------------------------------------------------------------


def test_two_that_wait_for_each_other_do_not_wait_long(tmp_path: Path) -> None:
    script = Script(
        (
            Redirect(host="a.localhost", path="/on", to=("b.localhost", "/page")),
            Redirect(host="b.localhost", path="/on", to=("a.localhost", "/page")),
            Document(host="a.localhost", path="/page"),
            Document(host="b.localhost", path="/page"),
        ),
        (Host(name="a.localhost", slow_s=0.3), Host(name="b.localhost", slow_s=0.3)),
    )
    spell = Spell(tmp_path, script, speed=1.0, gap_s=3_600.0)
    log = asyncio.run(spell.run(inf, once=True))
    visits = spell.visits()
    spell.close()
    assert violations(log, script, delay_s=DELAY_S) == []
    blocked = [visit for visit in visits if visit.outcome is Outcome.BLOCKED]
    assert [visit.evidence.partition(":")[0] for visit in blocked] == ["wait"]
    assert sum(visit.outcome is Outcome.OK for visit in visits) == 3
    assert max(visit.duration_s for visit in visits) < 15.0
