"""The settings: one TOML file in the home folder, with environment overrides.

Every setting is a field below; its description is what the documentation and `recrawl config` show.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import platformdirs
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_settings import BaseSettings, NoDecode, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings.sources import TomlConfigSettingsSource

from recrawl import __version__
from recrawl.app.quantity import seconds, visits_per_day
from recrawl.errors import BadInputError, BadSettingError

FILE_NAME = "recrawl.toml"


def _reading(read: Callable[[str | float], float]) -> BeforeValidator:
    """pydantic collects what is wrong by field, but only from ValueErrors."""

    def value(said: str | float) -> float:
        try:
            return read(said)
        except BadInputError as problem:
            raise ValueError(str(problem)) from None

    return BeforeValidator(value)


Seconds = Annotated[float, _reading(seconds), Field(gt=0)]
PerDay = Annotated[float, _reading(visits_per_day), Field(gt=0)]


def _folder(said: object) -> Path:
    path = Path(str(said)).expanduser()
    if not path.is_absolute():
        raise ValueError(f"{path} is not a whole path; begin it with / or ~")
    return Path(os.path.normpath(path))


def _folders(said: object) -> object:
    return [part for part in said.split(os.pathsep) if part] if isinstance(said, str) else said


Folders = Annotated[
    tuple[Annotated[Path, BeforeValidator(_folder)], ...],
    BeforeValidator(_folders),
    NoDecode,  # in the environment it is no JSON
]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Schedule(_Section):
    """How the budget is spent."""

    budget: PerDay = Field(2000.0, description="Visits a day; also written `50/h` or `2000/day`.")
    goal: str = Field("fresh", description="What visits are for: fresh, fresh-harmonic, capture or prompt.")
    policy: str = Field("index", description="How gaps are chosen: index (by worth and price) or uniform.")
    predictor: str = Field("gamma", description="What forecasts changes.")
    reprice_every: Seconds = Field(3600.0, description="How often the price is found anew.")


class Gaps(_Section):
    """Defaults for resources that say nothing else, here or by tag or host."""

    min_gap: Seconds = Field(3600.0, description="Never look again sooner than this.")
    max_gap: Seconds = Field(180 * 86400.0, description="Always look again by then.")
    weight: float = Field(1.0, gt=0, description="How much a resource counts beside others.")


class Fetching(_Section):
    """How servers are asked."""

    contact: str = Field(
        "",
        description="A web page or mail address where servers' owners can reach you; sent with requests.",
    )
    min_delay: Seconds = Field(2.0, description="Between two requests to one host, from end to start.")
    slow_factor: float = Field(
        2.0,
        ge=0,
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
    operator: str = Field("", description="Who runs this archive, for the WARC files' first record.")


class Config(BaseSettings):
    """All settings, by section."""

    model_config = SettingsConfigDict(
        env_prefix="RECRAWL_", env_nested_delimiter="__", extra="forbid", frozen=True
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
    said = os.environ.get("RECRAWL_HOME")
    return Path(said).expanduser() if said else Path(platformdirs.user_data_dir("recrawl"))


def load(home: Path) -> Config:
    """The settings that hold for this home."""
    path = home / FILE_NAME
    try:
        return Config(file=path if path.exists() else None)  # type: ignore[call-arg]
    except ValidationError as problem:
        raise BadSettingError(_readable(problem, path)) from None
    except ValueError as problem:
        raise BadSettingError(f"{path} is not a TOML file ({problem}); mend or remove it.") from None


def rows(config: Config | None = None) -> list[tuple[str, str, str, str]]:
    """Every setting as (name, value, environment variable, description), for people and for the docs."""
    shown = config or Config.model_construct()
    return [
        (
            f"{section}.{name}",
            _shown(getattr(part, name)),
            f"RECRAWL_{section.upper()}__{name.upper()}",
            field.description or "",
        )
        for section in Config.model_fields
        for part in [getattr(shown, section)]
        for name, field in type(part).model_fields.items()
    ]


def _shown(value: object) -> str:
    return os.pathsep.join(map(str, value)) if isinstance(value, tuple) else str(value)


def _readable(problem: ValidationError, path: Path) -> str:
    known = {row[0] for row in rows()}
    lines = []
    for error in problem.errors():
        name = ".".join(str(part) for part in error["loc"][:2])  # beyond that, one of several values
        what = error["msg"].removeprefix("Value error, ") if name in known else "is not a setting"
        lines.append(f"{name}: {what.rstrip('.')}")
    return (
        f"{'; '.join(lines)}. Mend {path} or the RECRAWL_… variables; `recrawl config` lists every setting."
    )
