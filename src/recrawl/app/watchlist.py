"""What is watched: adding, choosing, saying things about it, removing."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from recrawl.app.access import Secrets
from recrawl.app.sources import Candidate, Found, Refused
from recrawl.contracts import Store
from recrawl.errors import BadInputError, BadQueryError, BadSettingError, BadUrlError, NotWatchedError
from recrawl.model import GLOBAL, Kind, NewResource, Resource, Scope, ScopeKind, Settings
from recrawl.urls import (
    MAX_QUERY_URL_BYTES,
    MAX_URL_BYTES,
    canonical_file,
    file_host,
    file_path,
    host_key,
    is_file_url,
    parsed,
    resource_url,
)

N_TOGETHER = 10_000
N_REASONS = 1_000
_IN_FILE = ("weight", "min_gap_s", "max_gap_s")  # what the configuration says for everything


@dataclass(slots=True)
class Added:
    """What became of the candidates; of the refused ones the first thousand are kept with their reasons."""

    n_added: int = 0
    n_known: int = 0
    n_refused: int = 0
    refused: list[Refused] = field(default_factory=list)

    def refuse(self, refused: Refused) -> None:
        self.n_refused += 1
        if len(self.refused) < N_REASONS:
            self.refused.append(refused)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Which resources are meant: exactly one of these is given."""

    urls: tuple[str, ...] = ()
    tag: str | None = None
    host: str | None = None
    everything: bool = False

    def __post_init__(self) -> None:
        given = [self.urls, self.tag is not None, self.host is not None, self.everything]
        if sum(map(bool, given)) != 1:
            raise BadInputError("Say which resources are meant, in one way: URLs, a tag, a host, or all.")

    def scopes(self) -> tuple[Scope, ...]:
        if self.tag is not None:
            return (Scope(ScopeKind.TAG, self.tag),)
        if self.host is not None:
            return (Scope(ScopeKind.HOST, self.host),)
        if self.everything:
            return (GLOBAL,)
        return tuple(Scope(ScopeKind.RESOURCE, resource_url(url)) for url in self.urls)


async def add(
    store: Store,
    found: AsyncIterator[Found],
    *,
    settings: Settings,
    tags: tuple[str, ...],
    now: float,
    folders: tuple[Path, ...] = (),
    progress: Callable[[int], object] = lambda _: None,
) -> Added:
    """Watch all that can be; many at a time, so that a hundred thousand take seconds. Files may be watched in
    `folders`."""
    result = Added()
    waiting: list[NewResource] = []
    seen = 0
    async for item in found:
        new = admitted(item, settings, tags, folders)
        if isinstance(new, Refused):
            result.refuse(new)
        else:
            waiting.append(new)
        if len(waiting) == N_TOGETHER:
            _flush(store, waiting, result, now)
            seen += N_TOGETHER
            progress(seen)
    _flush(store, waiting, result, now)
    return result


def _flush(store: Store, waiting: list[NewResource], result: Added, now: float) -> None:
    if waiting:
        n_added, n_known = store.add(waiting, now)
        result.n_added += n_added
        result.n_known += n_known
        waiting.clear()


def admitted(
    item: Found, settings: Settings, tags: tuple[str, ...], folders: tuple[Path, ...]
) -> NewResource | Refused:
    """What would be watched, or why not."""
    if isinstance(item, Refused):
        return item
    try:
        if is_file_url(item.text):
            return _admitted_file(item, settings, tags, folders)
        query = settings.kind is Kind.SPARQL
        url = parsed(item.text, max_bytes=MAX_QUERY_URL_BYTES if query else MAX_URL_BYTES)
        if query:
            check_query(str(url), settings)
    except (BadUrlError, BadQueryError) as problem:
        return Refused(item.text, item.where, str(problem))
    if not settings.allow_private and private_name(url.raw_host or ""):
        reason = f"{url.raw_host} is on this machine or network; use --allow-private if you mean that."
        return Refused(item.text, item.where, reason)
    return NewResource(url=str(url), host=host_key(url), settings=settings, tags=tags)


