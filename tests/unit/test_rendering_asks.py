"""What a rendered page's scripts may ask for, and with whose leave."""

from __future__ import annotations

import asyncio

import pytest

from recrawl.model import Access, Fetch, Outcome, Request
from recrawl.observe.browser import _asking

HOME = Request(url="https://example.org/page", allow_private=True, access=Access(bearer="secret"))


class Recording:
    """A web that answers nothing, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    async def fetch(self, request: Request) -> Fetch:
        self.asked.append(request)
        return Fetch(request=request, outcome=Outcome.OK, url=request.url, started_at=0.0, ended_at=0.0)


@pytest.mark.parametrize(
    ("url", "reader", "at_home"),
    [
        ("https://example.org/data.json", "https://example.org/page", True),
        ("http://example.org/data.json", "https://example.org/page", False),  # the same host, in the clear
        ("https://example.org:8443/data.json", "https://example.org/page", False),
        ("https://other.example/data.json", "https://example.org/page", False),
        ("https://example.org/data.json", "https://other.example/frame", False),
        ("nonsense", "https://example.org/page", False),
    ],
)
def test_leave_and_secrets_hold_for_the_resource_s_own_origin(url: str, reader: str, at_home: bool) -> None:
    web = Recording()

    async def ask() -> None:
        await _asking(HOME, web, [])(url, "*/*", reader)

    asyncio.run(ask())
    (asked,) = web.asked
    assert asked.allow_private is at_home
    assert asked.access is not None
    assert (asked.access.bearer == "secret") is at_home
