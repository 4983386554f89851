"""Overview: what the budget was spent on, what was found, what comes next, and who changed most."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse

from recrawl.app import overview
from recrawl.app.quantity import short
from recrawl.model import DAY_S, HOUR_S
from recrawl.schedule.reason import percent
from recrawl.web.face import asking
from recrawl.web.face.carding import compared
from recrawl.web.face.desk import Desk, desk_of
from recrawl.web.face.draw.hour import hour as drawn_hour
from recrawl.web.face.draw.lines import Line, lines

router = APIRouter()
Asked = Annotated[Desk, Depends(desk_of)]
Days = Annotated[float, Query(ge=0.1, le=366.0)]
N_CHANGERS = 10


@router.get("/")
async def page(request: Request, desk: Asked) -> HTMLResponse:
    return desk.page(request, "overview.html", glance=await desk.ask(overview.glance))


@router.get("/overview/figures")
async def figures(request: Request, desk: Asked) -> HTMLResponse:
    return desk.page(request, "overview.html", block="figures", glance=await desk.ask(overview.glance))


@router.get("/overview/day")
async def day(request: Request, desk: Asked) -> HTMLResponse:
    return desk.page(request, "overview_day.html", block="part", day=await asking.day(desk))


@router.get("/overview/hour")
async def hour(request: Request, desk: Asked) -> HTMLResponse:
    coming = await desk.ask(overview.coming)
    return desk.page(
        request,
        "overview_hour.html",
        block="part",
        coming=coming,
        drawing=drawn_hour(coming.due, coming.from_at, coming.until_at),
    )


@router.get("/overview/progress")
async def progress(request: Request, desk: Asked) -> HTMLResponse:
    found = await asking.progress(desk)
    steps, even = found.course.steps, found.course.uniform
    at = [step.until_at for step in steps]
    charts = []
    if even is not None:
        fresh, wait_s = [step.freshness for step in steps], [step.wait_s for step in steps]
        charts = [
            lines(
                [Line("this schedule", fresh), Line("uniform visits", [even.freshness] * len(at))],
                at,
                title="Freshness: the share of time that copies were up to date",
                written=percent,
                marked=share,
                least=None,
                units=(0.01,),
            ),
            lines(
                [Line("this schedule", wait_s), Line("uniform visits", [even.wait_s] * len(at))],
                at,
                title="Delay: from a change to the visit that found it, in the mean",
                written=_length,
                units=(DAY_S, HOUR_S, 60.0, 1.0),
            ),
        ]
    return desk.page(
        request,
        "overview_progress.html",
        block="part",
        found=found,
        charts=charts,
        against=compared(found.card),
    )


@router.get("/overview/most")
async def most(request: Request, desk: Asked, days: Days = 7.0) -> HTMLResponse:
    found = await asking.most_changed(desk, days, N_CHANGERS)
    return desk.page(request, "overview_most.html", block="part", changers=found, days=days)


def share(value: float) -> str:
    """On an axis: fine enough to tell figures apart, however close they are.

    >>> share(0.82), share(0.825)
    ('82 %', '82.5 %')
    """
    return f"{100.0 * value:.4g} %"


def _length(span_s: float) -> str:
    return "0" if span_s == 0.0 else short(span_s)
