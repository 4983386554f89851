"""Several pages as one body: multipart/mixed (RFC 2046), each part a page as it came."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from recrawl.parse.charset import said

MEDIA_TYPE = "multipart/mixed"
MOST_PAGES = 2_000
_BOUNDARY = re.compile(rb"--([0-9A-Za-z'()+_,./:=?-]{1,70})\r?\n")
_BLANK = re.compile(rb"\r?\n\r?\n")
_FIELD = re.compile(r"([A-Za-z-]{1,40}): ?([^\r\n]*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page as it was fetched."""

    url: str
    body: bytes
    media_type: str = ""
    charset: str | None = None


def bundled(pages: Sequence[Page]) -> tuple[str, bytes]:
    """The Content-Type and the body of them all. The same pages make the same bytes."""
    whole = hashlib.sha256()
    for page in pages:
        whole.update(hashlib.sha256(page.body).digest())
    boundary = f"recrawl-{whole.hexdigest()[:40]}"  # no page holds a digest of itself
    parts: list[bytes] = []
    for page in pages:
        charset = f"; charset={page.charset}" if page.charset else ""
        head = [f"--{boundary}", f"Content-Type: {page.media_type or 'application/octet-stream'}{charset}"]
        head += [f"Content-Location: {page.url}", f"Content-Length: {len(page.body)}", "", ""]
        parts += ["\r\n".join(head).encode("utf-8", "replace"), page.body, b"\r\n"]
    parts.append(f"--{boundary}--\r\n".encode())
    return f'{MEDIA_TYPE}; boundary="{boundary}"', b"".join(parts)


def pages(body: bytes, media_type: str, charset: str | None, url: str) -> list[Page]:
    """The pages of a body, whether it is one or a bundle of them. The boundary is read off the first line."""
    start = _BOUNDARY.match(body) if media_type == MEDIA_TYPE else None
    if start is None:
        return [Page(url=url, body=body, media_type=media_type, charset=charset)]
    mark = b"--" + start[1]
    found: list[Page] = []
    at = 0
    while len(found) < MOST_PAGES and body.startswith(mark, at) and not body.startswith(mark + b"--", at):
        begin = body.find(b"\n", at) + 1
        blank = _BLANK.search(body, begin)
        if begin == 0 or blank is None:
            break
        end = body.find(b"\n" + mark, blank.end())
        if end < 0:
            break
        fields = dict(_FIELD.findall(body[begin : blank.start()].decode("utf-8", "replace")))
        content = body[blank.end() : end]
        found.append(
            Page(
                url=fields.get("Content-Location", url),
                body=content.removesuffix(b"\r"),
                media_type=fields.get("Content-Type", "").partition(";")[0].strip().lower(),
                charset=said(fields.get("Content-Type")),
            )
        )
        at = end + 1
    return found
