"""Add: URLs pasted, listed at an address or in a file; what would be added is shown before it is."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, Path, Request, UploadFile
from starlette.responses import HTMLResponse, RedirectResponse

from recrawl.app.drafts import MOST, Given
from recrawl.app.names import checked_tags
from recrawl.app.settings import settings
from recrawl.app.several import weighed
from recrawl.errors import BadInputError
from recrawl.model import Changes, Kind
from recrawl.web.face.backroom import StillWorkingError
from recrawl.web.face.desk import Desk, desk_of
from recrawl.web.face.intake import Stage

router = APIRouter()
Asked = Annotated[Desk, Depends(desk_of)]
Text = Annotated[str, Form(max_length=500)]
Key = Annotated[str, Path(max_length=100)]
N_SHOWN = 100  # of what would be added, and of what is refused
KINDS = {
    Kind.AUTO: "by what comes back",
    Kind.PAGE: "page: its text counts",
    Kind.FEED: "feed",
    Kind.SITEMAP: "sitemap",
    Kind.THREAD: "thread: its posts count",
    Kind.BOARD: "board: a list of threads",
    Kind.JSON: "JSON",
    Kind.CSV: "CSV",
    Kind.RDF: "RDF",
    Kind.FILE: "file: every byte counts",
}


@router.get("/add")
async def form(request: Request, desk: Asked, url: str = "") -> HTMLResponse:
    return desk.page(request, "add.html", kinds=KINDS, changes=list(Changes), url=url[:10_000])


@router.post("/add")
async def begin(
    desk: Asked,
    text: Annotated[str, Form(max_length=1 << 20)] = "",
    address: Annotated[str, Form(max_length=10_000)] = "",
    file: Annotated[UploadFile | None, File()] = None,
    kind: Text = "",
    tags: Text = "",
    weight: Text = "",
    min_gap: Text = "",
    max_gap: Text = "",
    changes: Text = "",
) -> RedirectResponse:
    data = await file.read() if file is not None else b""
    given = Given(
        text=text, address=address.strip(), name=(file.filename if file else "") or "the file", data=data
    )
    if not (given.text.strip() or given.address or given.data):
        raise BadInputError("There is nothing to add; paste URLs, give an address, or choose a file.")
    said = settings(
        kind=kind or None,
        weight=weighed(weight),
        min_gap=min_gap.strip() or None,
        max_gap=max_gap.strip() or None,
        changes=changes or None,
    )
    words = dict.fromkeys(word.strip() for word in tags.split(",") if word.strip())
    job = await desk.intakes.begin(given, said, checked_tags(words))
    return RedirectResponse(f"/add/{job.key}", 303)


@router.get("/add/{key}")
async def draft(request: Request, desk: Asked, key: Key) -> HTMLResponse:
    """What would be added, or was."""
    job = desk.intakes.find(key)
    if job.busy and request.headers.get("x-part"):
        raise StillWorkingError  # so that the page asks again
    return desk.page(
        request,
        "add_draft.html",
        block="part",
        job=job,
        new=[one.url for one in job.draft.new[:N_SHOWN]] if job.draft else [],
        known=[one.url for one in job.draft.known[:N_SHOWN]] if job.draft else [],
        refused=job.refused[:N_SHOWN],
        most=MOST,
        Stage=Stage,
    )


@router.post("/add/{key}")
async def confirm(desk: Asked, key: Key) -> RedirectResponse:
    await desk.intakes.confirm(key)
    desk.changed()
    return RedirectResponse(f"/add/{key}", 303)
