"""Letters on their way: webhooks by ourselves, all else through Apprise. What goes wrong is a value."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from yarl import URL

from recrawl.model import Failure
from recrawl.notify.forms import document
from recrawl.notify.letter import Letter
from recrawl.notify.recipient import Recipient
from recrawl.notify.signing import signed
from recrawl.observe.exchange import Exchange, Reply
from recrawl.observe.limits import Limits
from recrawl.observe.question import Question

WITHIN_S = 20.0  # for a webhook, on the wall
_WHY = {
    "private-address": "its address is not public; say --allow-private where you add it, if you mean that",
    "dns": "its name is not known",
    "tls": "its certificate does not hold",
    "connect": "it cannot be reached",
    "timeout": "it did not answer in time",
}  # without details: those could quote the address


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """What became of a letter; `why` is empty where it was delivered. It holds nothing that is secret."""

    why: str = ""
    rest_s: float = 0.0  # how long the other side asked to be left alone

    @property
    def delivered(self) -> bool:
        return not self.why


class Sender:
    """Sends letters, to several recipients at once where asked to. Used within one event loop."""

    def __init__(self, *, user_agent: str, now: Callable[[], float]) -> None:
        self._user_agent = user_agent
        self._now = now
        self._exchange = Exchange(Limits(first_byte_s=WITHIN_S, total_s=WITHIN_S))

    async def send(self, recipient: Recipient, letter: Letter) -> Sent:
        if recipient.webhook:
            return await self._post(recipient, letter)
        from recrawl.live import services

        return Sent(why=await _beside(lambda: services.send(recipient, letter)))

    async def aclose(self) -> None:
        await self._exchange.aclose()

    async def _post(self, recipient: Recipient, letter: Letter) -> Sent:
        body = json.dumps(document(letter), ensure_ascii=True, allow_nan=False)
        headers = {
            "User-Agent": self._user_agent,
            "Content-Type": "application/json",
            "Accept": "*/*",
            **signed(recipient.secret, letter.id, self._now(), body.encode()),
        }
        question = Question(
            url=URL(recipient.url), headers=headers, form=body, allow_private=recipient.allow_private
        )
        reply, _ = await self._exchange.ask(
            question, within_s=WITHIN_S, wants_body=lambda _: False, wire_bytes=0
        )
        return _sent(reply)


async def _beside(function: Callable[[], str]) -> str:
    """In a thread that keeps no process from ending, however long it takes."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str] = loop.create_future()

    def answered(why: str) -> None:
        if not answer.done():
            answer.set_result(why)

    def run() -> None:
        why = function()
        with suppress(RuntimeError):  # whoever asked is gone
            loop.call_soon_threadsafe(answered, why)

    threading.Thread(target=run, name="recrawl-service", daemon=True).start()
    return await answer


def _sent(reply: Reply | Failure) -> Sent:
    if isinstance(reply, Failure):
        return Sent(why=_WHY.get(reply.reason, "the connection broke off"))
    if 200 <= reply.status < 300:
        return Sent()
    if 300 <= reply.status < 400:
        return Sent(why=f"it answered {reply.status}, and nobody is followed elsewhere; give its new address")
    asked = (reply.header("retry-after") or "").strip()
    rest_s = float(asked) if asked.isascii() and asked.isdigit() and len(asked) < 8 else 0.0
    return Sent(why=f"it answered {reply.status}", rest_s=rest_s)
