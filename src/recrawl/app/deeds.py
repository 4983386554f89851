"""What can be done about one resource, by its number: said, paused, hastened, unmasked, moved, removed."""

from __future__ import annotations

from dataclasses import dataclass

from recrawl.app import masks, moves, notices, pauses, settings, watchlist, wishes
from recrawl.app.build import House
from recrawl.app.lens import idle
from recrawl.app.names import checked_tags
from recrawl.app.portrait import numbered
from recrawl.app.watchlist import Choice
from recrawl.errors import BadInputError, ConflictError, NotWatchedError
from recrawl.model import Manner, Resource, Settings

_LENS = ("include", "ignore", "keys", "main", "mask")
_SAID = ("kind", "weight", "min_gap_s", "max_gap_s", "changes", *_LENS)


def paused(house: House, number: int, on: bool) -> Resource:
    resource, _, _ = numbered(house.store, number)
    change = pauses.pause if on else pauses.resume
    change(house.store, Choice(urls=(resource.url,)), house.clock.now())
    return numbered(house.store, number)[0]


def hastened(house: House, number: int) -> Resource:
    resource, _, _ = numbered(house.store, number)
    wishes.soon(house.store, resource, house.clock.now())
    return resource


def unmasked(house: House, number: int, mask: int, undo: bool) -> Resource:
    resource, standing, _ = numbered(house.store, number)
    if mask > len(standing.noise.masks):
        raise NotWatchedError(f"{resource.url} has no mask {mask}; its page lists those it has.")
    (masks.undo if undo else masks.redo)(house.store, resource, [mask], house.clock.now())
    return numbered(house.store, number)[0]


def focused(house: House, number: int, manner: Manner | None) -> tuple[Resource, list[str]]:
    """What of it counts, said anew; and what of that chooses nothing there, as sentences."""
    resource, standing, _ = numbered(house.store, number)
    this = Choice(urls=(resource.url,))
    watchlist.say(house.store, this, Settings(manner=manner), house.clock.now(), forget=_LENS)
    resource, _, _ = numbered(house.store, number)
    return resource, list(idle(resource.effective.kind, standing.version, manner)) if manner else []


def moved(house: House, number: int) -> moves.Moved:
    resource, standing, _ = numbered(house.store, number)
    if not standing.has_moved or standing.moved_to == resource.url:
        raise ConflictError(f"{resource.url} has not moved; load its page again.")
    offer = [(resource, standing)]
    follow = notices.notices(house).moved
    (done,) = moves.applied(house.store, house.secrets, offer, house.clock.now(), follow=follow)
    if done.refused:
        raise ConflictError(done.refused)
    return done


def removed(house: House, number: int) -> str:
    resource, _, _ = numbered(house.store, number)
    watchlist.remove(house.store, house.secrets, Choice(urls=(resource.url,)))
    return resource.url


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A form as it was filled in: what is empty is not said here, and is as wider layers have it."""

    kind: str = ""
    weight: str = ""
    min_gap: str = ""
    max_gap: str = ""
    changes: str = ""
    include: str = ""
    ignore: str = ""
    keys: str = ""
    main: str = ""
    mask: str = ""
    tags: str = ""


def said(house: House, number: int, wish: Wish) -> list[str]:
    """All of its own layer that the form has, said anew; what of it chooses nothing there, as sentences."""
    resource, standing, _ = numbered(house.store, number)
    manner = settings.manner(
        include=_lines(wish.include),
        ignore=_lines(wish.ignore),
        keys=_lines(wish.keys),
        main=_either(wish.main),
        mask=_either(wish.mask),
    )
    wanted = settings.settings(
        kind=wish.kind or None,
        weight=_number(wish.weight),
        min_gap=wish.min_gap.strip() or None,
        max_gap=wish.max_gap.strip() or None,
        changes=wish.changes or None,
        manner=manner,
    )
    words = (tag.strip() for tag in wish.tags.replace("\n", ",").split(","))
    tags = checked_tags(dict.fromkeys(tag for tag in words if tag))
    now, this = house.clock.now(), Choice(urls=(resource.url,))
    gone = tuple(tag for tag in resource.tags if tag not in tags)
    new = tuple(tag for tag in tags if tag not in resource.tags)
    watchlist.say(house.store, this, wanted, now, forget=_SAID, add_tags=new, drop_tags=gone)
    resource, _, _ = numbered(house.store, number)
    return list(idle(resource.effective.kind, standing.version, manner)) if manner else []


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _either(text: str) -> bool | None:
    if text not in ("", "yes", "no"):
        raise BadInputError(f"{text!r} is neither yes nor no; choose one of them.")
    return None if not text else text == "yes"


def _number(text: str) -> float | None:
    try:
        return float(text) if text.strip() else None
    except ValueError:
        raise BadInputError(f"{text!r} is no number; write a weight as 1 or 2.5.") from None
