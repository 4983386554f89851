"""One resource: where it stands, its visits over time, its forecast, its hours and its versions."""

from __future__ import annotations

from math import inf, isfinite
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import HTMLResponse, Response

from recrawl.app.basis import basis, budgets, rate, silent_words
from recrawl.app.build import House
from recrawl.app.hours import Hours, hours
from recrawl.app.portrait import (
    Portrait,
    numbered,
    portrait,
    version_of,
    versions_found,
    versions_of,
    visits_of,
)
from recrawl.app.quantity import away, instant, iso
from recrawl.app.rows import deviations, erased_words, verdict, visit_row
from recrawl.errors import BadInputError
from recrawl.model import DAY_S, HOUR_S, Kind, Resource, Standing, Version, Visit
from recrawl.web.face.desk import Desk, desk_of
from recrawl.web.face.download import download
from recrawl.web.face.draw import curve as curve_drawing
from recrawl.web.face.draw import heat as heat_drawing
from recrawl.web.face.draw import timeline as timeline_drawing
from recrawl.web.face.draw.timeline import LEGEND, Timeline
from recrawl.web.face.forms import Typed
from recrawl.web.face.inquiries import accounted, compared, read
from recrawl.web.face.saying import own

router = APIRouter()
Asked = Annotated[Desk, Depends(desk_of)]
Number = Annotated[int, Path(ge=1, le=2**62)]
Values = dict[str, Any]
Moment = Annotated[str, Query(max_length=40)]
N_DRAWN = 2_000  # visits on the line
N_LISTED = 25  # visits under it, and versions on a page
N_GAPS = 40  # the line shows so many of them at first …
SHORTEST_S, LONGEST_S = 7 * DAY_S, 365 * DAY_S  # … within these, and not before it was known
BEGINNING_S = 600.0  # the least that is shown of one that was just added
LATEST_AT = 4_102_444_800.0  # the year 2100: no line of visits goes further
ZONES = tuple(range(-12, 15))


@router.get("/resources/{number}")
async def page(request: Request, desk: Asked, number: Number) -> HTMLResponse:
    return await whole(request, desk, number)


async def whole(request: Request, desk: Desk, number: int, typed: Typed | None = None) -> HTMLResponse:
    """With what was typed of its settings, where that was refused."""
    found, visits, versions = await desk.ask(_page, number, desk.now())
    row, form = found.row(), typed or own(found.resource)
    values: Values = {
        **visits,
        **versions,
        "found": found,
        "standing": found.standing,
        "state": state(found),
        "row": row,
        "how": deviations(row),
        "erased": erased_words(found.erasure) if found.erasure else "",
        "since": f"{found.standing.last_at:.3f}" if isfinite(found.standing.last_at) else "0",
        "next_words": _next(found, desk.now()),
        "last_words": _said(found.resource, found.last) if found.last else "",
        "kinds": list(Kind),
        "typed": form.values,
        "wrong": form.wrong,
    }
    return desk.page(request, "resource/page.html", status=form.status if form.wrong else 200, **values)


def _page(house: House, number: int, now: float) -> tuple[Portrait, Values, Values]:
    found = portrait(house.store, number)
    return found, _visits(house, number, now, -inf, inf), _versions(house, number, None)


def state(found: Portrait) -> tuple[str, str]:
    """In a word or two, with its tone."""
    standing, version = found.standing, found.standing.version
    if found.erasure is not None:
        return "erased", "bad"
    if found.resource.effective.paused:
        return "paused", "warn"
    if standing.n_failures:
        n = standing.n_failures
        return f"the last {n} visits told nothing" if n > 1 else "the last visit told nothing", "bad"
    if not isfinite(standing.since_at):
        return "not looked at yet", "quiet"
    if version is not None and version.gone:
        return "gone", "bad"
    return ("moved", "warn") if found.moved_to else ("watched", "good")


def _next(found: Portrait, now: float) -> tuple[str, str]:
    """When it is visited next, and a remark."""
    due_at = found.standing.due_at
    if found.resource.effective.paused:
        return "never", "while it is paused"
    if not isfinite(due_at):
        return "never", "as planned now"
    return (away(due_at, now), "") if due_at > now else ("due now", f"planned for {away(due_at, now)}")


