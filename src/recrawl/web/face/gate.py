"""The gate before everything: nobody comes in without a token, and nothing is changed by a page elsewhere.

It stands before the routes, so that one that is added later cannot be forgotten. A browser shows its token
once and has a session; a program sends `Authorization: Bearer`. Every answer leaves with headers that keep
scripts, frames and other origins out.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hmac import compare_digest
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recrawl.app.tokens import May, Token, Tokens
from recrawl.errors import RecrawlError
from recrawl.web.face import entrance, sessions
from recrawl.web.replay import is_loopback

MAX_BODY_BYTES = 1 << 20
MAX_TOKEN_BYTES = 16 << 10  # with where to go on: all that is read of a stranger
BODY_S = 30.0  # in which a body must have come
_LOG = logging.getLogger("uvicorn.error")  # what the terminal shows
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
_HOST = re.compile(r"[A-Za-z0-9._-]+(?::\d{1,5})?|\[[0-9A-Fa-f:.]+\](?::\d{1,5})?")
_BEARER = re.compile(r"Bearer +([!-~]{1,400})", re.IGNORECASE)
_PROGRAMS = ("/api/", "/metrics", "/live")  # who asks there reads JSON, not a page
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
_ALWAYS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "X-DNS-Prefetch-Control": "off",
    "Cache-Control": "no-store",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Guest:
    """Who is asking."""

    token: Token
    word: str = ""  # what forms must repeat; empty: it came with its token and needs none


class Gate:
    """`origin` is what the face is called from outside; `local` answers to this machine's own names alone, so
    that no page elsewhere can have its own name resolved to here. `feeds` are the paths that a token for
    feeds opens, given in the address."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        tokens: Tokens,
        now: Callable[[], float],
        origin: str | None = None,
        local: bool = True,
        cookie: str = "recrawl",
        feeds: Iterable[str] = (),
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._now = now
        self._origin = origin
        self._local = local
        self._cookie = cookie
        self._feeds = frozenset(feeds)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
            else:
                await self._app(scope, receive, send)
            return

        begun = False

        async def sealed(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                headers = MutableHeaders(scope=message)
                for name, value in _ALWAYS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            answer = await self._passed(scope, receive, sealed)
        except RecrawlError as problem:
            answer = _refusal(scope, 503, str(problem))
        except Exception:
            if begun:
                raise
            _LOG.exception("A request could not be answered.")
            answer = _refusal(
                scope, 500, "Something is wrong on our side; the terminal of `recrawl serve` says what."
            )
        if answer is not None:
            await answer(scope, receive, sealed)

    async def _passed(self, scope: Scope, receive: Receive, send: Send) -> Response | None:
        """None once it was answered inside; else why it was not let in. Of whom nothing is known, nothing is
        read but a token."""
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        if not _HOST.fullmatch(host) or (self._local and not self._is_ours(host)):
            return _refusal(scope, 421, "This server does not answer to that name.")
        changing = scope["method"] not in _SAFE
        if changing and self._foreign(headers, host):
            return _refusal(scope, 403, "That was sent by a page of another site.")
        if changing and scope["path"] == "/enter":
            return await self._enter(scope, receive, headers)
        guest = self._guest(scope, headers)
        if guest is None:
            return _refusal(scope, 401, "Show a token to come in.")
        if guest.token.may is May.FEED and scope["path"] not in self._feeds:
            return _refusal(scope, 403, "This token opens feeds and nothing else.")
        if changing:
            leaving = scope["path"] == "/leave"
            if guest.token.may is not May.WRITE and not leaving:
                return _refusal(
                    scope, 403, "This token may look and not touch; come in with one that may write."
                )
            body = await _body(receive, headers, MAX_BODY_BYTES)
            if not isinstance(body, bytes):
                return _refusal(scope, *body)
            if guest.word and not await _repeated(scope, body, headers, guest.word):
                return _refusal(scope, 403, "This form was open for too long; load its page again.")
            if leaving:
                return self._left()
            receive = _again(body)
        scope.setdefault("state", {})["guest"] = guest
        await self._app(scope, receive, send)
        return None

    def _is_ours(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:  # brackets without an address in them
            return False
        if self._origin is not None and name == urlsplit(self._origin).hostname:
            return True
        return name == "localhost" or name.endswith(".localhost") or is_loopback(name)

    def _foreign(self, headers: Headers, host: str) -> bool:
        """Whether a browser says that a page of another origin sent it."""
        if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return True
        origin = headers.get("origin")
        if origin is None:
            return False
        return origin != self._origin if self._origin else origin.partition("://")[2].lower() != host.lower()

    def _guest(self, scope: Scope, headers: Headers) -> Guest | None:
        said = headers.get("authorization")
        if said is not None:
            found = _BEARER.fullmatch(said.strip())
            token = self._tokens.holder(found[1]) if found else None
            return None if token is None else Guest(token=token)
        if scope["path"] in self._feeds:
            given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [])
            token = self._tokens.holder(given[0]) if given else None
            if token is not None:
                return Guest(token=token) if token.may is May.FEED else None
        cookie = _cookie(headers, self._cookie)
        if cookie is None:
            return None
        key = self._tokens.key()
        digest = sessions.holder(cookie, key, self._now())
        token = None if digest is None else self._tokens.of_digest(digest)
        return None if token is None else Guest(token=token, word=sessions.word(cookie, key))

    def _left(self) -> Response:
        gone = RedirectResponse("/", 303)
        gone.delete_cookie(self._cookie)
        return gone

    async def _enter(self, scope: Scope, receive: Receive, headers: Headers) -> Response:
        body = await _body(receive, headers, MAX_TOKEN_BYTES)
        if not isinstance(body, bytes):
            return _refusal(scope, *body)
        form = parse_qs(body.decode("utf-8", "replace"))
        secret, wanted = (form.get(name, [""])[0] for name in ("token", "next"))
        token = self._tokens.holder(secret.strip())
        if token is None or token.may is May.FEED:
            return _refusal(scope, 401, "That is not a token of this place.", wanted)
        answer = RedirectResponse(local_path(wanted), 303)
        answer.set_cookie(
            self._cookie,
            sessions.opened(token.digest, self._tokens.key(), self._now()),
            max_age=int(sessions.LASTS_S),
            httponly=True,
            samesite="lax",
            secure=(self._origin or "").startswith("https:"),
        )
        return answer


def local_path(wanted: str) -> str:
    """Where to go on: a path of this server, whatever was asked for.

    >>> local_path("/plan?budget=5"), local_path("//evil.example/"), local_path("https://evil.example/")
    ('/plan?budget=5', '/', '/')
    """
    plain = re.fullmatch(r"/(?![/\\])[!-\[\]-~]*", wanted)
    return wanted if plain and not wanted.startswith(("/enter", "/leave")) else "/"


def _cookie(headers: Headers, name: str) -> str | None:
    """Ours are plain words. Python's own reader undoes quotes, and some releases take very long over them."""
    for pair in headers.get("cookie", "").split(";"):
        found, _, value = pair.strip().partition("=")
        if found == name:
            return value
    return None


async def _body(receive: Receive, headers: Headers, most: int) -> bytes | tuple[int, str]:
    """All of it; or the status and the words it is refused with."""
    too_much = (413, f"That is too much at once; send at most {most >> 10:,} KiB.")
    if int(said if (said := headers.get("content-length", "0")).isdecimal() else 0) > most:
        return too_much
    pieces: list[bytes] = []
    n = 0
    try:
        async with asyncio.timeout(BODY_S):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return b"".join(pieces)
                pieces.append(message.get("body", b""))
                n += len(pieces[-1])
                if n > most:
                    return too_much
                if not message.get("more_body"):
                    return b"".join(pieces)
    except TimeoutError:
        return 408, "That came too slowly; send it again."


async def _repeated(scope: Scope, body: bytes, headers: Headers, word: str) -> bool:
    """Whether a form says the word that its session was given."""
    said = headers.get("x-csrf")
    if said is None and headers.get("content-type", "").partition(";")[0].strip() in _FORMS:
        try:
            async with Request(scope, _again(body)).form() as form:
                field = form.get("csrf")
        except HTTPException:  # it cannot be read
            return False
        said = field if isinstance(field, str) else None
    return said is not None and compare_digest(said.encode(), word.encode())


def _again(body: bytes) -> Receive:
    """What was read can be read once more."""
    rest = [body]

    async def receive() -> Message:
        if rest:
            return {"type": "http.request", "body": rest.pop(), "more_body": False}
        return {"type": "http.disconnect"}

    return receive


def _refusal(scope: Scope, status: int, text: str, wanted: str = "") -> Response:
    path = scope["path"]
    if path.startswith(_PROGRAMS):
        headers = {"WWW-Authenticate": "Bearer"} if status == 401 else None
        return JSONResponse({"error": text}, status, headers)
    if scope["method"] == "GET" and status == 401:
        query = scope["query_string"].decode("latin-1")
        wanted = f"{path}?{query}" if query else path
    html, policy = entrance.page(status, text, local_path(wanted))
    return HTMLResponse(html, status, {"Content-Security-Policy": policy})
