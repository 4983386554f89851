"""What a corpus says of itself, in `corpus.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from recrawl.corpora.importing import KINDS, OBSERVATIONS
from recrawl.errors import BadInputError

FORMAT = 1
FILE = "corpus.json"
EARLIEST_AT, LATEST_AT = 0, 253_402_300_799  # 1970 to 9999: what lies outside is a mistake, not a time
_SPOKEN = ("format", "name", "title", "kind", "observation", "start", "end", "step_s", "resolution_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class About:
    """A corpus's own description. `more` holds whatever else its file says."""

    name: str
    kind: str  # page, data or thread
    observation: str  # every-change: all changes are known; visits: it was looked at only at listed times
    start_at: float
    end_at: float
    title: str = ""
    resolution_s: float = 1.0  # changes closer than this cannot be told apart
    step_s: float | None = None  # between visits, where they had a fixed step
    licence: str = ""
    source: str = ""
    more: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def days(self) -> float:
        return (self.end_at - self.start_at) / 86_400

    @property
    def finest_s(self) -> float:
        """What lies closer together than this cannot be told apart, by whatever limit."""
        return max(self.resolution_s, self.step_s or 0.0)


def read_about(folder: Path) -> About:
    """Raises BadInputError that names the file, the field and the remedy."""
    path = folder / FILE
    try:
        said = json.loads(path.read_bytes())
    except OSError as problem:
        raise BadInputError(f"{path} cannot be read ({problem.strerror}); a corpus needs it.") from problem
    except (ValueError, RecursionError) as problem:
        raise BadInputError(
            f"{path} is not JSON ({problem}); mend it, or import the corpus again."
        ) from problem
    if not isinstance(said, dict):
        raise BadInputError(f"{path} is not a JSON object; mend it, or import the corpus again.")
    return about_of(said, path)


def about_of(said: Mapping[str, Any], path: Path) -> About:
    """Of the fields of a `corpus.json` that lies, or is to lie, at `path`."""
    if said.get("format") != FORMAT:
        raise _wrong(path, "format", said, f"must be {FORMAT}; a newer recrawl may read it")
    kind = _one_of(path, "kind", said, KINDS)
    observation = _one_of(path, "observation", said, OBSERVATIONS)
    start_at, end_at = (_number(path, name, said, EARLIEST_AT, LATEST_AT) for name in ("start", "end"))
    if end_at < start_at:
        raise _wrong(path, "end", said, f"must not be before start, which is {said['start']}")
    spoken = {*_SPOKEN, "licence", "source"}
    return About(
        name=_text(path, "name", said) or path.parent.name,
        kind=kind,
        observation=observation,
        start_at=start_at,
        end_at=end_at,
        title=_text(path, "title", said),
        resolution_s=_positive(path, "resolution_s", said) or 1.0,
        step_s=_positive(path, "step_s", said),
        licence=_text(path, "licence", said),
        source=_text(path, "source", said),
        more=MappingProxyType({name: value for name, value in said.items() if name not in spoken}),
    )


def _one_of(path: Path, name: str, said: Mapping[str, Any], known: tuple[str, ...]) -> str:
    value = said.get(name)
    if value not in known:
        raise _wrong(path, name, said, f"must be one of {', '.join(known)}")
    return str(value)


def _text(path: Path, name: str, said: Mapping[str, Any]) -> str:
    value = said.get(name, "")
    if not isinstance(value, str):
        raise _wrong(path, name, said, "must be text")
    return value


def _number(path: Path, name: str, said: Mapping[str, Any], least: float, most: float) -> float:
    value = said.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value <= most:
        raise _wrong(path, name, said, "must be a time in seconds since 1970 (UTC), between 1970 and 9999")
    return float(value)


def _positive(path: Path, name: str, said: Mapping[str, Any]) -> float | None:
    value = said.get(name)
    if value is None:
        return None
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 < value <= LATEST_AT:
        raise _wrong(path, name, said, "must be a number of seconds above 0, or be left out")
    return float(value)


def _wrong(path: Path, name: str, said: Mapping[str, Any], must: str) -> BadInputError:
    shown = f"is {json.dumps(said[name])[:60]}" if name in said else "is missing"
    return BadInputError(f"{path}: {name!r} {shown}; it {must}.")
