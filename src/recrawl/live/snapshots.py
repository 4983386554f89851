"""What a fetch brought, as a version to be kept and as a snapshot to be judged."""

from __future__ import annotations

from email.message import Message

from recrawl.model import Fetch, Lease, Snapshot, Version, digest


def version_of(lease: Lease, fetch: Fetch) -> Version:
    return Version(
        resource_id=lease.resource.id,
        seq=0,
        at=fetch.ended_at,
        digest=digest(fetch.body),
        media_type=fetch.media_type,
        charset=_charset(fetch),
        status=fetch.status,
        n_bytes=len(fetch.body),
    )


def snapshot_of(fetch: Fetch) -> Snapshot:
    return Snapshot(body=fetch.body, media_type=fetch.media_type, charset=_charset(fetch), url=fetch.url)


def _charset(fetch: Fetch) -> str | None:
    header = Message()
    header["content-type"] = fetch.header("content-type") or ""
    charset = header.get_param("charset")
    return charset if isinstance(charset, str) and charset else None
