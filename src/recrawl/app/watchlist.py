"""What is watched: adding, choosing, saying things about it, removing."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path

from recrawl.app import gaps
from recrawl.app.access import Secrets
from recrawl.app.names import checked_tags, host_named
from recrawl.app.rows import Row, settings_row
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
    """Which resources are meant: exactly one of these is given. A host may be given as a URL on it."""

    urls: tuple[str, ...] = ()
    ids: tuple[int, ...] = ()  # their numbers; those that are watched no more do no harm
    tag: str | None = None
    host: str | None = None
    everything: bool = False

    def __post_init__(self) -> None:
        given = [self.urls, self.ids, self.tag is not None, self.host is not None, self.everything]
        if sum(map(bool, given)) != 1:
            raise BadInputError("Say which resources are meant, in one way: URLs, a tag, a host, or all.")
        if self.tag is not None:
            checked_tags([self.tag])
        if self.host is not None:
            object.__setattr__(self, "host", host_named(self.host))

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
    result: Added,
    *,
    settings: Settings,
    tags: tuple[str, ...],
    now: float,
    folders: tuple[Path, ...] = (),
    progress: Callable[[int], object] = lambda _: None,
    whole: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> None:
    """Watch all that can be; many at a time, so that a hundred thousand take seconds. Files may be watched in
    `folders`. `result` is true at every moment: whoever breaks this off between `whole` parts may use it."""
    waiting: list[NewResource] = []
    seen, vain, clash = 0, gaps.vain(store, settings, tags), gaps.retagging(store, tags)
    async for item in found:
        new = admitted(item, settings, tags, folders, vain=vain)
        if not isinstance(new, Refused) and (reason := clash(new.url)):
            new = Refused(new.url, item.where, reason)
        if isinstance(new, Refused):
            result.refuse(new)
        else:
            waiting.append(new)
        if len(waiting) == N_TOGETHER:
            with whole():
                _flush(store, waiting, result, now)
            seen += N_TOGETHER
            progress(seen)
    with whole():
        _flush(store, waiting, result, now)


def _flush(store: Store, waiting: list[NewResource], result: Added, now: float) -> None:
    if waiting:
        n_added, n_known = store.add(waiting, now)
        result.n_added += n_added
        result.n_known += n_known
        waiting.clear()


def admitted(
    item: Found,
    settings: Settings,
    tags: tuple[str, ...],
    folders: tuple[Path, ...],
    *,
    allowed: Callable[[str], bool] = lambda _: False,
    remedy: str = "use --allow-private if you mean that.",
    vain: Callable[[str], str] = lambda _: "",
) -> NewResource | Refused:
    """What would be watched, or why not. `allowed` says of a host whether it may be a private one, where the
    settings do not; `remedy`, in which `{host}` may stand, what to do where it may not; `vain` why what is
    said would mean nothing there."""
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
    if not settings.allow_private and private_name(url.raw_host or "") and not allowed(host_key(url)):
        reason = f"{url.raw_host} is on this machine or network; {remedy.format(host=host_key(url))}"
        return Refused(item.text, item.where, reason)
    if reason := vain(host_key(url)):
        return Refused(item.text, item.where, reason)
    return NewResource(
        url=str(url),
        host=host_key(url),
        settings=settings,
        tags=tags,
        changefreq=item.changefreq,
        lastmod_at=item.lastmod_at,
    )


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


def url_of(store: Store, resource_id: int) -> str:
    """Empty where no watched resource has that number."""
    found = store.resources(after=resource_id - 1, limit=1)
    return next((resource.url for resource, _, _ in found if resource.id == resource_id), "")


def chosen(store: Store, choice: Choice) -> Iterator[Resource]:
    if choice.urls:
        yield from [watched(store, url) for url in choice.urls]
    elif choice.ids:
        yield from (resource for resource, _, _ in store.these(choice.ids))
    else:
        yield from (resource for resource, _, _ in store.resources(tag=choice.tag, host=choice.host))


def say(
    store: Store,
    choice: Choice,
    settings: Settings,
    now: float,
    *,
    forget: tuple[str, ...] = (),
    add_tags: tuple[str, ...] = (),
    drop_tags: tuple[str, ...] = (),
) -> int:
    """Say something about resources, a tag, a host or everything, and give tags to those that it reaches now
    or take them away; how many these are. All of it is checked before anything is changed."""
    if choice.everything and any(getattr(settings, name) is not None or name in forget for name in _IN_FILE):
        raise BadSettingError(
            "What holds for everything is in the settings file; set gaps.weight, gaps.min_gap or "
            "gaps.max_gap there. `recrawl doctor` shows where it is."
        )
    one_by_one = bool(choice.urls or choice.ids)
    saying = gaps.Saying(
        settings=settings,
        forget=forget,
        scopes=() if one_by_one else choice.scopes(),
        add_tags=add_tags,
        drop_tags=drop_tags,
    )
    gaps.check(store, chosen(store, choice), saying)
    retagged = bool(add_tags or drop_tags)
    # those not watched are refused before the first is changed
    ids = [resource.id for resource in chosen(store, choice)] if retagged or choice.urls else []
    with store.together():
        if not retagged:
            return _said(store, choice, settings, now, forget)
        if settings != Settings() or forget:
            _said(store, choice, settings, now, forget)
        store.tag(ids, add_tags, drop_tags, now)
    return len(ids)


def _said(store: Store, choice: Choice, settings: Settings, now: float, forget: tuple[str, ...]) -> int:
    if choice.ids:
        return store.say_each(choice.ids, settings, now, forget=forget)
    return sum(store.say(scope, settings, now, forget=forget) for scope in choice.scopes())


def said_rows(store: Store) -> Iterator[Row]:
    """Every layer of settings, from the widest to the nearest."""
    for scope, settings in store.said():
        yield {"scope": scope.kind.value, "name": scope.name, **settings_row(settings)}


def remove(
    store: Store, secrets: Secrets, choice: Choice, progress: Callable[[int], object] = lambda _: None
) -> int:
    """Stop watching, forget the history and the resources' own secrets; the archive's files stay."""
    gone = list(chosen(store, choice))
    n = 0
    for start in range(0, len(gone), N_TOGETHER):
        together = gone[start : start + N_TOGETHER]
        n += store.remove([resource.id for resource in together])
        secrets.forget(Scope(ScopeKind.RESOURCE, resource.url) for resource in together)
        progress(n)
    return n
