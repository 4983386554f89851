"""Changes: the newest first, narrowed as one likes; as a page, and as feeds."""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse, Response

from recrawl.app import stream
from recrawl.model import Kind, Which
from recrawl.web.face import feeds
from recrawl.web.face.desk import Desk, desk_of

router = APIRouter()
Asked = Annotated[Desk, Depends(desk_of)]
Word = Annotated[str, Query(max_length=500)]
N_ON_PAGE = 25
N_IN_FEED = 50
_CHOICES = {
    Which.COUNTING: "those that count",
    Which.SIGNIFICANT: "significant ones",
    Which.ALL: "all, slight ones too",
}


class Filter:
    """What all pages and feeds of changes can be narrowed by."""

    def __init__(
        self,
        which: Word = "",
        tag: Word = "",
        host: Word = "",
        text: Word = "",
        kind: Word = "",
        since: Word = "",
    ) -> None:
        said = {"which": which, "tag": tag, "host": host, "text": text, "kind": kind, "since": since}
        self.said = {name: value.strip() for name, value in said.items()}

    @property
    def given(self) -> dict[str, str]:
        return {name: value for name, value in self.said.items() if value}


Filtered = Annotated[Filter, Depends()]


@router.get("/changes")
async def page(request: Request, desk: Asked, chosen: Filtered, older: Word = "") -> HTMLResponse:
    sought = stream.sought(desk.now(), **chosen.said)
    found = await desk.ask(stream.page, sought, older, N_ON_PAGE)
    return desk.page(
        request,
        "changes.html",
        block="part",
        found=found,
        chosen=chosen.said,
        given=chosen.given,
        older=older,
        choices=_CHOICES,
        kinds=[kind.value for kind in Kind],
    )


@router.get("/changes/glimpse")
async def glimpse(
    request: Request, desk: Asked, resource: Annotated[int, Query(ge=1, lt=1 << 63)], fetch: Word, at: float
) -> HTMLResponse:
    found = await desk.slow(stream.glimpse, resource, fetch, at, keep_s=600.0)
    return desk.page(request, "glimpse.html", block="part", found=found, resource=resource)


@router.get("/changes.atom")
async def atom(request: Request, desk: Asked, chosen: Filtered) -> Response:
    return await _feed(request, desk, chosen, "atom")


@router.get("/changes.rss")
async def rss(request: Request, desk: Asked, chosen: Filtered) -> Response:
    return await _feed(request, desk, chosen, "rss")


async def _feed(request: Request, desk: Desk, chosen: Filter, form: str) -> Response:
    found = await desk.ask(stream.page, stream.sought(desk.now(), **chosen.said), "", N_IN_FEED)
    # what opens the feed stands in no link of it
    here = f"/changes.{form}" + (f"?{urlencode(chosen.given)}" if chosen.given else "")
    origin: str = request.app.state.origin or str(request.base_url).rstrip("/")
    body = (feeds.atom if form == "atom" else feeds.rss)(found.entries, origin, here)
    tag = f'"{sha256(body).hexdigest()[:32]}"'
    headers = {"ETag": tag, "Cache-Control": "private, max-age=60", "Vary": "Authorization, Cookie"}
    if tag in [one.strip().removeprefix("W/") for one in request.headers.get("if-none-match", "").split(",")]:
        return Response(status_code=304, headers=headers)
    return Response(body, headers=headers, media_type=f"application/{form}+xml; charset=utf-8")
