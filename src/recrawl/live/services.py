"""Apprise, which knows a hundred services, in a process of its own.

It connects by itself, so that process asks before every connection, as our own connector does. It can be
ended when it takes too long, and what it logs stays there: that may quote an address with its key.
"""

from __future__ import annotations

import atexit
import logging
import re
import socket
import sys
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from recrawl import __version__
from recrawl.errors import UnknownPartError
from recrawl.notify.forms import Form, body
from recrawl.notify.letter import Letter, subject
from recrawl.notify.recipient import Recipient
from recrawl.observe.shield import PrivateAddressError, public
from recrawl.parse.pool import ParseFailed, Pool

LIMIT_S = 60.0
PRIVATE = "its address is not public; say --allow-private where you add it, if you mean that"
_UNKNOWN = "Apprise knows no such address"
# They show Markdown whatever they are told the form is.
_MARKDOWN = frozenset({"mmost", "mmosts", "zulip"})
_ANSWERED = re.compile(r"error=([1-5][0-9][0-9])\b")

_pool: Pool | None = None


def installed() -> bool:
    return find_spec("apprise") is not None


def needed() -> None:
    if not installed():
        raise UnknownPartError(
            "Services other than webhooks are told through Apprise, which is not installed; "
            "run `pip install 'recrawl[notify]'`."
        )


def known(recipient: Recipient) -> bool:
    """Whether Apprise knows what to do with this address; nothing is sent."""
    return _ask(_known, recipient.url) is True


def send(recipient: Recipient, letter: Letter) -> str:
    """Why it was not delivered; empty where it was."""
    if not installed():
        return "Apprise is not installed; run `pip install 'recrawl[notify]'`"
    bodies = {form.value: body(letter, form) for form in Form}
    why = _ask(_send, recipient.url, subject(letter), bodies, recipient.allow_private)
    return why if isinstance(why, str) else "it did not answer in time"


def _ask(function: Any, *args: Any) -> object:
    global _pool
    if _pool is None:
        _pool = Pool(n_workers=2, limit_s=LIMIT_S)
        atexit.register(_pool.close)
    answer = _pool.run(function, *args)
    return None if isinstance(answer, ParseFailed) else answer  # its detail may quote what was given


# -- in the other process --------------------------------------------------------------------------------


class _Answers(logging.Handler):
    """The last status that a service answered with; all else that is logged is forgotten."""

    last = ""

    def emit(self, record: logging.LogRecord) -> None:
        if found := _ANSWERED.search(record.getMessage()):
            self.last = found[1]


_answers = _Answers()
_allowed = False
_refused = False
_watching = False


def _watch(event: str, args: tuple[Any, ...]) -> None:
    """Told of every connection before it is made, whoever makes it."""
    global _refused
    if _allowed or event not in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        return
    address = args[1]
    if not (isinstance(address, tuple) and public(str(address[0]).partition("%")[0])):
        _refused = True
        raise PrivateAddressError("this")


def _known(url: str) -> bool:
    return _service(url) is not None


def _service(url: str) -> Any:
    import apprise

    logger = logging.getLogger("apprise")
    logger.handlers, logger.propagate = [_answers], False
    asset = apprise.AppriseAsset(
        app_id=f"recrawl/{__version__}", app_desc="recrawl", async_mode=False, secure_logging=True
    )
    return apprise.Apprise.instantiate(url, asset=asset, suppress_exceptions=True)


def _send(url: str, title: str, bodies: Mapping[str, str], allow_private: bool) -> str:
    import apprise

    global _allowed, _refused, _watching
    if not _watching:
        sys.addaudithook(_watch)
        socket.setdefaulttimeout(LIMIT_S / 3)
        _watching = True
    _allowed, _refused = allow_private, False
    service = _service(url)
    if service is None:
        return _UNKNOWN
    form, content = _form(service, url.partition("://")[0].lower(), bodies)
    everyone = apprise.Apprise()
    everyone.add(service)
    _answers.last = ""
    if everyone.notify(body=content, title=title, body_format=form):
        return ""
    if _refused:
        return PRIVATE
    return f"the service answered {_answers.last}" if _answers.last else "the service did not take it"


def _form(service: Any, scheme: str, bodies: Mapping[str, str]) -> tuple[str, str]:
    """What is sent as what: Markdown or HTML where the service shows it, else plain text."""
    shows = service.notify_format
    offered = [str(one.value) for one in (shows if isinstance(shows, tuple) else (shows,))]
    if scheme in _MARKDOWN:
        return Form.TEXT, bodies[Form.MARKDOWN]
    chosen = offered[0]
    if chosen == Form.TEXT and Form.MARKDOWN in offered:
        chosen = Form.MARKDOWN
    return chosen, bodies[chosen]
