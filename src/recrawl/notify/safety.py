"""What strangers wrote, made harmless for whoever shows it: pages and posts are quoted, and never speak.

Control characters and marks that turn the direction of writing could hide or forge words; names that chat
services call everybody by would call everybody.
"""

from __future__ import annotations

import re
from html import escape

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]+")
_CALLS = re.compile(r"@(?=everyone|here|channel|all\b|room\b)", re.IGNORECASE)
_MARKUP = re.compile(r"[\\`*_\[\]()<>#|~!&@]|^[-+=]")
_BREAK = "\u2060"  # joins words and is not seen


def line(text: str, most: int) -> str:
    """One line without anything but letters, signs and single spaces.

    >>> line("a\\r\\nBcc: b \\u202e", 20)
    'a Bcc: b'
    """
    plain = _CALLS.sub(f"@{_BREAK}", " ".join(_CONTROLS.sub(" ", text).split()))
    return plain if len(plain) <= most else f"{plain[: most - 1]}…"


def in_markdown(text: str) -> str:
    """A line of which every sign that could be markup stands for itself.

    >>> in_markdown("[x](y)")
    '\\\\[x\\\\]\\\\(y\\\\)'
    """
    return _MARKUP.sub(lambda found: f"\\{found[0]}", text)


def in_fence(text: str) -> str:
    """Within a block of code: no row of backticks may end it."""
    return text.replace("``", f"`{_BREAK}`")


def in_html(text: str) -> str:
    return escape(text, quote=True)


def linkable(url: str) -> bool:
    """Whether it leads to the web, and to nothing that runs."""
    return url.startswith(("https://", "http://")) and not set(url) & set("<>\"' \\`")
