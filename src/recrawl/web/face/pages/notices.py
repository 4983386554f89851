"""Notices: who is told of what, and what was sent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from recrawl.app import notices
from recrawl.app.build import PRESENCE_FOLDER, House
from recrawl.app.presence import n_alive
from recrawl.app.quantity import instant
from recrawl.app.rows import Row
from recrawl.app.watchlist import Choice
from recrawl.errors import BadInputError, ConflictError, NotWatchedError
from recrawl.notify.notice import USUAL, Notice, On
from recrawl.notify.recipient import MOST_CHARS, Recipient, checked
from recrawl.web.face.desk import Desk, desk_of
from recrawl.web.face.forms import Typed, status_of

router = APIRouter()
Asked = Annotated[Desk, Depends(desk_of)]
Line = Annotated[str, Form()]
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
CHOICES = ("all", "tag", "host", "url")
N_LOG = 50
N_CHARS = 500  # of a field
BLANK: dict[str, object] = {
    **dict.fromkeys(("name", "of", "match", "quiet", "daily", "every"), ""),
    "which": "all",
    "side": "either",
    "zone": "UTC",
    "on": USUAL,
}


def _all(house: House) -> tuple[list[Row], list[Row], bool]:
    return notices.listed(house), notices.log(house, N_LOG), n_alive(house.home / PRESENCE_FOLDER) > 0


@router.get("/notices")
async def listed(request: Request, desk: Asked) -> HTMLResponse:
    return await _page(request, desk, Typed(BLANK), 200)


async def _page(request: Request, desk: Desk, typed: Typed, status: int) -> HTMLResponse:
    rows, log, running = await desk.ask(_all)
    return desk.page(
        request,
        "notices.html",
        status=status,
        rows=rows,
        log=log,
        running=running,
        instant=instant,
        words={one.value: text for one, text in WORDS.items()},
        typed=typed.values,
        wrong=typed.wrong,
    )


@router.post("/notices")
async def add(
    request: Request,
    desk: Asked,
    name: Line = "",
    to: Line = "",
    of: Line = "",
    which: Line = "all",
    on: Annotated[list[str] | None, Form()] = None,
    match: Line = "",
    side: Line = "either",
    quiet: Line = "",
    daily: Line = "",
    every: Line = "",
    zone: Line = "UTC",
    secret: Line = "",
) -> Response:
    """Where it goes and what it is signed with are secrets: a form that comes back has them no more."""
    said = {
        "name": name,
        "of": of,
        "which": which,
        "match": match,
        "side": side,
        "quiet": quiet,
        "daily": daily,
        "every": every,
        "zone": zone,
    }
    typed = Typed({**said, "on": on or ()})
    for field, text in (*said.items(), ("secret", secret)):
        typed.within(field, text, N_CHARS)
    typed.within("to", to, MOST_CHARS)
    recipient = Recipient(url=to.strip(), secret=secret.strip())
    notice = _notice(typed, {field: text.strip() for field, text in said.items()}, on or ())
    typed.tried("to", lambda: checked(replace(recipient, secret="")))
    if "to" not in typed.wrong:
        typed.tried("secret", lambda: checked(recipient))
    if notice is not None and not typed.wrong:
        try:
            await desk.ask(notices.add, notice, recipient)
        except BadInputError as problem:  # there is one of that name, or nobody knows what to do with it
            place = "name" if isinstance(problem, ConflictError) else "to"
            typed.refuse(place, str(problem), status_of(problem))
        else:
            return desk.seen("/notices", f"{notice.name} will be told from now on, by `recrawl run`.")
    return await _page(request, desk, typed, typed.status)


def _notice(typed: Typed, said: dict[str, str], on: Sequence[str]) -> Notice | None:
    """Each field by itself first, so that what is wrong stands beside it."""
    which, words = said["which"], (said["match"],) if said["match"] else ()
    if which not in CHOICES:
        typed.refuse("which", f"Choose one of: {', '.join(CHOICES)}.", 422)
        return None
    choice = None if which == "all" else typed.tried("of", lambda: _choice(which, said["of"]))
    typed.tried("name", lambda: notices.asked(said["name"]))
    typed.tried("of", lambda: notices.asked("x", choice=choice))
    typed.tried("on", lambda: notices.asked("x", on=on))
    typed.tried("match", lambda: notices.asked("x", match=words))
    typed.tried("side", lambda: notices.asked("x", side=said["side"]))
    typed.tried("quiet", lambda: notices.asked("x", quiet=said["quiet"]))
    typed.tried("daily", lambda: notices.asked("x", daily=said["daily"]))
    typed.tried("every", lambda: notices.asked("x", every=said["every"]))
    typed.tried("zone", lambda: notices.asked("x", zone_name=said["zone"] or "UTC"))
    if said["daily"] and said["every"]:
        typed.refuse("every", "Once a day, or every so often: fill in one of the two.", 409)
    if typed.wrong:
        return None
    return notices.asked(
        said["name"],
        choice=choice,
        on=on,
        match=words,
        side=said["side"],
        quiet=said["quiet"],
        daily=said["daily"],
        every=said["every"],
        zone_name=said["zone"] or "UTC",
    )


def _choice(which: str, of: str) -> Choice:
    match which:
        case "tag":
            return Choice(tag=of)
        case "host":
            return Choice(host=of)
    return Choice(urls=(of,))


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
