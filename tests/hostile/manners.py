"""H30-H35: what robots.txt says, and what it must not do to us."""

from __future__ import annotations

import gzip

from tests.hostile.case import PAGE, PATIENT, SLOW, UNANSWERED, Case, Sight
from tests.hostile.origin import Reply, broken_off, endless, moved, silence

from recrawl.checks.fetcher import said
from recrawl.model import Changed, Outcome
from recrawl.observe.limits import Limits

OK, BLOCKED, NET = Outcome.OK, Outcome.BLOCKED, Outcome.NET_ERROR
FOUND = said("200 OK", PAGE, Content_Type="text/html")
NOBODY = b"User-agent: *\nDisallow: /\n"
HALF_MIB = 500 * 1024


def _asked_only_if_allowed(sight: Sight) -> bool:
    return ("/" in sight.paths()) == (sight.fetch.outcome is OK)


def _case(
    row: str,
    name: str,
    robots: Reply,
    outcome: Outcome,
    *reasons: str,
    wait_s: float = 0.0,
    limits: Limits = PATIENT,
) -> Case:
    return Case(
        row=row,
        name=name,
        replies={"/robots.txt": robots, "/r": said("200 OK", NOBODY), "/": FOUND},
        outcome=outcome,
        reasons=reasons or ("",),
        changed=Changed.NO if outcome is OK else Changed.UNKNOWN,
        check=lambda sight: _asked_only_if_allowed(sight) and sight.fetch.wait_s >= wait_s,
        limits=limits,
    )


def _text(body: bytes, **fields: str) -> bytes:
    return said("200 OK", body, Content_Type="text/plain", **fields)


def _of_length(n_bytes: int, rule: bytes) -> bytes:
    """A robots.txt whose rule ends exactly there, and goes on."""
    head = b"User-agent: *\nDisallow: /x\n"
    return head + b"#" * (n_bytes - len(head) - len(rule) - 1) + b"\n" + rule + b"c\n" + b"#\n" * 50_000


READ = [
    _case("H30", "nobody may", _text(NOBODY), BLOCKED, "robots"),
    _case("H30", "no rules but a page", _text(b"<html>whatever"), OK),
    _case("H30", "any bytes", _text(bytes(range(256)) * 1_000), OK),
    _case("H30", "compressed", _text(gzip.compress(NOBODY), Content_Encoding="gzip"), BLOCKED, "robots"),
    _case("H30", "a rule inside 500 KiB", _text(_of_length(HALF_MIB - 9, b"Disallow: /")), OK),
    _case(
        "H30",
        "a whole rule inside 500 KiB",
        _text(b"#" * (HALF_MIB - 40) + b"\n" + NOBODY),
        BLOCKED,
        "robots",
    ),
    _case("H30", "a rule cut in two at 500 KiB", _text(_of_length(HALF_MIB, b"Disallow: /")), OK),
    _case(
        "H30",
        "without end, and nobody may",
        endless(b"HTTP/1.1 200 OK\r\n\r\n" + NOBODY, b"Disallow: /x\n" * 5_000),
        BLOCKED,
        "robots",
    ),
    _case(
        "H30",
        "a bomb",
        _text(gzip.compress(NOBODY + bytes(32 << 20)), Content_Encoding="gzip"),
        BLOCKED,
        "robots",
    ),
    _case(
        "H30",
        "agents times rules",
        _text(b"".join(b"User-agent: %d\n" % i for i in range(12_000)) + b"Allow: /a\n" * 20_000),
        OK,
    ),
    _case("H30", "wildcards", _text(b"User-agent: *\nDisallow: /" + b"*a" * 4_000 + b"$\n"), OK),
    _case("H31", "to a rule", moved("/r"), BLOCKED, "robots"),
    _case("H31", "to itself", moved("/robots.txt"), BLOCKED, "robots"),
    _case("H31", "to a scheme of its own", moved("ftp://127.0.0.1/"), NET, "protocol"),
    Case(
        row="H31",
        name="to another host, whose rules are then ours",
        replies={"/robots.txt": moved("http://@OTHER@/rules"), "/": FOUND},
        other={"/rules": _text(NOBODY)},
        outcome=BLOCKED,
        reasons=("robots",),
        check=_asked_only_if_allowed,
    ),
]

REFUSED = [
    *(
        _case("H32", status, said(status, NOBODY), OK)
        for status in ("400 Bad", "401 Unauthorized", "403 Forbidden", "404 Not Found", "410 Gone", "451 Law")
    ),
    _case("H32", "429 is no 4xx", said("429 Slow down"), BLOCKED, "robots"),
    *(_case("H33", status, said(status), BLOCKED, "robots") for status in ("500 Oh", "503 Busy", "599 What")),
    _case("H33", "half of it", _text(b"User-agent", Content_Length="99"), BLOCKED, "robots"),
    _case("H33", "no HTTP", b"garbage\r\n\r\n", NET, "protocol"),
    _case("H33", "no answer", silence, NET, "timeout", limits=UNANSWERED),
    _case("H33", "a reset", broken_off(b""), NET, "disconnect"),
    _case("H33", "a drip", endless(b"HTTP/1.1 200 OK\r\n\r\n", b"#", 0.05), BLOCKED, "robots", limits=SLOW),
]

KEPT = [
    Case(
        row="H34",
        name="asked for once on the way through a redirect",
        replies={"/robots.txt": _text(b"User-agent: *\nDisallow: /x"), "/": moved("/b"), "/b": FOUND},
        outcome=OK,
        changed=Changed.NO,
        check=lambda sight: sight.paths() == ["/robots.txt", "/", "/b"],
    ),
]

DELAYS = [
    _case(
        "H35",
        f"Crawl-delay {said_s}",
        _text(f"User-agent: *\nCrawl-delay: {said_s}\n".encode()),
        outcome,
        *why,
    )
    for said_s, outcome, why in [
        ("301", BLOCKED, ["crawl-delay"]),
        ("1e6", BLOCKED, ["crawl-delay"]),
        ("9" * 40, BLOCKED, ["crawl-delay"]),
        ("0", OK, []),
        ("-7", OK, []),
        ("nan", OK, []),
        ("-inf", OK, []),
        ("soon", OK, []),
    ]
] + [
    _case("H35", "0.2, kept before the page too", _text(b"User-agent: *\nCrawl-delay: 0.2"), OK, wait_s=0.2),
    _case("H35", "another's", _text(b"User-agent: x\nCrawl-delay: 900\n\nUser-agent: *\nAllow: /"), OK),
    _case("H35", "before any agent", _text(b"Crawl-delay: 900\nUser-agent: *\nAllow: /"), OK),
]

MANNERS = [*READ, *REFUSED, *KEPT, *DELAYS]
