"""Who is told of what."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, Field

from recrawl.app import notices
from recrawl.errors import NotWatchedError
from recrawl.notify.notice import PER_HOUR
from recrawl.notify.recipient import MOST_CHARS, Recipient
from recrawl.web.face.desk import Desk, desk_of
from recrawl.web.face.pages.notices import chosen, tested

router = APIRouter(tags=["notices"])
Asked = Annotated[Desk, Depends(desk_of)]
Name = Annotated[str, Path(max_length=60)]


class New(BaseModel):
    """A notice to be added, as `recrawl notify add` has it."""

    name: str = Field(max_length=60)
    to: str = Field(max_length=MOST_CHARS, description="A webhook, or an address of Apprise's. Kept secret.")
    which: str = Field("all", pattern="^(all|tag|host|url)$")
    of: str = Field("", max_length=2_000, description="The tag, the host or the address.")
    on: list[str] = Field([], max_length=20, description="change, significant, posts, gone, back, silent …")
    match: list[str] = Field([], max_length=20)
    pattern: str = Field("", max_length=500)
    side: str = Field("either", max_length=10, description="added, removed or either")
    quiet: str = Field("", max_length=20, description="Such as 22:00-07:00.")
    daily: str = Field("", max_length=10, description="Such as 8 or 17:30.")
    every: str = Field("", max_length=20, description="Such as 6h.")
    zone: str = Field("UTC", max_length=60)
    per_hour: int = PER_HOUR
    link: str = Field("", max_length=500)
    secret: str = Field("", max_length=500, description="To sign webhooks with.")
    allow_private: bool = False


class Tested(BaseModel):
    delivered: bool
    why: str = Field(description="Empty where it was delivered.")


@router.get("/notices", summary="Who is told of what")
async def listed(desk: Asked) -> list[dict[str, Any]]:
    return await desk.ask(notices.listed)


@router.post("/notices", summary="Add a notice", status_code=201)
async def add(desk: Asked, said: New) -> dict[str, str]:
    notice = notices.asked(
        said.name,
        choice=None if said.which == "all" else chosen(said.which, said.of),
        on=said.on,
        match=said.match,
        pattern=said.pattern,
        side=said.side,
        quiet=said.quiet,
        daily=said.daily,
        every=said.every,
        zone_name=said.zone,
        per_hour=said.per_hour,
        link=said.link,
    )
    recipient = Recipient(url=said.to, secret=said.secret, allow_private=said.allow_private)
    await desk.ask(notices.add, notice, recipient)
    return {"name": notice.name}


@router.delete("/notices/{name}", summary="Remove a notice", status_code=204)
async def remove(desk: Asked, name: Name) -> None:
    if not await desk.ask(notices.remove, name):
        raise NotWatchedError(f"There is no notice {name}; GET /notices lists them.")


@router.post("/notices/{name}/test", summary="Send a sample")
async def test(desk: Asked, name: Name) -> Tested:
    sent = await desk.ask(tested, name)
    return Tested(delivered=sent.delivered, why=sent.why)


@router.get("/notices/log", summary="What was sent lately")
async def log(desk: Asked, limit: Annotated[int, Query(ge=1, le=1_000)] = 50) -> list[dict[str, Any]]:
    return await desk.ask(notices.log, limit)
