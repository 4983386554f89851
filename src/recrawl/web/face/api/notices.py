"""Who is told of what."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from recrawl.app import notices
from recrawl.app.watchlist import Choice
from recrawl.errors import ConflictError, NotWatchedError
from recrawl.notify.matching import MOST_CHARS as MOST_PATTERN
from recrawl.notify.matching import Side
from recrawl.notify.notice import PER_HOUR, On
from recrawl.notify.recipient import Recipient
from recrawl.notify.signing import LEAST_BYTES
from recrawl.web.face.api.values import Clock, Every, Hours, Spelt, Words, numeric
from recrawl.web.face.desk import Desk, desk_of

router = APIRouter(tags=["notices"])
Asked = Annotated[Desk, Depends(desk_of)]
Link = Annotated[
    str,
    Field(max_length=500),
    Spelt(r"^https?://(?:[!-z|~]|\{url\}|\{version\})*$", "write it as https://face.example/?u={url}"),
]
Name = Annotated[str, Path(max_length=60)]


class NewNotice(BaseModel):
    """A notice to be added, as `recrawl notify add` has it; of everything, unless one of `tag`, `host` and
    `url` says otherwise. Messages go to public addresses: only the command line can allow others."""

    model_config = ConfigDict(extra="forbid")

    name: Annotated[str, Field(max_length=60), Spelt(r"^[\w.-]+$", "use letters, digits, dots and dashes")]
    to: str = Field(
        description="A webhook, or an address of Apprise's. Kept secret.",
        json_schema_extra={"format": "uri"},
    )
    tag: Words | None = None
    host: str | None = Field(None, max_length=253, json_schema_extra={"format": "hostname"})
    url: str | None = Field(None, json_schema_extra={"format": "uri"})
    on: list[On] = Field([], max_length=20, description="Empty: a change, gone and back.")
    match: list[Words] = Field([], max_length=20, description="Words that came or went.")
    pattern: str | None = Field(None, max_length=MOST_PATTERN, json_schema_extra={"format": "regex"})
    side: Side = Side.EITHER
    quiet: Hours | None = Field(None, description="Such as 22:00-07:00.")
    daily: Clock | None = Field(None, description="Such as 8 or 17:30.")
    every: Every | None = Field(None, description="Such as 6h; not with `daily`.")
    zone: str = Field("UTC", max_length=60, description="Such as Europe/Vienna.")
    per_hour: Annotated[int, Field(ge=1, le=1_000), numeric] = PER_HOUR
    link: Link | None = Field(None, description="Where messages lead, with {url} and {version} in it.")
    secret: str | None = Field(
        None, min_length=LEAST_BYTES, max_length=500, description="To sign webhooks with."
    )


class Tested(BaseModel):
    delivered: bool
    why: str = Field(description="Empty where it was delivered.")


@router.get("/notices", summary="Who is told of what")
async def listed(desk: Asked) -> list[dict[str, Any]]:
    return await desk.ask(notices.listed)


@router.post("/notices", summary="Add a notice", status_code=201)
async def add(desk: Asked, said: NewNotice) -> dict[str, str]:
    notice = notices.asked(
        said.name,
        choice=_choice(said),
        on=said.on,
        match=said.match,
        pattern=said.pattern or "",
        side=said.side,
        quiet=said.quiet or "",
        daily=said.daily or "",
        every=said.every or "",
        zone_name=said.zone,
        per_hour=said.per_hour,
        link=said.link or "",
    )
    await desk.ask(notices.add, notice, Recipient(url=said.to, secret=said.secret or ""))
    return {"name": notice.name}


def _choice(said: NewNotice) -> Choice | None:
    given = [one for one in (said.tag, said.host, said.url) if one is not None]
    if len(given) > 1:
        raise ConflictError("A notice is of one tag, one host, one URL or everything; leave the others out.")
    return (
        Choice(tag=said.tag, host=said.host, urls=(said.url,) if said.url is not None else ())
        if given
        else None
    )


@router.delete("/notices/{name}", summary="Remove a notice", status_code=204)
async def remove(desk: Asked, name: Name) -> None:
    if not await desk.ask(notices.remove, name):
        raise NotWatchedError(f"There is no notice {name}; GET /notices lists them.")


@router.post("/notices/{name}/test", summary="Send a sample")
async def test(desk: Asked, name: Name) -> Tested:
    sent = await desk.send(notices.test, name)
    return Tested(delivered=sent.delivered, why=sent.why)


@router.get("/messages", summary="What was sent lately, or could not be")
async def messages(desk: Asked, limit: Annotated[int, Query(ge=1, le=1_000)] = 50) -> list[dict[str, Any]]:
    return await desk.ask(notices.log, limit)
