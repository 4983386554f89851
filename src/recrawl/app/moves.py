"""Resources that live elsewhere now: permanent redirects, offered as a change of address."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from recrawl.app import gaps
from recrawl.app.access import Secrets
from recrawl.app.quantity import iso
from recrawl.app.rows import Row
from recrawl.app.watchlist import watched
from recrawl.contracts import Store
from recrawl.errors import BadInputError, WatchedAlreadyError
from recrawl.model import Resource, Standing
from recrawl.urls import host_key

Offer = tuple[Resource, Standing]


@dataclass(frozen=True, slots=True)
class Moved:
    """What became of one offer: where the resource is now, or why it stayed."""

    before: str
    after: str
    refused: str = ""
    left_secrets: bool = False


def offers(store: Store, urls: Sequence[str] = ()) -> Iterator[Offer]:
    """Those that moved, all or the named ones; one that is named and did not move is an error."""
    if not urls:
        yield from store.moved()
        return
    named = [watched(store, url) for url in urls]
    found = {resource.id: (resource, standing) for resource, standing in store.moved()}
    for resource in named:
        if resource.id not in found:
            raise BadInputError(f"{resource.url} has not moved; `recrawl moved` lists what has.")
    yield from (found[resource.id] for resource in named)


def offer_row(resource: Resource, standing: Standing) -> Row:
    return {"url": resource.url, "moved_to": standing.moved_to, "since_at": iso(standing.moved_since_at)}


def applied(
    store: Store,
    secrets: Secrets,
    chosen: Iterable[Offer],
    now: float,
    *,
    follow: Callable[[str, str], object] = lambda *_: None,
) -> Iterator[Moved]:
    """Change the addresses; history, tags and settings go along, secrets only where that is safe. `follow`
    hears of each address and the new one."""
    for resource, standing in list(chosen):
        after = standing.moved_to or resource.url
        if problem := gaps.moving(store, resource, host_key(after)):
            yield Moved(resource.url, after, refused=problem)
            continue
        try:
            store.move(resource.id, after, host_key(after), now)
        except WatchedAlreadyError as watched_already:
            yield Moved(resource.url, after, refused=str(watched_already))
            continue
        follow(resource.url, after)
        yield Moved(resource.url, after, left_secrets=not secrets.moved(resource.url, after))
