"""What a reply amounts to. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

from recrawl.errors import BadUrlError
from recrawl.model import Body, Failure, Outcome
from recrawl.observe.exchange import Reply
from recrawl.parse.coding import Decoded, Ending

REDIRECTS = frozenset({301, 302, 303, 307, 308})
GONE = frozenset({404, 410})
# We did not ask, or would not ask any further; every other failure is the network's.
_BLOCKING = frozenset(
    {"scheme", "url", "private-address", "robots", "crawl-delay", "wait", "late", "header", "disk"}
)


@dataclass(frozen=True, slots=True)
class Amount:
    """An outcome, the body that was understood, and what is wrong with it."""

    outcome: Outcome
    body: Body = b""
    failure: Failure | None = None


def blocks(failure: Failure) -> bool:
    """Whether it was we who did not go on."""
    return failure.reason in _BLOCKING


def answers(reply: Reply | Failure) -> bool | None:
    """Whether the host that was asked is well. None: it was we who did not go on."""
    if isinstance(reply, Failure):
        return None if blocks(reply) else False
    return reply.status < 500 and reply.status != 429


def wants_body(status: int) -> bool:
    """Of a redirect, an error or a part nothing is kept, so nothing is read."""
    return (200 <= status < 300 and status != 206) or status in GONE


def amounts_to(reply: Reply, opened: Decoded, *, conditional: bool, n_hops: int) -> Amount:
    """`conditional` says that this very reply answers a request with a validator in it."""
    status = reply.status
    if status == 304 and conditional:
        return Amount(Outcome.NOT_MODIFIED)
    if not wants_body(status):
        return Amount(Outcome.HTTP_ERROR, failure=_error(reply, n_hops))
    outcome, failure = _completeness(reply, opened)
    if status in GONE:
        outcome = Outcome.GONE  # that is the answer, however its page came through
    return Amount(outcome, opened.body, failure)


def _error(reply: Reply, n_hops: int) -> Failure:
    if reply.status in (206, 304):
        return Failure(
            reason=f"unasked-{reply.status}", detail=f"{reply.status} to a request that did not ask for it"
        )
    if reply.status in REDIRECTS and n_hops:
        return Failure(reason="redirects", detail=f"{n_hops} redirects lead nowhere")
    return Failure(reason=f"http-{reply.status}", detail=reply.reason)


def _completeness(reply: Reply, opened: Decoded) -> tuple[Outcome, Failure | None]:
    if reply.cut:
        return Outcome.TRUNCATED, Failure(reason=reply.cut, detail=f"cut after {len(reply.wire):,} bytes")
    if opened.ending is Ending.LIMIT:
        return Outcome.TRUNCATED, Failure(reason="length", detail=opened.detail)
    if not opened.whole:
        return Outcome.UNREADABLE, Failure(reason="decode", detail=opened.detail)
    return Outcome.OK, None


def location_of(reply: Reply | Failure) -> str | None:
    if isinstance(reply, Failure) or reply.status not in REDIRECTS:
        return None
    raw = reply.header("location")
    # Where it is not ASCII it is UTF-8, whatever the standard said when it was written.
    return None if raw is None else raw.encode("latin-1").decode("utf-8", errors="replace")


def bad_url(text: str, problem: BadUrlError) -> Failure:
    scheme = re.match(r"\s*([a-z][a-z0-9+.-]*):", text, re.IGNORECASE)
    foreign = scheme is not None and scheme[1].lower() not in ("http", "https")
    return Failure(reason="scheme" if foreign else "url", detail=str(problem))
