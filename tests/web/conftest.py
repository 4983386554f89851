"""The web face on a socket, with a store behind it."""

from __future__ import annotations

import os
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fcntl import LOCK_EX, flock
from pathlib import Path

import httpx
import pytest
from tests.web import year as years

from recrawl.app.build import House, open_house
from recrawl.app.tokens import FILE_NAME, Tokens
from recrawl.live.clock import FastClock
from recrawl.web.face.app import create
from recrawl.web.face.serving import Serving


@dataclass(frozen=True)
class Served:
    """Where it is, who may write there, and what is behind it."""

    base: str
    token: str
    home: Path
    tokens: Tokens
    clock: FastClock
    stop: Callable[[], None]

    def client(self, token: str | None = None) -> httpx.Client:
        """With this token, or the one that may write; with an empty one as a stranger."""
        secret = self.token if token is None else token
        headers = {"Authorization": f"Bearer {secret}"} if secret else {}
        return httpx.Client(base_url=self.base, headers=headers, timeout=60.0)

    @contextmanager
    def house(self) -> Iterator[House]:
        with open_house(self.home, clock=self.clock) as house:
            yield house


@contextmanager
def serving(home: Path, now: float) -> Iterator[Served]:
    clock = FastClock(start_at=now, speed=1.0)
    with open_house(home, clock=clock) as house:
        _ = house.store
    tokens = Tokens(home / FILE_NAME)
    secret = "rc_the-token-of-the-tests"
    tokens.begin(secret, now)
    with Serving("127.0.0.1", 0) as server:
        app = create(home, tokens, clock=clock)
        thread = threading.Thread(target=server.run, args=(app, app.state.ending))
        thread.start()
        try:
            until = time.monotonic() + 20.0
            while time.monotonic() < until:
                try:
                    httpx.get(server.origin, timeout=5.0)
                    break
                except httpx.TransportError:
                    time.sleep(0.05)
            yield Served(server.origin, secret, home, tokens, clock, server.stop)
        finally:
            server.stop()
            thread.join(20.0)
            assert not thread.is_alive()


@pytest.fixture(scope="session")
def year_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made once, by the worker that comes first; each has a copy, and whoever changes something one more."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    whole = shared / "year"
    with (shared / "year.lock").open("w") as lock:
        flock(lock, LOCK_EX)  # the others would only compile the same, and in the same time
        if not whole.exists():
            years.made(shared / "year.part")
            (shared / "year.part").rename(whole)
    home = tmp_path_factory.mktemp("year") / "home"
    shutil.copytree(whole, home)
    return home


@pytest.fixture(scope="module")
def year(year_home: Path) -> Iterator[Served]:
    """300 resources and a year of history: for looking, not for changing."""
    with serving(year_home, years.NOW) as served:
        yield served


@pytest.fixture
def year_copy(year_home: Path, tmp_path: Path) -> Iterator[Served]:
    """The same, to be changed."""
    shutil.copytree(year_home, tmp_path / "home", ignore=shutil.ignore_patterns(FILE_NAME))
    with serving(tmp_path / "home", years.NOW) as served:
        yield served


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """Nothing is watched yet."""
    with serving(tmp_path / "home", years.NOW) as found:
        yield found
