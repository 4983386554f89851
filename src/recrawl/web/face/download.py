"""A version's bytes as a file. They come from the web: a browser may keep them, but not show or run them."""

from __future__ import annotations

from starlette.responses import Response, StreamingResponse

from recrawl.app.build import House
from recrawl.app.portrait import version_of
from recrawl.errors import NotWatchedError
from recrawl.model import Body, Version, pieces
from recrawl.web.face.desk import Desk

POLICY = "default-src 'none'; form-action 'none'; frame-ancestors 'none'; sandbox"
_ENDINGS = {
    "text/html": "html",
    "text/plain": "txt",
    "text/csv": "csv",
    "text/turtle": "ttl",
    "application/json": "json",
    "application/xml": "xml",
    "text/xml": "xml",
    "application/rss+xml": "xml",
    "application/atom+xml": "xml",
    "application/pdf": "pdf",
}


async def download(desk: Desk, resource_id: int, seq: int) -> Response:
    version, body = await desk.ask(_body, resource_id, seq)
    # Nothing of what the server said is repeated: neither its type nor a name of its own.
    name = f"resource-{resource_id}-version-{version.seq}.{_ENDINGS.get(version.media_type, 'bin')}"
    return StreamingResponse(
        pieces(body),
        media_type="application/octet-stream",
        headers={
            "Content-Disposition": f'attachment; filename="{name}"',
            "Content-Length": str(len(body)),
            "Content-Security-Policy": POLICY,
            "X-Content-Type-Options": "nosniff",
        },
    )


def _body(house: House, resource_id: int, seq: int) -> tuple[Version, Body]:
    resource, version = version_of(house.store, resource_id, seq)
    if version.gone or not version.file:
        raise NotWatchedError(f"Nothing is kept of version {seq} of {resource.url}; choose another.")
    return version, house.archive.snapshot(version).body
