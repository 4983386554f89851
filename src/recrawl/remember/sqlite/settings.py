"""What was said, as rows of the file and back."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

from recrawl.errors import NewerStoreError
from recrawl.model import Changes, Effective, Kind, Manner, Settings
from recrawl.remember.layers import MANNERS

Row = sqlite3.Row | Mapping[str, Any]  # of columns by name

_NO_MANNER = Manner()


def settings_of(row: Row, prefix: str = "") -> Settings:
    names = ("kind", "paused", "allow_private", "changes")
    kind, paused, private, changes = (row[prefix + name] for name in names)
    return Settings(
        kind=None if kind is None else Kind(kind),
        weight=row[prefix + "weight"],
        min_gap_s=row[prefix + "min_gap_s"],
        max_gap_s=row[prefix + "max_gap_s"],
        paused=None if paused is None else bool(paused),
        allow_private=None if private is None else bool(private),
        manner=None if row[prefix + "manner"] is None else manner_of(row[prefix + "manner"]),
        changes=None if changes is None else Changes(changes),
    )


def manner_of(text: str) -> Manner:
    if text == "{}":
        return _NO_MANNER
    said = json.loads(text)
    unknown = sorted(set(said) - set(MANNERS))
    if unknown:
        raise NewerStoreError(
            f"The store says how to look in ways that this recrawl does not know ({', '.join(unknown)}); "
            "upgrade recrawl."
        )
    lists: dict[str, Any] = {name: tuple(value) for name, value in said.items() if isinstance(value, list)}
    return Manner(**{**said, **lists})


def manner_text(manner: Manner | None) -> str | None:
    """Only what is said; None where that is nothing."""
    said = {name: value for name in MANNERS if (value := getattr(manner, name, None)) is not None}
    return json.dumps(said) if said else None


def settings_values(settings: Settings | Effective) -> dict[str, object]:
    return {
        "kind": None if settings.kind is None else settings.kind.value,
        "weight": settings.weight,
        "min_gap_s": settings.min_gap_s,
        "max_gap_s": settings.max_gap_s,
        "paused": settings.paused,
        "allow_private": settings.allow_private,
        "manner": manner_text(settings.manner),
        "changes": None if settings.changes is None else settings.changes.value,
    }
