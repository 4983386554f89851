"""What a visit to one resource tells of others: a sitemap or a feed says that they changed."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan


@dataclass(frozen=True, slots=True)
class Telling:
    """A visit's word that whatever is at this address changed, or is new."""

    url: str  # canonical, watched or not
    event_at: float = nan  # when, as the source has it; NaN: it does not say


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """A telling of a watched resource, as the store keeps it: the first since its last informative visit."""

    resource_id: int  # told of
    source_id: int  # the resource that told
    at: float  # when it was heard
    event_at: float = nan
