"""What budgets would give, the budget itself, and policies over one's own past."""

from __future__ import annotations

from math import inf
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from recrawl.app import offers
from recrawl.app.amending import set_budget
from recrawl.app.build import House
from recrawl.terms import noted_terms
from recrawl.web.face.api import values
from recrawl.web.face.desk import Desk, desk_of

router = APIRouter(tags=["plan"])
Asked = Annotated[Desk, Depends(desk_of)]
Goal = Literal["fresh", "fresh-harmonic", "capture", "prompt"]


class NewBudget(BaseModel):
    """A budget as people write it."""

    budget: values.Budget = Field(description="Such as 2000/day, 50/h or 2000/day, 2GB/day.")


class InForce(BaseModel):
    budget: str = Field(description="What the settings say.")
    visits_per_day: float | None = Field(description="None: no limit of that kind.")
    bytes_per_day: float | None
    run_visits_per_day: float | None = Field(description="What the last run keeps to, or kept to.")
    run_bytes_per_day: float | None


def _in_force(house: House) -> InForce:
    limits, terms = house.config.schedule.limits, noted_terms(house.store)
    return InForce(
        budget=str(limits),
        visits_per_day=limits.visits_per_day,
        bytes_per_day=limits.bytes_per_day,
        run_visits_per_day=None if terms is None else terms.per_day,
        run_bytes_per_day=None if terms is None else terms.bytes_per_day,
    )


@router.get("/budget", summary="The budget in force")
async def budget(desk: Asked) -> InForce:
    return await desk.ask(_in_force)


@router.put("/budget", summary="Keep to another budget")
async def rebudget(desk: Asked, said: NewBudget) -> InForce:
    await desk.ask(lambda house: set_budget(house.home, said.budget))
    desk.changed()
    return await desk.ask(_in_force)


@router.get("/plan", summary="What other budgets would give")
async def plan(
    desk: Asked,
    budgets: Annotated[values.Budgets | None, Query(description="Such as 500,1000,2000/day.")] = None,
    goal: Goal | None = None,
    within: Annotated[values.Span | None, Query(description="Such as 2h: what budget is needed?")] = None,
    share: Annotated[
        values.Share | None, Query(description="Of how many changes, such as 95%; only with `within`.")
    ] = None,
) -> dict[str, Any]:
    asked = (one or "" for one in (budgets, goal, within, share))
    found = await desk.slow(offers.plan, *asked, keep_s=120.0)
    return found.row()


@router.get("/backtest", summary="What other policies would have done with the past")
async def backtest(
    desk: Asked,
    policies: Annotated[values.Policies, Query(description="Names with commas.")] = "uniform,index",
    goal: Goal | None = None,
    days: Annotated[float | None, Query(ge=1.0, le=offers.MOST_DAYS)] = None,
    budget: Annotated[
        values.Visits | None, Query(description="Such as 500/day; else as many visits as were made.")
    ] = None,
) -> dict[str, Any]:
    span = inf if days is None else days
    found = await desk.slow(
        offers.replayed, policies, goal or "", span, budget or "", keep_s=600.0, long=True
    )
    return found.document()
