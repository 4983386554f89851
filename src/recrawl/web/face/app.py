"""The web face, put together: pages for people, an API for programs, one gate before both."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.resources import files
from pathlib import Path

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from recrawl import __version__
from recrawl.app.tokens import Tokens
from recrawl.errors import BadInputError, BusyHostError, RecrawlError
from recrawl.live.clock import FastClock
from recrawl.web.face import live
from recrawl.web.face.api import API, PROBLEMS
from recrawl.web.face.backroom import StillWorkingError
from recrawl.web.face.desk import Desk, desk_of
from recrawl.web.face.forms import status_of
from recrawl.web.face.gate import Gate
from recrawl.web.face.pages import PAGES

API_PATH = "/api/v1"
FEEDS = ("/changes.atom", "/changes.rss")
YEAR_S = 31_536_000


def create(
    home: Path,
    tokens: Tokens,
    *,
    origin: str | None = None,
    local: bool = True,
    cookie: str = "recrawl",
    clock: FastClock | None = None,
) -> FastAPI:
    desk = Desk(home, clock)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.ticker.begin()
        yield
        await app.state.ticker.end()
        desk.close()

    app = FastAPI(
        title="recrawl",
        version=__version__,
        description="Everything that the pages do. Send `Authorization: Bearer TOKEN`; "
        "`recrawl token add` makes one.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url=f"{API_PATH}/openapi.json",
        swagger_ui_oauth2_redirect_url=None,
        redirect_slashes=False,  # it would lead to whatever name the request gave
    )
    app.state.desk = desk
    app.state.origin = origin
    app.state.ticker = ticker = live.Ticker(desk)

    def ending() -> None:
        ticker.hush()
        desk.quit()

    app.state.ending = ending  # for the server, which waits for all who are answered before it ends the app
    for router in PAGES:
        app.include_router(router, include_in_schema=False)
    app.include_router(live.router, include_in_schema=False)
    whole = APIRouter(prefix=API_PATH, responses=PROBLEMS)
    for router in API:
        whole.include_router(router)
    app.include_router(whole)
    app.mount("/static", _Static(directory=str(files("recrawl.web.face") / "static")), "static")
    app.add_exception_handler(RecrawlError, _trouble)
    app.add_exception_handler(HTTPException, _refused)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_middleware(
        Gate, tokens=tokens, now=desk.now, origin=origin, local=local, cookie=cookie, feeds=FEEDS
    )
    _describe_security(app)
    return app


class _Static(StaticFiles):
    """Files whose addresses name their content: kept for ever."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        answer = await super().get_response(path, scope)
        if answer.status_code == 200:
            answer.headers["Cache-Control"] = f"private, max-age={YEAR_S}, immutable"
        return answer


def _describe_security(app: FastAPI) -> None:
    plain: Callable[[], dict[str, object]] = app.openapi

    def described() -> dict[str, object]:
        document = plain()
        document["security"] = [{"token": []}]
        components = document.setdefault("components", {})
        if isinstance(components, dict):
            components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        return document

    app.openapi = described  # type: ignore[method-assign]


def _answer(request: Request, status: int, text: str, **headers: str) -> Response:
    """For a program as JSON, for a person as a page."""
    if request.url.path.startswith("/api/"):
        return JSONResponse({"error": text}, status, headers)
    answer = desk_of(request).page(
        request, "trouble.html", block="part", status=status, text=text, code=status
    )
    answer.headers.update(headers)
    return answer


def _trouble(request: Request, problem: Exception) -> Response:
    match problem:
        case StillWorkingError() if request.url.path.startswith("/api/"):
            return JSONResponse({"working": str(problem)}, 202, {"Retry-After": "2"})
        case StillWorkingError():
            return _answer(request, 503, str(problem), **{"Retry-After": "2"})
        case BadInputError():
            return _answer(request, status_of(problem), str(problem))
        case BusyHostError():
            return _answer(request, 409, str(problem))
    return _answer(request, 503, str(problem))


def _refused(request: Request, problem: Exception) -> Response:
    status = problem.status_code if isinstance(problem, HTTPException) else 500
    said = problem.detail if isinstance(problem, HTTPException) else ""
    text = {404: "There is nothing here.", 405: "That cannot be done here."}.get(status, str(said))
    if status == 404 and said not in ("Not Found", ""):
        text = str(said)
    headers = dict(getattr(problem, "headers", None) or {})
    if status == 405 and (methods := _methods(request)):
        headers["Allow"] = ", ".join(methods)  # of all routes at this address, not of the first that fits
    return _answer(request, status, text, **headers)


def _methods(request: Request) -> list[str]:
    """What the API's description has for this address; nothing for pages."""
    described, here = request.app.openapi()["paths"], request.url.path
    known = [here] if here in described else [path for path in described if _fits(path, here)]
    return sorted({method.upper() for path in known for method in described[path]})


def _fits(path: str, here: str) -> bool:
    return re.fullmatch(re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(path)), here) is not None


def _invalid(request: Request, problem: Exception) -> Response:
    """Named by where it stands; what was sent is not repeated."""
    found = problem.errors() if isinstance(problem, RequestValidationError) else []
    named = [(".".join(map(str, one["loc"][1:])), one["msg"]) for one in found[:10]]
    said = "; ".join(f"{place}: {words.removeprefix('Value error, ')}" for place, words in named)
    return _answer(request, 422, said or "That cannot be read.")
