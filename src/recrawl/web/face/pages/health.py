"""Health: whether forecasts come true, rounds take as long as was thought, and all that is kept is well."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import HTMLResponse, Response

from recrawl.app import overview, vitals
from recrawl.evaluate.card.words import title
from recrawl.schedule.reason import span
from recrawl.web.face import asking
from recrawl.web.face.carding import foretold, words
from recrawl.web.face.desk import Desk, desk_of
from recrawl.web.face.draw.scatter import scatter
from recrawl.web.face.metrics import exposition

router = APIRouter()
Asked = Annotated[Desk, Depends(desk_of)]


@router.get("/health")
async def page(request: Request, desk: Asked) -> HTMLResponse:
    return desk.page(
        request,
        "health.html",
        sizes=await desk.ask(vitals.sizes),
        rounds=await desk.ask(vitals.rounds),
        span=span,
    )


@router.get("/health/checks")
async def checks(request: Request, desk: Asked) -> HTMLResponse:
    found = await asking.checks(desk)
    return desk.page(request, "health_checks.html", block="part", checks=found)


@router.get("/health/forecasts")
async def forecasts(request: Request, desk: Asked) -> HTMLResponse:
    found = await asking.progress(desk)
    good = found.card.calibration
    return desk.page(
        request,
        "health_forecasts.html",
        block="part",
        found=found,
        good=good,
        told=foretold(found.card),
        title=title(found.card),
        words=words(found.card),
        drawing=None if good is None else scatter(good.curve),
    )


@router.get("/health/capacity")
async def capacity(request: Request, desk: Asked) -> HTMLResponse:
    found = await asking.whole_round(desk)
    return desk.page(request, "health_capacity.html", block="part", found=found, span=span)


@router.get("/metrics")
async def metrics(request: Request, desk: Asked) -> Response:
    glance, sizes = await desk.ask(overview.glance), await desk.ask(vitals.sizes)
    day = await asking.day(desk)
    body, media_type = exposition(request.headers.get("accept", ""), glance, day, sizes)
    return Response(body, headers={"Content-Type": media_type})
