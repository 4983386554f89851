"""Mails out of an mbox file, one at a time, however large or hostile the file is.

Of each, only what threads are made of is kept: some fields, and so much of the body as anybody reads.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.errors import HeaderParseError
from email.header import decode_header
from email.utils import parseaddr, parsedate_tz
from pathlib import Path

from recrawl.corpora.sources.lines import Flaw, lines, too_long
from recrawl.corpora.sources.moments import within
from recrawl.parse import charset, html
from recrawl.parse.pool import ParseFailed

MAX_TEXT_CHARS = 100_000
_MAX_HEAD_BYTES = 1 << 16
_MAX_BODY_BYTES = 1 << 20
_MAX_FIELD_CHARS = 1 << 14
_MAX_DEPTH = 8  # parts within parts
_MAX_PARTS = 50
_MAX_NAMES = 100  # of other mails, in one
_MAX_ZONE_S = 14 * 3600
_DAY_S = 86_400.0
_FIRST_AT = 315_532_800.0  # 1980: no mail is older, but many a clock is
_WANTED = frozenset(
    {"message-id", "in-reply-to", "references", "subject", "from", "date", "content-type",
     "content-transfer-encoding"}
)  # fmt: skip
# A line between two mails ends with a date; one in a text that was not escaped seldom does.
_BETWEEN = re.compile(rb"From .{0,300}\d\d?:\d\d(?::\d\d)?.{0,20} \d{4}(?: .{0,20})?")
_ESCAPED = re.compile(rb">+From ")
_NAME = re.compile(r"<([^<>\s]{1,250})>")
_REPLY = re.compile(
    r"\s*(?:\[[^\]]{0,100}\]\s*)*(?:(?:re|aw|sv|antw|fwd?|wg)(?:\[\d+\]|\^\d+)?\s*:\s*(?:\[[^\]]{0,100}\]\s*)*)*",
    re.I,
)
_ZONED = re.compile(r"\d:\d\d(?::\d\d)?\s+(?!\d{4}\b)\S")
_PARAMETER = r"\b{}\s*=\s*(?:\"([^\"]{{1,200}})\"|([^\s;\"]{{1,200}}))"
_BOUNDARY = re.compile(_PARAMETER.format("boundary"), re.IGNORECASE)
_CHARSET = re.compile(_PARAMETER.format("charset"), re.IGNORECASE)
_OBSCURED = re.compile(r".{1,200}? at \S{1,200} \((.{1,200})\)")  # as Mailman's web archives write senders


@dataclass(slots=True)
class Mail:
    """`envelope` is the line before it, without "From "."""

    line: int
    envelope: str = ""
    fields: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def name(self) -> str:
        """Its Message-ID; empty where it has none."""
        return next(iter(_NAME.findall(self.fields.get("message-id", ""))), "")

    @property
    def answers(self) -> list[str]:
        """The names of the mails that it goes back to."""
        said = self.fields.get("references", "") + " " + self.fields.get("in-reply-to", "")
        return _NAME.findall(said)[-_MAX_NAMES:]

    @property
    def subject(self) -> str:
        return decoded(self.fields.get("subject", ""))

    @property
    def user(self) -> str | None:
        """Who wrote it: a name or, where there is none, what stands before the @."""
        said = decoded(self.fields.get("from", ""))[:500]
        obscured = _OBSCURED.fullmatch(said)
        name, address = (obscured[1], "") if obscured else parseaddr(said)
        return name.strip() or re.split(r"@| at ", address or said)[0].strip() or None


def mails(path: Path, *, bodies: bool = True) -> Iterator[Mail | tuple[int, Flaw]]:
    """Every mail of a file, plain or packed, with its body or without; a flaw, with its line, where the file
    is damaged."""
    most = _MAX_BODY_BYTES if bodies else 0
    mail: Mail | None = None
    body: list[bytes] = []
    n_head = n_body = 0
    in_head, blank, last = False, True, ""
    for number, line in lines(path):
        if isinstance(line, Flaw):
            if line != too_long():
                yield number, line
            blank = False
            continue  # a line of a MiB is no field, and nothing to read
        if blank and line.startswith(b"From ") and _BETWEEN.match(line):
            if mail is not None:
                mail.body = b"\n".join(body)
                yield mail
            mail = Mail(number, line[5:].decode("latin-1"))
            body, n_head, n_body, in_head, last = [], 0, 0, True, ""
        elif mail is None:
            if line.strip():
                yield number, Flaw("not an mbox file: it does not begin with a line 'From …'")
                return
        elif in_head:
            in_head = bool(line)
            n_head += len(line)
            if in_head and n_head <= _MAX_HEAD_BYTES:
                last = _take(mail.fields, line, last)
        elif n_body < most:
            body.append(line[1:] if line[:1] == b">" and _ESCAPED.match(line) else line)
            n_body += len(line) + 1
        blank = not line
    if mail is not None:
        mail.body = b"\n".join(body)
        yield mail


def _take(fields: dict[str, str], line: bytes, last: str) -> str:
    """Put a line of the head down; the field that the next line may go on with."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        text = line.decode("latin-1")
    if text[:1] in (" ", "\t"):
        if last and len(fields[last]) < _MAX_FIELD_CHARS:
            fields[last] += " " + text.strip()
        return last
    name, _, value = text.partition(":")
    name = name.strip().lower()
    if name not in _WANTED or name in fields:
        return ""
    fields[name] = value.strip()[:_MAX_FIELD_CHARS]
    return name


