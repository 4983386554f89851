"""What must be done to which records so that some payloads go and nothing else is lost.

A payload that others refer to is never simply dropped. When it may stay, it stays; when it must go, the
first of those that need it gets it, and the others refer to that one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from recrawl.contracts import Store
from recrawl.model import Version
from recrawl.remember.copying import Filled, Redirected, Spot
from recrawl.remember.exchange import stamp
from recrawl.remember.rewriting import Order
from recrawl.remember.survey import Sight, Survey


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasing:
    order: Order
    shared: Sequence[str]  # URLs of others that keep the same content
    digests: Collection[str]  # of the payloads that go


def erasing(survey: Survey, store: Store, url: str, versions: Iterable[Version]) -> Erasing:
    """All that visits to this URL left behind goes. `versions` are the resource's own."""
    mine: dict[Spot, list[Version]] = {}
    for version in versions:
        if version.file:
            mine.setdefault((version.file, version.offset), []).append(version)
    own_id = next((found[0].resource_id for found in mine.values()), None)
    known = _Known(store, own_id)
    sights, unread = survey.concerned(urls={url}, payloads=mine)
    goes = _going(sights, url, mine, known)
    order = Order(erased=True, owner_id=own_id or 0)
    for spot, found in mine.items():
        if spot not in sights or spot in goes:
            order.dropped[spot] = found
    for file, offset in [*((line.file, line.offset) for line in unread if line.url == url), *mine]:
        if (file, offset) not in sights and not known.others_at((file, offset)):
            order.of(file).drop.add(offset)
    referring: dict[str, list[Sight]] = {}
    for spot, sight in sights.items():
        if spot not in goes and sight.refers_to:
            referring.setdefault(sight.refers_to, []).append(sight)
    shared: list[str] = []
    origins = {sight.id: sight.line.file for sight in goes.values() if not sight.refers_to}
    for sight in goes.values():
        _drop(order, sight)
        if sight.refers_to:
            # What refers goes first: without what it refers to, nobody would find it again after a crash.
            order.goes_before(sight.line.file, origins.get(sight.refers_to))
            continue
        needs = referring.get(sight.id, [])
        keeps = known.others_at(sight.place)
        shared += [*(other.owner for other in needs), *known.urls(keeps)]
        _handed_on(order, sight, needs, keeps, known)
    for file, orders in order.files.items():
        orders.spare = {v.offset for v in store.placed(file) if v.resource_id != own_id} - orders.drop
    digests = {sight.line.digest for spot, sight in sights.items() if spot in goes or spot in mine} - {""}
    for spot, sight in sights.items():
        if spot not in goes and not sight.refers_to and sight.line.digest in digests:
            shared += known.urls(known.others_at(spot)) or [sight.owner]
    return Erasing(
        order=order,
        shared=[other for other in dict.fromkeys(shared) if other != url],
        digests=digests,
    )


def _going(
    sights: Mapping[Spot, Sight], url: str, mine: Mapping[Spot, Sequence[Version]], known: _Known
) -> dict[Spot, Sight]:
    def belongs(sight: Sight) -> bool:
        if sight.owner == url or (sight.line.url == url and not known.watched(sight.owner)):
            return True
        others, answered_at = known.others_at(sight.place), sight.line.url
        # After a move it names the address before: it is ours where ours came from there, and no other did.
        named = any(version.url == answered_at for version in mine.get(sight.place, ()))
        shared = any(other.url in ("", answered_at) for other in others)
        return sight.place in mine and (not others or (named and not shared))

    goes = {spot: sight for spot, sight in sights.items() if belongs(sight)}
    payloads = {sight.id: sight for sight in goes.values() if not sight.refers_to}
    for spot, sight in sights.items():
        origin = payloads.get(sight.refers_to)
        if origin is None or spot in goes or sight.owner != origin.owner or known.watched(sight.owner):
            continue
        # The resource had another address then, or shares one with others: what it refers to tells.
        if not known.others_at(origin.place):
            goes[spot] = sight
    return goes


def _drop(order: Order, sight: Sight) -> None:
    orders = order.of(sight.line.file)
    orders.drop.add(sight.line.offset)
    orders.drop_ids.add(sight.id)


