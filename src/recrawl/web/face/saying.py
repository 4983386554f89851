"""What is said of one resource, as its form has it: now, and as somebody filled it in."""

from __future__ import annotations

from recrawl.app import deeds
from recrawl.app.build import House
from recrawl.app.deeds import Wish
from recrawl.app.names import checked_tags
from recrawl.app.quantity import written
from recrawl.app.settings import manner
from recrawl.model import Manner, Resource
from recrawl.web.face.forms import Typed, settings

N_CHARS = 20_000  # of a field
_EITHER = {None: "", True: "yes", False: "no"}


def own(resource: Resource) -> Typed:
    """Its own layer, as one would type it."""
    said, how = resource.settings, resource.settings.manner or Manner()
    return Typed(
        {
            "kind": said.kind or "",
            "weight": "" if said.weight is None else said.weight,
            "min_gap": "" if said.min_gap_s is None else written(said.min_gap_s),
            "max_gap": "" if said.max_gap_s is None else written(said.max_gap_s),
            "changes": said.changes or "",
            "include": "\n".join(how.include or ()),
            "ignore": "\n".join(how.ignore or ()),
            "keys": "\n".join(how.keys or ()),
            "main": _EITHER[how.main],
            "mask": _EITHER[how.mask],
            "tags": ", ".join(resource.tags),
        }
    )


def said(house: House, number: int, wish: Wish, typed: Typed) -> list[str]:
    """What of it chooses nothing there, as sentences; nothing is said where something is wrong."""
    _check(wish, typed)
    return [] if typed.wrong else typed.tried("", lambda: deeds.said(house, number, wish)) or []


def _check(wish: Wish, typed: Typed) -> None:
    for name, text in typed.values.items():
        typed.within(name, str(text), N_CHARS)
    settings(
        typed,
        kind=wish.kind,
        weight=wish.weight,
        min_gap=wish.min_gap,
        max_gap=wish.max_gap,
        changes=wish.changes,
    )
    typed.tried("include", lambda: manner(include=_lines(wish.include)))
    typed.tried("ignore", lambda: manner(ignore=_lines(wish.ignore)))
    typed.tried("keys", lambda: manner(keys=_lines(wish.keys)))
    for name, text in (("main", wish.main), ("mask", wish.mask)):
        if text not in _EITHER.values():
            typed.refuse(name, "Choose yes or no, or leave it to wider settings.")
    tags = (word.strip() for word in wish.tags.replace("\n", ",").split(","))
    typed.tried("tags", lambda: checked_tags(word for word in tags if word))


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
