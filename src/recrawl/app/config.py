"""The settings: one TOML file in the home folder, with environment overrides.

Every setting is a field below; its description is what the documentation and `recrawl config` show.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Self

import platformdirs
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings.sources import TomlConfigSettingsSource

from recrawl import __version__
from recrawl.app.quantity import Budget, budget, seconds, written
from recrawl.app.spelling import Folders, address, in_a_header, one_line, thinning
from recrawl.errors import BadInputError, BadSettingError
from recrawl.model import DAY_S, HOUR_S, LEAST_WEIGHT, MOST_WEIGHT

FILE_NAME = "recrawl.toml"
HOME = "RECRAWL_HOME"
_PREFIX = "RECRAWL_"


def _reading(read: Callable[[str | float], object]) -> BeforeValidator:
    """pydantic collects what is wrong by field, but only from ValueErrors."""

    def value(said: str | float) -> object:
        try:
            return read(said)
        except BadInputError as problem:
            raise ValueError(str(problem)) from None

    return BeforeValidator(value)


_SPAN = _reading(seconds)
Seconds = Annotated[float, _SPAN, Field(gt=0)]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    @field_validator("*", mode="before")
    @classmethod
    def _no_truth_value(cls, said: object) -> object:
        """Else true would be taken for 1."""
        if isinstance(said, bool):
            raise ValueError("true and false say nothing here; give a value")  # noqa: TRY004 # see _reading
        return said


class Schedule(_Section):
    """How the budget is spent."""

    budget: Annotated[str, _reading(lambda said: str(budget(said)))] = Field(
        "2000/day",
        description="Visits a day, bytes a day, or both: `2000/day`, `50/h`, `2GB/day`, `2000/day, 2GB/day`.",
    )
    goal: str = Field("fresh", description="What visits are for: fresh, fresh-harmonic, capture or prompt.")
    policy: str = Field(
        "index",
        description="How gaps are chosen: index (by worth and price), proportional, uniform, round-robin, or "
        "a rule that knows no price, such as nutch (docs/howto/choose-a-policy.md).",
    )
    predictor: str = Field(
        "either",
        description="What forecasts changes: either (threads by their posts, everything else by its rhythm), "
        "rhythm (each resource's rate, what resources do after a change, and what is going on at their "
        "hosts), thread (posts that bring on posts) or gamma (each resource's rate alone).",
    )
    reprice_every: Seconds = Field(
        HOUR_S,
        description="How often the price is found anew; less often where that takes more than a tenth of the "
        "time.",
    )

    @property
    def limits(self) -> Budget:
        return budget(self.budget)


class Gaps(_Section):
    """Defaults for resources that say nothing else, here or by tag or host."""

    min_gap: Seconds = Field(HOUR_S, description="Never look again sooner than this.")
    max_gap: Seconds = Field(180 * DAY_S, description="Always look again by then.")
    weight: float = Field(
        1.0, ge=LEAST_WEIGHT, le=MOST_WEIGHT, description="How much a resource counts beside others."
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.min_gap > self.max_gap:
            follows = [name for name in ("min_gap", "max_gap") if name not in self.model_fields_set]
            if not follows:
                gaps = f"min_gap ({written(self.min_gap)}) is longer than max_gap ({written(self.max_gap)})"
                raise ValueError(gaps)
            object.__setattr__(self, follows[0], self.max_gap if follows == ["min_gap"] else self.min_gap)
        return self


class Fetching(_Section):
    """How servers are asked."""

    contact: Annotated[str, AfterValidator(in_a_header)] = Field(
        "",
        description="A web page or mail address where servers' owners can reach you; sent with requests.",
    )
    min_delay: Seconds = Field(2.0, description="Between two requests to one host, from end to start.")
    slow_factor: float = Field(
        2.0,
        ge=0,
        allow_inf_nan=False,
        description="A server that took a second over a request is left alone for so many, up to a minute.",
    )
    concurrency: int = Field(64, ge=1, le=4096, description="Fetches in the air at once, one a host.")
    total_timeout: Seconds = Field(120.0, description="The longest that one fetch may take.")
    max_bytes: int = Field(16 * 2**20, ge=1024, description="The largest body read off the wire.")
    max_decoded_bytes: int = Field(64 * 2**20, ge=1024, description="The largest body after decompression.")

    render_timeout: Seconds = Field(120.0, description="The longest that a page's scripts may take.")
    render_requests: int = Field(50, ge=0, description="The most that a page's scripts may ask for.")
    browsers: int = Field(2, ge=1, le=64, description="Pages rendered at once, each in a browser of its own.")
    allow_files: Folders = Field(
        (),
        description="Folders of this machine whose files, at any depth, may be visited with file: URLs; "
        "in the variable, with colons between them.",
    )

    @property
    def user_agent(self) -> str:
        """Who we say we are: honest, and the same word that robots.txt files know us by."""
        return f"recrawl/{__version__} (+{self.contact})" if self.contact else f"recrawl/{__version__}"


class Archiving(_Section):
    """Where versions are kept."""

    max_file_bytes: int = Field(10**9, ge=2**20, description="A new WARC file is begun above this size.")
    max_file_age: Seconds = Field(DAY_S, description="A WARC file that was begun longer ago is finished.")
    shelf: Annotated[str, AfterValidator(address)] = Field(
        "",
        description="Where finished WARC files are carried to, such as s3://bucket/prefix or file:///folder; "
        "empty: they stay here.",
    )
    keep_versions: int = Field(0, ge=0, description="The most versions of a resource; 0: any number.")
    keep_for: Annotated[float, _SPAN, Field(ge=0)] = Field(
        0.0, description="How long a version is kept after it stopped being the newest; 0: for ever."
    )
    thin_out: Annotated[str, AfterValidator(thinning)] = Field(
        "",
        description="After how long at most one version is kept in how long, such as `30d: 1d, 365d: 30d`.",
    )
    operator: Annotated[str, AfterValidator(one_line)] = Field(
        "", description="Who runs this archive, for the WARC files' first record."
    )
    min_free_bytes: int = Field(2**30, ge=0, description="With less room on the disk, nothing is visited.")
    min_free_share: float = Field(
        0.05, ge=0, le=1, description="The part of the disk that is enough where min_free_bytes is more."
    )


class Config(BaseSettings):
    """All settings, by section."""

    model_config = SettingsConfigDict(
        env_prefix=_PREFIX, env_nested_delimiter="__", extra="forbid", frozen=True
    )

    schedule: Schedule = Schedule()  # type: ignore[call-arg]  # all fields have defaults
    gaps: Gaps = Gaps()  # type: ignore[call-arg]
    fetching: Fetching = Fetching()  # type: ignore[call-arg]
    archiving: Archiving = Archiving()  # type: ignore[call-arg]

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - the library's signature
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """What is given by hand wins over the environment, and that over the file."""
        path = init_settings.init_kwargs.pop("file", None)  # type: ignore[attr-defined]
        sources: list[PydanticBaseSettingsSource] = [init_settings, env_settings]
        if path is not None:
            sources.append(TomlConfigSettingsSource(settings_cls, toml_file=path))
        return tuple(sources)


def default_home() -> Path:
    """`RECRAWL_HOME`, or the platform's folder for data."""
    said = os.environ.get(HOME)
    return Path(said).expanduser() if said else Path(platformdirs.user_data_dir("recrawl"))


