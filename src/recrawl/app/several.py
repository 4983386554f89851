"""What is done to several resources at once, by their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recrawl.app import pauses, watchlist
from recrawl.app.build import House
from recrawl.app.names import checked_tags
from recrawl.app.settings import settings
from recrawl.app.watchlist import Choice
from recrawl.errors import BadInputError
from recrawl.model import Settings

MOST = 10_000  # at once: more would keep a crawl from recording for seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A form as it was filled in. What of a set of settings is empty stays as it is."""

    do: str
    tag: str = ""
    weight: str = ""
    min_gap: str = ""
    max_gap: str = ""


def done(house: House, ids: tuple[int, ...], wish: Wish) -> str:
    """What was done, in words."""
    choice, store, now = chosen(ids), house.store, house.clock.now()
    match wish.do:
        case "pause":
            rested = pauses.pause(store, choice, now)
            return f"Paused {_counted(rested.n_changed)}."
        case "resume":
            rested = pauses.resume(store, choice, now)
            return f"Resumed {_counted(rested.n_changed)}."
        case "tag" | "untag":
            tags = checked_tags([wish.tag.strip()])
            add, drop = (tags, ()) if wish.do == "tag" else ((), tags)
            n = watchlist.say(store, choice, Settings(), now, add_tags=add, drop_tags=drop)
            return f"{_counted(n)} with{'' if add else 'out'} the tag {tags[0]} now."
        case "set":
            return f"Set for {_counted(watchlist.say(store, choice, _settings(wish), now))}."
        case "remove":
            n = watchlist.remove(store, house.secrets, choice)
            return f"Removed {_counted(n)} with their history; the archive's files stay."
    raise BadInputError(f"{wish.do!r} is nothing that can be done to resources; choose one of the buttons.")


def chosen(ids: Sequence[int]) -> Choice:
    if len(ids) > MOST:
        raise BadInputError(
            f"{len(ids):,} are more than {MOST:,} at once; narrow the list, or say it of their tag or host "
            "with `recrawl set`."
        )
    return Choice(ids=tuple(ids))


def names(house: House, ids: Sequence[int]) -> list[str]:
    return [resource.url for resource, _, _ in house.store.these(ids)]


def _settings(wish: Wish) -> Settings:
    said = settings(
        weight=weighed(wish.weight),
        min_gap=wish.min_gap.strip() or None,
        max_gap=wish.max_gap.strip() or None,
    )
    if said == Settings():
        raise BadInputError("There is nothing to set; fill in a weight or a gap.")
    return said


def weighed(text: str) -> float | None:
    """A weight out of a form; None where nothing is filled in."""
    try:
        return float(text) if text.strip() else None
    except ValueError:
        raise BadInputError(f"{text!r} is no number; write a weight as 1 or 2.5.") from None


def _counted(n: int) -> str:
    return "1 resource" if n == 1 else f"{n:,} resources"
