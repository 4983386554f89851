"""What is taken out of the archive again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from recrawl.model.visit import Version

Moved = tuple[str, int, str, int, int]  # file and offset of a payload; its new file, offset and length


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """Archive files that were written anew without some of their records; recorded in one transaction."""

    old: Sequence[str]  # to be deleted for good
    new: Mapping[str, int]  # lengths by name
    moved: Sequence[Moved] = ()
    handed_on: Sequence[Moved] = ()  # for all but the resource `owner_id`, whose own payload is still there
    owner_id: int = 0
    dropped: Sequence[Version] = ()  # their payloads are no more
    erased: bool = False  # these versions stay, without anything that tells of their content


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """That, when and why all contents of a resource were taken out; there is one for each URL at most."""

    url: str
    at: float
    why: str = ""
    done: bool = False  # False: it was begun, and must be gone through again
    n_versions: int = 0
    n_records: int = 0
    n_bytes: int = 0
    shared: tuple[str, ...] = field(default=())  # other resources that brought the same content, and keep it
