"""When things were said that a visit found, where it finds out.

That nobody spoke after the newest moment is learned too. So nothing is told of moments where somebody may
have: where a visit did not come to the end of a thread, or found posts whose time it does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from math import inf, isnan, nan, nextafter

from recrawl.contracts import Detector
from recrawl.detect import thread
from recrawl.model import MOST_MOMENTS, Fetch, Leaf, Post, Snapshot, Visit
from recrawl.parse.dates import EARLIEST_AT
from recrawl.parse.pool import ParseFailed, shared

# Many sites tell times to the minute, and clocks differ by less than that: so far outside its gap, what is
# new was said just at its edge.
NEAR_S = 60.0


def timed(visit: Visit, said_at: Sequence[float], fetch: Fetch) -> Visit:
    """The visit, with the moments of what is new."""
    moments = () if fetch.failure is not None else _moments(said_at, visit.since_at, visit.at)
    return replace(visit, moments=moments, event_at=moments[-1]) if moments else visit


def with_past(visit: Visit, detector: Detector, after: Snapshot, fetch: Fetch) -> Visit:
    """A first visit, with the moments of all posts or entries that are shown: a thread has a past to learn
    from, and so has a feed."""
    if fetch.failure is not None:
        return visit
    # Whoever knows when all that it shows was said has this method.
    past: Callable[[Snapshot], tuple[float, ...]] | None = getattr(detector, "past", None)
    if past is not None:
        return _showing(visit, past(after), ("entry", "entries"))
    return _past(visit, after) if detector.name == "thread" else visit


def with_rest(visit: Visit, earlier: Snapshot, after: Snapshot, fetch: Fetch) -> Visit:
    """The visit that came to the end of a thread which the first one did not read to its end: the past is
    learned now, as far as this visit and the one before it have read it. As at a first visit, there is
    nothing that it goes on from."""
    if fetch.failure is not None:
        return visit
    whole = _past(replace(visit, since_at=nan), earlier, after)
    return whole if whole.moments else visit


def _past(visit: Visit, *snapshots: Snapshot) -> Visit:
    shown = shared().run(_shown, *(replace(one, memo=None) for one in snapshots))
    posts, n_pages = ((), 0) if isinstance(shown, ParseFailed) else shown
    pages = f"{n_pages:,} pages, of which the last have " if n_pages else ""
    found = _showing(visit, _since_coarse(posts), ("post", "posts"), pages)
    if found.moments or not posts:
        return found
    n = f"{len(posts):,} {'post' if len(posts) == 1 else 'posts'}"
    return replace(visit, evidence=f"{visit.evidence}; {pages}{n}, and nobody knows when the newest was said")


def _since_coarse(posts: Sequence[Post]) -> list[float]:
    """When each was said, but for the newest whose time is too coarse to learn from and all before it: a past
    begins where it is known."""
    coarse_at = _newest_at(post for post in posts if isnan(post.moment_at))
    return [post.at for post in posts if not post.at <= coarse_at]


def _showing(visit: Visit, said_at: Sequence[float], nouns: tuple[str, str], pages: str = "") -> Visit:
    moments = _moments(said_at, visit.since_at, visit.at)
    if not moments:
        return visit
    n = f"{len(moments):,} {nouns[len(moments) > 1]}"
    since = f"since {datetime.fromtimestamp(moments[0], UTC):%Y-%m-%d}"
    return replace(visit, moments=moments, evidence=f"{visit.evidence}; {pages}{n} {since}")


def _moments(said_at: Sequence[float], since_at: float, at: float) -> tuple[float, ...]:
    """Within `(since_at, at]`, ascending; of very many the newest. Of a first visit all that came before."""
    last_at = at + NEAR_S
    # Not in the future, nor before anything can have been said, nor nobody knows when.
    known = [one for one in said_at if EARLIEST_AT <= one <= last_at]
    if len(known) < len(said_at) and not (isnan(since_at) and _settled(said_at, known)):
        return ()
    first_at = -inf if isnan(since_at) else nextafter(since_at, inf)
    near = (one for one in known if first_at - NEAR_S <= one)
    return tuple(sorted(min(max(one, first_at), at) for one in near)[-MOST_MOMENTS:])


def _settled(said_at: Sequence[float], known: Sequence[float]) -> bool:
    """Whether the newest is known: they are shown in the order of time, and the last has one."""
    rising = len(set(known)) > 1 and list(known) == sorted(known)
    return rising and said_at[-1] == known[-1]


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
