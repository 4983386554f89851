"""A site is collected breadth first, politely, and goes on where it was broken off."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import pytest
from tests.mazes import ROBOTS, Answer, Maze, page, robots
from tests.mazes import collected as gathered
from tests.mazes import serving as made_up

from recrawl.app.build import open_house
from recrawl.app.collecting import Collecting
from recrawl.app.frontier import Wish
from recrawl.live.clock import WallClock
from recrawl.livingweb import Document, Form, Host, LivingWeb, Redirect, Robots, Script, serving, violations
from recrawl.model import DAY_S

DELAY_S = 0.05  # what the command line of these tests promises every host


class Cli(Protocol):
    home: Path

    def __call__(self, *args: str, code: int = 0) -> subprocess.CompletedProcess[str]: ...
    def started(self, *args: str) -> subprocess.Popen[str]: ...
    def having(self, **env: str) -> Cli: ...


@pytest.fixture
def town() -> Iterator[LivingWeb]:
    """A first page that links to a board, whose threads link to pages; and a subdomain."""
    host = "town.localhost"
    script = Script(
        (
            Document(host=host, path="/"),
            Document(host=host, path="/board/", form=Form.BOARD),
            Document(host=host, path="/hidden/page"),
            Document(host=host, path="/data.csv", form=Form.CSV),
            *(Document(host=host, path=f"/board/{n}", form=Form.THREAD) for n in range(12)),
            Document(host="news.town.localhost", path="/"),
            Redirect(host="news.town.localhost", path="/off", to=("other.localhost", "/")),
            Document(host="other.localhost", path="/"),
        ),
        described=(
            Host(name=host, robots=Robots(disallow=("/hidden/",))),
            Host(name="news.town.localhost", robots=Robots(crawl_delay_s=0.3)),
        ),
    )
    with serving(script, clock=WallClock()) as living:
        yield living


def collected(cli: Cli, *args: str, code: int = 0) -> dict[str, Any]:
    report: dict[str, Any] = json.loads(cli("collect", *args, "--allow-private", "--json", code=code).stdout)
    return report


def rows(cli: Cli, query: str) -> list[tuple[Any, ...]]:
    with sqlite3.connect(cli.home / "recrawl.sqlite") as store:
        return store.execute(query).fetchall()


def figures(report: dict[str, Any], *names: str) -> list[tuple[int, ...]]:
    return [tuple(level[name] for name in names) for level in report["sites"][0]["levels"]]


def test_a_living_site_is_collected_politely_and_nothing_is_fetched_twice(cli: Cli, town: LivingWeb) -> None:
    root = town.urls()[0]
    report = collected(cli, root, "--depth", "3")
    assert report["complete"]
    # pages link to the first eight of their host, threads to their own first page, the board to all threads
    assert figures(report, "level", "found", "chosen", "fetched", "failed", "blocked", "left") == [
        (1, 1, 1, 1, 0, 0, 0),
        (2, 7, 7, 6, 0, 1, 0),
        (3, 12, 12, 12, 0, 0, 0),
    ]
    assert report["visits"] == 20
    assert violations(town.log, town.script, delay_s=DELAY_S) == []
    assert not any("/hidden/" in served.target for served in town.log)
    assert len({served.target for served in town.log}) == len(town.log)

    n_served = len(town.log)
    again = collected(cli, root, "--depth", "3")
    assert again["visits"] == 0
    assert again["sites"] == report["sites"]
    assert len(town.log) == n_served

    depths = dict(rows(cli, "SELECT url, depth FROM resource"))
    assert depths[root] == 1
    assert depths[f"{root}board/"] == depths[f"{root}data.csv"] == 2
    assert depths[f"{root}board/11"] == 3
    tag = root.removeprefix("http://").rstrip("/")
    assert rows(cli, "SELECT tag, count(*) FROM resource_tag GROUP BY tag") == [(tag, len(depths))]
    links = set(
        rows(
            cli,
            "SELECT f.url, t.url FROM link JOIN resource AS f ON f.id = from_id "
            "JOIN resource AS t ON t.id = to_id",
        )
    )
    assert (root, f"{root}board/") in links
    assert (f"{root}board/", f"{root}board/11") in links
    assert (f"{root}board/11", root) in links
    assert not any(one == other for one, other in links)


def maze(host: str, path: str) -> Answer | None:
    """Each page leads to three others, on two hosts."""
    if path == ROBOTS:
        return robots("User-agent: *\nAllow: /\n")
    below = [f"{path.rstrip('/')}/{name}" for name in "abc"]
    return page([*below, "/"], words=f"This is {path} of {host}.")


def test_what_was_killed_goes_on_without_fetching_anew(cli: Cli) -> None:
    quick = cli.having(RECRAWL_FETCHING__TOTAL_TIMEOUT="1s")  # so long its host is left alone after the kill
    with made_up(maze) as web:
        args = (web.url("maze.localhost"), "--depth", "3", "--allow-private")
        with quick.started("collect", *args) as process:
            wait_for(web, 7, process)
            process.kill()
        n_before = len(web.paths("maze.localhost"))
        report = json.loads(quick("collect", *args, "--json").stdout)
    assert report["complete"]
    assert figures(report, "chosen", "fetched") == [(1, 1), (3, 3), (9, 9)]
    asked = web.paths("maze.localhost")
    twice = [path for path in set(asked) if asked.count(path) > 1]
    assert len(twice) <= 1, twice  # the one that was in the air
    assert n_before < len(asked) <= 14


def test_an_interrupted_collection_ends_in_good_order_and_can_be_gone_on_with(cli: Cli) -> None:
    with made_up(maze) as web:
        args = (web.url("maze.localhost"), "--depth", "3", "--allow-private")
        with cli.started("collect", *args) as process:
            wait_for(web, 5, process)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=30)
        assert process.returncode == 130, err
        assert "Traceback" not in err
        assert "the same command goes on with maze.localhost" in err
        assert out.splitlines()[0].split("\t")[1:] == ["1", "1", "1", "1", "0", "0", "0", "0"]
        report = json.loads(cli("collect", *args, "--json").stdout)
    assert figures(report, "fetched") == [(1,), (3,), (9,)]
    asked = web.paths("maze.localhost")
    assert len(asked) == len(set(asked)) == 13
    assert min(web.rests_s("maze.localhost")) >= DELAY_S - 0.005


def wait_for(web: Maze, n: int, process: subprocess.Popen[str]) -> None:
    while len(web.asked) < n:
        assert process.poll() is None, process.communicate()
        web.news.wait(0.1)
        web.news.clear()


def test_a_collection_waits_for_the_budget(tmp_path: Path) -> None:
    lines: list[str] = []

    async def stop_when_poor(under_way: Collecting) -> None:
        while not lines or "waiting for the budget" not in lines[-1]:
            await asyncio.sleep(0.02)
            lines.append(under_way.line(0.0))
        os.kill(os.getpid(), signal.SIGINT)

    with made_up(maze) as web:
        done, tally = gathered(
            tmp_path,
            [web.url(f"{name}.localhost") for name in "abc"],
            Wish(allow_private=True),
            per_day=8.0,  # a quarter of a day's visits may be made at once
            for_s=60.0,
            begun=lambda under_way: asyncio.ensure_future(stop_when_poor(under_way)),
        )
    assert tally.stopped
    assert tally.n_visits == sum(len(web.paths(f"{name}.localhost")) for name in "abc") == 2
    assert lines[-1].startswith("3 sites, level")
    assert not any(descent.over for descent in done.descents)


def test_what_is_watched_already_is_used_and_daily_says_how_often(tmp_path: Path) -> None:
    wish = Wish(depth=2, tag="training", allow_private=True)
    with made_up(maze) as web:
        known = web.url("maze.localhost", "/b")
        gathered(tmp_path, [known], replace(wish, depth=1, tag=None))
        done, tally = gathered(tmp_path, [web.url("maze.localhost")], wish, daily=True)
    assert [(level.n_chosen, level.n_fetched) for level in done.descents[0].levels] == [(1, 1), (3, 3)]
    assert tally.n_visits == 3
    assert web.paths("maze.localhost").count("/b") == 1
    with open_house(tmp_path) as house:
        found = {resource.url: resource for resource, _, _ in house.store.resources(tag="training")}
        assert len(found) == house.store.counts(0.0)["resources"] == 4
    assert found[known].depth == 1  # it was a first page itself
    assert {(one.effective.min_gap_s, one.effective.max_gap_s) for one in found.values()} == {(DAY_S, DAY_S)}


def test_a_site_whose_first_page_is_not_there_is_not_collected(tmp_path: Path) -> None:
    def answers(host: str, path: str) -> Answer | None:
        away = {"Location": f"http://elsewhere.localhost:{web.port}/", "Content-Type": "text/html"}
        if host == "none.localhost":
            return None
        return Answer(b"", 302, away) if (host, path) == ("away.localhost", "/") else maze(host, path)

    with made_up(answers) as web:
        sites = [web.url(f"{name}.localhost") for name in ("none", "away")]
        done, _ = gathered(tmp_path, sites, Wish(allow_private=True))
    assert "404" in done.descents[0].problem
    assert "off the site" in done.descents[1].problem
    assert len(web.paths("elsewhere.localhost")) == 1


def test_a_host_in_trouble_is_left_for_later(tmp_path: Path) -> None:
    busy = Answer(b"later", 503, {"Retry-After": "7200", "Content-Type": "text/plain"})
    with made_up(lambda host, path: busy if path == "/b" else maze(host, path)) as web:
        done, tally = gathered(tmp_path, [web.url("maze.localhost")], Wish(depth=3, allow_private=True))
    assert "go on later" in done.descents[0].problem
    assert sum(level.n_failed for level in done.descents[0].levels) == 1
    assert web.paths("maze.localhost")[-1] == "/b"
    assert tally.n_visits == len(web.paths("maze.localhost")) <= 4


def test_a_site_on_this_machine_must_be_meant(cli: Cli) -> None:
    assert "--allow-private" in cli("collect", "http://a.localhost/", code=2).stderr
    assert not (cli.home / "recrawl.sqlite").exists() or not rows(cli, "SELECT url FROM resource")
