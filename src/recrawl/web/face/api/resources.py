"""Resources for programs: lists, adding, settings, tags, removing; of one and of many."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query
from pydantic import BaseModel, ConfigDict, Field, StrictBool
from starlette.responses import JSONResponse, Response

from recrawl.app import pauses, watchlist
from recrawl.app.build import House
from recrawl.app.drafts import Given
from recrawl.app.names import checked_tags
from recrawl.app.portrait import numbered
from recrawl.app.quantity import iso
from recrawl.app.roll import DOWN, Order, State, Wanted, lines
from recrawl.app.settings import settings
from recrawl.app.several import MOST, chosen
from recrawl.app.sources import Refused
from recrawl.model import Changes, Kind, Settings
from recrawl.web.face import rolls
from recrawl.web.face.api.values import Number, Span, Weight, Words, numeric
from recrawl.web.face.desk import MOST_ROWS, Desk, desk_of
from recrawl.web.face.intake import Job, Stage

router = APIRouter(tags=["resources"])
Asked = Annotated[Desk, Depends(desk_of)]
Word = Annotated[str, Query(max_length=500)]
Tags = Annotated[list[Words], Field(max_length=100)]
Ids = Annotated[list[Annotated[int, Field(ge=1, le=2**53), numeric]], Field(min_length=1, max_length=MOST)]
_GAPS = {"min_gap": "min_gap_s", "max_gap": "max_gap_s"}


class Resource(BaseModel):
    """One that is watched; moments in ISO 8601, what is not known as null."""

    model_config = ConfigDict(extra="allow")

    id: int
    url: str
    host: str
    kind: Kind
    weight: float
    min_gap_s: float
    max_gap_s: float
    paused: bool
    tags: list[str]
    added_at: str | None
    next_visit_at: str | None
    last_visit_at: str | None
    last_change_at: str | None
    n_informative: int
    n_changes: int
    n_failures_in_a_row: int
    gone: bool
    changes_per_day: float | None = Field(description="That its plan expects.")
    p_changed_now: float | None = Field(description="The chance that it has changed since the last look.")


class Resources(BaseModel):
    resources: list[Resource]
    n_found: int
    n_watched: int
    page: int
    n_pages: int
    chances_at: str | None = Field(description="When the chances were worked out; null: they are being.")


class Said(BaseModel):
    """What is null is taken back, so that wider settings hold; what is left out stays."""

    model_config = ConfigDict(extra="forbid")

    kind: Kind | None = None
    weight: Weight | None = None
    min_gap: Span | None = None
    max_gap: Span | None = None
    changes: Changes | None = None
    paused: StrictBool | None = Field(None, description="false also goes against a pause of its tag or host.")
    add_tags: Tags = []
    drop_tags: Tags = []


class SaidOfSeveral(Said):
    ids: Ids


class NewResources(BaseModel):
    model_config = ConfigDict(extra="forbid")

    urls: Annotated[list[Annotated[str, Field(max_length=10_000)]], Field(max_length=50_000)] = []
    sitemap: Annotated[
        str, Field(max_length=10_000, description="The address of a sitemap, a feed or an OPML file.")
    ] = ""
    tags: Tags = []
    kind: Kind | None = None
    weight: Weight | None = None
    min_gap: Span | None = None
    max_gap: Span | None = None
    changes: Changes | None = None
    try_only: StrictBool = Field(False, description="Tell what would be added, and add nothing.")


class Reason(BaseModel):
    text: str
    where: str
    reason: str


class Intake(BaseModel):
    """What became of what was to be added, or will: `stage` is reading, ready, adding, done or failed."""

    key: str
    stage: Stage
    n_new: int = Field(description="Not watched before.")
    n_known: int = Field(description="Watched already: they keep their settings, and gain the tags.")
    n_refused: int
    refused: list[Reason] = Field(description="The first thousand.")
    full: bool = Field(description="There was more than can be added at once.")
    trouble: str


class Count(BaseModel):
    n: int = Field(description="How many resources that was.")


class Several(BaseModel):
    model_config = ConfigDict(extra="forbid")

    ids: Ids


@router.get("/resources", response_model=Resources, summary="Resources, chosen and sorted")
async def listed(
    desk: Asked,
    text: Word = "",
    tag: Word = "",
    host: Word = "",
    kind: Kind | None = None,
    state: State | None = None,
    sort: Order = Order.NEXT,
    down: bool | None = None,
    page: Annotated[int, Query(ge=1, le=10**6)] = 1,
    limit: Annotated[int, Query(ge=1, le=MOST_ROWS)] = 100,
) -> Response:
    """All that is said holds at once. By `sort=added&down=false` the order is that of their numbers, and
    stays while others are visited."""
    wanted = Wanted(
        text=text,
        tag=tag,
        host=host,
        kind=kind,
        state=state,
        order=sort,
        down=sort in DOWN if down is None else down,
    )
    found = await rolls.listed(desk, wanted, page, limit, visits=False)
    # as it is: to check a thousand rows field by field takes longer than to find them
    return JSONResponse(
        {
            "resources": [line.row() for line in found.lines],
            "n_found": found.n_found,
            "n_watched": found.n_watched,
            "page": found.page,
            "n_pages": found.n_pages,
            "chances_at": iso(found.chances.at) if found.chances else None,
        }
    )


@router.get("/tags", summary="All tags, and how many resources have each")
async def tags(desk: Asked) -> dict[str, int]:
    return await desk.ask(lambda house: dict(house.store.tags()))


@router.post(
    "/resources",
    response_model=Intake,
    summary="Watch resources, or all that a sitemap, feed or OPML file lists",
    responses={202: {"model": Intake, "description": "It is still at it; ask `/intakes/{key}` again."}},
)
async def add(desk: Asked, new: NewResources) -> Response:
    """What cannot be used is told with the reason and does not stop the rest. Files of the server's machine
    cannot be watched from here, and private addresses only where `recrawl set --allow-private` says so."""
    said = settings(
        kind=new.kind, weight=new.weight, min_gap=new.min_gap, max_gap=new.max_gap, changes=new.changes
    )
    given = Given(text="\n".join(url.replace("\n", " ") for url in new.urls), address=new.sitemap.strip())
    job = await desk.intakes.begin(given, said, checked_tags(new.tags), at_once=not new.try_only)
    desk.changed()
    return _told(job)


@router.get("/intakes/{key}", response_model=Intake, summary="How far adding has come")
async def intake(desk: Asked, key: Annotated[str, Path(max_length=100)]) -> Response:
    return _told(desk.intakes.find(key))


@router.post("/intakes/{key}", response_model=Intake, summary="Add what was only tried")
async def confirm(desk: Asked, key: Annotated[str, Path(max_length=100)]) -> Response:
    job = await desk.intakes.confirm(key)
    desk.changed()
    return _told(job)


@router.get("/resources/{number:int}", response_model=Resource, summary="One resource")
async def one(desk: Asked, number: Number) -> dict[str, Any]:
    return await desk.ask(_one, number)


@router.patch("/resources/{number:int}", response_model=Resource, summary="Say something of one resource")
async def say(desk: Asked, number: Number, said: Said) -> dict[str, Any]:
    await desk.ask(lambda house: numbered(house.store, number))
    await desk.ask(_say, [number], said)
    desk.changed()
    return await desk.ask(_one, number)


@router.delete("/resources/{number:int}", response_model=Count, summary="Watch one no more")
async def remove(desk: Asked, number: Number) -> dict[str, int]:
    """Its history is forgotten; the archive's files stay."""
    await desk.ask(lambda house: numbered(house.store, number))
    n = await desk.ask(_remove, [number])
    desk.changed()
    return {"n": n}


