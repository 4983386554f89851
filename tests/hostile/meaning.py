"""H27-H29, H36 and H37: what a server can do to the judging of what it sent."""

from __future__ import annotations

from itertools import count
from typing import Any

from tests.hostile.case import LIMITS, PAGE, PATIENT, UNENDING, Case, Sight
from tests.hostile.origin import Reply, Writer, chunk, endless, moved, silence
from tests.hostile.parsers import case, packed, page

from recrawl.checks.fetcher import said
from recrawl.model import Changed, Kind, Outcome
from recrawl.observe.limits import Limits


def _flipping(*bodies: bytes) -> Reply:
    turns = count()

    async def script(writer: Writer) -> None:
        turn = next(turns)
        writer.write(page(bodies[turn % len(bodies)] % turn))

    return script


ARTICLE = b"<html><title>Library</title><main><h1>A new library</h1>%s</main></html>" % (
    b"<p>The council met on Monday and agreed on a budget for the new library by the river.</p>" * 8
)


def _wall(name: str, reply: Reply, flag: str, **more: Any) -> Case:
    """Something else than the article that we hold: kept with a flag, no change until it stays."""
    figures: dict[str, Any] = {"replies": {"/": reply}, "before": ARTICLE, **more}

    def flagged(sight: Sight) -> bool:
        judgement = sight.judgement
        kept = judgement.version is not None and judgement.version.flag == flag
        return kept and judgement.noise.disguise == flag

    return Case(row="H27", name=name, outcome=Outcome.SUSPECT, check=flagged, **figures)


WALLS = [
    _wall(
        "a soft 404",
        page(b"<title>Not found</title><h1>Sorry, this page does not exist</h1>"),
        "soft-404",
    ),
    _wall(
        "a login wall",
        page(b"<form action=/login>User <input name=user> Password <input type=password></form>"),
        "login",
    ),
    _wall("a consent page", page(b"<h1>We value your privacy</h1><button>Accept all</button>"), "consent"),
    _wall(
        "a challenge with 200", page(b"<title>Just a moment...</title><p>Checking your browser"), "challenge"
    ),
    _wall("an empty shell", page(b"<html><div id=root></div><script src=app.js></script></html>"), "empty"),
    _wall("nothing", page(b""), "empty"),
    _wall(
        "a login page behind a redirect",
        moved("/login"),
        "login",
        replies={"/": moved("/login"), "/login": page(b"<form>User, password <input type=password></form>")},
    ),
    *(
        Case(
            row="H27",
            name=f"a challenge with {status}",
            replies={"/": said(status, b"<title>Just a moment...</title>", Content_Type="text/html")},
            outcome=Outcome.HTTP_ERROR,
            reasons=(f"http-{status[:3]}",),
        )
        for status in ("401 Unauthorized", "403 Forbidden", "503 Checking your browser")
    ),
]


def _cloak(name: str, *bodies: bytes, before: bytes, **more: Any) -> Case:
    """Different with every request, and yet no change: a second look tells."""
    return case("H28", name, _flipping(*bodies), Changed.NO, before=before, twice=True, **more)


CLOAKS = [
    case(
        "H28",
        "a nonce that nobody sees",
        _flipping(PAGE.replace(b"<p>", b"<script>%d</script><p>")),
        Changed.NO,
    ),
    case("H28", "a nonce in an attribute", _flipping(PAGE.replace(b"<p>", b"<p id=%d>")), Changed.NO),
    _cloak(
        "a nonce that everybody sees",
        b"<p>Rain today. You are visitor %d",
        before=b"<p>Rain today. You are visitor 99",
        check=lambda sight: (
            [mask.shape for mask in sight.judgement.noise.masks] == ["Rain today. You are visitor {number}"]
        ),
    ),
    _cloak(
        "one content and another in turn",
        b"<p>Rain today: 7 mm.<!-- %d -->",
        b"<p>Rain today: 9 mm.<!-- %d -->",
        before=b"<p>Rain today: 9 mm.",
        check=lambda sight: len(sight.judgement.noise.twins) == 2,
    ),
]

