"""One row's case: what a server does, and what must come of it, from the socket to the recorded visit."""

from __future__ import annotations

import asyncio
import hashlib
import socket
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from tests.hostile.origin import Origin, Replies

from recrawl.checks.fetcher import Asked
from recrawl.contracts import Detector, Fetcher, Handler, Premises
from recrawl.detect.choose import detector_name
from recrawl.live.clock import WallClock
from recrawl.live.judgement import Judgement, judged
from recrawl.model import (
    Changed,
    Effective,
    Fetch,
    Kind,
    Lease,
    Outcome,
    Request,
    Resource,
    Snapshot,
    Standing,
    Version,
)
from recrawl.observe.http import HttpFetcher, Limits
from recrawl.observe.route import Route
from recrawl.registry import names, part

LIMITS = Limits(
    dns_s=1.0,
    connect_s=2.0,
    first_byte_s=2.0,
    total_s=6.0,
    min_bytes_per_s=1_000.0,
    rate_window_s=1.0,
    wire_bytes=1 << 20,
    body_bytes=4 << 20,
)
# What a row of the table is not about must not decide it, and a starved machine may take long for anything:
# each row has but one limit that the clock can reach, the one that it is about.
PATIENT = replace(LIMITS, dns_s=60.0, connect_s=60.0, first_byte_s=60.0, total_s=120.0, rate_window_s=60.0)
UNKNOWN = replace(PATIENT, dns_s=1.0)
UNANSWERED = replace(PATIENT, first_byte_s=3.0)
SLOW = replace(PATIENT, rate_window_s=1.0)
UNENDING = replace(PATIENT, total_s=12.0)  # a query may take a minute to begin, whatever is usual
LONG = replace(PATIENT, rate_window_s=3.0, total_s=6.0)
SLACK_S = 30.0  # this may be a slow machine, and what the rows wait for never comes
PAGE = b"<html><title>T</title><p>Rain today.</p></html>"  # the copy that we hold before the visit
OK_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"

