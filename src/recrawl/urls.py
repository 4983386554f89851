"""URLs as recrawl knows them: one canonical form, one host key. Pure.

The same parser (yarl) reads a URL here and at the socket, so what was checked is what is fetched.
"""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from urllib.parse import quote, unquote_to_bytes

from yarl import URL

from recrawl.errors import BadUrlError

MAX_URL_BYTES = 4096
MAX_QUERY_URL_BYTES = 65_536  # of one that names a SPARQL query, which need not be sent as a URL
_PORTS = {"http": 80, "https": 443}
# After international names have become punycode: a name, or an IPv6 address without a zone.
_HOST = re.compile(r"[a-z0-9._-]+|[0-9a-f:.]+")
# Browsers and libraries disagree about these; whoever sends them hopes that we disagree with ourselves.
_FORBIDDEN = re.compile(r"[\x00-\x20\x7f\\\ud800-\udfff]")


def canonical(text: str, *, max_bytes: int = MAX_URL_BYTES) -> str:
    """The one spelling of a URL that the store knows.

    Scheme and host in lower case, international names in punycode, no default port, no trailing dot, no
    fragment, dot segments resolved, a path of at least "/".

    >>> canonical("HTTP://Example.ORG:80/a/../b#top")
    'http://example.org/b'
    """
    return str(parsed(text, max_bytes=max_bytes))


def parsed(text: str, *, max_bytes: int = MAX_URL_BYTES) -> URL:
    """The canonical URL as a yarl value, ready for the fetcher."""
    stripped = text.strip()
    if len(stripped.encode("utf-8", "surrogatepass")) > max_bytes:
        raise BadUrlError(f"This URL is longer than {max_bytes} bytes: {stripped[:80]}… Shorten it.")
    if _FORBIDDEN.search(stripped):
        raise BadUrlError(
            f"{stripped!r} contains a space, a backslash or a control character; percent-encode it."
        )
    try:
        url = URL(stripped)
        host = url.raw_host
        port = url.explicit_port
    except ValueError as problem:
        raise BadUrlError(f"{stripped!r} is not a URL ({problem}); check its spelling.") from None
    if url.scheme not in _PORTS:
        raise BadUrlError(
            f"{stripped!r} does not start with http:// or https://; recrawl visits nothing else."
        )
    if not host or not host.strip("."):
        raise BadUrlError(f"{stripped!r} names no host; write it as http://host/path.")
    if url.raw_user is not None or url.raw_password is not None:
        raise BadUrlError(f"The URL for {host} carries a user name or password; leave it out.")
    if port == _PORTS[url.scheme]:
        port = None
    host = host.rstrip(".").lower()
    if not _HOST.fullmatch(host):
        raise BadUrlError(f"{stripped!r} names a host that no name server knows; check its spelling.")
    return URL.build(
        scheme=url.scheme,
        host=f"[{host}]" if ":" in host else host,
        port=port,
        path=url.raw_path or "/",
        query_string=url.raw_query_string,
        encoded=True,
    )


def unsigned(text: str) -> str:
    """The same without a user name and password, for whoever is told of it.

    >>> unsigned("https://ada:secret@example.org/a"), unsigned("https://example.org/@ada")
    ('https://…@example.org/a', 'https://example.org/@ada')
    """
    scheme, mark, rest = text.partition("://")
    end = min((at for at in map(rest.find, "/?#") if at >= 0), default=len(rest))
    _, at, host = rest[:end].rpartition("@")
    return f"{scheme}{mark}…@{host}{rest[end:]}" if at else text


def host_key(url: str | URL) -> str:
    """Whom we are polite to: host and port without the scheme, so that http and https share one queue.

    >>> host_key("https://example.org/a") == host_key("http://EXAMPLE.org./b") == "example.org"
    True
    """
    value = url if isinstance(url, URL) else parsed(url)
    host = (value.raw_host or "").rstrip(".").lower()
    shown = f"[{host}]" if ":" in host else host
    return shown if value.port == _PORTS.get(value.scheme) else f"{shown}:{value.port}"


def directory_level(url: str) -> int:
    """How deep in the site's folders: `host/` is 1, `host/mail/` is 2 (Barbosa's feature).

    >>> directory_level("http://h/"), directory_level("http://h/mail/"), directory_level("http://h/mail/x")
    (1, 2, 2)
    """
    path = parsed(url).raw_path
    return max(1, path.count("/"))


def joined(base: str, reference: str) -> str:
    """What a link or a Location header on `base` points to, in canonical form."""
    try:
        target = URL(base).join(URL(reference.strip()))
    except ValueError as problem:
        raise BadUrlError(f"{reference!r} is not a reference ({problem}).") from None
    return canonical(str(target))


def resource_url(text: str) -> str:
    """The canonical URL of anything that can be watched."""
    return canonical_file(text) if is_file_url(text) else canonical(text, max_bytes=MAX_QUERY_URL_BYTES)


def is_file_url(text: str) -> bool:
    return text.strip()[:5].lower() == "file:"


def canonical_file(text: str) -> str:
    """The one spelling of a file: URL. Kept apart from `canonical`: what comes from the web never gets here.

    >>> canonical_file("FILE://localhost/data//a/../b%2Dc.csv"), canonical_file("file:/data/")
    ('file:///data/b-c.csv', 'file:///data/')
    """
    path = _file_path(text)
    inside = path.strip(b"/")
    return "file:///" + quote(inside) + ("/" if inside and path.endswith(b"/") else "")


def file_path(url: str) -> PurePosixPath:
    """Where a file: URL points to."""
    return PurePosixPath(_file_path(url).decode("utf-8", "surrogateescape"))


def file_host(url: str) -> str:
    """Every file is a host of its own: there is nobody to be polite to."""
    return f"file:{url.removeprefix('file://')}"


def _file_path(text: str) -> bytes:
    """The path of a file: URL, its bytes as the file system has them, without dots and double slashes."""
    stripped = text.strip()
    found = re.fullmatch(r"(?i:file):(?://(?i:localhost)?(?=/))?(/[^?#\\\x00-\x20\x7f]*)", stripped)
    if found is None or found[1].startswith("//"):
        raise BadUrlError(
            f"{stripped[:200]!r} does not name a file on this machine; write file:///folder/name, with "
            "spaces and the like percent-encoded."
        )
    if len(stripped.encode("utf-8", "surrogatepass")) > MAX_URL_BYTES:
        raise BadUrlError(f"This URL is longer than {MAX_URL_BYTES} bytes: {stripped[:80]}… Shorten it.")
    parts: list[bytes] = []
    for raw in found[1].split("/"):
        part = unquote_to_bytes(raw)
        if b"/" in part or b"\0" in part:
            raise BadUrlError(f"{stripped[:200]!r} hides a slash or a zero byte in a name; write it plainly.")
        if part == b"..":
            parts = parts[:-1]
        elif part not in (b"", b"."):
            parts.append(part)
    ends_open = found[1].rpartition("/")[2] in ("", ".", "..")
    return b"/" + b"/".join(parts) + (b"/" if parts and ends_open else b"")
