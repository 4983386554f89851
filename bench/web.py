"""How long pages and lists of the web face take with 100,000 resources and 5 million visits, mid-crawl.

    python bench/web.py --home FOLDER      makes the store there (minutes), or uses the one that is there
    python bench/web.py --n 2000 --visits 100000      a smaller one, in a folder of its own

`recrawl serve` and `recrawl run` are the real ones, on that home; what is visited is a server on this machine
whose pages change. Every page and list is asked for many times in turn, as a person and a program would, and
the 95th of 100 answers is told with its size; a browser says when it first has something to show.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from aiohttp import web

from recrawl.model import Settings

PAGES = (
    "/",
    "/resources",
    "/resources?sort=chance",
    "/resources?text=h12",
    "/resources?page=1500",
    "/resources/77",
    "/changes",
    "/changes?which=significant",
    "/plan",
    "/hosts",
    "/hosts/{host}",
    "/health",
    "/notices",
    "/add",
    "/api/v1/resources",
    "/api/v1/resources?text=h12",
    "/api/v1/resources/77/visits",
    "/api/v1/resources/77/versions",
    "/api/v1/changes",
    "/api/v1/hosts",
    "/api/v1/status",
    "/metrics",
)
LIMIT_S, MOST_BYTES, PAINT_S = 0.300, 300_000, 1.0
HOST = "h{}.localhost"


class Origin(threading.Thread):
    """A server with many names; each page says the hour, so that it changes now and then."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.port, self._ready = 0, threading.Event()

    def run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        async def answer(request: web.BaseRequest) -> web.StreamResponse:
            if request.path == "/robots.txt":
                return web.Response(status=404)
            turn = int(time.time() / 600) + hash(request.path) % 7
            text = f"<title>{request.path}</title><p>{'words of a page ' * 60}<p>{turn // 7}"
            return web.Response(text=text, content_type="text/html")

        runner = web.ServerRunner(web.Server(answer))
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", self.port)
        await site.start()
        self.port = runner.addresses[0][1]
        self._ready.set()
        await asyncio.Event().wait()

    def begun(self, port: int) -> int:
        self.port = port
        self.start()
        self._ready.wait(10.0)
        return self.port


def make(home: Path, n: int, n_visits: int, port: int) -> None:
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from bench.report import made

    home.mkdir(parents=True, exist_ok=True)
    began = time.perf_counter()
    made(
        home / "recrawl.sqlite",
        n,
        n_visits,
        365.0,
        1,
        now=time.time(),
        host=f"{HOST}:{port}",
        settings=Settings(allow_private=True),
    )
    (home / "port").write_text(str(port))
    (home / "recrawl.toml").write_text(f'[schedule]\nbudget = "{n_visits * 4 // 365}/day"\n')
    print(f"made in {time.perf_counter() - began:.0f} s")


@contextmanager
def started(*words: str) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-m", "recrawl", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.terminate()


def asked(base: str, token: str, path: str) -> tuple[float, int]:
    request = urllib.request.Request(base + path, headers={"Authorization": f"Bearer {token}"})  # noqa: S310
    begun = time.perf_counter()
    with urllib.request.urlopen(request, timeout=60.0) as answer:  # noqa: S310
        data = answer.read()
    return time.perf_counter() - begun, len(data)


def painted(base: str, token: str, paths: tuple[str, ...]) -> dict[str, float]:
    """When a browser first has something to show, in seconds, the median of five."""
    import os
    import shutil

    from playwright.sync_api import sync_playwright

    found: dict[str, float] = {}
    script = "() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null"
    with sync_playwright() as player:
        browser = player.chromium.launch(
            executable_path=shutil.which("chromium"), chromium_sandbox=os.geteuid() != 0
        )
        page = browser.new_page()
        page.goto(f"{base}/api#{token}")
        page.wait_for_url(f"{base}/api")
        for path in paths:
            times = []
            for _ in range(5):
                page.goto(base + path)
                page.wait_for_timeout(300)
                said = page.evaluate(script)
                times.append(1e3 if said is None else float(said) / 1e3)
            found[path] = float(np.median(times))
        browser.close()
    return found


def measure(home: Path, rounds: int, crawling: bool) -> dict[str, dict[str, float]]:
    port = int((home / "port").read_text())
    Origin().begun(port)
    paths = tuple(path.format(host=f"{HOST.format(12)}:{port}") for path in PAGES)
    with started("serve", "--home", str(home), "--port", "0", "--json") as serving:
        assert serving.stdout is not None
        text = ""
        while not text.endswith("}\n"):
            text += serving.stdout.readline()
        said = json.loads(text)
        base, token = said["url"].rstrip("/"), said["token"]
        if not crawling:
            return asking(base, token, paths, rounds)
        with started("run", "--home", str(home)) as run:
            time.sleep(20.0)  # until it really visits
            n_before = n_visits(base, token)
            begun = time.perf_counter()
            found = asking(base, token, paths, rounds)
            n_made = n_visits(base, token) - n_before
            print(f"meanwhile {n_made / (time.perf_counter() - begun):.1f} visits a second were recorded")
            assert run.poll() is None
            return found


def n_visits(base: str, token: str) -> int:
    request = urllib.request.Request(  # noqa: S310
        f"{base}/api/v1/status", headers={"Authorization": f"Bearer {token}"}
    )
    with urllib.request.urlopen(request, timeout=60.0) as answer:  # noqa: S310
        return int(json.load(answer)["visits"])


def asking(base: str, token: str, paths: tuple[str, ...], rounds: int) -> dict[str, dict[str, float]]:
    for path in paths:
        asked(base, token, path)  # the first time of each is not counted
    took: dict[str, list[float]] = {path: [] for path in paths}
    size: dict[str, int] = {}
    for _ in range(rounds):
        for path in paths:
            seconds, size[path] = asked(base, token, path)
            took[path].append(seconds)
    paint = painted(base, token, tuple(path for path in paths if not path.startswith(("/api", "/metrics"))))
    return {
        path: {
            "p50_s": float(np.median(took[path])),
            "p95_s": float(np.quantile(took[path], 0.95)),
            "bytes": float(size[path]),
            "paint_s": paint.get(path, float("nan")),
        }
        for path in paths
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--home", type=Path)
    parser.add_argument("--n", type=int, default=100_000)
    parser.add_argument("--visits", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--port", type=int, default=18_999, help="of the server that is visited")
    parser.add_argument("--quiet", action="store_true", help="without a crawl")
    said = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = said.home or Path(folder) / "home"
        if not (home / "recrawl.sqlite").exists():
            make(home, said.n, said.visits, said.port)
        found = measure(home, said.rounds, not said.quiet)
    print(f"{'path':40} {'median':>8} {'p95':>8} {'kB':>7} {'paint':>7}")
    for path, row in found.items():
        over = row["p95_s"] > LIMIT_S or row["bytes"] > MOST_BYTES or row["paint_s"] > PAINT_S
        print(
            f"{path:40} {1e3 * row['p50_s']:6.0f}ms {1e3 * row['p95_s']:6.0f}ms {row['bytes'] / 1e3:7.1f} "
            f"{row['paint_s']:6.2f}s{'  OVER' if over else ''}"
        )


if __name__ == "__main__":
    main()
