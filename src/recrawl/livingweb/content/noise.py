"""What differs from answer to answer although nothing changed.

Writers leave slots; `filled` fills them from the number of the request and the time of the answer.
"""

from __future__ import annotations

from email.utils import formatdate

from recrawl.livingweb.content.scene import iso
from recrawl.livingweb.content.words import draws, sentence
from recrawl.livingweb.kinds import Form, Markup, Noise
from recrawl.livingweb.script import Document

_HIDDEN = "\x01"
_VISIBLE = "\x02"
_VIEWED = "\x03"
_ONLINE = "\x04"


def hidden(document: Document, calm: str = "") -> str:
    """A slot where no reader looks, or `calm` where this document is not noisy in that way."""
    return _HIDDEN if document.noise is Noise.HIDDEN else calm


def visible(document: Document, calm: str = "") -> str:
    return _VISIBLE if document.noise.seen else calm


def viewed(document: Document, calm: str) -> str:
    """Forum software: a counter that every request moves."""
    return _VIEWED if document.noise.seen else calm


def online(document: Document, calm: str) -> str:
    """Forum software: how many others are there."""
    return _ONLINE if document.noise.seen else calm


def filled(body: bytes, document: Document, key: str, n_request: int, now: float) -> bytes:
    """The answer to the `n_request`-th request for this document."""
    if document.noise is Noise.HIDDEN:
        return body.replace(_HIDDEN.encode(), _unread(document.form, key, n_request).encode())
    if document.noise.seen and document.markup is not Markup.PLAIN:
        n_online = 2 + draws("online", key, n_request)[0]
        return body.replace(_VIEWED.encode(), str(340 + n_request).encode()).replace(
            _ONLINE.encode(), str(n_online).encode()
        )
    if document.noise.seen:
        return body.replace(_VISIBLE.encode(), _read(document, key, n_request, now).encode())
    return body


def _unread(form: Form, key: str, n_request: int) -> str:
    token = draws("nonce", key, n_request)
    match form:
        case Form.JSON | Form.SPARQL:
            return "".join(" \n"[byte & 1] for byte in token[:16])
        case Form.CSV:
            return '"' * (n_request % 2)  # all cells of the header quoted, or none
        case _:
            return token[:8].hex()


def _read(document: Document, key: str, n_request: int, now: float) -> str:
    match document.noise:
        case Noise.CLOCK:
            return f"Made at {iso(now)[:16]}"
        case Noise.AGE:
            return f"Last looked at {max(2, int(now / 3600) % 23)} hours ago"
        case Noise.NONCE:
            return f"Request {draws('nonce', key, n_request)[:8].hex()}"
        case Noise.COUNTER:
            return f"You are visitor {n_request}"
        case Noise.ADVERT:
            return sentence("advert", key, n_request)
        case Noise.FLAP:
            return sentence("flap", key, draws("flap", key, n_request)[0] & 1)
    match document.form:
        case Form.RSS:
            return formatdate(now, usegmt=True)
        case Form.ATOM:
            return iso(now)
        case Form.JSON:
            return f"{iso(now)}, request {n_request}"
        case _:
            advert = sentence("advert", key, n_request)
            return f"Made at {iso(now)} for visitor {n_request}. Advertisement: {advert}"
