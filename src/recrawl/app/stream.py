"""What changed lately, in pages; what of it, in a few lines; and who changed most."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import TYPE_CHECKING, TypeVar

from recrawl.app.comparison import Pair, Pieces
from recrawl.app.names import checked_tags, host_named
from recrawl.app.quantity import instant, iso, seconds
from recrawl.app.rows import Row, visit_row
from recrawl.errors import BadInputError, NotWatchedError
from recrawl.model import DAY_S, Changer, Kind, Place, Resource, Sought, Visit, Which

if TYPE_CHECKING:
    from recrawl.app.build import House

T = TypeVar("T", Which, Kind)
REACH = 10_000  # changes that one question looks through, however few of them are sought
N_LINES, N_LETTERS = 12, 240  # of a glimpse: lines, and letters that came or went in each
MARK = r"^(-?[0-9]{1,12}\.[0-9]{1,12}~[0-9]{1,18}~[!-~]{0,200})?$"  # a place in the changes, as it is written
N_AROUND = 40  # letters that stayed, before and after those


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A change, and whose it is."""

    visit: Visit
    resource: Resource

    @property
    def slight(self) -> bool:
        return self.visit.significant is False

    def row(self) -> Row:
        return {
            "id": self.visit.fetch_id,
            "resource_id": self.resource.id,
            **visit_row(self.visit, self.resource.url, changes=self.resource.effective.changes),
            "host": self.resource.host,
            "kind": self.resource.effective.kind.value,
            "tags": list(self.resource.tags),
        }


@dataclass(frozen=True, slots=True)
class Page:
    entries: Sequence[Entry]
    older: str | None  # where the next page begins; None: there is none
    back_to_at: float | None = None  # so far back it was looked, where that was not all

    def document(self) -> Row:
        return {
            "changes": [entry.row() for entry in self.entries],
            "older": self.older,
            "back_to": None if self.back_to_at is None else iso(self.back_to_at),
        }


def sought(
    now: float,
    *,
    which: str = "",
    tag: str = "",
    host: str = "",
    text: str = "",
    kind: str = "",
    since: str = "",
) -> Sought:
    """As people write it; empty: whatever it is. `since` is a length of time or a moment."""
    return Sought(
        which=_one_of(Which, which, "choice of changes") or Which.COUNTING,
        from_at=-inf if not since else _since(since, now),
        tag=checked_tags([tag])[0] if tag else None,
        host=host_named(host) if host else None,
        text=text or None,
        kind=_one_of(Kind, kind, "kind"),
    )


def _one_of(kind: type[T], said: str, what: str) -> T | None:
    if not said:
        return None
    try:
        return kind(said)
    except ValueError:
        raise BadInputError(f"{said!r} is no {what}; choose {', '.join(kind)}.") from None


def _since(said: str, now: float) -> float:
    try:
        return now - seconds(said)
    except BadInputError:
        return instant(said)


def page(house: House, wanted: Sought, older: str = "", limit: int = 50) -> Page:
    """The newest first; `older` is what the page before said."""
    # one more than is shown: whether there is another page
    visits, place = house.store.stream(
        wanted, before=_place(older) if older else None, limit=limit + 1, reach=REACH
    )
    shown = visits[:limit]
    whose = list(dict.fromkeys(visit.resource_id for visit in shown))
    known = {one.id: one for one, _, _ in house.store.these(whose)}
    entries = [
        Entry(visit=visit, resource=known[visit.resource_id]) for visit in shown if visit.resource_id in known
    ]
    if len(visits) > limit:
        last = shown[-1]
        return Page(entries, _mark((last.at, last.resource_id, last.fetch_id)))
    return Page(entries, None if place is None else _mark(place), None if place is None else place[0])


def _mark(place: Place) -> str:
    return f"{place[0]!r}~{place[1]}~{place[2]}"


def _place(mark: str) -> Place:
    at, _, rest = mark.partition("~")
    number, _, fetch_id = rest.partition("~")
    try:
        place = float(at), int(number), fetch_id
    except ValueError:
        place = nan, 0, ""
    if not isfinite(place[0]) or not 0 <= place[1] < 1 << 63:
        raise BadInputError(f"{mark[:80]!r} is no place in the changes; take what the page before gave.")
    return place


@dataclass(frozen=True, slots=True)
class Glimpse:
    """What of a change can be shown in a few lines: of each whether it went (-) or came (+) or neither, and
    its pieces, each with whether it differs."""

    lines: Sequence[tuple[str, Pieces]]
    more: bool  # there are others
    remark: str = ""


def glimpse(house: House, resource_id: int, fetch_id: str, at: float) -> Glimpse:
    """What came and went at the visit that found it. It reads both versions, and may take its time."""
    from recrawl.app.versions import after, sides
    from recrawl.detect.noise import lens

    found = house.store.these([resource_id])
    if not found:
        raise NotWatchedError(f"No watched resource has the id {resource_id}; `recrawl list` shows them.")
    resource, standing, _ = found[0]
    near = house.store.visits(resource_id, 8, until_at=after(at))
    visit = next((one for one in near if one.fetch_id == fetch_id), None)
    if visit is None:
        raise NotWatchedError("There is no such visit; load the page of changes again.")
    pair = house.store.history(resource_id, until_at=after(visit.at), newest_first=True, limit=2)
    if len(pair) < 2 or not pair[0].at > visit.since_at:
        return Glimpse((), False, "No version is kept from before and after it.")
    told = sides(
        house.archive,
        pair[1],
        pair[0],
        lens=lens(resource.effective.manner, standing.noise),
        detectors=house.detectors,
    )
    lines = [
        *(_listed(line) for line in told.listed),
        *(line for one in told.stretches for pair in one if not pair.same for line in _both(pair)),
    ]
    shown = tuple((sign, _cut(pieces)) for sign, pieces in lines[:N_LINES])
    return Glimpse(shown, len(lines) > N_LINES or not told.whole, told.remark)


def _listed(line: str) -> tuple[str, Pieces]:
    sign = line[:1] if line[:1] in ("+", "-") else ""
    return sign, ((line[len(sign) :].strip(), bool(sign)),)


def _both(pair: Pair) -> Iterator[tuple[str, Pieces]]:
    if pair.old:
        yield "-", pair.old
    if pair.new:
        yield "+", pair.new


def _cut(pieces: Pieces) -> Pieces:
    """As much as is shown of each: all around what differs, and the beginning of that."""
    kept: list[tuple[str, bool]] = []
    for i, (text, differs) in enumerate(pieces):
        if differs:
            kept.append((text if len(text) <= N_LETTERS else f"{text[:N_LETTERS]}…", True))
        elif len(text) <= (2 * N_AROUND if len(pieces) > 1 else N_LETTERS):
            kept.append((text, False))
        elif len(pieces) == 1:
            kept.append((f"{text[:N_LETTERS]}…", False))
        else:
            begin = f"{text[:N_AROUND]}…" if i else "…"
            end = text[-N_AROUND:] if i + 1 < len(pieces) else ""
            kept.append((f"{begin}{end}", False))
        if sum(len(text) for text, _ in kept) > 2 * N_LETTERS:
            break
    return tuple(kept)


def most_changed(house: House, days: float, limit: int = 20) -> Sequence[Changer]:
    now = house.clock.now()
    return house.store.most_changed(now - days * DAY_S, now, limit)


def changer_row(changer: Changer) -> Row:
    return {
        "resource_id": changer.resource_id,
        "url": changer.url,
        "changes": changer.n_changes,
        "visits": changer.n_visits,
        "last_change_at": iso(changer.last_at),
    }
