"""One network act: what was asked and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import StrEnum
from math import inf
from urllib.parse import urlsplit

from recrawl.model.body import Body
from recrawl.model.resource import Kind, Manner

Header = tuple[str, str]

FORM_AGAIN = frozenset({307, 308})  # redirects after which a form is sent again; after others it is a GET


class Outcome(StrEnum):
    """How a fetch ended. Exactly one of these is recorded for every visit.

    Only `ok`, `not-modified` and `gone` tell us anything about the resource; all others leave its
    history where it was (see `informative`).
    """

    OK = "ok"
    NOT_MODIFIED = "not-modified"  # 304 to a validator that we sent
    GONE = "gone"  # 404 or 410: an answer, not a failure
    TRUNCATED = "truncated"  # the body was cut: by us (size, time) or by the other side
    UNREADABLE = "unreadable"  # could not be decoded or parsed
    SUSPECT = "suspect"  # an answer, but it looks like a login page, a challenge … in place of the resource
    HTTP_ERROR = "http-error"  # any other status: 401, 403, 429, 5xx …
    NET_ERROR = "net-error"  # DNS, connect, TLS, timeout, broken protocol
    BLOCKED = "blocked"  # we did not ask: robots, private address, scheme

    @property
    def informative(self) -> bool:
        return self in _INFORMATIVE


_INFORMATIVE = frozenset({Outcome.OK, Outcome.NOT_MODIFIED, Outcome.GONE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """What opens a door: all of it is secret. It is sent to the resource's own host and nowhere else, and it
    is never written to logs, archives or exports; its repr says only which parts there are."""

    headers: tuple[Header, ...] = ()
    cookies: tuple[Header, ...] = ()
    basic: tuple[str, str] | None = None  # user name and password
    bearer: str | None = None
    proxy: str | None = None  # http://user:password@host:port

    def __repr__(self) -> str:
        parts = [item.name for item in fields(self) if getattr(self, item.name)]
        return f"Access({', '.join(parts)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What to fetch. `etag` and `last_modified` are validators of the copy we hold."""

    url: str
    etag: str | None = None
    last_modified: str | None = None
    allow_private: bool = False
    kind: Kind = Kind.AUTO
    media_type: str = ""  # of the copy we hold: what is asked for again
    resume_url: str = ""  # of a thread: the page that it was read up to last time
    accept: str = "*/*"
    form: str | None = None  # sent with POST as application/x-www-form-urlencoded
    manner: Manner = field(default_factory=Manner)
    access: Access | None = None
    first_byte_s: float | None = None  # how long the answer may take to begin, where that is not as usual
    not_after_at: float = inf  # no request is sent after this instant: the lease has run out
    leased_host: str = ""  # the host that the caller's lease covers; for every other one leave is asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why a fetch gave no usable answer. A value, never raised: it is part of the history."""

    reason: str  # short and stable, such as "dns", "timeout", "robots", "private-address", "length"
    detail: str = ""  # for people


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """A redirect that was followed on the way."""

    url: str
    status: int
    location: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetch:
    """What came back. `body` is decoded (no content coding); `wire` is the payload as it was sent."""

    request: Request
    outcome: Outcome
    url: str  # where the answer came from, after redirects
    started_at: float
    ended_at: float
    status: int | None = None
    http_reason: str = ""
    headers: tuple[Header, ...] = ()
    body: Body = b""
    wire: Body = b""
    request_headers: tuple[Header, ...] = ()
    ip: str | None = None
    hops: tuple[Hop, ...] = ()
    failure: Failure | None = None
    wait_s: float = 0.0  # how long the host is to be left alone (Crawl-delay, Retry-After, a slow server)
    server_s: float = 0.0  # how long the server took over the last request, on the wall
    http_version: str = "HTTP/1.1"
    unverified: bool = False  # nobody vouches for the server: its certificate was not verified
    source: str = ""  # the record that it was read from, where somebody else fetched it

    def header(self, name: str) -> str | None:
        """The first header of that name, in any case of letters."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)

    @property
    def form(self) -> str | None:
        """The form that the last request carried: only some redirects ask for it again."""
        again = all(hop.status in FORM_AGAIN for hop in self.hops)
        return self.request.form if again else None

    @property
    def trouble(self) -> str:
        """Why nothing usable came back, for people."""
        if self.failure is None:
            return f"the server answered {self.status}"
        if self.failure.reason == "dns":  # its detail is the client's own talk
            return f"dns: no address was found for the name {urlsplit(self.url).hostname}"
        return f"{self.failure.reason}: {self.failure.detail}".removesuffix(": ")

    @property
    def media_type(self) -> str:
        """`text/html` of `Text/HTML; charset=utf-8`; empty where the server did not say."""
        return (self.header("content-type") or "").partition(";")[0].strip().lower()
