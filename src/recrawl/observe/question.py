"""What is asked, hop by hop, and which parts of it are nobody else's business."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from yarl import URL

from recrawl.model import FORM_AGAIN, Access, Failure, Header, Hop, Request
from recrawl.observe.robots import product

WITHHELD = "[withheld]"
_NO_ACCESS = Access()
_SECRET = frozenset({"authorization", "cookie", "proxy-authorization"})
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_TEXT = re.compile(r"[^\x00-\x08\x0a-\x1f\x7f\ud800-\udfff]*")
_COOKIE = re.compile(r"[^\x00-\x20\x7f;,]*")
# These belong to the connection, or make the answer one that would be misread.
_OURS = re.compile(
    r"host|connection|content-.*|transfer-encoding|te|trailer|upgrade|expect|proxy-.*|if-.*|range",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    url: URL  # without its secrets: it may be told of
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One request. The values of the headers named in `secret` are sent and never told of."""

    url: URL
    headers: Mapping[str, str] = field(repr=False)
    secret: frozenset[str] = _SECRET
    form: str | None = None
    proxy: Proxy | None = None
    allow_private: bool = False
    insecure: bool = False
    first_byte_s: float | None = None  # where that is not as usual

    def told(self, sent: Sequence[Header]) -> tuple[Header, ...]:
        return tuple((name, WITHHELD if name.lower() in self.secret else value) for name, value in sent)


class Asking:
    """The questions of one fetch. `user_agent` is the one to use where the request names no other."""

    def __init__(self, request: Request, user_agent: str) -> None:
        self.user_agent = request.manner.user_agent or user_agent
        self._request = request
        self._access = request.access or _NO_ACCESS
        self._headers = {
            "User-Agent": self.user_agent,
            "Accept": request.accept,
            "Accept-Encoding": "gzip, deflate, br, zstd",
        }
        self.trouble = _trouble(self._headers, self._access)
        self._proxy = None if self.trouble else _proxy(self._access.proxy, self.user_agent)

    def page(self, url: URL, hops: Sequence[Hop]) -> Question:
        """Access is given only where nothing but the first URL's own scheme, host and port has been met.

        Validators belong to the copy at the URL that was asked for; another resource might answer 304 to them
        and be taken for ours.
        """
        headers = self._headers if hops else self._headers | validators(self._request)
        form = self._request.form if all(hop.status in FORM_AGAIN for hop in hops) else None
        if form is not None:
            headers = headers | {"Content-Type": "application/x-www-form-urlencoded"}
        secrets: dict[str, str] = {}
        if all(URL(hop.url, encoded=True).origin() == url.origin() for hop in hops):
            secrets = _secrets(self._access)
            headers = _without(headers, secrets) | secrets if secrets else headers
        return self._question(url, headers, form, secrets, self._request.first_byte_s)

    def robots(self, url: URL) -> Question:
        return self._question(url, self._headers | {"Accept": "*/*"})

    @property
    def terms(self) -> str:
        """What else than its origin decides what a robots.txt says to us."""
        manner, proxy = self._request.manner, self._access.proxy
        return f"{self._request.allow_private} {bool(manner.insecure)} {self.user_agent} {proxy}"

    def _question(
        self,
        url: URL,
        headers: Mapping[str, str],
        form: str | None = None,
        secrets: Mapping[str, str] | None = None,
        first_byte_s: float | None = None,
    ) -> Question:
        if self._proxy and url.scheme == "http":  # else only the request for a tunnel is the proxy's to read
            headers = {**headers, **self._proxy.headers}
        return Question(
            url=url,
            headers=headers,
            secret=_SECRET.union(name.lower() for name in secrets) if secrets else _SECRET,
            form=form,
            proxy=self._proxy,
            allow_private=self._request.allow_private,
            insecure=bool(self._request.manner.insecure),
            first_byte_s=first_byte_s,
        )


def validators(request: Request) -> dict[str, str]:
    if request.form is not None:
        return {}
    said = {"If-None-Match": request.etag, "If-Modified-Since": request.last_modified}
    return {name: value for name, value in said.items() if value and value.isascii() and value.isprintable()}


def _secrets(access: Access) -> dict[str, str]:
    secrets = dict(access.headers)
    if access.cookies:
        secrets["Cookie"] = "; ".join(f"{name}={value}" for name, value in access.cookies)
    if access.basic is not None:
        secrets["Authorization"] = _basic(*access.basic)
    if access.bearer is not None:
        secrets["Authorization"] = f"Bearer {access.bearer}"
    return secrets


def _without(headers: Mapping[str, str], others: Mapping[str, str]) -> dict[str, str]:
    theirs = {name.lower() for name in others}
    return {name: value for name, value in headers.items() if name.lower() not in theirs}


def _trouble(plain: Mapping[str, str], access: Access) -> Failure | None:
    """Why this cannot be sent; it names names and never a value of what is secret."""
    for name, value in plain.items():
        if not value.isascii() or not value.isprintable():
            detail = f"{value!r} cannot be sent as {name}; set it in plain ASCII"
            return Failure(reason="header", detail=detail)
    if not product(plain["User-Agent"]):
        detail = f"{plain['User-Agent']!r} names no crawler for robots.txt to speak to; begin it with a name"
        return Failure(reason="header", detail=detail)
    what = _bad_access(access)
    if what is None:
        return None
    return Failure(reason="header", detail=f"{what}; set it again with `recrawl access set`")


def _bad_access(access: Access) -> str | None:
    for name, value in access.headers:
        if not _TOKEN.fullmatch(name) or _OURS.fullmatch(name):
            return f"{name[:40]!r} is not a header that may be set"
        if not _TEXT.fullmatch(value):
            return f"the value of the header {name} cannot be sent"
    for name, value in access.cookies:
        if not _TOKEN.fullmatch(name) or not _COOKIE.fullmatch(value):
            return f"the cookie {name[:40]!r} cannot be sent"
    if access.basic is not None and (":" in access.basic[0] or not all(map(_TEXT.fullmatch, access.basic))):
        return "the user name and the password cannot be sent"
    if access.bearer is not None and not (access.bearer.isascii() and access.bearer.isprintable()):
        return "the bearer token cannot be sent"
    try:
        _proxy(access.proxy, "")
    except ValueError:
        return "the proxy is not an address such as http://name:password@proxy.example:3128"
    return None


def _proxy(address: str | None, user_agent: str) -> Proxy | None:
    """It is told who we are, too: a request for a tunnel says nothing else of us."""
    if address is None:
        return None
    url = URL(address)
    if url.scheme != "http" or not url.host or url.raw_path not in ("", "/"):
        raise ValueError
    if url.user is None and url.password is None:
        return Proxy(url=url.origin(), headers={"User-Agent": user_agent})
    login = _basic(url.user or "", url.password or "")
    return Proxy(url=url.origin(), headers={"User-Agent": user_agent, "Proxy-Authorization": login})


def _basic(name: str, password: str) -> str:
    return f"Basic {b64encode(f'{name}:{password}'.encode()).decode('ascii')}"
