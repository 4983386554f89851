"""A form that is refused comes back with what was typed into it, and with what is wrong beside each field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from recrawl.errors import BadInputError, ConflictError, NotWatchedError, UnknownPartError

T = TypeVar("T")


@dataclass(slots=True)
class Typed:
    """`values` are shown again, so no secret is among them."""

    values: Mapping[str, object]
    wrong: dict[str, str] = field(default_factory=dict)  # by field; of the form as a whole under ""
    status: int = 400  # of what was found wrong first

    def refuse(self, name: str, text: str, status: int = 400) -> None:
        if not self.wrong:
            self.status = status
        self.wrong.setdefault(name, text)

    def tried(self, name: str, check: Callable[[], T]) -> T | None:
        """What comes of it; None where this field cannot be used."""
        try:
            return check()
        except BadInputError as problem:
            self.refuse(name, str(problem), status_of(problem))
            return None

    def within(self, name: str, text: str, most: int) -> None:
        """Nobody types so much by hand."""
        if len(text) > most:
            self.refuse(name, f"That is longer than {most:,} characters; shorten it.", 422)


def status_of(problem: BadInputError) -> int:
    match problem:
        case NotWatchedError():
            return 404
        case ConflictError() | UnknownPartError():
            return 409
    return 400