def _admitted_file(
    item: Candidate, settings: Settings, tags: tuple[str, ...], folders: tuple[Path, ...]
) -> NewResource | Refused:
    from recrawl.observe.files import permitted

    url = canonical_file(item.text)
    path = Path(file_path(url))
    if not item.by_hand:
        return Refused(item.text, item.where, "it names a file of this machine; only you may, by hand.")
    if not permitted(folders, path):
        reason = f"{path} is in no folder that may be visited; name its folder in fetching.allow_files."
        return Refused(item.text, item.where, reason)
    if not url.endswith("/") and path.is_dir():
        url += "/"
    return NewResource(url=url, host=file_host(url), settings=settings, tags=tags)


def check_query(url: str, settings: Settings) -> None:
    """Whether a SPARQL query can be watched in this manner; raises where it cannot."""
    from recrawl.observe.query import asked_by

    _, query = asked_by(url)
    if settings.manner is not None and settings.manner.page_rows and not query.pageable:
        raise BadQueryError(
            "Only a SELECT without a LIMIT or OFFSET of its own can be asked for by the page; leave out one "
            "or the other."
        )


def private_name(host: str) -> bool:
    """Whether the very name says that this is no public place. Other names are judged when connecting.

    >>> private_name("127.1"), private_name("a.localhost"), private_name("[::1]"), private_name("example.org")
    (True, True, True, False)
    """
    name = host.strip("[]").rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        # the system reads 127.1 and 0x7f000001 as addresses too, and so do the libraries that connect
        address = ip_address(name) if ":" in name else ip_address(socket.inet_aton(name))
    except (ValueError, OSError):
        return False
    from recrawl.observe.shield import public

    return not public(address)


def watched(store: Store, url: str) -> Resource:
    """The resource behind a URL in any spelling."""
    known = resource_url(url)
    resource = store.find(known)
    if resource is None and is_file_url(known):
        resource = store.find(f"{known}/")  # a folder, typed without its slash
    if resource is None:
        raise NotWatchedError(f"{known} is not being watched; add it with `recrawl add {known}`.")
    return resource


def chosen(store: Store, choice: Choice) -> Iterator[Resource]:
    if choice.urls:
        yield from [watched(store, url) for url in choice.urls]
    else:
        yield from (resource for resource, _, _ in store.resources(tag=choice.tag, host=choice.host))


def say(store: Store, choice: Choice, settings: Settings, now: float, *, forget: tuple[str, ...] = ()) -> int:
    """Say something about resources, a tag, a host or everything; how many resources it reaches."""
    if choice.everything and any(getattr(settings, name) is not None or name in forget for name in _IN_FILE):
        raise BadSettingError(
            "What holds for everything is in the settings file; set gaps.weight, gaps.min_gap or "
            "gaps.max_gap there. `recrawl doctor` shows where it is."
        )
    for url in choice.urls:
        watched(store, url)  # all of them before the first is changed
    return sum(store.say(scope, settings, now, forget=forget) for scope in choice.scopes())


def label(store: Store, choice: Choice, add_tags: tuple[str, ...], drop: tuple[str, ...], now: float) -> int:
    """Give tags to the chosen resources and take others away."""
    ids = [resource.id for resource in chosen(store, choice)]
    store.tag(ids, add_tags, drop, now)
    return len(ids)


def resume(store: Store, choice: Choice, now: float) -> tuple[int, int]:
    """Take a pause back: how many resources that reaches, and how many of them still pause, for another
    reason. A resource that is named itself resumes whatever its tags and host say."""
    if choice.urls:
        return say(store, choice, Settings(paused=False), now), 0
    n = say(store, choice, Settings(), now, forget=("paused",))
    return n, sum(resource.effective.paused for resource in chosen(store, choice))


def remove(store: Store, secrets: Secrets, choice: Choice) -> int:
    """Stop watching, forget the history and the resources' own secrets; the archive's files stay."""
    gone = list(chosen(store, choice))
    n = store.remove([resource.id for resource in gone])
    secrets.forget(Scope(ScopeKind.RESOURCE, resource.url) for resource in gone)
    return n
