"""Plan: what other budgets would give, before one is applied; what other policies would have done."""

from __future__ import annotations

from math import inf
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from starlette.responses import HTMLResponse, Response

from recrawl.app import offers
from recrawl.app.amending import set_budget
from recrawl.app.build import House
from recrawl.app.foresight import Foresight
from recrawl.app.quantity import Budget, visits_per_day
from recrawl.app.quantity import budget as limits
from recrawl.errors import BadInputError
from recrawl.evaluate.budgets.curve import Bought
from recrawl.evaluate.own.results import MEASURES, Replayed
from recrawl.evaluate.report.table import count
from recrawl.model import DAY_S
from recrawl.web.face.desk import Desk, desk_of
from recrawl.web.face.draw import budgets as drawing
from recrawl.web.face.forms import Typed, status_of

router = APIRouter()
Asked = Annotated[Desk, Depends(desk_of)]
Word = Annotated[str, Query(max_length=200)]
REPLAYED = {  # its measures, by what the drawings call them
    "freshness": "freshness",
    "recall": "recall",
    "wait_days_mean": "delay_days_mean",
    "harmonic": "harmonic",
}
N_CHARS = 200  # of a field
POLICIES = ("uniform", "index", "week", "nutch", "changedetection", "miniflux")


def _in_force(house: House) -> dict[str, object]:
    schedule, now = house.config.schedule, house.clock.now()
    per_day = schedule.limits.visits_per_day
    return {
        "budget": schedule.budget,
        "per_day": "" if per_day is None else f"{per_day:.10g}",
        "goal": schedule.goal,
        "spent": house.store.n_visits_since(now - DAY_S),
        "second": house.store.n_second_since(now - DAY_S),
        "n_resources": house.store.counts(now)["resources"],
    }


@router.get("/plan")
async def plan(request: Request, desk: Asked, goal: Word = "", within: Word = "") -> HTMLResponse:
    return await _plan(request, desk, goal, within)


async def _plan(
    request: Request, desk: Desk, goal: str, within: str, typed: Typed | None = None
) -> HTMLResponse:
    """With the budget that was typed, where that was refused."""
    force = await desk.ask(_in_force)
    form = typed or Typed({"per_day": force["per_day"]})
    return desk.page(
        request,
        "plan.html",
        status=form.status if form.wrong else 200,
        force=force,
        goal=goal,
        within=within,
        goals=offers.GOALS,
        policies=POLICIES,
        typed=form.values,
        wrong=form.wrong,
    )


@router.get("/plan/curve")
async def curve(request: Request, desk: Asked, goal: Word = "", within: Word = "") -> HTMLResponse:
    """The part that takes a moment."""
    try:
        found = await desk.slow(offers.plan, "", goal, within, "", deadline_s=4.0, keep_s=120.0)
    except BadInputError as problem:  # too little is known yet, or the goal is none: the page stands anyway
        return desk.page(request, "trouble.html", block="part", text=str(problem), code=400)
    names = list(found.points[0].measures)
    return desk.page(
        request,
        "plan_curve.html",
        block="part",
        found=found,
        measure=found.measure,
        drawings=[(drawing.TITLES[name], drawing.drawn(found, name)) for name in _ordered(found, names)],
        rows=[_row(found, one) for one in found.points],
        names=[(name, drawing.TITLES[name]) for name in _ordered(found, names)],
        present=count(found.present),
        full=any(one.n_full for one in found.points),
    )


def _ordered(found: Foresight, names: list[str]) -> list[str]:
    """The goal's own measure comes first."""
    return sorted(names, key=lambda name: name != found.measure)


def _row(found: Foresight, one: Bought) -> dict[str, object]:
    return {
        "budget": f"{one.per_day:.17g}",
        "per_day": count(one.per_day),
        "made": count(one.made_per_day),
        "here": one.per_day == found.present,
        "full": one.n_full,
        "figures": {
            name: {
                "value": drawing.written(name, had.value),
                "low": drawing.written(name, had.low),
                "high": drawing.written(name, had.high),
            }
            for name, had in one.measures.items()
        },
    }


