"""Hosts for programs."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from recrawl.app import hosts
from recrawl.app.rows import Row, visit_row
from recrawl.web.face.desk import Desk, desk_of

router = APIRouter(tags=["hosts"])
Asked = Annotated[Desk, Depends(desk_of)]


class Host(BaseModel):
    host: str
    state: str = Field(description="Whether it may be asked now, in words.")
    resources: int
    planned: int = Field(description="Of them not paused, and with a plan.")
    paused: bool = Field(description="Said of the host itself.")
    gate_until: str | None = Field(description="It is left alone until then.")
    asked_until: str | None = Field(description="Somebody is at it, until then at the latest.")
    rest_s: float | None = Field(description="How long it was left alone after the last visit.")
    failures_in_a_row: int
    next_visit_at: str | None
    price: float | None = Field(description="Where more is wanted of it than it can give.")


class Hosts(BaseModel):
    hosts: list[Host]
    after: str | None = Field(description="Ask with this for the next page; null: there is none.")


class Failures(BaseModel):
    host: str
    outcome: str
    status: int | None
    how: str
    visits: int
    last_at: str | None


class Failed(BaseModel):
    url: str
    at: str
    outcome: str
    status: int | None
    evidence: str


class OneHost(Host):
    failures: list[Failures] = Field(description="Of the last 7 days, by how.")
    failed: list[Failed] = Field(description="The newest of them.")


class Rested(BaseModel):
    changed: int = Field(description="Resources that are paused, or visited again, since.")
    otherwise: int = Field(description="Resources of which something nearer says otherwise.")


@router.get("/hosts", summary="Hosts by name", response_model=Hosts)
async def listed(
    desk: Asked,
    text: Annotated[str, Query(max_length=500)] = "",
    after: Annotated[str, Query(max_length=500)] = "",
    limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
) -> Row:
    found = await desk.ask(hosts.listed, text, after, limit + 1)
    shown = found[:limit]
    return {
        "hosts": [host.row(desk.now()) for host in shown],
        "after": shown[-1].standing.name if len(found) > limit else None,
    }


@router.get("/hosts/{name}", summary="One host, with what went wrong there", response_model=OneHost)
async def one(desk: Asked, name: str) -> Row:
    found = await desk.ask(hosts.host_page, name, 0)
    return {
        **found.host.row(desk.now()),
        "failures": [hosts.failures_row(failures) for failures in found.failures],
        "failed": [visit_row(visit, resource.url) for visit, resource in found.failed],
    }


@router.post("/hosts/{name}/pause", summary="Visit nothing of this host", response_model=Rested)
async def paused(desk: Asked, name: str) -> Row:
    return await _rested(desk, name, paused=True)


@router.post("/hosts/{name}/resume", summary="Visit this host again", response_model=Rested)
async def resumed(desk: Asked, name: str) -> Row:
    return await _rested(desk, name, paused=False)


async def _rested(desk: Desk, name: str, *, paused: bool) -> Row:
    done = await desk.ask(hosts.rest, name, paused=paused)
    desk.changed()
    return {"changed": done.n_changed, "otherwise": done.n_otherwise}
