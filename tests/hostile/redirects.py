"""H15-H18: redirects that lead astray."""

from __future__ import annotations

from tests.hostile.case import PAGE, Case, Check, Sight
from tests.hostile.origin import endless, moved

from recrawl.checks.fetcher import said
from recrawl.model import Access, Changed, Outcome

BLOCKED = Outcome.BLOCKED
FOUND = said("200 OK", PAGE, Content_Type="text/html")

SECRETS = Access(headers=(("X-Key", "sesame"),), cookies=(("session", "sesame"),), bearer="sesame")


def kept_at_home(sight: Sight) -> bool:
    """Sent to the resource's own host, and to nobody else."""
    at_home = [asked.headers for asked in sight.asked if asked.path == "/"]
    return "sesame" in str(at_home) and "sesame" not in str([asked.headers for asked in sight.asked_other])


LOOPS = [
    Case(
        row="H15",
        name="in a circle",
        replies={"/": moved("/b"), "/b": moved("/")},
        outcome=Outcome.HTTP_ERROR,
        reasons=("redirects",),
        check=lambda sight: sight.paths() == ["/robots.txt", "/", "/b"],
    ),
    Case(
        row="H15",
        name="without end",
        replies={"/": moved("/0"), **{f"/{i}": moved(f"/{i + 1}") for i in range(50)}},
        outcome=Outcome.HTTP_ERROR,
        reasons=("redirects",),
        check=lambda sight: len(sight.fetch.hops) == 10 and len(sight.asked) == 12,
    ),
    Case(
        row="H15",
        name="to what robots.txt forbids",
        replies={
            "/robots.txt": said("200 OK", b"User-agent: *\nDisallow: /no"),
            "/": moved("/no"),
            "/no": FOUND,
        },
        outcome=BLOCKED,
        reasons=("robots",),
        check=lambda sight: "/no" not in sight.paths(),
    ),
    Case(
        row="H15",
        name="to what the other host's robots.txt forbids",
        replies={"/": moved("http://@OTHER@/no")},
        other={"/robots.txt": said("200 OK", b"User-agent: *\nDisallow: /no"), "/no": FOUND},
        outcome=BLOCKED,
        reasons=("robots",),
        check=lambda sight: [asked.path for asked in sight.asked_other] == ["/robots.txt"],
    ),
    Case(
        row="H15",
        name="with validators of another",
        replies={"/": moved("/b"), "/b": said("304 Not Modified")},
        request={"etag": '"v"'},
        outcome=Outcome.HTTP_ERROR,
        reasons=("unasked-304",),
        check=lambda sight: (
            ["if-none-match" in asked.headers for asked in sight.asked] == [False, True, False]
        ),
    ),
]


def led_to(location: str) -> Check:
    return lambda sight: [hop.location for hop in sight.fetch.hops] == [location]


ASTRAY = [
    Case(
        row="H16",
        name=location[:24],
        replies={"/": moved(location)},
        outcome=BLOCKED,
        reasons=(reason,),
        check=led_to(location),
    )
    for location, reason in {
        "file:///etc/passwd": "scheme",
        "ftp://127.0.0.1/": "scheme",
        "javascript:alert(1)": "scheme",
        "data:text/html,x": "scheme",
        "gopher://127.0.0.1/": "scheme",
        "http://user:secret@127.0.0.1/": "url",
        "http://[::1": "url",
        "http://a\\@b/": "url",
        "/" + "x" * 5_000: "url",
    }.items()
]

LADEN = [
    Case(
        row="H17",
        name="with a body without end",
        replies={"/": endless(b"HTTP/1.1 302 Found\r\nLocation: /b\r\n\r\n", b"x" * 65_536), "/b": FOUND},
        outcome=Outcome.OK,
        changed=Changed.NO,
        check=lambda sight: sight.fetch.url.endswith("/b"),
    ),
    *(
        Case(
            row="H18",
            name=f"secrets over a {status[:3]} to another host",
            replies={"/": moved("http://@OTHER@/", status)},
            other={"/": FOUND},
            request={"access": SECRETS},
            outcome=Outcome.OK,
            changed=Changed.NO,
            check=kept_at_home,
        )
        for status in ("301 Moved Permanently", "302 Found", "307 Temporary Redirect")
    ),
]

REDIRECTS = [*LOOPS, *ASTRAY, *LADEN]
