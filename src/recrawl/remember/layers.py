"""What was said before and what is said now, made one layer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

from recrawl.errors import BadSettingError
from recrawl.model import Settings

NAMES = tuple(field.name for field in fields(Settings))
SILENT = Settings()


def merged(before: Settings, settings: Settings, forget: Sequence[str]) -> Settings:
    """`forget` clears first; what `settings` says then overwrites; the rest stays."""
    unknown = sorted(set(forget) - set(NAMES))
    if unknown:
        raise BadSettingError(f"There is no setting {', '.join(unknown)}; choose from {', '.join(NAMES)}.")
    said = {name: getattr(settings, name) for name in NAMES}
    spoken = {name: value for name, value in said.items() if value is not None}
    return replace(before, **{**dict.fromkeys(forget), **spoken})
