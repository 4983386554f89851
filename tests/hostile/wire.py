"""H01-H10 and H24-H26: what a server can do to a connection."""

from __future__ import annotations

from typing import Any

from tests.hostile.case import (
    LIMITS,
    LONG,
    OK_HEAD,
    PAGE,
    PATIENT,
    SLOW,
    UNANSWERED,
    UNKNOWN,
    Case,
    Sight,
)
from tests.hostile.origin import PAUSE_S, Reply, broken_off, chunk, endless, halting, silence

from recrawl.checks.fetcher import said
from recrawl.model import Changed, Manner, Outcome

NET, CUT, BAD = Outcome.NET_ERROR, Outcome.TRUNCATED, Outcome.UNREADABLE
CHUNKED = OK_HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
BIG = b"x" * 65_536
BROKEN = (
    "protocol",
    "disconnect",
    "time",
)  # the client says nothing of broken framing until the rate is too low


def cut_at_the_limit(sight: Sight) -> bool:
    return len(sight.fetch.wire) == len(sight.fetch.body) == LIMITS.wire_bytes


def soon(sight: Sight) -> bool:
    """Ended by a count and not by the clock."""
    return sight.wall_s < PATIENT.first_byte_s


def case(row: str, name: str, reply: Reply, outcome: Outcome, *reasons: str, **more: Any) -> Case:
    figures: dict[str, Any] = {"replies": {"/": reply}, "reasons": reasons or ("",), **more}
    return Case(row=row, name=name, outcome=outcome, **figures)