@router.patch("/resources", response_model=Count, summary="Say the same of several resources")
async def say_several(desk: Asked, said: SaidOfSeveral) -> dict[str, int]:
    n = await desk.ask(_say, said.ids, said)
    desk.changed()
    return {"n": n}


@router.post("/resources/remove", response_model=Count, summary="Watch several no more")
async def remove_several(desk: Asked, several: Several) -> dict[str, int]:
    n = await desk.ask(_remove, several.ids)
    desk.changed()
    return {"n": n}


def _one(house: House, number: int) -> dict[str, Any]:
    numbered(house.store, number)
    (line,) = lines(house.store, [number], house.clock.now(), visits=False)
    return line.row()


def _say(house: House, ids: list[int], said: Said) -> int:
    choice, store, now = chosen(ids), house.store, house.clock.now()
    given = said.model_fields_set - {"ids", "add_tags", "drop_tags", "paused"}
    wanted = settings(
        kind=said.kind,
        weight=said.weight,
        min_gap=said.min_gap,
        max_gap=said.max_gap,
        changes=said.changes,
    )
    forget = tuple(_GAPS.get(name, name) for name in sorted(given) if getattr(said, name) is None)
    tags, dropped = checked_tags(said.add_tags), tuple(said.drop_tags)
    n = watchlist.say(store, choice, wanted, now, forget=forget, add_tags=tags, drop_tags=dropped)
    if "paused" in said.model_fields_set:
        if said.paused is None:
            watchlist.say(store, choice, Settings(), now, forget=("paused",))
        else:
            (pauses.pause if said.paused else pauses.resume)(store, choice, now)
    return n


def _remove(house: House, ids: list[int]) -> int:
    return watchlist.remove(house.store, house.secrets, chosen(ids))


def _told(job: Job) -> Response:
    found = Intake(
        key=job.key,
        stage=job.stage,
        n_new=job.n_new,
        n_known=job.n_known,
        n_refused=job.n_refused,
        refused=[_reason(one) for one in job.refused],
        full=job.full,
        trouble=job.trouble,
    )
    return JSONResponse(found.model_dump(mode="json"), 202 if job.busy else 200)


def _reason(refused: Refused) -> Reason:
    return Reason(text=refused.text, where=refused.where, reason=refused.reason)