@router.get("/resources/{number}/newer")
async def newer(
    request: Request, desk: Asked, number: Number, since: Annotated[float, Query(ge=0.0, le=1e11)]
) -> HTMLResponse:
    """Whether it was visited since then: what a page that is open looks at now and then."""
    resource, last = await desk.ask(_last, number)
    values: Values = {"resource": resource, "newer": last is not None and last.at > since + 0.001}
    told = {} if last is None else {"last_at": last.at, "words": _said(resource, last).lower()}
    return _part(desk, request, "newer", values | told)


def _last(house: House, number: int) -> tuple[Resource, Visit | None]:
    resource, _, _ = numbered(house.store, number)
    return resource, next(house.store.visits(number, 1), None)


@router.get("/resources/{number}/visits")
async def visits(
    request: Request,
    desk: Asked,
    number: Number,
    from_: Annotated[str, Query(alias="from", max_length=40)] = "",
    until: Moment = "",
) -> HTMLResponse:
    from_at, until_at = _moment(from_, -inf), _moment(until, inf)
    values = await desk.ask(_visits, number, desk.now(), from_at, until_at)
    return _part(desk, request, "visits", values)


def _moment(text: str, otherwise: float) -> float:
    return min(max(instant(text), 0.0), LATEST_AT) if text else otherwise


def _visits(house: House, number: int, now: float, from_at: float, until_at: float) -> Values:
    resource, standing, _ = numbered(house.store, number)
    due_at = standing.due_at if not resource.effective.paused else inf
    if until_at == inf:
        until_at = now
    oldest = next(iter(house.store.history(number, limit=1)), None)
    first_at = min(resource.added_at, oldest.at if oldest else inf)
    if from_at == -inf:
        from_at = max(until_at - _length_s(standing), _beginning(first_at, until_at))
    if not until_at > from_at:
        raise BadInputError("That time ends before it begins; swap the two.")
    if until_at == now and now < due_at <= now + 0.25 * (now - from_at):
        until_at = due_at + 0.02 * (due_at - from_at)
    _, found, more = visits_of(house.store, number, from_at=from_at, until_at=until_at + 1.0, limit=N_DRAWN)
    line = Timeline(
        visits=found,
        changes=resource.effective.changes,
        from_at=from_at,
        until_at=until_at,
        now=now,
        due_at=due_at,
        whole=not more,
    )
    return {
        "resource": resource,
        "line": timeline_drawing.drawn(line),
        "line_words": timeline_drawing.words(line),
        "legend": LEGEND,
        "zooms": zooms(from_at, until_at, now, first_at),
        "listed": [(visit, _said(resource, visit)) for visit in found[:N_LISTED]],
        "led_to": versions_found(house.store, number, found[:N_LISTED]),
        "n_drawn": len(found),
        "more": more,
        "from_at": from_at,
        "until_at": until_at,
    }


def _beginning(first_at: float, until_at: float) -> float:
    """A little before the first moment, so that what happened then is not on the edge."""
    return min(first_at - 0.02 * (until_at - first_at), until_at - BEGINNING_S)


def _length_s(standing: Standing) -> float:
    gap_s = standing.gap_s if isfinite(standing.gap_s) else DAY_S
    return min(max(N_GAPS * gap_s, SHORTEST_S), LONGEST_S)


def zooms(from_at: float, until_at: float, now: float, first_at: float) -> list[tuple[str, str, str, str]]:
    """Where one can go from here: key, name, and the times as they stand in an address."""
    length_s = until_at - from_at
    middle = (from_at + until_at) / 2.0
    inward = max(length_s / 4.0, 30.0)
    places = [
        ("earlier", "Earlier", from_at - length_s / 2.0, until_at - length_s / 2.0),
        ("later", "Later", from_at + length_s / 2.0, until_at + length_s / 2.0),
        ("in", "Zoom in", middle - inward, middle + inward),
        ("out", "Zoom out", middle - length_s, middle + length_s),
        ("day", "Day", now - DAY_S, now),
        ("week", "Week", now - 7 * DAY_S, now),
        ("month", "Month", now - 30 * DAY_S, now),
        ("year", "Year", now - 365 * DAY_S, now),
        ("all", "All", _beginning(first_at, now), now),
    ]
    return [(key, name, iso(max(begin, 0.0)) or "", iso(end) or "") for key, name, begin, end in places]


