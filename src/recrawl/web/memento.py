"""The words of RFC 7089: datetimes, links, TimeMaps, and which of them a path asks for. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import formatdate
from math import floor
from urllib.parse import quote, unquote

LINK_FORMAT = "application/link-format"
_PATH = re.compile(
    r"/(?:(?P<timegate>timegate)|timemap/(?P<timemap>link|json|html)(?:/(?P<start>\d{14}))?"
    r"|memento/(?P<stamp>\d{4,14})(?P<raw>id_)?)/(?P<url>.+)",
    re.ASCII | re.DOTALL,
)
_DATE = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT", re.ASCII
)
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SAFE = "!#$%&'()*+,-./:;=?@[]_~"  # what can neither end a link's target nor its header


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a path asks for: a TimeGate, a TimeMap in some form, or a memento."""

    url: str
    timegate: bool = False
    timemap: str = ""  # link, json or html
    at: float | None = None  # of the memento; or where the page of a TimeMap begins
    exact: bool = False  # to the second
    raw: bool = False


def asked(target: str) -> Asked | None:
    """None where it is no path of ours; ValueError where it names a moment that there is not."""
    found = _PATH.fullmatch(target)
    if found is None:
        return None
    digits = found["start"] or found["stamp"] or ""
    return Asked(
        url=_meant(found["url"]),
        timegate=found["timegate"] is not None,
        timemap=found["timemap"] or "",
        at=_moment(digits) if digits else None,
        exact=len(digits) == 14,
        raw=found["raw"] is not None,
    )


def _meant(url: str) -> str:
    """A URL as it stands in a path: it may have been escaped as a whole, or have lost its second slash."""
    if re.match(r"[a-z]{4,5}%3a", url, re.IGNORECASE):
        url = unquote(url)
    url = re.sub(r"^(https?):/(?=[^/])", r"\1://", url, flags=re.IGNORECASE)
    return url if re.match(r"https?://|file:", url, re.IGNORECASE) else f"http://{url}"


def _moment(digits: str) -> float:
    """Less than 14 digits name the end of a year, month, day …: what was in force when it was over.

    >>> stamp(_moment("202602")), stamp(_moment("20260203040506"))
    ('20260228235959', '20260203040506')
    """
    if len(digits) % 2:
        raise ValueError(digits)
    if len(digits) == 4:
        digits += "12"
    if len(digits) == 6:
        year, month = int(digits[:4]), int(digits[4:6])
        later = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
        return later.timestamp() - 1.0
    digits += "235959"[len(digits) - 8 :]
    return datetime.strptime(digits, "%Y%m%d%H%M%S").replace(tzinfo=UTC).timestamp()


def stamp(at: float) -> str:
    return f"{datetime.fromtimestamp(floor(at), UTC):%Y%m%d%H%M%S}"


def http_date(at: float) -> str:
    """
    >>> http_date(784111777.9)
    'Sun, 06 Nov 1994 08:49:37 GMT'
    """
    return formatdate(floor(at), usegmt=True)


