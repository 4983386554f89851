"""The first good look at a resource, whenever it comes: what it shows is kept for good."""

from __future__ import annotations

from math import isnan, nan

from recrawl.model import Fetch, Lease, Sight
from recrawl.parse import charset
from recrawl.parse.pool import ParseFailed
from recrawl.parse.sights import page_look
from recrawl.parse.threads import bundles as threads


def wanted(lease: Lease) -> bool:
    """Whether none was taken yet that can be compared with others."""
    return isnan(lease.standing.sight_at)


def sight_of(lease: Lease, fetch: Fetch) -> tuple[Sight | None, tuple[str, ...]]:
    """With the addresses on the same site that it links to. None where the content cannot be read so closely;
    the next visit may try again."""
    headers: dict[str, str] = {}
    for written, value in fetch.headers:
        name = written.lower()
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    known = lease.resource
    body, said, url = fetch.body, charset.said(fetch.header("content-type")), fetch.url
    if fetch.media_type == threads.MEDIA_TYPE and (
        pages := threads.pages(bytes(body), threads.MEDIA_TYPE, said, url)
    ):
        body, said, url = pages[0].body, pages[0].charset, pages[0].url
        headers["content-type"] = pages[0].media_type
    look = page_look(
        body,
        said,
        url,
        headers,
        fetch.ended_at,
        depth=nan if known.depth is None else float(known.depth),
        changefreq=known.changefreq,
        lastmod_at=nan if known.lastmod_at is None else known.lastmod_at,
    )
    if isinstance(look, ParseFailed):
        return None, ()
    return Sight(resource_id=known.id, at=fetch.ended_at, values=look.values), look.links
