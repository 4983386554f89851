"""Was every visitor polite? Judged from the server's own log.

For every host: one request at a time; between the end of an answer and the next request at least the
asked-for delay (our own, Crawl-delay, or what a Retry-After has left of it); nothing that robots.txt
disallows. Requests for robots.txt count like all others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby

from protego import Protego

from recrawl.livingweb.script import ROBOTS_PATH, Host, Script
from recrawl.livingweb.server import Served


@dataclass(frozen=True, slots=True)
class Violation:
    host: str
    at: float
    target: str
    what: str

    def __str__(self) -> str:
        return f"{self.host}: the request for {self.target} {self.what}"


def violations(
    log: Iterable[Served], script: Script, *, delay_s: float, tolerance_s: float = 0.005
) -> list[Violation]:
    """All breaches, in order of host and time; `delay_s` is what the visitor promised every host.

    All in site seconds. A server that is starved reads the time of a request late, never early, so a
    small tolerance is enough on any clock.
    """
    by_start = sorted(log, key=lambda served: (served.host, served.started_at))
    return [
        violation
        for name, served in groupby(by_start, key=lambda served: served.host)
        for violation in _of_host(list(served), script.hosts.get(name), delay_s, tolerance_s)
    ]


def _of_host(log: list[Served], host: Host | None, delay_s: float, tolerance_s: float) -> Iterator[Violation]:
    robots = host.robots if host else None
    rules = Protego.parse(robots.text()) if robots else None
    ended_at, free_at, wanted_s = -1e300, -1e300, 0.0
    for served in log:
        early_s = free_at - served.started_at
        if served.started_at < ended_at - tolerance_s:
            yield _broken(served, f"came {ended_at - served.started_at:.3f} s before the last was answered")
        elif early_s > tolerance_s:
            since_s = served.started_at - ended_at
            yield _broken(
                served, f"came {since_s:.3f} s after the last answer; {wanted_s:g} s were asked for"
            )
        if rules and served.path != ROBOTS_PATH and not rules.can_fetch(served.target, served.user_agent):
            yield _broken(served, "is disallowed by robots.txt")
        crawl_delay_s = robots.crawl_delay_s if robots and robots.crawl_delay_s else 0.0
        wait_s = max(delay_s, crawl_delay_s, served.retry_after_s)
        ended_at = max(ended_at, served.ended_at)
        if served.ended_at + wait_s > free_at:
            free_at, wanted_s = served.ended_at + wait_s, wait_s


def _broken(served: Served, what: str) -> Violation:
    return Violation(served.host, served.started_at, served.target, what)
