"""Mailing lists: mbox files, and the archives of Pipermail and MHonArc on the web."""

from __future__ import annotations

import re
from collections.abc import Iterator
from email import message_from_bytes
from email.errors import HeaderParseError
from email.header import decode_header
from email.message import Message
from email.utils import parseaddr

from selectolax.lexbor import LexborHTMLParser

from recrawl.parse import charset as charsets
from recrawl.parse import html
from recrawl.parse.threads.boards import Row
from recrawl.parse.threads.drafts import MOST_POSTS, Draft
from recrawl.parse.threads.elements import attribute, beside, digits, led, line, text

_MOST_BYTES = 4 << 20  # of one mail
# A line between two mails ends with a date; one in a text that was not escaped seldom does.
_BETWEEN = re.compile(rb"From [^\n]{0,300}[0-9]{1,2}:[0-9]{2}[^\n]{0,30} [0-9]{4}")
_MESSAGE = re.compile(r"(?:msg)?[0-9]{4,8}\.html?")
# Pipermail's index tells the time of each mail in a comment before it.
_STAMPED = re.compile(
    r"<!--[0-9]{1,4} ([0-9.-]{10,4000}) ?-->\s{0,9}<LI><A HREF=\"([0-9]{4,8}\.html)\"", re.IGNORECASE
)
_MONTH = re.compile(r"([0-9]{4}(?:-[A-Z][a-z]{2,8}|q[1-4]|[0-9]{4})?)/thread\.html")
_STAMP = re.compile(r"0*([0-9]{8,10})\.[0-9]{1,9}-")


def is_mbox(body: bytes) -> bool:
    return body.startswith(b"From ") and _BETWEEN.match(body) is not None


def drafts(body: bytes) -> list[Draft]:
    """The mails of an mbox file, in its order."""
    found: list[Draft] = []
    for mail in _mails(body):
        found.append(_draft(message_from_bytes(mail[:_MOST_BYTES])))
        if len(found) == MOST_POSTS:
            break
    return found


def _mails(body: bytes) -> Iterator[bytes]:
    """Each without the line before it."""
    begin, at = -1, 0
    while at >= 0:
        if body.startswith(b"From ", at) and _BETWEEN.match(body, at):
            if begin >= 0:
                yield body[begin:at]
            end = body.find(b"\n", at)
            begin = end + 1 if end >= 0 else len(body)
        # A mail ends with an empty line.
        blanks = [
            place for place in (body.find(b"\n\nFrom ", at), body.find(b"\n\r\nFrom ", at)) if place >= 0
        ]
        at = body.find(b"From ", min(blanks)) if blanks else -1
    if begin >= 0:
        yield body[begin:]


def _draft(mail: Message) -> Draft:
    who = _decoded(mail.get("From"))[:500]
    before, _, named = who.partition(" (")
    # how Pipermail writes senders: ada at example.org (Ada)
    obscured = " at " in before and named.endswith(")")
    name, address = (named[:-1], "") if obscured else parseaddr(who)
    said = _said(mail)
    return Draft(
        key=str(mail.get("Message-ID") or "").strip(" <>\r\n\t")[:300],
        author=name or re.split(r"@| at ", address or who)[0].strip(),
        text=said or _decoded(mail.get("Subject")),
        written=" ".join(str(mail.get("Date") or "").split()),
    )


def _decoded(value: object) -> str:
    try:
        pieces = decode_header(str(value or ""))
    except (HeaderParseError, ValueError):
        return str(value)
    return " ".join(
        piece if isinstance(piece, str) else charsets.text(piece, charset) for piece, charset in pieces
    ).strip()


def _said(mail: Message) -> str:
    """The first part that can be read."""
    for part in mail.walk():
        kind = part.get_content_type()
        if kind not in ("text/plain", "text/html"):
            continue
        payload = part.get_payload(decode=True)
        if not isinstance(payload, bytes):
            continue
        declared = part.get_param("charset")
        charset = declared if isinstance(declared, str) else None
        if kind == "text/html":
            return html.visible(payload, charset)
        rows = (" ".join(row.split()) for row in charsets.text(payload, charset).splitlines())
        return "\n".join(filter(None, rows))
    return ""


# -- on the web ----------------------------------------------------------------------------------------------


def archived(tree: LexborHTMLParser, source: str, url: str) -> list[Draft]:
    """The mails of an archive's index, or the one of its page."""
    return _listed(tree, source) or _shown(tree, url)


def months(tree: LexborHTMLParser, base: str) -> list[Row]:
    """Of a list's own page in Pipermail's archive: each month, which is a thread to those who follow it."""
    found: list[Row] = []
    for node in tree.css("a[href$='thread.html']")[:MOST_POSTS]:
        href = attribute(node, "href")
        if named := _MONTH.fullmatch(href):
            found.append(Row(url=led(base, href), title=" ".join(reversed(named[1].split("-")))))
    return found


def _listed(tree: LexborHTMLParser, source: str) -> list[Draft]:
    """An index tells subjects and senders; when, only Pipermail's threads do."""
    stamps: dict[str, str] = {}
    for found in _STAMPED.finditer(source):
        if times := _STAMP.findall(found[1]):
            stamps[found[2]] = times[-1]
    listed: list[Draft] = []
    for node in tree.css("li a[href]")[: 4 * MOST_POSTS]:
        href = attribute(node, "href")
        if _MESSAGE.fullmatch(href) is None:
            continue
        row = node.parent
        while row is not None and row.tag != "li":
            row = row.parent
        who = row.css_first("i, em") if row is not None else None
        listed.append(
            Draft(key=digits(href), author=line(who), text=line(node), written=stamps.get(href, ""))
        )
    return listed if len(listed) > 1 or stamps else []


def _shown(tree: LexborHTMLParser, url: str) -> list[Draft]:
    """One mail of Pipermail: a heading, who in bold, when in italics, and what as it was typed."""
    body = tree.css_first("h1 ~ pre")
    who, when = tree.css_first("h1 ~ b"), tree.css_first("h1 ~ i")
    if body is None or who is None or when is None:
        return []
    return [Draft(key=digits(url), author=line(who), text=text(body, beside(tree)), written=line(when))]
