"""What the API can do, for people."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from starlette.responses import HTMLResponse

from recrawl.web.face.desk import Desk, desk_of

router = APIRouter()


@router.get("/api")
async def api(request: Request, desk: Annotated[Desk, Depends(desk_of)]) -> HTMLResponse:
    paths: dict[str, dict[str, dict[str, str]]] = request.app.openapi()["paths"]
    operations = [
        (method.upper(), address, about.get("summary", ""))
        for address, methods in paths.items()
        for method, about in methods.items()
    ]
    return desk.page(request, "api.html", operations=operations)
