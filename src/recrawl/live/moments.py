"""When things were said that a visit found, where it finds out.

That nobody spoke after the newest moment is learned too. So nothing is told of moments where somebody may
have: where a visit did not come to the end of a thread, or found posts whose time it does not know.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from math import inf, isnan, nan, nextafter

from recrawl.contracts import Detector
from recrawl.detect import thread
from recrawl.model import MOST_MOMENTS, Fetch, Leaf, Post, Snapshot, Visit
from recrawl.parse.pool import ParseFailed, shared

# Many sites tell times to the minute, and clocks differ by less than that: so far outside its gap, what is
# new was said just at its edge.
NEAR_S = 60.0


def timed(visit: Visit, posts: Sequence[Post], fetch: Fetch) -> Visit:
    """The visit, with the moments of these new posts."""
    moments = () if fetch.failure is not None else _moments(posts, visit.since_at, visit.at)
    return replace(visit, moments=moments, event_at=moments[-1]) if moments else visit


def with_past(visit: Visit, detector: Detector, after: Snapshot, fetch: Fetch) -> Visit:
    """A first visit, with the moments of all posts that are shown: a thread has a past to learn from."""
    if detector.name != "thread" or fetch.failure is not None:
        return visit
    return _past(visit, after)


def with_rest(visit: Visit, earlier: Snapshot, after: Snapshot, fetch: Fetch) -> Visit:
    """The visit that came to the end of a thread which the first one did not read to its end: the past is
    learned now, as far as this visit and the one before it have read it. As at a first visit, there is
    nothing that it goes on from."""
    if fetch.failure is not None:
        return visit
    whole = _past(replace(visit, since_at=nan), earlier, after)
    return whole if whole.moments else visit


def _past(visit: Visit, *snapshots: Snapshot) -> Visit:
    found = shared().run(_shown, *(replace(one, memo=None) for one in snapshots))
    posts, n_pages = ((), 0) if isinstance(found, ParseFailed) else found
    moments = _moments(posts, visit.since_at, visit.at)
    if not moments:
        return visit
    pages = f"{n_pages:,} pages, of which the last have " if n_pages else ""
    n = f"{len(moments):,} {'post' if len(moments) == 1 else 'posts'}"
    since = f"since {datetime.fromtimestamp(moments[0], UTC):%Y-%m-%d}"
    return replace(visit, moments=moments, evidence=f"{visit.evidence}; {pages}{n} {since}")


def _moments(posts: Sequence[Post], since_at: float, at: float) -> tuple[float, ...]:
    """Within `(since_at, at]`, ascending; of very many the newest. Of a first visit all that came before."""
    last_at = at + NEAR_S
    known = [post.at for post in posts if post.at <= last_at]  # not in the future, nor nobody knows when
    if len(known) < len(posts) and not (isnan(since_at) and _settled(posts, known)):
        return ()
    first_at = -inf if isnan(since_at) else nextafter(since_at, inf)
    near = (said_at for said_at in known if first_at - NEAR_S <= said_at)
    return tuple(sorted(min(max(said_at, first_at), at) for said_at in near)[-MOST_MOMENTS:])


def _settled(posts: Sequence[Post], known: Sequence[float]) -> bool:
    """Whether the newest post is known: they are shown in the order of time, and the last has one."""
    rising = len(set(known)) > 1 and list(known) == sorted(known)
    return rising and posts[-1].at == known[-1]


def _shown(*snapshots: Snapshot) -> tuple[tuple[Post, ...], int]:
    """The posts of those pages that follow on each other up to the last one: of pages that were left out in
    between nobody knows when they were written. None where those before it say later things: then what is the
    newest was not looked at. And how many pages there are, where some were left out."""
    read = [leaf for snapshot in snapshots for leaf in thread.read(snapshot).leaves]
    leaves = list({leaf.url: leaf for leaf in read}.values())  # a page that was read twice, as it is now
    breaks = [i for i, (before, leaf) in enumerate(pairwise(leaves), 1) if not _follows(before, leaf)]
    last = breaks[-1] if breaks else 0
    posts = {post.key: post for leaf in leaves[last:] for post in leaf.posts}
    if _newest_at(post for leaf in leaves[:last] for post in leaf.posts) > _newest_at(posts.values()):
        return (), 0
    return tuple(posts.values()), leaves[-1].number if last else 0


def _follows(before: Leaf, leaf: Leaf) -> bool:
    return leaf.url == before.next_url or 0 < before.number == leaf.number - 1


def _newest_at(posts: Iterable[Post]) -> float:
    return max((post.at for post in posts if not isnan(post.at)), default=-inf)
