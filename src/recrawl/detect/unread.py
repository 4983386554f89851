"""Why a snapshot could not be read, kept beside it: an empty fingerprint cannot say it."""

from __future__ import annotations

from recrawl.model import Snapshot
from recrawl.parse.pool import ParseFailed

_MOST_CHARACTERS = 200


def noted(snapshot: Snapshot, failed: ParseFailed) -> str:
    """The fingerprint of what cannot be read."""
    if snapshot.memo is not None:
        snapshot.memo[ParseFailed] = failed
    return ""


def why_unread(snapshot: Snapshot) -> str:
    """As evidence. Whoever made a detector need not have noted anything."""
    failed = (snapshot.memo or {}).get(ParseFailed)
    if not isinstance(failed, ParseFailed):
        return "its content could not be read"
    why = (failed.detail or failed.reason)[:_MOST_CHARACTERS]
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in why)  # terminals show it
    return f"its content could not be read: {clean}"
