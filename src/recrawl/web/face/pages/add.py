"""Add: URLs pasted, listed at an address or in a file; what would be added is shown before it is."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, File, Form, Path, Request, UploadFile
from starlette.responses import HTMLResponse, RedirectResponse, Response

from recrawl.app.drafts import MOST, Given
from recrawl.app.names import checked_tags
from recrawl.errors import BadInputError
from recrawl.model import Changes, Kind
from recrawl.web.face.backroom import StillWorkingError
from recrawl.web.face.desk import Desk, desk_of
from recrawl.web.face.forms import Typed, settings
from recrawl.web.face.intake import Stage

router = APIRouter()
Asked = Annotated[Desk, Depends(desk_of)]
Text = Annotated[str, Form()]
Key = Annotated[str, Path(max_length=100)]
FIELDS = {  # and the most characters of each
    "text": 1 << 20,
    "address": 10_000,
    "kind": 500,
    "tags": 500,
    "weight": 500,
    "min_gap": 500,
    "max_gap": 500,
    "changes": 500,
}
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
    return _form(request, desk, Typed({**dict.fromkeys(FIELDS, ""), "text": url[:10_000]}), 200)


def _form(request: Request, desk: Desk, typed: Typed, status: int) -> HTMLResponse:
    return desk.page(
        request,
        "add.html",
        status=status,
        kinds=KINDS,
        changes=list(Changes),
        typed=typed.values,
        wrong=typed.wrong,
    )


@router.post("/add")
async def begin(
    request: Request,
    desk: Asked,
    text: Text = "",
    address: Text = "",
    file: Annotated[UploadFile | None, File()] = None,
    kind: Text = "",
    tags: Text = "",
    weight: Text = "",
    min_gap: Text = "",
    max_gap: Text = "",
    changes: Text = "",
) -> Response:
    given = (text, address, kind, tags, weight, min_gap, max_gap, changes)
    typed = Typed(dict(zip(FIELDS, given, strict=True)))
    for (name, most), said in zip(FIELDS.items(), given, strict=True):
        typed.within(name, said, most)
    data = await file.read() if file is not None else b""
    listed = Given(
        text=text, address=address.strip(), name=(file.filename if file else "") or "the file", data=data
    )
    if not (listed.text.strip() or listed.address or listed.data):
        typed.refuse("text", "There is nothing to add; paste URLs, give an address, or choose a file.")
    how = settings(typed, kind=kind, weight=weight, min_gap=min_gap, max_gap=max_gap, changes=changes)
    words = dict.fromkeys(word.strip() for word in tags.split(",") if word.strip())
    names = typed.tried("tags", lambda: checked_tags(words))
    if how is not None and names is not None and not typed.wrong:
        try:
            job = await desk.intakes.begin(listed, how, names)
        except BadInputError as problem:  # too many lists at once
            typed.refuse("", str(problem))
        else:
            return RedirectResponse(f"/add/{job.key}", 303)
    if data:
        typed.refuse("file", "Choose the file again: no browser keeps it in a form that comes back.")
    return _form(request, desk, typed, typed.status)


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
