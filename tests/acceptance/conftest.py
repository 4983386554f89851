"""The command line as a real process, and a real web for it to visit."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from tests.commands import COMMAND, Forked, forkable

from recrawl.live.clock import WallClock
from recrawl.livingweb import Document, Form, LivingWeb, Script, serving


@dataclass(frozen=True)
class Cli:
    """Runs recrawl with a home of its own."""

    home: Path
    env: Mapping[str, str]

    def __call__(
        self, *args: str, code: int = 0, text: str | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        with self._begun(args, {**self.env, **(env or {})}) as process:
            try:
                out, err = process.communicate(text or "", timeout=120)
            except BaseException:
                process.kill()
                raise
        done = subprocess.CompletedProcess(args, process.returncode, out, err)
        assert "Traceback" not in done.stderr, done.stderr
        assert done.returncode == code, (args, done.returncode, done.stdout, done.stderr)
        return done

    def having(self, **env: str) -> Cli:
        """The same home with other variables."""
        return replace(self, env={**self.env, **env})

    def started(self, *args: str) -> subprocess.Popen[str]:
        return self._begun(args, self.env)

    def _begun(self, args: tuple[str, ...], env: Mapping[str, str]) -> subprocess.Popen[str]:
        pipes: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
        if forkable(env):
            return Forked([*COMMAND, *args], env=env, text=True, **pipes)
        return subprocess.Popen([*COMMAND, *args], env=env, text=True, **pipes)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("RECRAWL_")}
    return Cli(
        tmp_path / "home",
        {
            **inherited,
            "RECRAWL_HOME": str(tmp_path / "home"),
            "RECRAWL_FETCHING__MIN_DELAY": "0.05",
            "COLUMNS": "200",
        },
    )


@pytest.fixture
def web() -> Iterator[LivingWeb]:
    """Three things that change only when a test says so, and lists of them."""
    script = Script(
        (
            Document(host="page.localhost", path="/"),
            Document(host="data.localhost", path="/table.csv", form=Form.CSV),
            Document(host="feed.localhost", path="/news.xml", form=Form.RSS),
            Document(host="page.localhost", path="/sitemap.xml", form=Form.SITEMAP),
            Document(host="page.localhost", path="/index.xml", form=Form.SITEMAP_INDEX),
            Document(host="feed.localhost", path="/feeds.opml", form=Form.OPML),
            Document(host="slow.localhost", path="/", slow_s=1.0),
        )
    )
    with serving(script, clock=WallClock()) as living:
        yield living


@pytest.fixture
def urls(web: LivingWeb) -> list[str]:
    return list(web.urls()[:3])
