"""Questions about one resource that take a while: for the back room, which keeps what it has read of all."""

from __future__ import annotations

from dataclasses import dataclass, replace

from recrawl.app import versions
from recrawl.app.account import Account, account
from recrawl.app.build import House
from recrawl.app.everybody import Everybody
from recrawl.app.portrait import numbered, version_of
from recrawl.app.versions import Sides
from recrawl.detect.noise import lens
from recrawl.errors import BadInputError
from recrawl.model import Resource, Version

KEPT_S = 60.0  # by the house's clock: so old may be what is believed of others
N_CHARACTERS = 100_000  # of a text on a page; a program may ask for all of it
MOST_CHARACTERS = 1_000_000

_kept: tuple[House, Everybody] | None = None


def everybody(house: House) -> Everybody:
    """What is believed of all, read anew once it is old."""
    global _kept
    now = house.clock.now()
    if _kept is None or _kept[0] is not house or not 0.0 <= now - _kept[1].at < KEPT_S:
        _kept = (house, Everybody(house))
    return _kept[1]


def accounted(house: House, resource_id: int) -> Account:
    resource, _, _ = numbered(house.store, resource_id)
    found = account(house, resource.url, everybody(house))
    # what only the predictor reads need not travel to another process
    return replace(found, standing=replace(found.standing, memory=()))


@dataclass(frozen=True, slots=True)
class Text:
    """What a reader would see of a version; None where it is no text, or too much."""

    text: str | None
    whole: bool


def read(house: House, resource_id: int, seq: int, most: int = N_CHARACTERS) -> Text:
    _, version = version_of(house.store, resource_id, seq)
    if version.gone or not version.file:
        return Text(None, True)
    found = versions.text(house.archive.snapshot(version))
    return Text(None, True) if found is None else Text(found[:most], len(found) <= most)


def compared(
    house: House, resource_id: int, from_seq: int | None, until_seq: int | None, raw: bool
) -> tuple[Resource, Sides | None]:
    """Two versions by their numbers; where none is given the newest, and the one before the later one. None
    where there are not two."""
    resource, standing, _ = numbered(house.store, resource_id)
    after = _later(house, resource, until_seq)
    if after is None:
        return resource, None
    before = _earlier(house, resource, after, from_seq)
    if before is None:
        return resource, None
    found = versions.sides(
        house.archive,
        before,
        after,
        lens=lens(resource.effective.manner, standing.noise),
        raw=raw,
        detectors=house.detectors,
    )
    return resource, found


def _later(house: House, resource: Resource, seq: int | None) -> Version | None:
    if seq is None:
        return next(iter(house.store.history(resource.id, newest_first=True, limit=1)), None)
    return _kept_version(house, resource, seq)


def _earlier(house: House, resource: Resource, after: Version, seq: int | None) -> Version | None:
    if seq is None:
        found = house.store.history(resource.id, until_at=after.at, newest_first=True, limit=1)
        return next(iter(found), None)
    return _kept_version(house, resource, seq)


def _kept_version(house: House, resource: Resource, seq: int) -> Version:
    _, version = version_of(house.store, resource.id, seq)
    if not version.file and not version.gone:
        raise BadInputError(f"Nothing is kept of version {seq} any more; choose another.")
    return version
