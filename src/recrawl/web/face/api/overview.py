"""The house at a glance and how well it is, for programs."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from recrawl.app import health, overview, stream, vitals
from recrawl.app.build import House
from recrawl.app.quantity import iso
from recrawl.app.rows import Row
from recrawl.model import HOUR_S
from recrawl.web.face import asking
from recrawl.web.face.desk import Desk, desk_of

router = APIRouter(tags=["overview"])
Asked = Annotated[Desk, Depends(desk_of)]


class Glance(BaseModel):
    now: str
    resources: int
    hosts: int
    paused: int
    due: int = Field(description="Now, and not paused.")
    hosts_being_asked: int
    running: int = Field(description="Processes that visit.")
    visits: int = Field(description="Recorded of what is watched.")
    changes: int
    failures: int
    versions: int
    visits_last_24h: int
    second_looks_last_24h: int = Field(description="Charged like visits, and not among them.")
    budget_per_day: float | None = Field(description="Visits; null: no limit.")
    budget_bytes_per_day: float | None
    budget_last_24h: float | None = Field(description="Visits, by the budgets of that time; null: no limit.")
    budget_left: float | None = Field(description="Of the budget of 24 hours, less visits and second looks.")
    rule: str
    price: float | None
    priced_at: str | None
    next_visit_at: str | None
    last_visit_at: str | None


class LastDay(BaseModel):
    visits: int
    changes: int = Field(description="That count for their resources.")
    told_nothing: int
    second_looks: int = Field(description="Charged like visits, and not among them.")
    bytes: int = Field(description="With those of the second looks.")
    changes_the_day_before: int
    hosts_in_trouble: int


class DueVisit(BaseModel):
    resource_id: int
    url: str
    host: str
    at: str


class Coming(BaseModel):
    from_: str = Field(alias="from")
    until: str
    late: int = Field(description="Due before that, and not visited yet.")
    whole: bool = Field(description="Whether all are listed, or counted at least.")
    next_in_turn: list[DueVisit] = Field(description="Of those that are late, the first of each host.")
    visits: list[DueVisit] = Field(description="The soonest first, at most 1,000.")


class Overview(BaseModel):
    glance: Glance
    last_24h: LastDay
    coming: Coming


class Changer(BaseModel):
    resource_id: int
    url: str
    changes: int
    visits: int
    last_change_at: str | None


class Sizes(BaseModel):
    store_bytes: int
    archive_bytes: int
    archive_files: int
    archive_carried: int
    free_bytes: int
    disk_bytes: int


class Finding(BaseModel):
    name: str
    ok: bool | None = Field(description="null: worth knowing, not wrong.")
    finding: str


class Health(BaseModel):
    sizes: Sizes
    checks: list[Finding]
    rounds: list[dict[str, Any]] = Field(description="The newest first, with what was estimated of each.")


class Progress(BaseModel):
    as_of: str
    card: dict[str, Any] = Field(description="The report card, as `recrawl report --json` has it.")
    course: dict[str, Any] = Field(description="Freshness and delay over time, beside uniform visits.")


@router.get("/overview", summary="The budget, the last day and the coming hour", response_model=Overview)
async def overview_(
    desk: Asked, within_s: Annotated[float, Query(gt=0.0, le=86_400.0)] = HOUR_S
) -> dict[str, Row]:
    glance, coming = await desk.ask(overview.glance), await desk.ask(overview.coming, within_s)
    day = await asking.day(desk)
    return {"glance": glance.row(), "last_24h": day.row(), "coming": coming.row()}


@router.get("/status", summary="The figures of the whole house, as `recrawl status --json` has them")
async def status(desk: Asked) -> dict[str, Any]:
    return await desk.ask(_status)


def _status(house: House) -> Row:
    """Where things lie on the disk is nobody's business."""
    return {name: value for name, value in health.status(house).items() if name not in ("store", "archive")}


@router.get("/most-changed", summary="Which resources changed most lately", response_model=list[Changer])
async def most_changed(
    desk: Asked,
    days: Annotated[float, Query(gt=0.0, le=366.0)] = 7.0,
    limit: Annotated[int, Query(ge=1, le=1_000)] = 20,
) -> list[Row]:
    found = await asking.most_changed(desk, days, limit)
    return [stream.changer_row(one) for one in found]


@router.get("/health", summary="Sizes, findings and rounds", response_model=Health)
async def health_(desk: Asked) -> dict[str, Any]:
    checks = await asking.checks(desk)
    return {
        "sizes": (await desk.ask(vitals.sizes)).row(),
        "checks": [vitals.check_row(check) for check in checks],
        "rounds": await desk.ask(vitals.round_rows),
    }


@router.get(
    "/report", summary="How the schedule did lately, and whether forecasts came true", response_model=Progress
)
async def report(desk: Asked) -> dict[str, Any]:
    found = await asking.progress(desk)
    return {
        "as_of": iso(found.at),
        "card": found.card.document(),
        "course": found.course.document(),
    }


@router.get("/capacity", summary="How long one visit to everything would take; null: nothing to visit")
async def capacity(desk: Asked) -> dict[str, Any] | None:
    return await asking.whole_round(desk)