# Not the loop's own threads: those are for the fetcher, and a page that hangs its parser would hold them up.
_JUDGES = ThreadPoolExecutor(8, "judge")
_DETECTORS: dict[str, Detector] = {name: part("detectors", name)() for name in names("detectors")}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What one fetch of a case gave, and what was recorded of it."""

    fetch: Fetch
    judgement: Judgement
    wall_s: float  # of the fetch alone
    asked: list[Asked] = field(default_factory=list)  # at its own host
    asked_other: list[Asked] = field(default_factory=list)  # at the neighbour

    @property
    def reason(self) -> str:
        return self.fetch.failure.reason if self.fetch.failure else ""

    def paths(self) -> list[str]:
        return [asked.path for asked in self.asked]


Check = Callable[[Sight], object]  # truth means right


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """`outcome` is that of the recorded visit; `today` says so where a later part will do better."""

    row: str
    name: str
    replies: Replies = field(default_factory=dict)
    other: Replies = field(default_factory=dict)  # what the neighbour answers
    outcome: Outcome
    also: tuple[Outcome, ...] = ()  # as right, where it depends on how the network cuts what was sent
    reasons: tuple[str, ...] = ("",)
    changed: Changed = Changed.UNKNOWN
    before: bytes = PAGE
    kind: Kind = Kind.AUTO
    media_type: str = "text/html"  # of what we hold
    door: str = "plain"
    host: str = ""  # a name other than its own
    path: str = "/"
    request: Mapping[str, object] = field(default_factory=dict)
    check: Check = lambda _: True
    today: str = ""
    limits: Limits = PATIENT
    twice: bool = False  # with the second look that a visit makes where it wants one


async def looked(case: Case, key: str, copy: int, fetcher: Fetcher, origin: Origin) -> Sight:
    """Fetch a case as a visit would, and judge it where a visit is judged: not in the event loop."""
    label = f"{key}-{copy}"
    url = f"http://{case.host}:{origin.ports[case.door]}" if case.host else origin.url(label, case.door)
    request = Request(**{"url": url + case.path, "allow_private": True, "kind": case.kind, **case.request})  # type: ignore[arg-type]
    began = time.monotonic()
    fetch = await fetcher.fetch(request)
    wall_s = time.monotonic() - began
    run = asyncio.get_running_loop().run_in_executor
    judgement = await run(_JUDGES, _judged, case, fetch, None)
    if case.twice and judgement.wants_repeat:
        judgement = await run(_JUDGES, _judged, case, fetch, await fetcher.fetch(request))
    asked, other = origin.asked[label], origin.asked[f"{label}-b"]
    return Sight(fetch=fetch, judgement=judgement, wall_s=wall_s, asked=asked, asked_other=other)


def hostile_fetcher(limits: Limits = LIMITS) -> Route:
    """All that a visit looks through, with limits that a test can wait for."""
    clock = WallClock()
    premises = Premises(
        clock=clock, max_bytes=limits.wire_bytes, total_s=limits.total_s, folders=(), spool=None
    )
    web = HttpFetcher(
        clock=clock, user_agent="recrawl-test/1", min_delay_s=0.0, limits=limits, lookup=_lookup
    )
    handlers: dict[str, Handler] = {name: part("handlers", name)(premises) for name in names("handlers")}
    return Route(web, handlers, clock=clock)


def wrong(case: Case, sight: Sight) -> list[str]:
    """What was recorded otherwise than the table says; nothing where all is well."""
    visit, version, same_as = sight.judgement.visit, sight.judgement.version, sight.judgement.same_as
    evidence = visit.outcome in (Outcome.TRUNCATED, Outcome.UNREADABLE, Outcome.SUSPECT)
    claims = {
        f"the outcome is {visit.outcome}, {sight.fetch.failure}": visit.outcome in (case.outcome, *case.also),
        f"the reason is {sight.reason!r}": sight.reason in case.reasons,
        f"changed is {visit.changed}: {visit.evidence}": visit.changed is case.changed,
        "it teaches without being informative": visit.informative or visit.changed is Changed.UNKNOWN,
        "a version of what is none": visit.informative
        or (bool(version and version.flag) if evidence else version is None),
        "no version of a change": visit.changed is not Changed.YES or (version and same_as is None),
        "more kept than the limits allow": len(sight.fetch.wire) <= LIMITS.wire_bytes
        and len(sight.fetch.body) <= LIMITS.body_bytes,
    }
    return [claim for claim, holds in claims.items() if not holds]


def wrong_as_seen_by_the_server(case: Case, sight: Sight) -> list[str]:
    """The case's own check, and the time that it took."""
    claims = {
        f"it took {sight.wall_s:.1f} s": sight.wall_s < case.limits.total_s + SLACK_S,
        f"the case's own check, of {sight.fetch} and {sight.paths()}": case.check(sight),
    }
    return [claim for claim, holds in claims.items() if not holds]


def _judged(case: Case, fetch: Fetch, repeat: Fetch | None) -> Judgement:
    held = Snapshot(body=case.before, media_type=case.media_type, charset=None, url="")
    detector = _DETECTORS[detector_name(case.kind, case.media_type, case.before[:512])]
    version = Version(
        resource_id=1,
        seq=1,
        at=0.0,
        digest=f"sha256:{hashlib.sha256(case.before).hexdigest()}",
        detector=detector.name,
        media_type=case.media_type,
        fingerprint=detector.fingerprint(held),
        status=200,
    )
    resource = Resource(
        id=1,
        url=fetch.request.url,
        host_id=1,
        host="hostile",
        added_at=0.0,
        effective=Effective(kind=case.kind),
    )
    standing = Standing(since_at=0.0, version=version)
    return judged(
        Lease(resource=resource, standing=standing, token=1, claimed_at=0.0, until_at=9e9),
        fetch,
        fetch_id="f",
        detectors=_DETECTORS,
        choose=detector_name,
        load=lambda _: held,
        repeat=repeat,
    )


async def _lookup(host: str, _port: int) -> list[str]:
    """A server of names that misbehaves too."""
    match host.split(".")[0]:
        case "nowhere":
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        case "servfail":
            raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")
        case "slow":
            await asyncio.sleep(3_600)
        case "many":  # 127.0.0.1 is not among them, and nobody else listens
            return [f"127.{i >> 8}.{i & 255}.1" for i in range(2, 1_002)]
    return []
