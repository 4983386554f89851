"""What is asked for when a resource is visited."""

from __future__ import annotations

from recrawl.model import Access, Kind, Lease, Request

# Servers lie about "not modified": every so often the whole thing is asked for.
FULL_EVERY = 10


def request_for(lease: Lease, *, allow_private: bool, access: Access | None, tail_s: float) -> Request:
    """In the last `tail_s` of the lease nothing is sent any more."""
    resource, standing = lease.resource, lease.standing
    held = standing.version if standing.version and not standing.version.gone else None
    # Validators are sent only for a copy that we hold, and not always: else a liar would hide for ever.
    conditional = held is not None and standing.n_informative % FULL_EVERY != FULL_EVERY - 1
    return Request(
        url=resource.url,
        etag=standing.etag if conditional else None,
        last_modified=standing.last_modified if conditional else None,
        allow_private=allow_private or resource.effective.allow_private,
        kind=resource.effective.kind,
        media_type=held.media_type if held else "",
        resume_url=held.url if held and resource.effective.kind is Kind.THREAD else "",
        manner=resource.effective.manner,
        access=access,
        not_after_at=lease.until_at - tail_s,
        leased_host=resource.host,
    )