@router.get("/plan/budget")
async def budget(
    request: Request, desk: Asked, per_day: str = "", goal: Word = "", within: Word = ""
) -> HTMLResponse:
    """What would change, before it is applied."""
    return await _budget(request, desk, per_day, Typed({"per_day": per_day}), goal, within)


async def _budget(
    request: Request, desk: Desk, said: str, typed: Typed, goal: str = "", within: str = ""
) -> HTMLResponse:
    """Where it is none that can be applied, the form that it was typed into."""
    typed.within("per_day", said, N_CHARS)
    found = typed.tried("per_day", lambda: limits(said)) or Budget()
    if found.bytes_per_day is not None:
        typed.refuse("per_day", "What bytes would buy is not known here; write visits alone, as 2000/day.")
    wanted = found.visits_per_day
    if wanted is None or "per_day" in typed.wrong:
        return await _plan(request, desk, goal, within, typed)
    return desk.page(
        request,
        "plan_budget.html",
        status=typed.status if typed.wrong else 200,
        wanted=f"{wanted:.10g}/day",
        per_day=wanted,
        wrong=typed.wrong,
    )


@router.get("/plan/beside")
async def beside(request: Request, desk: Asked, per_day: Word) -> HTMLResponse:
    found = await desk.slow(offers.beside, per_day, deadline_s=4.0, keep_s=120.0)
    wanted = visits_per_day(per_day)
    other = next(one for one in found.points if one.per_day == wanted)
    now = next(one for one in found.points if one.per_day == found.present)
    names = _ordered(found, list(now.measures))
    moved = found.more if wanted > found.present else found.less
    return desk.page(
        request,
        "plan_beside.html",
        block="part",
        found=found,
        names=[(name, drawing.TITLES[name]) for name in names],
        now_row=_row(found, now),
        other_row=_row(found, other),
        moved=moved[1] if wanted != found.present else (),
    )


@router.post("/plan/budget")
async def apply(request: Request, desk: Asked, budget: Annotated[str, Form()] = "") -> Response:
    typed = Typed({"per_day": budget})
    typed.within("per_day", budget, N_CHARS)
    typed.tried("per_day", lambda: limits(budget))
    if not typed.wrong:
        try:
            applied = await desk.ask(lambda house: set_budget(house.home, budget))
        except BadInputError as problem:  # the settings file can only be changed by hand
            typed.refuse("", str(problem), status_of(problem))
        else:
            told = f"The budget is {applied} now; a run that goes on takes it up within seconds."
            return desk.seen("/plan", told)
    return await _budget(request, desk, budget, typed)


@router.get("/plan/replay")
async def replay(
    request: Request,
    desk: Asked,
    policy: Annotated[list[str] | None, Query()] = None,
    goal: Word = "",
    days: Annotated[float | None, Query(ge=1.0, le=offers.MOST_DAYS)] = None,
) -> HTMLResponse:
    """Which takes as long as the past is."""
    chosen = ",".join(policy or ["uniform", "index"])
    return desk.page(
        request, "plan_replay.html", block="ask", chosen=chosen, goal=goal, days=days, done=False
    )


@router.get("/plan/replayed")
async def replayed(
    request: Request,
    desk: Asked,
    policies: Word,
    goal: Word = "",
    days: Annotated[float | None, Query(ge=1.0, le=offers.MOST_DAYS)] = None,
) -> HTMLResponse:
    span = inf if days is None else days
    result = await desk.slow(
        offers.replayed, policies, goal, span, "", deadline_s=2.0, keep_s=600.0, long=True
    )
    return desk.page(
        request,
        "plan_replayed.html",
        block="part",
        columns=["Policy", "Visits", *(drawing.TITLES[REPLAYED[name]] for name in MEASURES)],
        rows=[
            [row.policy, count(row.visits), *(_bounded(row, name) for name in MEASURES)]
            for row in result.rows
        ],
        notes=result.notes,
    )


def _bounded(row: Replayed, name: str) -> str:
    had = row.measures[name]
    value, low, high = (drawing.written(REPLAYED[name], one) for one in (had.value, had.low, had.high))
    return value if value == "–" else f"{value} ({low} to {high})"