def _handed_on(
    order: Order, gone: Sight, needs: Sequence[Sight], keeps: Sequence[Version], known: _Known
) -> None:
    """The payload goes to the first that needs it."""
    order.lengths[gone.place] = gone.line.length
    if not needs:
        if keeps:
            url = next(iter(known.urls(keeps[:1])), gone.line.url)
            order.of(gone.line.file).add.append((gone.place, url, stamp(keeps[0].at)))
        return
    heir, *rest = sorted(needs, key=lambda sight: (sight.date, sight.place))
    order.of(heir.line.file).change[heir.line.offset] = Filled(gone.place)
    for sight in rest:
        to = Redirected(heir.id, heir.line.url, heir.date)
        order.of(sight.line.file).change[sight.line.offset] = to
        order.goes_before(heir.line.file, sight.line.file)
    for sight in needs:
        order.goes_before(sight.line.file, gone.line.file)


def pruning(
    survey: Survey,
    store: Store,
    versions: Sequence[Version],
    *,
    busy: Callable[[str], bool],
    worth_it: Callable[[str, int], bool],
) -> tuple[Order, list[Version]]:
    """That these versions go: the order, and those that go without any record going, since others need it.

    Files that are `busy` are left as they are, and those in which too few bytes would go.
    """
    at: dict[Spot, list[Version]] = {}
    for version in versions:
        at.setdefault((version.file, version.offset), []).append(version)
    busy_files = {file for file in {file for file, _ in at} if busy(file)}
    alone: dict[Spot, list[Version]] = {}
    rowed: list[Version] = []  # others are at the same place
    for spot, found in at.items():
        if spot[0] in busy_files:
            continue
        if len(store.placed(*spot)) == len(found):
            alone[spot] = found
        else:
            rowed += found
    sights, _ = survey.concerned(urls=(), payloads=alone)
    referring: dict[str, list[Sight]] = {}
    for sight in sights.values():
        if sight.refers_to:
            referring.setdefault(sight.refers_to, []).append(sight)
            if sight.line.file not in busy_files and busy(sight.line.file):
                busy_files.add(sight.line.file)
    goes: dict[Spot, list[Sight]] = {}
    for spot, found in alone.items():
        payload = sights.get(spot)
        if payload is None:
            continue  # it cannot be read: that is not ours to decide
        again = referring.get(payload.id, [])
        if any(sight.owner != payload.owner for sight in again):
            rowed += found  # the record stays for those others
        elif not any(sight.line.file in busy_files for sight in again):
            goes[spot] = [payload, *again]
    return _worth(goes, alone, worth_it), rowed


def _worth(
    goes: Mapping[Spot, Sequence[Sight]],
    versions: Mapping[Spot, list[Version]],
    worth_it: Callable[[str, int], bool],
) -> Order:
    n_bytes: dict[str, int] = {}
    for sights in goes.values():
        for sight in sights:
            n_bytes[sight.line.file] = n_bytes.get(sight.line.file, 0) + sight.line.length
    files = {file for file, n in n_bytes.items() if worth_it(file, n)}
    order = Order()
    for spot, sights in goes.items():
        if not all(sight.line.file in files for sight in sights):
            continue
        order.dropped[spot] = versions[spot]
        for sight in sights:
            _drop(order, sight)
            order.goes_before(sight.line.file, spot[0])
    return order


class _Known:
    """What the store says of others than the resource `own_id`."""

    def __init__(self, store: Store, own_id: int | None) -> None:
        self._store = store
        self._own_id = own_id
        self._watched: dict[str, bool] = {}
        self._urls: dict[int, str] = {}

    def watched(self, url: str) -> bool:
        if url not in self._watched:
            self._watched[url] = self._store.find(url) is not None
        return self._watched[url]

    def others_at(self, spot: Spot) -> list[Version]:
        return [version for version in self._store.placed(*spot) if version.resource_id != self._own_id]

    def urls(self, versions: Collection[Version]) -> list[str]:
        """Of the resources that these versions belong to."""
        wanted = {version.resource_id for version in versions}
        for resource_id in wanted - self._urls.keys():
            for resource, _, _ in self._store.resources(after=resource_id - 1, limit=1):
                if resource.id == resource_id:
                    self._urls[resource_id] = resource.url
        return [self._urls[resource_id] for resource_id in sorted(wanted) if resource_id in self._urls]
