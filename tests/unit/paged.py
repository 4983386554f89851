"""A thread in pages, on a forum that answers from memory, and a visit to it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace

from recrawl.contracts import Premises
from recrawl.live.clock import WallClock
from recrawl.model import Failure, Fetch, Hop, Kind, Outcome, Request
from recrawl.observe.threads import ThreadHandler
from recrawl.parse import threads

HOST = "http://forum.example"
THREAD = f"{HOST}/threads/7/"
HTML = "text/html; charset=utf-8"


def url(page: int) -> str:
    return THREAD if page == 1 else f"{THREAD}page-{page}"


def page_of(numbers: range, *, page: int, n_pages: int, next_url: str = "") -> bytes:
    posts = "".join(
        f'<article class="message" data-author="Ada" data-content="post-{n}" id="js-post-{n}">'
        f'<time datetime="2026-01-01T{n // 60 % 24:02}:{n % 60:02}:00+0000">then</time>'
        f'<article class="message-body"><div class="bbWrapper">Words of post {n}.</div></article></article>'
        for n in numbers
    )
    after = next_url or (url(page + 1) if page < n_pages else "")
    links = f'<a href="{after}" class="pageNav-jump pageNav-jump--next">Next</a>' if after else ""
    items = "".join(
        f'<li class="pageNav-page{" pageNav-page--current" if p == page else ""}">'
        f'<a href="{url(p)}">{p}</a></li>'
        for p in sorted({1, page, n_pages})
    )
    nav = f'<div class="pageNav"><ul class="pageNav-main">{items}</ul>{links}</div>'
    return f'<html id="XF"><body>{nav}{posts}</body></html>'.encode()


@dataclass
class Forum:
    """Answers from memory; one second passes with every request."""

    n_posts: int
    per_page: int = 5
    answers: dict[str, Fetch] = field(default_factory=dict)  # in place of what is there
    asked: list[Request] = field(default_factory=list)
    etag: bool = False

    @property
    def n_pages(self) -> int:
        return -(-self.n_posts // self.per_page)

    def body(self, page: int) -> bytes:
        first = (page - 1) * self.per_page
        numbers = range(first, min(first + self.per_page, self.n_posts))
        return page_of(numbers, page=page, n_pages=self.n_pages)

    def tag(self, page: int) -> str:
        return f'"{page}-{len(self.body(page))}"'

    async def fetch(self, request: Request) -> Fetch:
        self.asked.append(request)
        at = 1_800_000_000.0 + len(self.asked)
        if known := self.answers.get(request.url):
            return replace(known, request=request, started_at=at - 1.0, ended_at=at)
        for page in range(1, self.n_pages + 1):
            if url(page) == request.url:
                break
        else:
            return replace(refusal(404), request=request, url=request.url, started_at=at - 1.0, ended_at=at)
        tag = self.tag(page)
        if self.etag and request.etag == tag:
            status, outcome, body = 304, Outcome.NOT_MODIFIED, b""
        else:
            status, outcome, body = 200, Outcome.OK, self.body(page)
        headers = (("Content-Type", HTML), *([("ETag", tag)] if self.etag else []))
        return Fetch(
            request=request,
            outcome=outcome,
            url=request.url,
            started_at=at - 1.0,
            ended_at=at,
            status=status,
            headers=headers,
            body=body,
            wait_s=3.0,
        )

    @property
    def pages_asked(self) -> list[int]:
        pages = {url(page): page for page in range(1, 30_000)}
        return [pages.get(request.url, 0) for request in self.asked]


def refusal(status: int, outcome: Outcome | None = None, reason: str = "", wait_s: float = 0.0) -> Fetch:
    gone = Outcome.GONE if status in (404, 410) else Outcome.HTTP_ERROR
    return Fetch(
        request=Request(url=THREAD),
        outcome=outcome or gone,
        url=THREAD,
        started_at=0.0,
        ended_at=0.0,
        status=None if reason else status,
        failure=Failure(reason=reason or f"http-{status}"),
        wait_s=wait_s,
    )


def answered(body: bytes, *, at: str = THREAD, hops: tuple[Hop, ...] = ()) -> Fetch:
    return Fetch(
        request=Request(url=at),
        outcome=Outcome.OK,
        url=at,
        started_at=0.0,
        ended_at=0.0,
        status=200,
        headers=(("Content-Type", HTML), ("ETag", '"x"')),
        body=body,
        hops=hops,
    )


def visited(forum: Forum, request: Request | None = None, *, max_bytes: int = 2**20) -> Fetch:
    handler = ThreadHandler(Premises(clock=WallClock(), max_bytes=max_bytes, total_s=10.0))
    return asyncio.run(handler.fetch(request or ASKED, forum))


ASKED = Request(url=THREAD, kind=Kind.THREAD)


def resumed(page: int, **said: str) -> Request:
    return replace(ASKED, resume_url=url(page), **said)  # type: ignore[arg-type]


def numbers(fetch: Fetch) -> list[int]:
    """The posts of a body, whatever it is made of."""
    found = threads.pages(bytes(fetch.body), fetch.media_type, None, fetch.url)
    leaves = [threads.leaf(one.body, one.media_type, one.charset, one.url, 2e9) for one in found]
    return [int(post.key) for leaf in leaves for post in leaf.posts]
