"""recrawl's side: the fetcher as it is, and the same one without robots.txt and without waiting for turns.

ours.py polite URLS RECORD     fetch all, record headers and digests
ours.py cost URLS RECORD       processor time of the one by that of the other:
                                   at first, and once every robots.txt is known
"""

from __future__ import annotations

import asyncio
import gc
import hashlib
import json
import sys
import time
from collections.abc import Iterator
from contextlib import nullcontext
from itertools import groupby
from math import inf
from pathlib import Path
from typing import Any, TextIO

from recrawl.live.clock import WallClock
from recrawl.model import Request
from recrawl.observe import http
from recrawl.observe.pacing import Errand, Turn
from recrawl.observe.robots import Rules
from recrawl.urls import host_key

N_TOGETHER = 64
N_ROUNDS = 18


class Rude(http.HttpFetcher):
    """What politeness costs is the difference."""

    async def _rules_for(self, _trip: object) -> Rules:
        return Rules()


class NoErrand(Errand):
    def turn(self, _host: str, **_said: object) -> Any:  # type: ignore[override]
        return nullcontext(Turn())


def fetcher(kind: type[http.HttpFetcher]) -> http.HttpFetcher:
    return kind(clock=WallClock(), user_agent="bench/1", min_delay_s=0.0)


async def fetched(web: http.HttpFetcher, urls: list[str], record: TextIO) -> None:
    hosts = iter([(host, list(group)) for host, group in groupby(sorted(urls, key=host_key), host_key)])
    await asyncio.gather(*(worked(hosts, web, record) for _ in range(N_TOGETHER)))


async def polite(urls: list[str], record: TextIO) -> None:
    async with fetcher(http.HttpFetcher) as web:
        await fetched(web, urls, record)


async def costs(urls: list[str], record: TextIO) -> list[float]:
    """Of many rounds the best of each: what else the machine does only adds."""
    best_s = [inf, inf, inf]
    async with fetcher(http.HttpFetcher) as known, fetcher(Rude) as rude:
        await fetched(known, urls, record)
        for n in range(N_ROUNDS):
            async with fetcher(http.HttpFetcher) as new:
                kinds = list(enumerate([new, known, rude]))
                for i, web in kinds[n % 3 :] + kinds[: n % 3]:
                    vars(http)["Errand"] = NoErrand if web is rude else Errand
                    gc.collect()
                    begun = time.process_time()
                    await fetched(web, urls, record)
                    best_s[i] = min(best_s[i], time.process_time() - begun)
    return [best_s[0] / best_s[2], best_s[1] / best_s[2]]


async def worked(hosts: Iterator[tuple[str, list[str]]], web: http.HttpFetcher, record: TextIO) -> None:
    for host, urls in hosts:
        for url in urls:
            fetch = await web.fetch(Request(url=url, allow_private=True, leased_host=host))
            digest = hashlib.sha256(bytes(fetch.body)).hexdigest()
            record.write(json.dumps([fetch.url, fetch.status, fetch.headers, digest]) + "\n")


if __name__ == "__main__":
    listed = Path(sys.argv[2]).read_text("utf-8").split()
    with Path(sys.argv[3]).open("w", encoding="utf-8") as file:
        if sys.argv[1] == "cost":
            print(*asyncio.run(costs(listed, file)))
        else:
            asyncio.run(polite(listed, file))