def instant(accept_datetime: str) -> float | None:
    """The moment that an Accept-Datetime header names; None where it is not written as the RFC wants it.

    >>> instant("Sun, 06 Nov 1994 08:49:37 GMT"), instant("1994-11-06")
    (784111777.0, None)
    """
    if not _DATE.fullmatch(accept_datetime):
        return None
    _, day, month, year, clock, _ = accept_datetime.split(" ")
    try:
        hour, minute, second = map(int, clock.split(":"))
        return datetime(
            int(year), _MONTHS.index(month) + 1, int(day), hour, minute, second, tzinfo=UTC
        ).timestamp()
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class Paths:
    """Where everything of one original resource is, seen from outside."""

    origin: str
    url: str

    @property
    def timegate(self) -> str:
        return f"{self.origin}/timegate/{self.original}"

    @property
    def original(self) -> str:
        return quote(self.url, safe=_SAFE)

    def timemap(self, form: str = "link", start_at: float | None = None) -> str:
        page = "" if start_at is None else f"{stamp(start_at)}/"
        return f"{self.origin}/timemap/{form}/{page}{self.original}"

    def memento(self, at: float) -> str:
        return f"{self.origin}/memento/{stamp(at)}/{self.original}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """The mementos next to one, and the ends of the row, by their instants."""

    first_at: float
    last_at: float
    at: float | None = None
    before_at: float | None = None
    after_at: float | None = None


def link_header(paths: Paths, around: Around | None = None, *, timegate: bool = True) -> str:
    """The Link header of a memento or, with `timegate` False, of the TimeGate itself."""
    links = [_link(paths.original, "original")]
    if timegate:
        links.append(_link(paths.timegate, "timegate"))
    links.append(_link(paths.timemap(), "timemap", type=LINK_FORMAT))
    links += [] if around is None else _mementos(paths, around)
    return ", ".join(links)


def _mementos(paths: Paths, around: Around) -> list[str]:
    """Each memento once, with all that it is to this one."""
    roles: dict[float, list[str]] = {}
    named = (
        (around.first_at, "first"),
        (around.before_at, "prev"),
        (around.at, ""),
        (around.after_at, "next"),
        (around.last_at, "last"),
    )
    for at, role in named:
        if at is not None:
            roles.setdefault(floor(at), []).append(role)
    return [
        _link(paths.memento(at), " ".join([*filter(None, said), "memento"]), datetime=http_date(at))
        for at, said in sorted(roles.items())
    ]


def _link(target: str, rel: str, **said: str) -> str:
    return "; ".join([f"<{target}>", f'rel="{rel}"', *(f'{name}="{value}"' for name, value in said.items())])


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeMap:
    """One page of a TimeMap: moments in order, the ends of the whole, and where the next page begins."""

    paths: Paths
    moments: Sequence[float]
    first_at: float
    last_at: float
    start_at: float | None = None
    next_at: float | None = None

    def link_format(self) -> str:
        paths, span = self.paths, {"from": http_date(self.moments[0]), "until": http_date(self.moments[-1])}
        links = [
            _link(paths.original, "original"),
            _link(paths.timemap("link", self.start_at), "self", type=LINK_FORMAT, **span),
            _link(paths.timegate, "timegate"),
        ]
        if self.start_at is not None:
            links.append(
                _link(paths.timemap(), "timemap", type=LINK_FORMAT, **{"from": http_date(self.first_at)})
            )
        if self.next_at is not None:
            more = {"from": http_date(self.next_at), "until": http_date(self.last_at)}
            links.append(_link(paths.timemap("link", self.next_at), "timemap", type=LINK_FORMAT, **more))
        links += [
            _link(paths.memento(at), f"{self._role(at)}memento", datetime=http_date(at))
            for at in self.moments
        ]
        return ",\n".join(links) + "\n"

    def _role(self, at: float) -> str:
        first, last = floor(at) == floor(self.first_at), floor(at) == floor(self.last_at)
        return "first " * first + "last " * last

    def json(self) -> str:
        paths = self.paths
        document: dict[str, object] = {
            "original_uri": paths.url,
            "timegate_uri": paths.timegate,
            "timemap_uri": {f"{form}_format": paths.timemap(form) for form in ("link", "json")},
            "mementos": {
                "first": self._row(self.first_at),
                "last": self._row(self.last_at),
                "list": [self._row(at) for at in self.moments],
            },
        }
        if self.next_at is not None:
            document["pages"] = {"next": {"uri": paths.timemap("json", self.next_at)}}
        return json.dumps(document, indent=1)

    def _row(self, at: float) -> dict[str, object]:
        moment = datetime.fromtimestamp(floor(at), UTC)
        return {"datetime": f"{moment:%Y-%m-%dT%H:%M:%SZ}", "uri": [self.paths.memento(at)]}


def seconds(moments: Iterable[float]) -> list[float]:
    """Each second once: a memento's name has no room for more."""
    return list(dict.fromkeys(float(floor(at)) for at in moments))
