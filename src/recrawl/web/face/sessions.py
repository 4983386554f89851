"""What a browser is given once it has shown a token: a signed cookie, and a word that forms repeat. Pure."""

from __future__ import annotations

import hmac
import secrets
from base64 import urlsafe_b64encode
from hashlib import sha256

from recrawl.model import DAY_S

LASTS_S = 7 * DAY_S
_MAX = 400  # characters of a cookie that is worth reading


def opened(digest: str, key: bytes, now: float) -> str:
    """A session of whoever has the token with this digest, as it stands in a cookie. It is the token's, not
    its name's: another one of the same name opens nothing that was opened with this."""
    said = f"{int(now + LASTS_S)}.{secrets.token_urlsafe(16)}.{digest}"
    return f"{said}.{_signed(said, key, b'session')}"


def holder(cookie: str, key: bytes, now: float) -> str | None:
    """The digest of the token it was opened with; None: it is none of ours, or over."""
    said, _, signature = cookie.rpartition(".")
    if (
        len(cookie) > _MAX
        or not cookie.isascii()
        or not hmac.compare_digest(_signed(said, key, b"session"), signature)
    ):
        return None
    until, _, digest = said.split(".")
    return None if int(until) < now else digest


def word(cookie: str, key: bytes) -> str:
    """What a form must repeat: a page elsewhere can send a form here, and cannot know this."""
    return _signed(cookie, key, b"form")


def _signed(said: str, key: bytes, purpose: bytes) -> str:
    return _packed(hmac.digest(key, purpose + b"\0" + said.encode("utf-8", "replace"), sha256))


def _packed(data: bytes) -> str:
    return urlsafe_b64encode(data).decode().rstrip("=")