def _said(resource: Resource, visit: Visit) -> str:
    return verdict(visit_row(visit, resource.url, changes=resource.effective.changes))


@router.get("/resources/{number}/forecast")
async def forecast(request: Request, desk: Asked, number: Number) -> HTMLResponse:
    found = await desk.slow(accounted, number, deadline_s=4.0, keep_s=60.0)
    low, high = found.per_day
    values = {
        "resource": found.resource,
        "found": found,
        "drawing": curve_drawing.drawn(found.curve),
        "drawing_words": curve_drawing.words(found.curve),
        "basis": list(basis(found)),
        "chance": curve_drawing.chance(found.p_now),
        "rates": (rate(low), rate(high)) if isfinite(high) else None,
        "budgets": budgets(found),
        "silence": silent_words(found.silence.p, found.silence.length_s) if found.silence else "",
    }
    return _part(desk, request, "forecast", values)


@router.get("/resources/{number}/hours")
async def by_hours(
    request: Request, desk: Asked, number: Number, zone: Annotated[int, Query(ge=-12, le=14)] = 0
) -> HTMLResponse:
    resource, found = await desk.ask(_hours, number, zone)
    values = {"resource": resource, "drawing": heat_drawing.drawn(found), "own": found.own}
    words = heat_drawing.words(found)
    return _part(desk, request, "hours", {**values, "drawing_words": words, "zone": zone, "zones": ZONES})


def _hours(house: House, number: int, zone: int) -> tuple[Resource, Hours]:
    resource, _, _ = numbered(house.store, number)
    return resource, hours(house.store, resource, zone * HOUR_S)


@router.get("/resources/{number}/versions")
async def versions(
    request: Request, desk: Asked, number: Number, before: Annotated[int | None, Query(ge=1, le=2**62)] = None
) -> HTMLResponse:
    return _part(desk, request, "versions", await desk.ask(_versions, number, before))


def _versions(house: House, number: int, before: int | None) -> Values:
    """A page of them, those before this one."""
    until_at = inf if before is None else version_of(house.store, number, before)[1].at
    resource, found, older = versions_of(house.store, number, until_at=until_at, limit=N_LISTED)
    return {"resource": resource, "versions": found, "older": found[-1].seq if older else None}


@router.get("/resources/{number}/versions/{seq}")
async def version(request: Request, desk: Asked, number: Number, seq: Number) -> HTMLResponse:
    resource, found = await desk.ask(_version, number, seq)
    text = await desk.slow(read, number, seq, deadline_s=4.0, keep_s=300.0)
    return _part(desk, request, "version", {"resource": resource, "kept": found, "text": text})


def _version(house: House, number: int, seq: int) -> tuple[Resource, Version]:
    return version_of(house.store, number, seq)


@router.get("/resources/{number}/versions/{seq}/raw")
async def raw(desk: Asked, number: Number, seq: Number) -> Response:
    return await download(desk, number, seq)


@router.get("/resources/{number}/diff")
async def diff(
    request: Request,
    desk: Asked,
    number: Number,
    from_: Annotated[int | None, Query(alias="from", ge=1, le=2**62)] = None,
    until: Annotated[int | None, Query(ge=1, le=2**62)] = None,
    look: Annotated[str, Query(pattern="^(sides|inline)$")] = "inline",
    raw: bool = False,
) -> HTMLResponse:
    resource, found = await desk.slow(compared, number, from_, until, raw, deadline_s=4.0, keep_s=300.0)
    values: Values = {"resource": resource, "sides": found, "look": look, "raw": raw}
    return _part(desk, request, "diff", values)


def _part(desk: Desk, request: Request, name: str, values: Values) -> HTMLResponse:
    return desk.page(request, "resource/part.html", block="part", part=f"resource/{name}.html", **values)
