"""Memento (RFC 7089) over HTTP: read-only, on an origin of its own.

Archived pages are hostile. Whatever is served here is sandboxed by its Content-Security-Policy: it has an
origin that nothing else has, runs no script, submits no form, opens no frame and loads nothing but pictures,
styles, fonts and sound from here. No cookie is ever set or passed on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from math import floor
from urllib.parse import parse_qs, urlsplit

from aiohttp import web

from recrawl.app.replay import Replay, Row
from recrawl.errors import ArchiveError, BadInputError, StoreError
from recrawl.live.worker import Worker
from recrawl.model import Body, Resource
from recrawl.model.body import STEP_BYTES
from recrawl.web import pages
from recrawl.web.content import content
from recrawl.web.memento import (
    LINK_FORMAT,
    Around,
    Asked,
    Paths,
    TimeMap,
    asked,
    http_date,
    instant,
    link_header,
    seconds,
)

N_LISTED = 100  # resources on a page of the index
N_MOMENTS = 1_000  # mementos on a page of a TimeMap
_N_THREADS = 4
_MAX_LINE_BYTES = 128 << 10  # a URL that names a query may have 64 KiB
_HOST = re.compile(r"[A-Za-z0-9._-]+(?::\d{1,5})?|\[[0-9A-Fa-f:.]+\](?::\d{1,5})?")

_ALWAYS = {
    "Server": "recrawl",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "X-DNS-Prefetch-Control": "off",
    "Cache-Control": "no-store",  # what is erased here must not live on in a cache
}
_OWN_POLICY = "sandbox allow-forms; default-src 'none'; style-src 'unsafe-inline'; form-action 'self'"
_POLICY = (
    "sandbox; default-src 'none'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; "
    "font-src 'self' data:; media-src 'self' data:; base-uri 'none'; form-action 'none'"
)
_CLOSED = "; frame-ancestors 'none'"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: Body = b""
    archived: bool = False  # made by somebody else


class Server:
    """Answers for one replay. `origin` is what it is called from outside, where that is not the address that
    clients name; `local` refuses all but this machine's own names, so that no page elsewhere can have its
    own name resolved to here and read along."""

    def __init__(self, replay: Replay, *, origin: str | None = None, local: bool = True) -> None:
        self._replay = replay
        self._origin = origin
        self._local = local
        self._worker = Worker(n_threads=_N_THREADS)
        self._runner: web.ServerRunner | None = None
        self.port = 0  # where it listens, once it does

    async def start(self, host: str, port: int) -> str:
        """Begin to serve; the origin there."""
        self._runner = web.ServerRunner(
            web.Server(self._handle, access_log=None, max_line_size=_MAX_LINE_BYTES), handle_signals=False
        )
        await self._runner.setup()
        try:
            await web.TCPSite(self._runner, host, port).start()
        except OSError as problem:
            raise BadInputError(
                f"{host}:{port} cannot be listened on ({problem.strerror}); choose another --host or --port."
            ) from None
        self.port = self._runner.addresses[0][1]
        return self._origin or f"http://{f'[{host}]' if ':' in host else host}:{self.port}"

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
        self._worker.close()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        reply = self._refused(request)
        if reply is None:
            said = request.headers.get("Accept-Datetime")
            reply = await self._worker.call(self._reply, request.raw_path, self._called(request), said)
        response = web.StreamResponse(status=reply.status)
        response.headers.update(_ALWAYS)
        response.headers.update(reply.headers)
        response.headers["Content-Security-Policy"] = (_POLICY if reply.archived else _OWN_POLICY) + _CLOSED
        response.content_length = len(reply.body)
        with suppress(ConnectionError):  # whoever asked has had enough
            await response.prepare(request)
            if request.method != "HEAD":
                for at in range(0, len(reply.body), STEP_BYTES):
                    await response.write(await self._worker.call(_piece, reply.body, at))
            await response.write_eof()
        return response

    def _refused(self, request: web.BaseRequest) -> Reply | None:
        if request.method not in ("GET", "HEAD"):
            return _trouble(405, "Only GET and HEAD", "Nothing can be changed here.", Allow="GET, HEAD")
        host = request.headers.get("Host", "")
        if host and not _HOST.fullmatch(host):
            return _trouble(400, "No such host", "The Host header is not the name of one.")
        if self._local and host and not self._is_ours(host):
            return _trouble(421, "Not here", "This server answers to this machine's own names alone.")
        if "Service-Worker" in request.headers:
            return _trouble(403, "No service workers", "Nothing archived may work on in a browser.")
        return None

    def _is_ours(self, host: str) -> bool:
        name = urlsplit(f"//{host}").hostname or ""
        if self._origin is not None and name == urlsplit(self._origin).hostname:
            return True
        return name == "localhost" or name.endswith(".localhost") or is_loopback(name)

    def _called(self, request: web.BaseRequest) -> str:
        if self._origin is not None:
            return self._origin
        host = request.headers.get("Host")
        if not host and request.transport is not None:
            name, port = request.transport.get_extra_info("sockname")[:2]
            host = f"[{name}]:{port}" if ":" in name else f"{name}:{port}"
        return f"http://{host}"

    # -- in a thread: the store and the archive take their time ------------------------------------------

    def _reply(self, target: str, origin: str, accept_datetime: str | None) -> Reply:
        try:
            return self._found(target, origin, accept_datetime)
        except BadInputError as problem:
            return _trouble(400, "This cannot be looked up", str(problem))
        except ArchiveError:
            return _trouble(503, "This copy cannot be read", "`recrawl verify` says what is wrong with it.")
        except StoreError:
            return _trouble(503, "Nothing can be looked up now", "`recrawl doctor` says what is wrong.")

    def _found(self, target: str, origin: str, accept_datetime: str | None) -> Reply:
        path, _, query = target.partition("?")
        if path == "/":
            return self._index(query, origin)
        if path == "/robots.txt":
            return Reply(
                status=200, headers={"Content-Type": "text/plain"}, body=b"User-agent: *\nDisallow: /\n"
            )
        try:
            wanted = asked(target)
        except ValueError:
            return _trouble(400, "No such moment", "A moment is written as 20260131120000, or its beginning.")
        if wanted is None:
            return _trouble(404, "Nothing here", "See / for what is archived.")
        at = instant(accept_datetime) if wanted.timegate and accept_datetime is not None else None
        if wanted.timegate and accept_datetime is not None and at is None:
            example = "Accept-Datetime is written as in: Tue, 20 Mar 2001 20:35:00 GMT."
            return _trouble(400, "No such moment", example, Vary="accept-datetime")
        resource = self._replay.resource(wanted.url)
        if resource is None:
            near = self._replay.near(wanted.url)
            return _page(404, pages.unknown(wanted.url, origin, near), **_vary(wanted))
        row = self._replay.row(resource, at if wanted.timegate else wanted.at)
        if row is None:
            return _page(404, self._empty(resource, origin), **_vary(wanted))
        paths = Paths(origin, resource.url)
        if wanted.timegate:
            return _led_to(row, paths, timegate=True)
        if wanted.timemap:
            return self._timemap(wanted, resource, row, paths)
        return self._memento(wanted, row, paths)

    def _empty(self, resource: Resource, origin: str) -> str:
        erased_at = self._replay.erased_at(resource)
        return pages.empty(resource.url, origin, erased_at)

    def _index(self, query: str, origin: str) -> Reply:
        said = parse_qs(query[:4096])
        after, text = said.get("after", ["0"])[0], said.get("text", [""])[0]
        number = int(after) if re.fullmatch(r"[0-9]{1,18}", after, re.ASCII) else 0
        found = self._replay.listed(after=number, text=text or None, limit=N_LISTED + 1)
        shown = found[:N_LISTED]
        return _page(200, pages.index(shown, origin=origin, text=text, more=len(found) > N_LISTED))

    def _timemap(self, wanted: Asked, resource: Resource, row: Row, paths: Paths) -> Reply:
        versions = self._replay.page(resource, wanted.at, N_MOMENTS + 1)
        if not versions:
            return _page(404, pages.trouble("Nothing later", "There is no copy from that moment on."))
        moments = seconds(version.at for version in versions[:N_MOMENTS])
        next_at = versions[N_MOMENTS].at if len(versions) > N_MOMENTS else None
        if next_at is not None and floor(next_at) == moments[-1]:
            next_at = moments[-1] + 1.0  # its second is listed already
        page = TimeMap(
            paths=paths,
            moments=moments,
            first_at=row.first_at,
            last_at=row.last_at,
            start_at=wanted.at,
            next_at=next_at,
        )
        if wanted.timemap == "html":
            newest = {floor(version.at): version for version in versions[:N_MOMENTS]}
            return _page(200, pages.timemap(page, list(newest.values())))
        kind, text = (
            (LINK_FORMAT, page.link_format())
            if wanted.timemap == "link"
            else ("application/json", page.json())
        )
        return Reply(status=200, headers={"Content-Type": kind}, body=text.encode())

    def _memento(self, wanted: Asked, row: Row, paths: Paths) -> Reply:
        version = row.version
        if not wanted.exact or floor(version.at) != wanted.at:
            return _led_to(row, paths, raw=wanted.raw)
        snapshot = self._replay.snapshot(version)
        found = content(snapshot, version, snapshot.url or paths.url, raw=wanted.raw)
        headers = {
            **found.headers,
            "Memento-Datetime": http_date(version.at),
            "Link": link_header(paths, _around(row)),
        }
        status = (version.status if version.status in (404, 410) else 404) if version.gone else 200
        return Reply(status=status or 404, headers=headers, body=found.body, archived=True)


def is_loopback(name: str) -> bool:
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return name == "localhost"


def plain_origin(said: str) -> str:
    """Scheme, host and port, and nothing else."""
    found = re.fullmatch(r"(https?)://([^/?#@\s]+)/?", said)
    if found is None or not _HOST.fullmatch(found[2]):
        raise BadInputError(
            f"{said!r} is not an origin; write it as https://past.example.org, without a path."
        )
    return f"{found[1]}://{found[2]}"


def _piece(body: Body, at: int) -> bytes:
    return body[at : at + STEP_BYTES]


def _around(row: Row) -> Around:
    return Around(
        first_at=row.first_at,
        last_at=row.last_at,
        at=row.version.at,
        before_at=row.before_at,
        after_at=row.after_at,
    )


def _led_to(row: Row, paths: Paths, *, timegate: bool = False, raw: bool = False) -> Reply:
    """On to the memento: from the TimeGate, or from a moment near it."""
    target = paths.memento(row.version.at)
    if raw:
        target = re.sub(r"(/memento/\d{14})/", r"\1id_/", target, count=1)
    headers = {"Location": target, "Link": link_header(paths, _around(row), timegate=not timegate)}
    if timegate:
        headers["Vary"] = "accept-datetime"
    return Reply(status=302, headers={**headers, "Content-Type": "text/plain"})


def _vary(wanted: Asked) -> dict[str, str]:
    return {"Vary": "accept-datetime"} if wanted.timegate else {}


def _page(status: int, text: str, **headers: str) -> Reply:
    said = {"Content-Type": "text/html; charset=utf-8", **headers}
    return Reply(status=status, headers=said, body=text.encode("utf-8", "replace"))


def _trouble(status: int, title: str, text: str, **headers: str) -> Reply:
    return _page(status, pages.trouble(title, text), **headers)