_MAZE = {"/": moved("/maze/0"), "*": b"HTTP/1.1 302 Found\r\nLocation: x/x/\r\nContent-Length: 0\r\n\r\n"}
MAZES = [
    Case(
        row="H29",
        name="redirects deeper and deeper",
        replies=_MAZE,
        outcome=Outcome.HTTP_ERROR,
        reasons=("redirects",),
        check=lambda sight: len(sight.fetch.hops) == LIMITS.n_redirects,
    ),
    case(
        "H29",
        "100,000 links",
        packed(b"".join(b"<a href=/c?session=%d>next</a> " % i for i in range(100_000))),
        check=lambda sight: sight.paths() == ["/robots.txt", "/"],
        today="no link of a page is followed; sitemaps, which are, have bounds in test_xml.py",
    ),
]

LIES = [
    case(
        "H36",
        "304 to a validator, for a changed page",
        said("304 Not Modified"),
        Changed.NO,
        outcome=Outcome.NOT_MODIFIED,
        request={"etag": '"v1"'},
        today="believed, but every tenth visit asks for the whole",
    ),
    case(
        "H36",
        "304 that nobody asked for",
        said("304 Not Modified"),
        Changed.UNKNOWN,
        outcome=Outcome.HTTP_ERROR,
        reasons=("unasked-304",),
    ),
    case("H36", "a new ETag each time", page(PAGE, ETag='"7"'), Changed.NO, request={"etag": '"6"'}),
    case("H36", "the old ETag on a new page", page(b"<p>Sun.", ETag='"6"'), request={"etag": '"6"'}),
    case(
        "H36",
        "validators that are no header values",
        page(PAGE),
        Changed.NO,
        request={"etag": '"a"\r\nX-Evil: 1', "last_modified": "\udcff"},
        check=lambda sight: (
            not {"if-none-match", "x-evil", "if-modified-since"}
            & {name for asked in sight.asked for name in asked.headers}
        ),
    ),
]

_ROW = b'{"x":{"type":"literal","value":"1"}},' * 1_000
_JSON = "application/sparql-results+json"
_RESULTS = b"HTTP/1.1 200 OK\r\nContent-Type: application/sparql-results+json\r\n"
_HEAD = b'{"head":{"vars":["x"]},"results":{"bindings":['


def _query(name: str, reply: Reply, outcome: Outcome, *reasons: str, limits: Limits = PATIENT) -> Case:
    return Case(
        row="H37",
        name=name,
        replies={"*": reply},
        path="/sparql?query=SELECT+%2A+%7B%3Fs+%3Fp+%3Fo%7D",
        kind=Kind.SPARQL,
        media_type=_JSON,
        before=_HEAD + b"]}}",
        outcome=outcome,
        reasons=reasons or ("",),
        check=lambda sight: len(sight.paths()) == 2 and sight.paths()[-1].startswith("/sparql"),
        limits=limits,
    )


QUERIES = [
    _query("a result without end", endless(_RESULTS + b"\r\n" + _HEAD, _ROW), Outcome.TRUNCATED, "length"),
    _query("a query that never ends", silence, Outcome.NET_ERROR, "timeout", limits=UNENDING),
    _query("an error in the middle", page(_HEAD + b"java.lang.Timeout", _JSON), Outcome.UNREADABLE, "result"),
    _query("an error page with 200", page(b"<h1>Busy</h1>"), Outcome.UNREADABLE, "media-type"),
    _query(
        "a result that breaks off when the endpoint's time is up",
        _RESULTS + b"Transfer-Encoding: chunked\r\n\r\n" + chunk(_HEAD + _ROW),
        Outcome.TRUNCATED,
        "disconnect",
    ),
    _query("too many queries", said("429 Slow down", Retry_After="60"), Outcome.HTTP_ERROR, "http-429"),
    _query(
        "a query that is too dear", said("500 Timeout", b"java.lang.Timeout"), Outcome.HTTP_ERROR, "http-500"
    ),
]

MEANING = [*WALLS, *CLOAKS, *MAZES, *LIES, *QUERIES]
