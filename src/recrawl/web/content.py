"""An archived answer as it is given back: its headers under other names, its links led to what is kept."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from recrawl.model import Body, Header, Snapshot, Version
from recrawl.parse import links
from recrawl.parse.pool import ParseFailed
from recrawl.web.memento import stamp

_HTML = frozenset({"text/html", "application/xhtml+xml"})
# What a browser shows under a sandbox; anything else it would hand to a program that keeps to none.
_SHOWN = re.compile(
    r"(?:text|image|audio|video|font)/.*|application/(?:xhtml\+xml|json|xml|(?:.*\+)(?:json|xml))"
)
_TYPE = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+/[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:[ \t]*;[ -~\t]*)?")
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,200}")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
# A session that was open then may be open still.
_SECRET = frozenset({"set-cookie", "set-cookie2", "authorization", "cookie", "proxy-authenticate"})
PREFIX = "X-Archive-Orig-"
UNKNOWN_TYPE = "application/octet-stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    headers: Mapping[str, str]
    body: Body


def content(snapshot: Snapshot, version: Version, base: str, *, raw: bool) -> Content:
    """The version as it is shown; `raw`: its bytes, for programs, which a browser saves and does not show."""
    headers = original_headers(snapshot.headers)
    said = next((value for name, value in snapshot.headers if name.lower() == "content-type"), "")
    kind = said if _TYPE.fullmatch(said) else version.media_type or UNKNOWN_TYPE
    headers["Content-Type"] = kind if _TYPE.fullmatch(kind) else UNKNOWN_TYPE
    if raw or not _SHOWN.fullmatch(version.media_type):
        headers["Content-Disposition"] = "attachment"
        return Content(headers=headers, body=snapshot.body)
    if version.media_type not in _HTML and version.media_type != "text/css":
        return Content(headers=headers, body=snapshot.body)
    is_page = version.media_type in _HTML
    prefix = f"/memento/{stamp(version.at)}/"
    led = (links.page if is_page else links.sheet)(snapshot.body, snapshot.charset, base, prefix)
    if isinstance(led, ParseFailed):
        headers["X-Recrawl-Note"] = f"its links are as they were ({led.reason})"
        return Content(headers=headers, body=snapshot.body)
    headers["Content-Type"] = f"{'text/html' if is_page else 'text/css'}; charset=utf-8"
    return Content(headers=headers, body=led.encode("utf-8", "replace"))


def original_headers(said: tuple[Header, ...]) -> dict[str, str]:
    """As X-Archive-Orig-…, several of one name in one line. Nothing in them can begin another line."""
    kept: dict[str, str] = {}
    for name, value in said:
        if not _NAME.fullmatch(name) or name.lower() in _SECRET:
            continue
        name = f"{PREFIX}{name.title()}"
        value = _CONTROL.sub(" ", _characters(value)).strip()
        kept[name] = f"{kept[name]}, {value}" if name in kept else value
    return kept


def _characters(value: str) -> str:
    """A header is read byte by byte; most that are not ASCII are UTF-8, and it is sent as that."""
    try:
        return value.encode("latin-1").decode("utf-8")
    except UnicodeError:
        return value
