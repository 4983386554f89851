"""Hosts: whether each may be asked, what goes wrong there, what waits for it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from starlette.responses import HTMLResponse, RedirectResponse

from recrawl.app import hosts
from recrawl.schedule.reason import price_words, worth
from recrawl.web.face import asking
from recrawl.web.face.desk import Desk, desk_of
from recrawl.web.face.shell import path

router = APIRouter()
Asked = Annotated[Desk, Depends(desk_of)]
Word = Annotated[str, Query(max_length=500)]
Number = Annotated[int, Query(ge=0, lt=1 << 63)]
N_ON_PAGE = 50


@router.get("/hosts")
async def page(request: Request, desk: Asked, text: Word = "", after: Word = "") -> HTMLResponse:
    found = await desk.ask(hosts.listed, text.strip(), after, N_ON_PAGE + 1)
    return desk.page(
        request,
        "hosts.html",
        block="part",
        found=found[:N_ON_PAGE],
        after=found[N_ON_PAGE - 1].standing.name if len(found) > N_ON_PAGE else "",
        text=text,
        begun=bool(after),
        state=hosts.state,
    )


@router.get("/troubled-hosts")  # any name may be that of a host
async def trouble(request: Request, desk: Asked) -> HTMLResponse:
    troubled, n_troubled = await desk.ask(hosts.in_trouble)
    failures = await asking.failures(desk, N_ON_PAGE)
    return desk.page(
        request,
        "hosts_trouble.html",
        block="part",
        troubled=troubled,
        n_troubled=n_troubled,
        failures=failures,
        how=hosts.how,
        state=hosts.state,
        days=hosts.LATELY_DAYS,
    )


@router.get("/hosts/{name:path}")
async def host(request: Request, desk: Asked, name: str, after: Number = 0) -> HTMLResponse:
    found = await desk.ask(hosts.host_page, name, N_ON_PAGE + 1, after)
    resources = found.resources[:N_ON_PAGE]
    return desk.page(
        request,
        "host.html",
        block="part",
        found=found,
        standing=found.host.standing,
        resources=resources,
        after=resources[-1][0].id if len(found.resources) > N_ON_PAGE else 0,
        begun=bool(after),
        how=hosts.how,
        state=hosts.state,
        days=hosts.LATELY_DAYS,
        worth=worth,
        price_words=price_words,
    )


@router.post("/hosts/{name:path}/pause")
async def paused(desk: Asked, name: str) -> RedirectResponse:
    done = await desk.ask(hosts.rest, name, paused=True)
    return desk.seen(path("hosts", name), f"Paused: {_count(done.n_changed)} of {name} not visited any more.")


@router.post("/hosts/{name:path}/resume")
async def resumed(desk: Asked, name: str) -> RedirectResponse:
    done = await desk.ask(hosts.rest, name, paused=False)
    return desk.seen(path("hosts", name), f"Resumed: {_count(done.n_changed)} of {name} visited again.")


def _count(n: int) -> str:
    return "1 resource is" if n == 1 else f"{n:,} resources are"
