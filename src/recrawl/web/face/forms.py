"""A form that is refused comes back with what was typed into it, and with what is wrong beside each field."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from recrawl.app.settings import settings as checked
from recrawl.app.several import weighed
from recrawl.errors import BadInputError, ConflictError, NotWatchedError, UnknownPartError
from recrawl.model import Settings

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


def settings(
    typed: Typed, *, kind: str = "", weight: str = "", min_gap: str = "", max_gap: str = "", changes: str = ""
) -> Settings | None:
    """Each by itself first, so that what is wrong stands beside its field."""
    heavy = typed.tried("weight", lambda: (weighed(weight),))
    typed.tried("weight", lambda: checked(weight=heavy[0] if heavy else None))
    typed.tried("kind", lambda: checked(kind=kind or None))
    typed.tried("changes", lambda: checked(changes=changes or None))
    typed.tried("min_gap", lambda: checked(min_gap=min_gap.strip() or None))
    typed.tried("max_gap", lambda: checked(max_gap=max_gap.strip() or None))
    if typed.wrong or heavy is None:
        return None
    (weighs,) = heavy
    return typed.tried(
        "max_gap",
        lambda: checked(
            kind=kind or None,
            weight=weighs,
            min_gap=min_gap.strip() or None,
            max_gap=max_gap.strip() or None,
            changes=changes or None,
        ),
    )


def status_of(problem: BadInputError) -> int:
    match problem:
        case NotWatchedError():
            return 404
        case ConflictError() | UnknownPartError():
            return 409
    return 400
