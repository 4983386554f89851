from __future__ import annotations

import asyncio
from dataclasses import replace

import aiohttp

from recrawl.live.clock import FastClock
from recrawl.livingweb import Document, Host, LivingWeb, Robots, Script, Served, violations

SCRIPT = Script(
    (Document(host="a.localhost", path="/"),),
    described=(
        Host(name="strict.localhost", robots=Robots(disallow=("/private/",), crawl_delay_s=10.0)),
        Host(name="none.localhost", robots=None),
    ),
)


def served(host: str, started_at: float, ended_at: float, target: str = "/") -> Served:
    return Served(
        host=host,
        target=target,
        method="GET",
        status=200,
        started_at=started_at,
        ended_at=ended_at,
        started_s=started_at,
        ended_s=ended_at,
        user_agent="recrawl/0.1 (+https://example.org)",
        conditional=False,
    )


def told(log: list[Served]) -> list[str]:
    return [str(violation) for violation in violations(log, SCRIPT, delay_s=2.0)]


def test_a_polite_log_has_no_violations_whatever_its_order() -> None:
    log = [
        served("a.localhost", 3.0, 4.0),
        served("a.localhost", 0.0, 1.0, "/robots.txt"),
        served("strict.localhost", 0.5, 0.6, "/robots.txt"),
        served("strict.localhost", 10.6, 10.7, "/public"),
        served("none.localhost", 0.5, 0.6, "/private/"),
    ]
    assert told(log) == []


def test_two_requests_in_flight_are_told() -> None:
    log = [served("a.localhost", 0.0, 5.0), served("a.localhost", 3.0, 4.0, "/b")]
    assert told(log) == ["a.localhost: the request for /b came 2.000 s before the last was answered"]


def test_a_request_that_outlasts_the_next_one_still_counts_against_the_third() -> None:
    log = [
        served("a.localhost", 0.0, 9.0),
        served("a.localhost", 1.0, 2.0, "/b"),
        served("a.localhost", 5.0, 6.0, "/c"),
    ]
    assert told(log) == [
        "a.localhost: the request for /b came 8.000 s before the last was answered",
        "a.localhost: the request for /c came 4.000 s before the last was answered",
    ]


def test_too_small_a_gap_is_told_with_the_delay_that_was_asked_for() -> None:
    log = [served("a.localhost", 0.0, 1.0, "/robots.txt"), served("a.localhost", 2.5, 3.0, "/b")]
    assert told(log) == [
        "a.localhost: the request for /b came 1.500 s after the last answer; 2 s were asked for"
    ]
    strict = [replace(one, host="strict.localhost", started_at=one.started_at * 2) for one in log]
    assert told(strict) == [
        "strict.localhost: the request for /b came 4.000 s after the last answer; 10 s were asked for"
    ]


def test_a_retry_after_is_a_delay_for_the_whole_host() -> None:
    busy = replace(served("a.localhost", 0.0, 1.0), status=503, retry_after_s=60.0)
    assert len(told([busy, served("a.localhost", 30.0, 31.0, "/b")])) == 1
    assert told([busy, served("a.localhost", 61.0, 62.0, "/b")]) == []


def test_a_disallowed_path_is_told_and_robots_itself_is_not() -> None:
    log = [
        served("strict.localhost", 0.0, 1.0, "/robots.txt"),
        served("strict.localhost", 20.0, 21.0, "/private/x?y=1"),
    ]
    assert told(log) == ["strict.localhost: the request for /private/x?y=1 is disallowed by robots.txt"]


def test_the_log_of_a_real_server_shows_who_was_polite_and_who_was_not() -> None:
    async def visit(web: LivingWeb, clock: FastClock, n: int, *, polite: bool) -> list[str]:
        del web.log[:]
        headers = {"Host": f"strict.localhost:{web.port}"}

        async def one(session: aiohttp.ClientSession) -> None:
            async with session.get(f"http://127.0.0.1:{web.port}/", headers=headers) as response:
                await response.read()

        async with aiohttp.ClientSession() as session:
            if polite:
                for _ in range(n):
                    await one(session)
                    await clock.sleep(11.0)
            else:
                await asyncio.gather(*(one(session) for _ in range(n)))
        return [violation.what for violation in violations(web.log, SCRIPT, delay_s=2.0)]

    async def both() -> None:
        clock = FastClock(start_at=0.0, speed=500.0)
        async with LivingWeb(SCRIPT, clock=clock) as web:
            assert await visit(web, clock, 5, polite=True) == []
            assert len(await visit(web, clock, 5, polite=False)) == 4

    asyncio.run(both())
