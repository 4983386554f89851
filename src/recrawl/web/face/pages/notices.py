"""Notices: who is told of what, and what was sent."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from starlette.responses import HTMLResponse, RedirectResponse

from recrawl.app import notices
from recrawl.app.build import PRESENCE_FOLDER, House
from recrawl.app.presence import n_alive
from recrawl.app.quantity import instant
from recrawl.app.rows import Row
from recrawl.app.watchlist import Choice
from recrawl.errors import NotWatchedError
from recrawl.notify.notice import USUAL, On
from recrawl.notify.recipient import MOST_CHARS, Recipient
from recrawl.web.face.desk import Desk, desk_of

router = APIRouter()
Asked = Annotated[Desk, Depends(desk_of)]
Line = Annotated[str, Form(max_length=500)]
WORDS = {
    On.CHANGE: "a change",
    On.SIGNIFICANT: "a significant change",
    On.POSTS: "new posts in a thread",
    On.GONE: "it is gone",
    On.BACK: "it is back",
    On.SILENT: "it has been silent for longer than expected",
    On.HOST: "its host fails again and again",
    On.TROUBLE: "trouble of recrawl's own, such as a full disk",
}
N_LOG = 50


def _all(house: House) -> tuple[list[Row], list[Row], bool]:
    return notices.listed(house), notices.log(house, N_LOG), n_alive(house.home / PRESENCE_FOLDER) > 0


@router.get("/notices")
async def listed(request: Request, desk: Asked) -> HTMLResponse:
    rows, log, running = await desk.ask(_all)
    return desk.page(
        request,
        "notices.html",
        rows=rows,
        log=log,
        running=running,
        instant=instant,
        words={one.value: text for one, text in WORDS.items()},
        usual={one.value for one in USUAL},
    )


@router.post("/notices")
async def add(
    desk: Asked,
    name: Annotated[str, Form(max_length=60)],
    to: Annotated[str, Form(max_length=MOST_CHARS)],
    of: Line = "",
    which: Annotated[str, Form(pattern="all|tag|host|url")] = "all",
    on: Annotated[list[str] | None, Form()] = None,
    match: Line = "",
    side: Line = "either",
    quiet: Line = "",
    daily: Line = "",
    every: Line = "",
    zone: Line = "UTC",
    secret: Line = "",
) -> RedirectResponse:
    choice = None if which == "all" else _choice(which, of)
    notice = notices.asked(
        name.strip(),
        choice=choice,
        on=on or (),
        match=(match,) if match.strip() else (),
        side=side,
        quiet=quiet.strip(),
        daily=daily.strip(),
        every=every.strip(),
        zone_name=zone.strip() or "UTC",
    )
    recipient = Recipient(url=to.strip(), secret=secret.strip())
    await desk.ask(notices.add, notice, recipient)
    return desk.seen("/notices", f"{notice.name} will be told from now on, by `recrawl run`.")


def _choice(which: str, of: str) -> Choice:
    match which:
        case "tag":
            return Choice(tag=of.strip())
        case "host":
            return Choice(host=of.strip())
    return Choice(urls=(of.strip(),))


@router.post("/notices/{name}/test")
async def test(desk: Asked, name: str) -> RedirectResponse:
    sent = await desk.send(notices.test, name)
    said = "A sample was sent" if sent.delivered else f"The sample did not arrive: {sent.why}"
    return desk.seen("/notices", f"{said} ({name}).")


@router.post("/notices/{name}/remove")
async def remove(desk: Asked, name: str) -> RedirectResponse:
    if not await desk.ask(notices.remove, name):
        raise NotWatchedError(f"There is no notice {name}; see /notices.")
    return desk.seen("/notices", f"{name} is told of nothing any more.")
