"""The words of one version, as they are kept."""

from __future__ import annotations

from dataclasses import dataclass

BAG_FORMAT = 1  # another where words are told apart or numbered in another way: those cannot be compared


@dataclass(frozen=True, slots=True, kw_only=True)
class Bag:
    at: float  # its version's
    packed: bytes
    detector: str = ""  # who read it, and through which lens: only what was read alike can be compared
    base: bool = True  # whether later versions are held against it: it is the first, or a change that counts
