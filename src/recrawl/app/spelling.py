"""How single settings may be written: folders, addresses, and what goes into a line or a header."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator
from pydantic_settings import NoDecode

from recrawl.app.quantity import seconds
from recrawl.errors import BadInputError


def _folder(said: object) -> Path:
    path = Path(str(said)).expanduser()
    if not path.is_absolute():
        raise ValueError(f"{path} is not a whole path; begin it with / or ~")
    return Path(os.path.normpath(path))


def _folders(said: object) -> object:
    return [part for part in said.split(os.pathsep) if part] if isinstance(said, str) else said


def one_line(said: str) -> str:
    if not said.isprintable():
        raise ValueError("it has a line break or a control character in it; write it on one line")
    return said


def in_a_header(said: str) -> str:
    if not said.isascii() or not set("()\\").isdisjoint(said):
        raise ValueError(r"it is sent in a header: write it in ASCII, and ( ) and \ percent-encoded")
    return one_line(said)


def address(said: str) -> str:
    if said and not re.fullmatch(r"[a-z][a-z0-9+.-]*://\S+", said):
        raise ValueError("it is no address; write it as s3://bucket/prefix or file:///folder")
    if "@" in said.partition("://")[2].partition("/")[0]:
        raise ValueError("it is shown and recorded: leave the key out, and give it as that place's tools do")
    return said.rstrip("/")


def thinning(said: str) -> str:
    stretches(said)
    return said


def stretches(said: str) -> tuple[tuple[float, float], ...]:
    """After how long at most one in how long.

    >>> stretches("30d: 1d, 1000h: 48h")
    ((2592000.0, 86400.0), (3600000.0, 172800.0))
    """
    pairs = [part.split(":") for part in said.split(",") if part.strip()]
    try:
        found = tuple((seconds(after), seconds(every)) for after, every in pairs)
    except (BadInputError, ValueError):
        found = ((0.0, 0.0),)
    if any(after <= 0 or every <= 0 for after, every in found):
        raise ValueError("write it as 30d: 1d, 365d: 30d (after 30 days one a day, after a year one a month)")
    return found


Folders = Annotated[
    tuple[Annotated[Path, BeforeValidator(_folder)], ...],
    BeforeValidator(_folders),
    NoDecode,  # in the environment it is no JSON
]