def dated(mail: Mail) -> tuple[float | None, str]:
    """When it was sent, and what had to be mended; None where nobody can tell.

    The line before it says when it was delivered. That stands in for a date that is missing, cannot be read,
    lies before there was mail, or after the delivery.
    """
    sent_at, note = _moment(mail.fields.get("date", ""))
    delivered_at, _ = _moment(re.sub(r"^\S+(?: at \S+)?\s+", "", mail.envelope))
    if delivered_at is not None and (sent_at is None or sent_at > delivered_at + 2 * _DAY_S):
        return delivered_at, "dated by their delivery, since their own date is missing or impossible"
    return sent_at, note


def _moment(text: str) -> tuple[float | None, str]:
    try:
        found = parsedate_tz(text[:200])
        if found is None:
            return None, ""
        zone_s = found[9] or 0
        known = _ZONED.search(text) is not None and abs(zone_s) <= _MAX_ZONE_S
        year, month, day, hour, minute, second = found[:6]
        moment = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC)
        at = within(moment.timestamp() - (zone_s if known else 0))
    except (ValueError, OverflowError, TypeError, IndexError):
        return None, ""
    if at < _FIRST_AT:
        return None, ""
    return at, "" if known else "that name no time zone that there is, read as UTC"


def topic(subject: str) -> tuple[str, bool]:
    """What a subject is about, and whether it says that it answers.

    >>> topic("Re: [list] AW:  Hello  World"), topic("Hello")
    (('hello world', True), ('hello', False))
    """
    found = _REPLY.match(subject)
    head = found[0] if found else ""
    return " ".join(subject[len(head) :].lower().split()), ":" in head


def decoded(text: str) -> str:
    """A field with its encoded words read: =?utf-8?q?caf=C3=A9?="""
    if "=?" not in text:
        return " ".join(text.split())
    try:
        parts = decode_header(text[:2_000])
    except (HeaderParseError, binascii.Error, ValueError):
        return " ".join(text.split())
    words = [
        part if isinstance(part, str) else part.decode(charset.codec(said) or "latin-1", "replace")
        for part, said in parts
    ]
    return " ".join("".join(words).split())


def text(mail: Mail) -> str:
    """What there is to read in it: its plain text, else what a page in it says."""
    plain, page = _readable(mail.fields, mail.body, 0)
    found = plain or page or ""
    return found.strip()[:MAX_TEXT_CHARS]


def _readable(fields: dict[str, str], body: bytes, depth: int) -> tuple[str | None, str | None]:
    said = fields.get("content-type", "") or "text/plain"
    kind = said.partition(";")[0].strip().lower()
    if kind.startswith("multipart/"):
        found = _BOUNDARY.search(said)
        if found is None or depth == _MAX_DEPTH:
            return None, None
        return _within(body, (found[1] or found[2]).encode("utf-8", "replace"), depth)
    if kind not in ("text/plain", "text/html", "text"):
        return None, None
    data = _unpacked(body, fields.get("content-transfer-encoding", "").strip().lower())
    found = _CHARSET.search(said)
    label = (found[1] or found[2]) if found else None
    if kind == "text/html":
        read = html.text(data, label)
        return None, None if isinstance(read, ParseFailed) else read
    return data.decode(charset.codec(label) or charset.detected(data), "replace"), None


def _within(body: bytes, boundary: bytes, depth: int) -> tuple[str | None, str | None]:
    """The first plain text among the parts, and the first page."""
    page: str | None = None
    for part in (b"\n" + body).split(b"\n--" + boundary, _MAX_PARTS)[1:]:
        if part.startswith(b"--"):
            break
        head, _, rest = part.partition(b"\n")[2].partition(b"\n\n")
        fields: dict[str, str] = {}
        last = ""
        for line in head[:_MAX_HEAD_BYTES].split(b"\n"):
            last = _take(fields, line, last)
        plain, other = _readable(fields, rest, depth + 1)
        if plain is not None:
            return plain, None
        page = page or other
    return None, page


def _unpacked(body: bytes, coding: str) -> bytes:
    try:
        if coding == "base64":
            return binascii.a2b_base64(body)
        if coding == "quoted-printable":
            return binascii.a2b_qp(body)
    except binascii.Error:
        return b""
    return body
