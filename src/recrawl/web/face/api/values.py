"""Values as programs send them, described so exactly that what fits its description is not refused for how it
is spelt. Some say a little less than people may write on the command line; none says more."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any

from fastapi import Path
from pydantic import BeforeValidator, Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema
from pydantic_core.core_schema import no_info_after_validator_function

from recrawl.app.names import TAG
from recrawl.app.offers import MOST_POLICIES
from recrawl.app.quantity import in_utc
from recrawl.evaluate.contenders import NAMES
from recrawl.model import LEAST_WEIGHT, MOST_WEIGHT

_SECONDS, _MINUTES, _HOURS = "s|sec|seconds?", "m|min|minutes?", "h|hours?"
_DAYS, _WEEKS = "d|days?", "w|weeks?"


def _figure(n_digits: int) -> str:
    """Above 0, with so many digits before the point at most."""
    return rf"(?:[1-9][0-9]{{0,{n_digits - 1}}}(?:\.[0-9]{{1,3}})?|0\.[0-9]{{0,2}}[1-9])"


# As many digits of each unit as stay below a hundred years, a billion visits or a billion gigabytes a day.
_SPAN = (
    f"^(?:{_figure(9)} ?(?:{_SECONDS})?|{_figure(7)} ?(?:{_MINUTES})|{_figure(5)} ?(?:{_HOURS})"
    f"|{_figure(4)} ?(?:{_DAYS})|{_figure(3)} ?(?:{_WEEKS}))$"
)
_VISITS = (
    f"(?:{_figure(9)}(?:/(?:{_DAYS}|{_WEEKS}))?|{_figure(6)}/(?:{_HOURS})"
    f"|{_figure(4)}/(?:{_MINUTES}|{_SECONDS}))"
)
_BYTES = f"{_figure(4)} ?[kMGT]?i?B/(?:{_HOURS}|{_DAYS}|{_WEEKS})"
_BUDGET = f"^(?:{_VISITS}(?:, {_BYTES})?|{_BYTES})$"
_BUDGETS = f"^{_figure(6)}(?:, ?{_figure(6)}){{0,9}}(?:/(?:{_HOURS}|{_DAYS}|{_WEEKS}))?$"
_SHARE = r"^(?:0\.[0-9]{0,4}[1-9]|[1-9][0-9]?(?:\.[0-9]{1,3})?%)$"
_POLICY = "|".join(NAMES)
_POLICIES = f"^(?:{_POLICY})(?:, ?(?:{_POLICY})){{0,{MOST_POLICIES - 1}}}$"
# Of what is gathered: a minute at least, a month at most.
_EVERY = (
    f"^(?:[1-9][0-9]{{0,3}} ?(?:{_MINUTES})|[1-9][0-9]? ?(?:{_HOURS})|(?:[12]?[1-9]|[123]0|31) ?(?:{_DAYS}))$"
)
_CLOCK = "(?:[01]?[0-9]|2[0-3])(?::[0-5][0-9])?"
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d", re.ASCII)


@dataclass(frozen=True, slots=True)
class Spelt:
    """How a text is spelt: in the description as a pattern, in a refusal as what to write instead."""

    pattern: str
    remedy: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        form = re.compile(self.pattern.removesuffix("$") + r"\Z")

        def checked(text: str) -> str:
            if not form.match(text):
                raise ValueError(self.remedy)
            return text

        return no_info_after_validator_function(checked, handler(source))

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(schema), "pattern": self.pattern}


def _written(said: object) -> object:
    """A bare number would be taken for seconds since 1970, or for milliseconds."""
    if isinstance(said, str) and not _MOMENT.match(said):
        raise ValueError("write it as 2026-01-31T12:00:00Z")
    return said


def _number(said: object) -> object:
    """2.0 is a whole number in JSON; "2" and true are none."""
    if isinstance(said, str | bool):
        raise ValueError("write it as a number")  # noqa: TRY004 - of what was sent, not of the code
    return said


def instant(moment: datetime | None, otherwise: float) -> float:
    """In seconds; UTC where no zone was said."""
    return otherwise if moment is None else in_utc(moment)


numeric = BeforeValidator(_number)  # last of all: what stands after it would not be described
Moment = Annotated[datetime, BeforeValidator(_written)]
Number = Annotated[int, Path(ge=1, le=2**62, description="The resource's number.")]
Weight = Annotated[float, Field(ge=LEAST_WEIGHT, le=MOST_WEIGHT, allow_inf_nan=False, strict=True)]
Span = Annotated[
    str, Field(max_length=40, examples=["6h", "2d"]), Spelt(_SPAN, "write it as 90s, 15m, 6h, 2d or 4w")
]
Every = Annotated[str, Spelt(_EVERY, "write it as 15m, 6h or 2d, a month at most")]
Budget = Annotated[
    str, Field(max_length=200), Spelt(_BUDGET, "write it as 2000/day, 50/h, 2GB/day, or as 2000/day, 2GB/day")
]
Visits = Annotated[str, Field(max_length=40), Spelt(f"^{_VISITS}$", "write it as 2000/day or 50/h")]
Budgets = Annotated[
    str, Field(max_length=200), Spelt(_BUDGETS, "write them as 500,1000,2000/day, ten at most")
]
Share = Annotated[str, Spelt(_SHARE, "write it as 95% or 0.95")]
Policies = Annotated[
    str,
    Field(max_length=200),
    Spelt(_POLICIES, f"name at most {MOST_POLICIES}, with commas, of: {', '.join(NAMES)}"),
]
Clock = Annotated[str, Spelt(f"^{_CLOCK}$", "write it as 8 or 17:30")]
Hours = Annotated[str, Spelt(f"^{_CLOCK}-{_CLOCK}$", "write them as 22:00-07:00")]
Words = Annotated[str, Field(max_length=200), Spelt(TAG, "write something that can be read")]