def load(home: Path) -> Config:
    """The settings that hold for this home."""
    path = home / FILE_NAME
    wrong = "; ".join(_unknown_variables())
    if wrong:
        raise BadSettingError(f"{wrong}. Mend or unset it; `recrawl doctor` shows what holds.")
    if path.is_dir():  # which the library would pass over
        raise BadSettingError(f"{path} is a folder; settings are in a file of that name.")
    try:
        return Config(file=path if path.exists() else None)  # type: ignore[call-arg]
    except ValidationError as problem:
        raise BadSettingError(_readable(problem, path)) from None
    except ValueError as problem:
        raise BadSettingError(f"{path} is not a TOML file ({problem}); mend or remove it.") from None
    except OSError as problem:
        raise BadSettingError(
            f"{path} cannot be read ({problem.strerror}); see to its owner and mode."
        ) from None


def rows(config: Config | None = None) -> list[tuple[str, str, str, str]]:
    """Every setting as (name, value, environment variable, description), for people and for the docs. The
    value is written as it may be written in the file and in the variable."""
    shown = config or Config.model_construct()
    return [
        (
            f"{section}.{name}",
            _shown(getattr(part, name), field.metadata),
            f"{_PREFIX}{section.upper()}__{name.upper()}",
            field.description or "",
        )
        for section in Config.model_fields
        for part in [getattr(shown, section)]
        for name, field in type(part).model_fields.items()
    ]


def values(config: Config) -> dict[str, Any]:
    """Every setting's value as JSON knows it: lengths of time in seconds, budgets in visits a day, or as they
    are written where bytes are limited too."""
    sections = config.model_dump(mode="json")
    found = {f"{name}.{key}": value for name, part in sections.items() for key, value in part.items()}
    limits = config.schedule.limits
    return {
        **found,
        "schedule.budget": limits.visits_per_day if limits.bytes_per_day is None else str(limits),
    }


def _shown(value: object, metadata: list[Any]) -> str:
    if isinstance(value, tuple):
        return os.pathsep.join(map(str, value))
    if isinstance(value, float):
        return written(value) if _SPAN in metadata else repr(value).removesuffix(".0")
    return str(value)


def _unknown_variables() -> Iterator[str]:
    """Those that look like settings and are none: nobody would notice otherwise."""
    known = [*(variable for _, _, variable, _ in rows()), HOME]
    for name in os.environ:
        said = name.upper()
        if not said.startswith(_PREFIX) or said in known:
            continue
        section = said.removeprefix(_PREFIX).lower()
        near = get_close_matches(said, known, 1, cutoff=0.85)
        if section in Config.model_fields:
            yield f"{name} is a section, not a setting"
        elif "__" in said or near:
            yield f"{name} is not a setting{_hint(said, known)}"


def _hint(name: str, known: list[str]) -> str:
    section = get_close_matches(name, Config.model_fields, 1, cutoff=0.8)
    near = (
        [f"[{section[0]}]"]
        if section
        else get_close_matches(name, known, 1) or [one for one in known if one.endswith(f".{name}")]
    )
    return f" (did you mean {near[0]}?)" if near else ""


def _readable(problem: ValidationError, path: Path) -> str:
    lines = [_what(error) for error in problem.errors()]
    return f"{'; '.join(lines)}. Mend {path} or the RECRAWL_… variables; `recrawl doctor` shows what holds."


def _what(error: Any) -> str:
    known = [row[0] for row in rows()]
    name = ".".join(str(part) for part in error["loc"][:2])  # beyond that, one of several values
    told = error["msg"].removeprefix("Value error, ").rstrip(".")
    if name in Config.model_fields and error["type"] != "value_error":
        return f"{name}: is a section; write [{name}] and its settings below it"
    if name in known or name in Config.model_fields:
        return f"{name}: {told}"
    return f"{name}: is not a setting{_hint(name, known)}"
