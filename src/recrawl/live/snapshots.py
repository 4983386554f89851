"""What a fetch brought, as a version to be kept and as a snapshot to be judged."""

from __future__ import annotations

from recrawl.model import Fetch, Lease, Lens, Snapshot, Version, digest
from recrawl.parse import charset


def version_of(lease: Lease, fetch: Fetch) -> Version:
    return Version(
        resource_id=lease.resource.id,
        seq=0,
        at=fetch.ended_at,
        digest=digest(fetch.body),
        media_type=fetch.media_type,
        charset=charset.said(fetch.header("content-type")),
        status=fetch.status,
        n_bytes=len(fetch.body),
    )


def snapshot_of(fetch: Fetch, lens: Lens) -> Snapshot:
    """Seen through this lens, and with a memory of what was read of it."""
    return Snapshot(
        body=fetch.body,
        media_type=fetch.media_type,
        charset=charset.said(fetch.header("content-type")),
        url=fetch.url,
        lens=lens,
        at=fetch.ended_at,
        memo={},
    )
