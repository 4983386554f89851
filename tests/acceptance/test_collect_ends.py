"""How a collection ends: what it says of a first page that leads nowhere, and of what is missing."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Protocol

import pytest
from tests.mazes import ROBOTS, Answer, collected, page, robots, serving

from recrawl.app.collecting import site_row
from recrawl.app.frontier import Wish

HOST = "maze.localhost"
WISH = Wish(depth=3, allow_private=True)


class Cli(Protocol):
    home: Path

    def __call__(self, *args: str, code: int = 0) -> subprocess.CompletedProcess[str]: ...


def maze(_: str, path: str) -> Answer | None:
    """The first page leads to a, b and docs; docs to d and e, which lead to the first page."""
    leads = {"/": ["/a", "/b", "/docs/"], "/docs/": ["/docs/d", "/docs/e"]}
    if path == ROBOTS:
        return robots("User-agent: *\nDisallow: /secret\n")
    if path == "/paper.pdf":
        return Answer(b"%PDF-1.7 and more", headers={"Content-Type": "application/pdf"})
    if path == "/shy":
        return page(["/a"], head='<meta name="robots" content="nofollow">')
    if path == "/lonely":
        return page(["http://elsewhere.example/"])
    if path == "/broken":
        return Answer(b"no", 500)
    return page(leads.get(path, ["/"]), words=f"This is {path}.")


def test_another_first_page_of_a_site_is_another_collection(tmp_path: Path) -> None:
    with serving(maze) as web:
        collected(tmp_path, [web.url(HOST)], WISH)
        docs, tally = collected(tmp_path, [web.url(HOST, "/docs/")], WISH)
        levels = [(one.n_found, one.n_chosen, one.n_fetched) for one in docs.descents[0].levels]
        assert levels == [(1, 1, 1), (2, 2, 2), (1, 1, 1)]  # itself, d and e, the other first page
        assert tally.n_visits == 0
        gone, tally = collected(tmp_path, [web.url(HOST, "/broken")], WISH)
        assert tally.n_visits == 1
        assert "/broken cannot be begun with" in gone.descents[0].problem
        assert not site_row(gone.descents[0])["complete"]
        again, tally = collected(tmp_path, [web.url(HOST)], WISH)
    assert [one.n_fetched for one in again.descents[0].levels] == [1, 3, 2]
    assert (tally.n_visits, again.descents[0].complete) == (0, True)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/paper.pdf", "it is application/pdf, not HTML"),
        ("/shy", "it asks that its links are not followed"),
        ("/lonely", "it has no link to its own site"),
        ("/secret", "robots.txt"),
        ("/broken", "500"),
    ],
)
def test_a_first_page_that_leads_nowhere_is_told(tmp_path: Path, path: str, why: str) -> None:
    with serving(maze) as web:
        done, _ = collected(tmp_path, [web.url(HOST, path)], WISH)
    (descent,) = done.descents
    assert why in descent.problem
    assert not descent.complete
    assert len(descent.levels) == 1


def test_one_page_that_leads_nowhere_is_complete_where_no_more_is_asked_for(tmp_path: Path) -> None:
    with serving(maze) as web:
        done, _ = collected(tmp_path, [web.url(HOST, "/paper.pdf")], Wish(depth=1, allow_private=True))
    assert done.descents[0].complete


def test_a_collection_with_pages_that_failed_is_not_complete(cli: Cli) -> None:
    """Forbidden, so that its host is not left alone for a minute."""
    with serving(lambda host, path: Answer(b"", 403) if path == "/b" else maze(host, path)) as web:
        done = cli("collect", web.url(HOST), "--depth", "2", "--allow-private", "--json")
    report = json.loads(done.stdout)
    assert [level["failed"] for level in report["sites"][0]["levels"]] == [0, 1]
    assert not report["complete"]
    assert not report["sites"][0]["complete"]
    assert "1 page could not be visited; the same command tries again" in done.stderr


def test_a_collection_whose_time_is_up_says_so_and_until_when_the_budget_is_spent(cli: Cli) -> None:
    args = ("--depth", "3", "--allow-private", "--budget", "8/day", "--for", "3s")
    with serving(maze) as web:
        told = cli("collect", web.url(HOST), *args, code=1).stderr
    assert "The budget is spent; going on at 2" in told
    assert "Time is up after" in told
    assert f"the same command goes on with {HOST}:{web.port}." in told
