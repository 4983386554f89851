"""What was said before and what is said now, made one layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from recrawl.errors import BadSettingError
from recrawl.model import Manner, Settings

MANNERS = tuple(field.name for field in fields(Manner))
NAMES = tuple(field.name for field in fields(Settings))
SILENT = Settings()


def merged(before: Settings, settings: Settings, forget: Sequence[str] = ()) -> Settings:
    """`forget` clears first; what `settings` says then overwrites; the rest stays.

    A manner is merged field by field and forgotten whole or by its fields; one that says nothing is none.
    """
    unknown = sorted(set(forget).difference(NAMES, MANNERS))
    if unknown:
        raise BadSettingError(
            f"There is no setting {', '.join(unknown)}; choose from {', '.join((*NAMES, *MANNERS))}."
        )
    cleared = replace(before, **{name: None for name in NAMES if name in forget})
    spoken = {name: said for name in NAMES if (said := getattr(settings, name)) is not None}
    manner = cleared.manner or Manner()
    manner = replace(manner, **{name: None for name in MANNERS if name in forget})
    if settings.manner is not None:
        manner = replace(
            manner, **{name: said for name in MANNERS if (said := getattr(settings.manner, name)) is not None}
        )
    return replace(cleared, **{**spoken, "manner": None if manner == Manner() else manner})
