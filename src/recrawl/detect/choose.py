"""Which detector judges what."""

from __future__ import annotations

from recrawl.detect.text import HTML
from recrawl.model import Kind


def detector_name(kind: Kind, media_type: str) -> str:
    """The name of the detector for a resource of this kind that came back as this media type.

    >>> detector_name(Kind.AUTO, "text/html"), detector_name(Kind.AUTO, "text/csv")
    ('text', 'exact')
    """
    match kind:
        case Kind.PAGE:
            return "text"
        case Kind.AUTO:
            return "text" if media_type in HTML or media_type == "text/plain" else "exact"
        case _:
            return "exact"
