"""What can be done about one resource, for programs: noise, what counts, pauses, a visit soon, a move."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from pydantic import BaseModel, ConfigDict, Field, StrictBool

from recrawl.app import settings
from recrawl.app.build import House
from recrawl.app.deeds import focused, hastened, moved, paused, unmasked
from recrawl.app.masks import mask_rows
from recrawl.app.portrait import holdings, numbered
from recrawl.app.rows import Row
from recrawl.detect.selectors import checked
from recrawl.errors import BadSettingError
from recrawl.web.face.api.resource import Asked
from recrawl.web.face.api.values import Number, Words
from recrawl.web.face.desk import Desk

router = APIRouter(prefix="/resources/{number:int}", tags=["one resource"])
Selectors = Annotated[list[Annotated[str, Field(min_length=1, max_length=1_000)]], Field(max_length=100)]
Columns = Annotated[list[Words], Field(max_length=100)]


class Mask(BaseModel):
    url: str
    number: int
    place: str
    shape: str
    state: str
    learned: str
    learned_at: str | None
    differed: int
    same: int
    example: str


class Holding(BaseModel):
    name: str
    value: str = Field(description="In words.")
    scope: str | None = Field(
        description="Who says so: resource, tag, host or global; null: nobody, it is usual."
    )
    scope_name: str | None


class Lens(BaseModel):
    """What is empty or null is not said here, so that wider settings hold."""

    model_config = ConfigDict(extra="forbid")

    include: Selectors = Field([], description="Only what these choose counts.")
    ignore: Selectors = Field([], description="What these choose does not count.")
    keys: Columns = Field([], description="The columns that tell the rows of a table apart.")
    main: StrictBool | None = Field(None, description="Of a page its main content alone.")
    mask: StrictBool | None = Field(None, description="Whether noise is left out.")


class Unread(BaseModel):
    selector: str
    reason: str


class Focused(BaseModel):
    url: str
    said: bool = Field(description="false: something was refused, and nothing is said.")
    refused: list[Unread] = Field(description="Selectors that cannot be read, and why.")
    idle: list[str] = Field(description="What chooses nothing there, and why.")


class Done(BaseModel):
    url: str
    paused: bool


@router.get("/noise", response_model=list[Mask], summary="What is masked of it")
async def noise(desk: Asked, number: Number) -> list[Row]:
    def asked(house: House) -> list[Row]:
        resource, standing, _ = numbered(house.store, number)
        return mask_rows(resource, standing)

    return await desk.ask(asked)


@router.post(
    "/noise/{mask}/{way}", response_model=Done, summary="Let what a mask hides count, or mask it again"
)
async def unmask(
    desk: Asked,
    number: Number,
    mask: Annotated[int, Path(ge=1, le=100_000)],
    way: Annotated[str, Path(pattern="^(undo|redo)$")],
) -> Row:
    return await _done(desk, unmasked, number, mask, way == "undo")


@router.get("/settings", response_model=list[Holding], summary="What holds for it, and who says so")
async def layers(desk: Asked, number: Number) -> list[Row]:
    def asked(house: House) -> list[Row]:
        found = holdings(house.store, numbered(house.store, number)[0]).values()
        return [
            {
                "name": one.name,
                "value": one.words,
                "scope": one.scope.kind.value if one.scope else None,
                "scope_name": one.scope.name if one.scope else None,
            }
            for one in found
        ]

    return await desk.ask(asked)


@router.put("/lens", response_model=Focused, summary="Say what of it counts")
async def focus(desk: Asked, number: Number, lens: Lens) -> Row:
    """Selectors as `recrawl set --help` explains them; all that the lens said before is taken back. Where one
    cannot be read, nothing is said, and `refused` tells why."""
    resource, _, _ = await desk.ask(lambda house: numbered(house.store, number))
    if refused := _unread(lens):
        return {"url": resource.url, "said": False, "refused": refused, "idle": []}
    manner = settings.manner(
        include=lens.include, ignore=lens.ignore, keys=lens.keys, main=lens.main, mask=lens.mask
    )
    resource, warnings = await desk.ask(focused, number, manner)
    desk.changed()
    return {"url": resource.url, "said": True, "refused": [], "idle": warnings}


def _unread(lens: Lens) -> list[Row]:
    found: list[Row] = []
    for selector, ignoring in [
        *((one, False) for one in lens.include),
        *((one, True) for one in lens.ignore),
    ]:
        try:
            checked(selector, ignoring=ignoring)
        except BadSettingError as problem:
            found.append({"selector": selector, "reason": str(problem)})
    return found


@router.post("/pause", response_model=Done, summary="Visit it no more until it is resumed")
async def pause(desk: Asked, number: Number) -> Row:
    return await _done(desk, paused, number, True)


@router.post("/resume", response_model=Done, summary="Take a pause back")
async def resume(desk: Asked, number: Number) -> Row:
    return await _done(desk, paused, number, False)


@router.post("/soon", response_model=Done, summary="Have it visited as soon as its host and the budget allow")
async def soon(desk: Asked, number: Number) -> Row:
    return await _done(desk, hastened, number)


@router.post("/move", response_model=Done, summary="Watch it where it has moved to")
async def move(desk: Asked, number: Number) -> Row:
    await desk.ask(moved, number)
    return await _done(desk, lambda house, key: numbered(house.store, key)[0], number)


async def _done(desk: Desk, deed: Any, *args: object) -> Row:
    resource = await desk.ask(deed, *args)
    desk.changed()
    return {"url": resource.url, "paused": resource.effective.paused}
