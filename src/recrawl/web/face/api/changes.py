"""Changes for programs."""

from __future__ import annotations

from math import inf
from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from recrawl.app import stream
from recrawl.app.rows import Row
from recrawl.model import Kind, Sought, Which
from recrawl.web.face.api.values import Moment, instant
from recrawl.web.face.desk import Desk, desk_of

router = APIRouter(tags=["changes"])
Asked = Annotated[Desk, Depends(desk_of)]


class Change(BaseModel):
    id: str = Field(description="Of the visit that found it.")
    resource_id: int
    url: str
    at: str
    outcome: str
    status: int | None
    changed: bool | None
    significant: bool | None = Field(description="null: it was not tested.")
    counts: bool | None = Field(description="Whether it counts for its resource.")
    magnitude: float = Field(description="From 0, the same, to 1, nothing in common.")
    since_at: str | None = Field(description="The change came after this moment.")
    due_at: str | None
    event_at: str | None = Field(description="The change's own time, where the content gives one.")
    moments: list[str]
    duration_s: float
    n_bytes: int
    evidence: str
    moved_to: str | None
    fetch_id: str
    host: str
    kind: str
    tags: list[str]


class Changes(BaseModel):
    changes: list[Change]
    older: str | None = Field(description="Ask with this for the next page; null: there is none.")
    back_to: str | None = Field(
        description="So far back it was looked, where few of many changes are sought; ask on with `older`."
    )


@router.get("/changes", summary="Changes, the newest first", response_model=Changes)
async def changes(
    desk: Asked,
    which: Annotated[Which, Query(description="Which visits are meant.")] = Which.COUNTING,
    tag: Annotated[str | None, Query(max_length=500)] = None,
    host: Annotated[
        str | None, Query(max_length=500, description="Its name, as in the list of hosts.")
    ] = None,
    text: Annotated[str | None, Query(max_length=500, description="Stands in the URL.")] = None,
    kind: Kind | None = None,
    since: Annotated[
        Moment | None, Query(description="Found then or later; UTC where no zone is said.")
    ] = None,
    older: Annotated[str, Query(pattern=stream.MARK, max_length=300)] = "",
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> Row:
    sought = Sought(
        which=which,
        tag=tag,
        host=host,
        text=text,
        kind=kind,
        from_at=instant(since, -inf),
    )
    return (await desk.ask(stream.page, sought, older, limit)).document()
