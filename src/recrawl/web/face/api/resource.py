"""One resource for programs: its visits, versions, differences, forecast, hours, signals and kin."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from math import inf
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, Field
from starlette.responses import Response

from recrawl.app.build import House
from recrawl.app.hours import hours
from recrawl.app.portrait import numbered, signals, version_of, versions_of, visits_of
from recrawl.app.quantity import iso
from recrawl.app.relatives import relatives
from recrawl.app.rows import Row, version_row, visit_row
from recrawl.app.rows import number as finite
from recrawl.model import HOUR_S
from recrawl.web.face.api.values import Moment, Number, instant
from recrawl.web.face.desk import MOST_ROWS, Desk, desk_of
from recrawl.web.face.download import download
from recrawl.web.face.inquiries import MOST_CHARACTERS, accounted, compared, read

router = APIRouter(prefix="/resources/{number:int}", tags=["one resource"])
Asked = Annotated[Desk, Depends(desk_of)]
Seq = Annotated[int, Path(ge=1, le=2**62, description="The version's number.")]
Limit = Annotated[int, Query(ge=1, le=MOST_ROWS)]


class Visit(BaseModel):
    """One look; moments in ISO 8601, what is not known as null."""

    url: str
    at: str
    outcome: str
    status: int | None
    changed: bool | None
    significant: bool | None
    counts: bool | None = Field(description="Whether it counts as a change of this resource.")
    magnitude: float
    since_at: str | None
    due_at: str | None
    event_at: str | None
    moments: list[str | None]
    duration_s: float
    n_bytes: int
    second_look_bytes: int | None = Field(description="What a second look brought; null: there was none.")
    evidence: str
    moved_to: str | None
    fetch_id: str


class Visits(BaseModel):
    visits: list[Visit]
    until: str | None = Field(description="Ask with this for those before; null: these are the oldest.")


class Version(BaseModel):
    url: str
    seq: int
    at: str
    digest: str
    media_type: str
    charset: str | None
    status: int | None
    n_bytes: int
    gone: bool
    flag: str
    detector: str
    file: str
    offset: int
    length: int


class Versions(BaseModel):
    versions: list[Version]
    before: int | None = Field(description="Ask with this for those before; null: these are the oldest.")


class Text(BaseModel):
    text: str | None = Field(description="What a reader sees; null where it is no text, or too much.")
    whole: bool


class Line(BaseModel):
    before: int | None = Field(description="The line's number in the earlier version.")
    after: int | None = Field(description="The line's number in the later version.")
    old: list[tuple[str, bool]] = Field(description="Its words, and whether they are only there.")
    new: list[tuple[str, bool]]


class Difference(BaseModel):
    differs: bool
    from_: Version = Field(alias="from")
    until: Version
    remark: str
    listed: list[str] = Field(description="What data say differently.")
    stretches: list[list[Line]] = Field(description="Lines of text that differ, with some around them.")
    whole: bool = Field(description="Whether that is all that differs.")


class Signal(BaseModel):
    at: str
    source: str = Field(description="Its address; empty where it is watched no more.")
    source_id: int
    event_at: str | None


class Kin(BaseModel):
    id: int
    url: str
    weight: float | None
    told_at: str | None


class Hours(BaseModel):
    """Counts by weekday, Monday first, and hour."""

    zone_s: float
    visits: list[list[int]]
    visits_that_found_a_change: list[list[int]]
    changes_by_their_own_times: list[list[int]]
    own_times: bool = Field(description="Whether the content's own times are to be believed.")


@router.get("/visits", response_model=Visits, summary="Its visits, newest first")
async def visits(
    desk: Asked,
    number: Number,
    from_: Annotated[Moment | None, Query(alias="from", description="As `until`.")] = None,
    until: Annotated[
        Moment | None, Query(description="As 2026-01-31T12:00:00Z; in UTC where no zone is said.")
    ] = None,
    limit: Limit = 100,
) -> Row:
    from_at, until_at = instant(from_, -inf), instant(until, inf)

    def asked(house: House) -> Row:
        resource, found, older = visits_of(
            house.store, number, from_at=from_at, until_at=until_at, limit=limit
        )
        rows = [visit_row(one, resource.url, changes=resource.effective.changes) for one in found]
        return {"visits": rows, "until": _precisely(found[-1].at) if older else None}

    return await desk.ask(asked)


def _precisely(at: float) -> str:
    """To the microsecond and never later, so that no visit is told of twice."""
    moment = datetime.fromtimestamp(at, UTC)
    if moment.timestamp() > at:
        moment -= timedelta(microseconds=1)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


@router.get("/versions", response_model=Versions, summary="Its versions, newest first")
async def versions(
    desk: Asked,
    number: Number,
    before: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    limit: Limit = 100,
) -> Row:
    def asked(house: House) -> Row:
        until_at = inf if before is None else version_of(house.store, number, before)[1].at
        resource, found, older = versions_of(house.store, number, until_at=until_at, limit=limit)
        rows = [version_row(one, resource.url) for one in found]
        return {"versions": rows, "before": found[-1].seq if older else None}

    return await desk.ask(asked)


@router.get("/versions/{seq:int}", response_model=Version, summary="What is known of one version")
async def version(desk: Asked, number: Number, seq: Seq) -> Row:
    resource, found = await desk.ask(lambda house: version_of(house.store, number, seq))
    return version_row(found, resource.url)


@router.get("/versions/{seq:int}/text", response_model=Text, summary="A version as a reader sees it")
async def text(desk: Asked, number: Number, seq: Seq) -> Row:
    found = await desk.slow(read, number, seq, MOST_CHARACTERS, keep_s=1.0)
    return {"text": found.text, "whole": found.whole}


@router.get(
    "/versions/{seq:int}/raw",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}}},
    summary="A version, byte by byte, as a file",
)
async def raw(desk: Asked, number: Number, seq: Seq) -> Response:
    return await download(desk, number, seq)


@router.get("/diff", response_model=Difference | None, summary="What differs between two versions")
async def diff(
    desk: Asked,
    number: Number,
    from_: Annotated[int | None, Query(alias="from", ge=1, le=2**62)] = None,
    until: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    raw: Annotated[bool, Query(description="All of the text, also what does not count.")] = False,
) -> Row | None:
    """By their numbers: the newest where none is given, and the one before it. Null: there are not two."""
    resource, found = await desk.slow(compared, number, from_, until, raw, keep_s=300.0)
    if found is None:
        return None
    lines = [
        [
            {"before": one.before or None, "after": one.after or None, "old": one.old, "new": one.new}
            for one in stretch
        ]
        for stretch in found.stretches
    ]
    return {
        "differs": found.differs,
        "from": version_row(found.before, resource.url),
        "until": version_row(found.after, resource.url),
        "remark": found.remark,
        "listed": list(found.listed),
        "stretches": lines,
        "whole": found.whole,
    }


@router.get("/forecast", summary="Why it is looked at next when it is, and what is expected")
async def forecast(desk: Asked, number: Number) -> dict[str, Any]:
    """As `recrawl why --json` says it."""
    found = await desk.slow(accounted, number, keep_s=60.0)
    return found.row()


@router.get("/hours", response_model=Hours, summary="At which hours of the week it was found changed")
async def by_hours(desk: Asked, number: Number, zone: Annotated[int, Query(ge=-12, le=14)] = 0) -> Row:
    def asked(house: House) -> Row:
        return hours(house.store, numbered(house.store, number)[0], zone * HOUR_S).row()

    return await desk.ask(asked)


@router.get("/signals", response_model=list[Signal], summary="Who told of it, newest first")
async def told(desk: Asked, number: Number, limit: Limit = 100) -> list[Row]:
    def asked(house: House) -> list[Row]:
        resource, _, _ = numbered(house.store, number)
        return [
            {
                "at": iso(one.at),
                "source": one.source,
                "source_id": one.source_id,
                "event_at": iso(one.event_at),
            }
            for one in signals(house.store, resource, limit)
        ]

    return await desk.ask(asked)


@router.get("/kin", response_model=list[Kin], summary="Whose changes come with its own")
async def kin(desk: Asked, number: Number) -> list[Row]:
    def asked(house: House) -> list[Row]:
        resource, standing, _ = numbered(house.store, number)
        return [
            {"id": one.id, "url": one.url, "weight": finite(one.weight), "told_at": iso(one.told_at)}
            for one in relatives(house.store, resource.id, standing.since_at)
        ]

    return await desk.ask(asked)
