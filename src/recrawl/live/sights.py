"""The first good look at a resource, whenever it comes: what it shows is kept for good."""

from __future__ import annotations

from math import isnan, nan

from recrawl.model import Fetch, Lease, Sight
from recrawl.parse import charset
from recrawl.parse.pool import ParseFailed
from recrawl.parse.sights import page_sight


def wanted(lease: Lease) -> bool:
    """Whether none was taken yet that can be compared with others."""
    return isnan(lease.standing.sight_at)


def sight_of(lease: Lease, fetch: Fetch) -> Sight | None:
    """None where the content cannot be read so closely; the next visit may try again."""
    headers: dict[str, str] = {}
    for written, value in fetch.headers:
        name = written.lower()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    depth = lease.resource.depth
    values = page_sight(
        fetch.body,
        charset.said(fetch.header("content-type")),
        fetch.url,
        headers,
        fetch.ended_at,
        depth=nan if depth is None else float(depth),
    )
    if isinstance(values, ParseFailed):
        return None
    return Sight(resource_id=lease.resource.id, at=fetch.ended_at, values=values)
