"""A site: what belongs to it, and which addresses on it are traps or the same page once more."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from ipaddress import ip_address

from recrawl.app.watchlist import private_name
from recrawl.errors import BadUrlError
from recrawl.urls import canonical, unsigned

MOST_SEGMENTS = 20
MOST_REPEATED = 2  # times in a row that parts of a path may come

_HOST = re.compile(r"\[[^\]]*\]|[^:/?#]*")  # at the beginning of what has no scheme
_SESSION = re.compile(r"[0-9a-zA-Z,-]{16,128}")
_SESSION_NAMES = frozenset({"phpsessid", "jsessionid", "sessionid", "session_id", "sessid", "sid", "oscsid"})
_COUNTED = frozenset({"cfid", "cftoken"})  # their values are short numbers
_IN_PATH = re.compile(r";jsessionid=[^/;]{0,200}", re.IGNORECASE)
_COOKIELESS = re.compile(r"\([asfASF]\([0-9a-zA-Z_-]{16,64}\)\)")


@dataclass(frozen=True)
class Site:
    """A host with all its subdomains, or alone; `www.` before its name means nothing. Other ports are other
    sites."""

    root: str  # canonical
    host_only: bool = False

    @classmethod
    def named(cls, word: str, *, host_only: bool = False) -> Site:
        """Of a URL, or of a name alone.

        >>> Site.named("Example.org").root, Site.named("http://www.example.org/a").name
        ('https://example.org/', 'example.org')
        >>> Site.named("127.0.0.1:8080").root  # hardly anything that near has a certificate
        'http://127.0.0.1:8080/'
        """
        text = word.strip()
        if "://" not in text:
            local = private_name(_HOST.match(text)[0])  # type: ignore[index]  # it matches everything
            text = f"{'http' if local else 'https'}://{text}"
        try:
            return cls(plain(canonical(text)), host_only)
        except BadUrlError as problem:
            why = unsigned(str(problem))
            raise BadUrlError(
                f"{unsigned(text)!r} names no site ({why}); write it as example.org, or as the URL of its "
                "first page."
            ) from None

    @cached_property
    def _own(self) -> tuple[str, str]:
        return _named(host_of(self.root))

    @cached_property
    def name(self) -> str:
        name, port = self._own
        return f"{name}:{port}" if port else name

    @cached_property
    def is_address(self) -> bool:
        """Whether it is named by its number, which has no subdomains."""
        try:
            ip_address(self._own[0].strip("[]"))
        except ValueError:
            return False
        return True

    def holds(self, url: str) -> bool:
        """Whether a canonical URL is on this site."""
        key = host_of(url)
        if self.host_only:
            return key == host_of(self.root)
        (name, port), (own, own_port) = _named(key), self._own
        below = name.endswith(f".{own}") and not self.is_address
        return port == own_port and (name == own or below)

    def overlaps(self, other: Site) -> bool:
        return self.holds(other.root) or other.holds(self.root)


def host_of(url: str) -> str:
    """The host key of a canonical URL: it stands there as it is, and there are many to look at."""
    return url.partition("://")[2].partition("/")[0]


def _named(key: str) -> tuple[str, str]:
    """Name and port of a host."""
    found = re.fullmatch(r"(\[[^\]]*\]|[^:]*)(?::([0-9]+))?", key)
    name, port = (found[1], found[2] or "") if found else (key, "")
    return name.removeprefix("www."), port


def plain(url: str) -> str:
    """A canonical URL without session ids: with them a site would be another one at every visit.

    >>> plain("http://h/a;jsessionid=0123456789ABCDEF?b=1&PHPSESSID=0123456789abcdef0123")
    'http://h/a?b=1'
    """
    if ";" not in url and "?" not in url and "(" not in url:
        return url
    head, _, query = url.partition("?")
    scheme, slashes, rest = head.partition("://")
    segments = [part for part in _IN_PATH.sub("", rest).split("/") if not _COOKIELESS.fullmatch(part)]
    kept = "&".join(part for part in query.split("&") if not _is_session(part))
    path = "/".join(segments)
    path = path if "/" in path else f"{path}/"
    return f"{scheme}{slashes}{path}{f'?{kept}' if kept else ''}"


def _is_session(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    name = name.lower()
    if name in _COUNTED:
        return True
    return (name in _SESSION_NAMES or name.startswith("aspsessionid")) and bool(_SESSION.fullmatch(value))


def winding(url: str) -> bool:
    """Whether the path of a URL looks like a trap: it is very deep, or goes round in circles.

    >>> winding("http://h/a/b/a/b/x"), winding("http://h/a/b/a/b/a/b/"), winding("http://h/n/n/n")
    (False, True, True)
    """
    path = url.partition("://")[2].partition("?")[0].partition("/")[2]
    segments = path.strip("/").split("/")
    n = len(segments)
    if n > MOST_SEGMENTS:
        return True
    again = MOST_REPEATED + 1
    return any(
        segments[start : start + length] * again == segments[start : start + length * again]
        for length in range(1, n // again + 1)
        for start in range(n - length * again + 1)
    )


def number(url: str, seed: int) -> int:
    """A random number for this address, the same whenever it is found; http and https are one address."""
    address = url.partition("://")[2].encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(address, digest_size=8, key=seed.to_bytes(8, "little")).digest(), "little")
