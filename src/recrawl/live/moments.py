"""When things were said that a visit found, where it finds out.

Nothing is told of moments where a visit did not come to the end of a thread: somebody may have spoken since.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from math import inf, isnan, nextafter

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
    found = shared().run(_shown, replace(after, memo=None))
    moments = () if isinstance(found, ParseFailed) else _moments(found, visit.since_at, visit.at)
    if not moments:
        return visit
    n = f"{len(moments):,} {'post' if len(moments) == 1 else 'posts'}"
    since = f"since {datetime.fromtimestamp(moments[0], UTC):%Y-%m-%d}"
    return replace(visit, moments=moments, evidence=f"{visit.evidence}; {n} {since}")


def _moments(posts: Sequence[Post], since_at: float, at: float) -> tuple[float, ...]:
    """Within `(since_at, at]`, ascending; of very many the newest. Of a first visit all that came before."""
    first_at = -inf if isnan(since_at) else nextafter(since_at, inf)
    near = (post.at for post in posts if first_at - NEAR_S <= post.at <= at + NEAR_S)
    return tuple(sorted(min(max(said_at, first_at), at) for said_at in near)[-MOST_MOMENTS:])


def _shown(snapshot: Snapshot) -> tuple[Post, ...]:
    """The posts of those pages that follow on each other up to the newest one: of pages that were left out in
    between nobody knows when they were written."""
    leaves = thread.read(snapshot).leaves
    breaks = [i for i, (before, leaf) in enumerate(pairwise(leaves), 1) if not _follows(before, leaf)]
    runs = (leaves[begin:end] for begin, end in pairwise([0, *breaks, len(leaves)]))
    found = [{post.key: post for leaf in run for post in leaf.posts} for run in runs]
    return tuple(max(found, key=_newest_at).values())


def _follows(before: Leaf, leaf: Leaf) -> bool:
    return leaf.url == before.next_url or 0 < before.number == leaf.number - 1


def _newest_at(posts: dict[str, Post]) -> float:
    return max((post.at for post in posts.values() if not isnan(post.at)), default=-inf)