ENDLESS = [
    case("H01", "a body", endless(OK_HEAD + b"\r\n", BIG), CUT, "length", check=cut_at_the_limit),
    case("H01", "chunks", endless(CHUNKED, chunk(BIG)), CUT, "length", check=cut_at_the_limit),
    case(
        "H01",
        "a Content-Length of 100 GB",
        endless(OK_HEAD + b"Content-Length: 99999999999\r\n\r\n", BIG),
        CUT,
        "length",
        check=cut_at_the_limit,
    ),
    case(
        "H01",
        "the page of a 404",
        endless(b"HTTP/1.1 404 No\r\n\r\n", BIG),
        Outcome.GONE,
        "length",
        changed=Changed.YES,
    ),
    case("H02", "1 byte at a time", endless(OK_HEAD + b"\r\n", b"x", 0.05), CUT, "time", limits=SLOW),
    case("H02", "1 chunk at a time", endless(CHUNKED, chunk(b"x"), 0.05), CUT, "time", limits=SLOW),
    case(
        "H02",
        "just above the least rate",
        endless(OK_HEAD + b"\r\n", b"x" * 400, 0.05),
        CUT,
        "time",
        check=lambda sight: sight.wall_s >= LONG.total_s - 0.5,
        limits=LONG,
    ),
    case(
        "H03",
        "slow headers",
        endless(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n", 0.1),
        NET,
        "timeout",
        limits=UNANSWERED,
    ),
    case("H03", "slow status line", endless(b"", b"H", 0.3), NET, "timeout", "protocol", limits=UNANSWERED),
    case("H04", "no answer at all", silence, NET, "timeout", limits=UNANSWERED),
    case("H04", "half a status line", endless(b"HTTP/1.1 2", b"", 1.0), NET, "timeout", limits=UNANSWERED),
    case(
        "H05", "one of 10 MB", OK_HEAD + b"X: " + b"y" * 10_000_000 + b"\r\n\r\n", NET, "protocol", check=soon
    ),
    case(
        "H05",
        "a million of them",
        endless(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n" * 1_000),
        NET,
        "protocol",
        check=soon,
    ),
    case(
        "H05",
        "20 long ones",
        b"HTTP/1.1 200 OK\r\n" + b"".join(b"X%d: %s\r\n" % (i, b"y" * 7_000) for i in range(20)) + b"\r\n",
        NET,
        "protocol",
    ),
    case("H05", "a long reason", b"HTTP/1.1 200 " + b"O" * 1_000_000 + b"\r\n\r\n", NET, "protocol"),
    case(
        "H05",
        "trailers without end",
        endless(CHUNKED + chunk(PAGE), b"0\r\n" + b"X: y\r\n" * 100_000, first_s=PAUSE_S),
        CUT,
        *BROKEN,
        also=(NET,),
        check=soon,
    ),
    case(
        "H06",
        "1xx as fast as it can",
        endless(b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 10),
        NET,
        "protocol",
        check=soon,
    ),
    case(
        "H06",
        "1xx one by one",
        endless(b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", 0.02),
        NET,
        "protocol",
        check=soon,
    ),
    case(
        "H06",
        "three of them, then a page",
        b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * 3
        + said("200 OK", PAGE, Content_Type="text/html"),
        Outcome.OK,
        changed=Changed.NO,
    ),
    case(
        "H07",
        "extension",
        endless(CHUNKED + b"5;", b"extension" * 5_000),
        CUT,
        "length",
        check=soon,
    ),
    case("H07", "a slow extension", endless(CHUNKED + b"5;", b"x", 0.05), CUT, "time", limits=SLOW),
    case(
        "H07",
        "a chunk size",
        endless(CHUNKED, b"0" * 50_000),
        CUT,
        "length",
        check=soon,
    ),
]

HALF: dict[str, Reply] = {
    "too long a Content-Length": OK_HEAD + b"Content-Length: 100\r\n\r\nhalf",
    "no last chunk": CHUNKED + chunk(b"half"),
    "half a chunk": CHUNKED + chunk(b"half") + b"8\r\nhal",
    "reset": broken_off(OK_HEAD + b"Content-Length: 100\r\n\r\nhalf"),
}
FRAMING = [
    *(
        case("H08", name, reply, CUT, "disconnect", check=lambda sight: bytes(sight.fetch.body[:3]) == b"hal")
        for name, reply in HALF.items()
    ),
    case(
        "H08",
        "nothing at all, and asked no second time",
        b"",
        NET,
        "disconnect",
        check=lambda sight: sight.paths() == ["/robots.txt", "/"],
    ),
    case("H09", "too short a Content-Length", OK_HEAD + b"Content-Length: 3\r\n\r\nabcdef", NET, "protocol"),
    *(
        case("H10", name, reply, NET, "protocol", "disconnect", check=lambda sight: not sight.fetch.body)
        for name, reply in {
            "two Content-Lengths": OK_HEAD + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
            "a negative one": OK_HEAD + b"Content-Length: -3\r\n\r\nabcd",
            "one with chunks": OK_HEAD
            + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
            + chunk(b"abc")
            + b"0\r\n\r\n",
            "NUL in a header": OK_HEAD + b"X: a\0b\r\n\r\n",
            "a status of four digits": b"HTTP/1.1 2000 OK\r\n\r\n",
            "a version from the future": b"HTTP/9.9 200 OK\r\n\r\n",
            "HTTP/0.9": b"<html>HTTP/0.9</html>",
            "SSH": b"SSH-2.0-OpenSSH_9.2\r\n",
            "every byte": bytes(range(256)) * 100,
        }.items()
    ),
    case(
        "H10", "a bad chunk size", halting(CHUNKED, b"zz\r\nabc\r\n"), CUT, *BROKEN, also=(NET,), limits=SLOW
    ),
    case(
        "H10",
        "a negative chunk size",
        halting(CHUNKED, b"-3\r\nabc\r\n"),
        CUT,
        *BROKEN,
        also=(NET,),
        limits=SLOW,
    ),
    case(
        "H10",
        "another protocol",
        b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
        Outcome.HTTP_ERROR,
        "http-101",
    ),
    case(
        "H10",
        "header bytes that are no text",
        b"HTTP/1.1 200 \xff\r\nETag: \xfe\xff\r\nContent-Length: 1\r\nContent-Type: text/html\r\n\r\nx",
        Outcome.OK,
        changed=Changed.YES,
        check=lambda sight: sight.fetch.header("etag") == "\xfe\xff" and str(sight.fetch).encode("utf-8"),
    ),
    case(
        "H10",
        "a part that nobody asked for",
        said("206 Partial Content", b"part", Content_Range="bytes 0-3/100"),
        Outcome.HTTP_ERROR,
        "unasked-206",
    ),
]

TLS = [
    *(
        Case(
            row="H24",
            name=name,
            door=door,
            outcome=NET,
            reasons=("tls", "connect"),
            check=lambda sight: not sight.asked,
        )
        for name, door in {
            "expired": "expired",
            "another's name": "elsewhere",
            "self-signed": "alone",
            "unknown authority": "good",
            "TLS 1.1": "old",
            "no TLS": "no-tls",
        }.items()
    ),
    Case(
        row="H24",
        name="self-signed, and the resource says that this is well",
        door="alone",
        replies={"/": said("200 OK", PAGE, Content_Type="text/html")},
        request={"manner": Manner(insecure=True)},
        outcome=Outcome.OK,
        changed=Changed.NO,
        check=lambda sight: sight.fetch.request.manner.insecure,
    ),
]

NAMES = [
    Case(
        row="H25",
        name=name,
        host=f"{name}.example",
        outcome=NET,
        reasons=reasons,
        limits=UNKNOWN if name == "slow" else PATIENT,
    )
    for name, reasons in {
        "nowhere": ("dns",),
        "servfail": ("dns",),
        "slow": ("dns",),
        "empty": ("dns",),
    }.items()
] + [
    Case(row="H25", name="a thousand addresses", host="many.example", outcome=NET, reasons=("connect",)),
    Case(row="H25", name="nobody listens", door="closed", outcome=NET, reasons=("connect",)),
]


def _wait(status: str, name: str, said_s: str | None, low_s: float, high_s: float) -> Case:
    fields = {} if said_s is None else {"Retry_After": said_s}
    return case(
        "H26",
        f"{status} {name}",
        said(status, b"", **fields),
        Outcome.HTTP_ERROR,
        f"http-{status[:3]}",
        check=lambda sight: low_s <= sight.fetch.wait_s <= high_s,
    )


DAY_S = 86_400.0
WAITS = [
    _wait(status, name, said_s, low_s, high_s)
    for status in ("429 Slow down", "503 Busy")
    for name, said_s, low_s, high_s in [
        ("in seconds", "3600", 3_600.0, 3_600.0),
        ("on a date far off", "Fri, 31 Dec 9999 23:59:59 GMT", DAY_S, DAY_S),
        ("on a date long past", "Wed, 21 Oct 2015 07:28:00 GMT", 0.0, 600.0),
        ("in negative seconds", "-5", 0.0, 600.0),
        ("in a thousand years", "9" * 18, DAY_S, DAY_S),
        ("in 5,000 digits", "9" * 5_000, 0.0, DAY_S),
        ("in words", "soon", 0.0, 600.0),
        ("not at all", None, 0.0, 600.0),
    ]
]

WIRE = [*ENDLESS, *FRAMING, *TLS, *NAMES, *WAITS]
