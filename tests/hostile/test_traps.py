"""Sites that would keep whoever follows links for ever are left after as many pages as were asked for."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from tests.mazes import ROBOTS, Answer, Maze, collected, page, serving

from recrawl.app.frontier import Wish
from recrawl.app.sites import plain

HOST = "trap.localhost"


def calendar(path: str) -> Answer:
    """Every month leads to the one after it and the one before."""
    month = int(path.rpartition("=")[2]) if "=" in path else 0
    return page([f"/month?m={month + 1}", f"/month?m={month - 1}"], words=f"Month {month}")


def sessions(path: str) -> Answer:
    """Three pages, each of whose links has another session id every time."""
    sessions.n = getattr(sessions, "n", 0) + 1  # type: ignore[attr-defined]
    session = sha256(str(sessions.n).encode()).hexdigest()[:32]  # type: ignore[attr-defined]
    return page([f"/{name}?PHPSESSID={session}" for name in "abc"], words=f"{session} of {path}")


def echo(_: str) -> Answer:
    """The same page under every address, with a relative link."""
    return page(["deeper/", "further/"])


def circle(path: str) -> Answer:
    """Another page under every address, whose relative links lead round in circles."""
    return page(["go/"], words=path)


def thicket(path: str) -> Answer:
    """Twenty links on every page, each to a page that was never seen before."""
    return page([f"/{sha256(f'{path} {n}'.encode()).hexdigest()}" for n in range(20)], words=path)


TRAPS: dict[str, tuple[Callable[[str], Answer], int]] = {
    "calendar": (calendar, 1 + 11),  # the first page, and months -5 to 5
    "sessions": (sessions, 4),
    "echo": (echo, 3),
    "circle": (circle, 3),
    "thicket": (thicket, 1 + 5 * 4),
}


def kept(tmp_path: Path, trap: Callable[[str], Answer], wish: Wish) -> tuple[Maze, list[tuple[int, int]]]:
    with serving(lambda _, path: None if path == ROBOTS else trap(path)) as web:
        done, _ = collected(tmp_path, [web.url(HOST)], wish)
    assert not done.descents[0].problem
    return web, [(level.n_found, level.n_fetched) for level in done.descents[0].levels]


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_is_left(tmp_path: Path, name: str) -> None:
    trap, most = TRAPS[name]
    web, levels = kept(tmp_path, trap, Wish(depth=6, per_level=4, allow_private=True))
    asked = web.paths(HOST)
    assert len(asked) == len({plain(f"http://h{path}") for path in asked}) <= most, levels
    assert len(asked) >= 3


def test_no_more_of_a_host_are_taken_than_its_quota(tmp_path: Path) -> None:
    web, _ = kept(tmp_path, thicket, Wish(depth=6, per_level=4, most=7, allow_private=True))
    assert len(web.paths(HOST)) == 7


def test_a_page_of_very_many_long_links_costs_no_more_than_others(tmp_path: Path) -> None:
    def flood(path: str) -> Answer:
        return page((f"/{n}/{'x' * 300}" for n in range(7_000)) if path == "/" else (), words=path)

    _, levels = kept(tmp_path, flood, Wish(depth=3, per_level=2, allow_private=True))
    assert levels == [(1, 1), (6_000, 2)]
