"""Every hostile case at once, beside fifty hosts that mean well: nobody is held up and nothing fills up."""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

import pytest
from tests.faults.counts import n_times
from tests.hostile.case import hostile_fetcher, looked, wrong
from tests.hostile.origin import Origin
from tests.hostile.table import TABLE

from recrawl.contracts import Fetcher
from recrawl.model import Outcome, Request
from recrawl.parse import pool

N_COPIES = n_times(3, 1)  # of every case, all at once
N_HEALTHY = 50
EVERY_S = 0.5  # a healthy host is asked so often: what a polite crawl asks for, not what a machine can do
ALONE_S = 4.0
WINDOW_S = 0.5
ATTEMPTS = 3  # other work on the same two cores comes and goes
LEAST_RATIO = 0.9
# Far less than all cases together may receive, let alone decode: what is over was let go.
RSS_BYTES = 256 << 20
ROOT = Path(__file__).parents[2]


@contextmanager
def origin() -> Iterator[Origin]:
    """An origin in a process of its own, so that its work is not taken for ours."""
    command = [sys.executable, "-m", "tests.hostile.origin"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            yield Origin(json.loads(process.stdout.readline()))
        finally:
            process.kill()


@dataclass(slots=True)
class Report:
    ratio: float
    grew_bytes: int
    hostile_s: float
    wrong: dict[str, list[str]] = field(default_factory=dict)
    unhealthy: Counter[str] = field(default_factory=Counter)


def rss_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


async def measured(hostile: Origin, healthy: Origin) -> Report:
    done: list[float] = []  # when healthy fetches ended
    report = Report(0.0, 0, 0.0)
    loop = asyncio.get_running_loop()

    async def ask_again_and_again(fetcher: Fetcher, number: int) -> None:
        url = f"{healthy.url(f'good-{number}')}/"
        await asyncio.sleep(EVERY_S * number / N_HEALTHY)
        while True:
            began = loop.time()
            fetch = await fetcher.fetch(Request(url=url, allow_private=True))
            if fetch.outcome is not Outcome.OK:
                report.unhealthy[str(fetch.failure)] += 1
            done.append(loop.time())
            await asyncio.sleep(max(0.0, began + EVERY_S - loop.time()))

    async def watch_memory() -> None:
        least = rss_bytes()
        while True:
            report.grew_bytes = max(report.grew_bytes, rss_bytes() - least)
            await asyncio.sleep(0.1)

    async def visit(fetcher: Fetcher, key: str, copy: int) -> None:
        if mistakes := wrong(TABLE[key], await looked(TABLE[key], key, copy, fetcher, hostile)):
            report.wrong[f"{TABLE[key].row} {TABLE[key].name}"] = mistakes

    def rate(since: float, until: float) -> float:
        """The median over short windows."""
        windows = Counter(int((at - since) / WINDOW_S) for at in done if since <= at < until)
        return median([windows[i] for i in range(int((until - since) / WINDOW_S))])

    async with hostile_fetcher() as fetcher:
        asking = [asyncio.create_task(ask_again_and_again(fetcher, i)) for i in range(N_HEALTHY)]
        await asyncio.sleep(2 * EVERY_S)  # until robots.txt is known
        alone_at = loop.time()
        await asyncio.sleep(ALONE_S)
        beside_at = loop.time()
        asking.append(asyncio.create_task(watch_memory()))
        # What differs from one request to the next would differ by what the other copies ask.
        copies = {key: 1 if TABLE[key].twice else N_COPIES for key in TABLE}
        await asyncio.gather(*(visit(fetcher, key, copy) for key in TABLE for copy in range(copies[key])))
        report.hostile_s = loop.time() - beside_at
        report.ratio = rate(beside_at, loop.time()) / rate(alone_at, beside_at)
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
    return report


@pytest.mark.slow
def test_hostile_hosts_hold_up_nobody_and_each_gets_its_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    with origin() as hostile, origin() as healthy, pool.Pool(limit_s=1.5, memory_bytes=512 << 20) as short:
        monkeypatch.setattr(pool, "_shared", short)
        for attempt in range(1, ATTEMPTS + 1):
            report = asyncio.run(measured(hostile, healthy))
            print(f"attempt {attempt}: {report}")
            assert report.unhealthy == {}
            assert report.wrong == {}
            assert report.grew_bytes < RSS_BYTES
            if report.ratio >= LEAST_RATIO:
                return
            time.sleep(attempt)
    pytest.fail(f"healthy hosts were visited at {report.ratio:.0%} of the rate without hostile ones")
