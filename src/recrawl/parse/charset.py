"""Bytes to text, by the rules of browsers: BOM, header, meta, then UTF-8 if it fits, else windows-1252."""

from __future__ import annotations

import codecs
import re

from recrawl.model import Body

_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_META_BYTES = 1024
_OF_NUMBERS = "0123456789-/.:\ufffd"
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.DOTALL)
_META = re.compile(rb"<meta[\s/][^>]*?charset\s*=\s*[\"']?\s*([a-z0-9_:.\-]{1,40})", re.IGNORECASE)
_PARAMETER = re.compile(r";\s*charset\s*=\s*\"?([a-z0-9_:.\-]{1,40})", re.IGNORECASE)

# Only these are ever used: Python's codec registry also holds unpackers, escapes and a quadratic punycode.
# The left side is Python's own name of what was asked for, the right side what browsers use in its place.
_CODECS = {
    **{name: name for name in ("utf-8", "utf-16-be", "cp866", "cp874", "koi8-r", "koi8-u", "gb18030")},
    **{name: name for name in ("mac-roman", "mac-cyrillic", "euc_jp", "iso2022_jp", "big5hkscs", "cp932")},
    **{f"cp{page}": f"cp{page}" for page in range(1250, 1259)},
    **{f"iso8859-{part}": f"iso8859-{part}" for part in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "utf-16": "utf-16-le",
    "utf-16-le": "utf-16-le",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    "cp949": "cp949",
}

_LABELS = {  # known to browsers, not to Python
    "dos-874": "cp874",
    "iso-8859-8-i": "iso8859-8",
    "koi": "koi8-r",
    "koi8": "koi8-r",
    "mac": "mac-roman",
    "windows-31j": "cp932",
    "windows-874": "cp874",
    "windows-949": "cp949",
}


def said(content_type: str | None) -> str | None:
    """The charset that a Content-Type header names, as it names it."""
    found = _PARAMETER.search(content_type or "")
    return found[1] if found else None


def codec(label: str | None) -> str | None:
    """The codec that browsers use for a label; None for what they do not know."""
    if not label:
        return None
    plain = label.strip().lower().removeprefix("x-")
    try:
        return _CODECS.get(codecs.lookup(_LABELS.get(plain, plain)).name)
    except (LookupError, ValueError):
        return None


def detected(body: bytes, declared: str | None = None, *, cut: bool = False) -> str:
    """The codec to read `body` with; `declared` is what the header said. What is `cut` may end in the middle
    of a character."""
    for bom, name in _BOMS:
        if body.startswith(bom):
            return name
    return codec(declared) or _from_meta(body[:_META_BYTES]) or _guessed(body, cut)


def text(body: Body, declared: str | None = None) -> str:
    """`body` as text, all of it in memory; what cannot be decoded becomes U+FFFD."""
    whole = bytes(body)
    return whole.decode(detected(whole, declared), errors="replace").removeprefix("\ufeff")


def ends(body: Body, n_bytes: int, declared: str | None = None) -> str:
    """The beginning and the end of `body` as text, so many bytes of each; all of it where it is no longer. A
    number that was cut is left out: it would be another one."""
    if len(body) <= 2 * n_bytes:
        return text(body, declared)
    head = bytes(body[:n_bytes])
    start = len(body) - n_bytes
    tail = bytes(body[start + start % 2 :])  # where two bytes are one character, between two of them
    name = detected(head, declared, cut=True)
    first, last = (part.decode(name, errors="replace") for part in (head, tail))
    return first.removeprefix("\ufeff").rstrip(_OF_NUMBERS) + "\n" + last.lstrip(_OF_NUMBERS)


def _from_meta(head: bytes) -> str | None:
    found = _META.search(_COMMENT.sub(b"", head))
    name = codec(found[1].decode("ascii")) if found else None
    # Had it been UTF-16, these ASCII bytes could not have been read.
    return "utf-8" if name and name.startswith("utf-16") else name


def _guessed(body: bytes, cut: bool) -> str:
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body, final=not cut)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
