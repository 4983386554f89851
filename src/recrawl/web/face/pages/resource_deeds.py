"""What can be done about one resource: settings, a pause, a visit soon, masks undone, another address, an
end."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Path, Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from recrawl.app.deeds import Wish, hastened, moved, paused, removed, unmasked
from recrawl.app.portrait import numbered
from recrawl.web.face.desk import Desk, desk_of
from recrawl.web.face.forms import Typed
from recrawl.web.face.pages.resource import whole
from recrawl.web.face.saying import said

router = APIRouter()
Asked = Annotated[Desk, Depends(desk_of)]
Number = Annotated[int, Path(ge=1, le=2**62)]
Text = Annotated[str, Form()]


def _home(number: int) -> str:
    return f"/resources/{number}"


@router.post("/resources/{number}/pause")
async def pause(desk: Asked, number: Number) -> RedirectResponse:
    await desk.ask(paused, number, True)
    return desk.seen(_home(number), "Paused: it is not visited until it is resumed.")


@router.post("/resources/{number}/resume")
async def resume(desk: Asked, number: Number) -> RedirectResponse:
    await desk.ask(paused, number, False)
    return desk.seen(_home(number), "Resumed: it is visited again as planned.")


@router.post("/resources/{number}/soon")
async def soon(desk: Asked, number: Number) -> RedirectResponse:
    await desk.ask(hastened, number)
    return desk.seen(_home(number), "A run visits it as soon as its host and the budget allow.")


@router.post("/resources/{number}/noise")
async def noise(
    desk: Asked,
    number: Number,
    mask: Annotated[int, Form(ge=1, le=100_000)],
    undo: Annotated[bool, Form()],
) -> RedirectResponse:
    await desk.ask(unmasked, number, mask, undo)
    said = "Undone: what stands there counts again." if undo else "Masked again: what stands there is noise."
    return desk.seen(_home(number), said)


@router.post("/resources/{number}/move")
async def move(desk: Asked, number: Number) -> RedirectResponse:
    done = await desk.ask(moved, number)
    left = " Its secrets stayed behind: give it new ones." if done.left_secrets else ""
    return desk.seen(_home(number), f"It is watched at {done.after} now.{left}")


@router.get("/resources/{number}/remove")
async def ask_remove(request: Request, desk: Asked, number: Number) -> HTMLResponse:
    resource, standing, _ = await desk.ask(lambda house: numbered(house.store, number))
    return desk.page(request, "resource/remove.html", resource=resource, standing=standing)


@router.post("/resources/{number}/remove")
async def remove(desk: Asked, number: Number) -> RedirectResponse:
    url = await desk.ask(removed, number)
    return desk.seen("/resources", f"{url} is watched no more.")


@router.post("/resources/{number}/settings")
async def say(
    request: Request,
    desk: Asked,
    number: Number,
    kind: Text = "",
    weight: Text = "",
    min_gap: Text = "",
    max_gap: Text = "",
    changes: Text = "",
    include: Text = "",
    ignore: Text = "",
    keys: Text = "",
    main: Text = "",
    mask: Text = "",
    tags: Text = "",
) -> Response:
    wish = Wish(
        kind=kind,
        weight=weight,
        min_gap=min_gap,
        max_gap=max_gap,
        changes=changes,
        include=include,
        ignore=ignore,
        keys=keys,
        main=main,
        mask=mask,
        tags=tags,
    )
    typed = Typed(asdict(wish))
    warnings = await desk.ask(said, number, wish, typed)
    if typed.wrong:
        return await whole(request, desk, number, typed)
    return desk.seen(_home(number), " ".join(["Saved.", *warnings]))
