"""What every handler must do. For plug-in authors: await each of `CHECKS` on a function that makes yours out
of premises, and on a request for a resource that it can look at. The web of these checks is always in
trouble, so nothing need be there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf

from recrawl.contracts import Handler, Premises
from recrawl.model import Access, Failure, Fetch, Kind, Manner, Outcome, Request

MakeHandler = Callable[[Premises], Handler]
_LATER_AT = 4_000_000_000.0


class _Stopped:
    """A clock that stands still."""

    speed = 1.0

    def now(self) -> float:
        return 1_800_000_000.0

    async def sleep(self, seconds: float) -> None:
        """Nothing here takes time."""


@dataclass
class TroubledWeb:
    """Answers 503 to everything, and remembers what it was asked."""

    asked: list[Request] = field(default_factory=list)

    async def fetch(self, request: Request) -> Fetch:
        self.asked.append(request)
        return Fetch(
            request=request,
            outcome=Outcome.HTTP_ERROR,
            url=request.url,
            started_at=1_800_000_000.0,
            ended_at=1_800_000_000.0,
            status=503,
            http_reason="Busy",
            failure=Failure(reason="http-503", detail="Busy"),
            wait_s=77.0,
        )


def premises() -> Premises:
    return Premises(clock=_Stopped(), max_bytes=2**20, total_s=10.0)


async def looked(make: MakeHandler, request: Request) -> tuple[Fetch, TroubledWeb]:
    web, handler = TroubledWeb(), make(premises())
    try:
        return await handler.fetch(request, web), web
    finally:
        await handler.aclose()


async def check_it_claims_what_can_be_claimed(make: MakeHandler, request: Request) -> None:
    """Something, but neither the whole web nor everything whose kind is not known; and this request."""
    handler = make(premises())
    await handler.aclose()
    assert handler.schemes or handler.kinds or handler.media_types
    assert not handler.schemes & {"http", "https"}
    assert Kind.AUTO not in handler.kinds
    scheme = request.url.partition(":")[0]
    by_kind = request.kind in handler.kinds or request.media_type in handler.media_types
    assert scheme in handler.schemes or by_kind


async def check_trouble_on_the_web_comes_back_as_a_failure(make: MakeHandler, request: Request) -> None:
    """It tells nothing about the resource, and how long the host is to be left alone is passed on."""
    fetch, web = await looked(make, request)
    if web.asked:
        assert not fetch.outcome.informative
        assert fetch.failure is not None
        assert fetch.wait_s >= 77.0
    assert fetch.started_at <= fetch.ended_at


async def check_permissions_are_passed_on_as_they_are(make: MakeHandler, request: Request) -> None:
    """A handler gives the web neither more leave than it has nor less."""
    given = replace(
        request,
        access=Access(bearer="token"),
        manner=replace(request.manner, user_agent="somebody/1.0", insecure=True),
        not_after_at=_LATER_AT,
    )
    for allow_private in (False, True):
        _, web = await looked(make, replace(given, allow_private=allow_private))
        for asked in web.asked:
            assert asked.allow_private is allow_private
            assert asked.access == given.access
            assert (asked.manner.user_agent, asked.manner.insecure) == ("somebody/1.0", True)
            assert asked.not_after_at == _LATER_AT < inf


async def check_nonsense_is_a_value(make: MakeHandler, request: Request) -> None:
    scheme = request.url.partition(":")[0]
    for url in (f"{scheme}:", f"{scheme}://", f"{scheme}://\x00 \\?query=%zz", f"{scheme}:///../%2f"):
        fetch, _ = await looked(make, replace(request, url=url))
        assert not fetch.outcome.informative
        assert fetch.failure is not None


async def check_it_can_be_closed_twice(make: MakeHandler, request: Request) -> None:  # noqa: ARG001
    handler = make(premises())
    await handler.aclose()
    await handler.aclose()


async def check_two_requests_know_nothing_of_each_other(make: MakeHandler, request: Request) -> None:
    web, handler = TroubledWeb(), make(premises())
    first = await handler.fetch(request, web)
    await handler.fetch(replace(request, manner=Manner(user_agent="other/1.0")), web)
    again = await handler.fetch(request, web)
    await handler.aclose()
    assert (first.outcome, first.failure) == (again.outcome, again.failure)


CHECKS = [
    check_it_claims_what_can_be_claimed,
    check_trouble_on_the_web_comes_back_as_a_failure,
    check_permissions_are_passed_on_as_they_are,
    check_nonsense_is_a_value,
    check_it_can_be_closed_twice,
    check_two_requests_know_nothing_of_each_other,
]
