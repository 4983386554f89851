"""One resource, as far as the store alone can tell: who it is, where it stands, and what was said of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import inf, nan

from recrawl.app.account import sentence
from recrawl.app.masks import mask_rows
from recrawl.app.relatives import Relative, relatives
from recrawl.app.rows import Row, resource_row, said_words
from recrawl.app.versions import after
from recrawl.app.watchlist import url_of
from recrawl.contracts import Store
from recrawl.errors import NotWatchedError
from recrawl.model import (
    GLOBAL,
    Changed,
    Erasure,
    Manner,
    Plan,
    Resource,
    Scope,
    ScopeKind,
    Settings,
    Standing,
    Version,
    Visit,
)

N_SIGNALS = 20
_USUAL = {"main": "no", "mask": "yes", "include": "everything", "ignore": "nothing", "keys": "none"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A source's word that it had changed."""

    at: float
    source_id: int
    source: str  # its address
    event_at: float


@dataclass(frozen=True, slots=True)
class Holding:
    """What a setting is for this resource, in words, and who says so; nobody where `scope` is None."""

    name: str
    words: str
    scope: Scope | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Portrait:
    resource: Resource
    standing: Standing
    plan: Plan | None
    erasure: Erasure | None
    last: Visit | None
    sentence: str
    holdings: Mapping[str, Holding]
    signals: Sequence[Told]
    kin: Sequence[Relative]
    masks: Sequence[Row]
    n_twins: int
    newest: Sequence[Version]  # at most two, the newest first

    @property
    def moved_to(self) -> str | None:
        moved = self.standing.has_moved and self.standing.moved_to != self.resource.url
        return self.standing.moved_to if moved else None

    def row(self) -> Row:
        return resource_row(self.resource, self.standing, self.plan, self.erasure)


def numbered(store: Store, resource_id: int) -> tuple[Resource, Standing, Plan | None]:
    """A watched resource by its number."""
    found = next(store.resources(after=resource_id - 1, limit=1), None)
    if found is None or found[0].id != resource_id:
        raise NotWatchedError(f"No watched resource has the number {resource_id}; look for it in the list.")
    return found


def portrait(store: Store, resource_id: int) -> Portrait:
    resource, standing, plan = numbered(store, resource_id)
    erasure = next(iter(store.erasures(resource.url)), None)
    return Portrait(
        resource=resource,
        standing=standing,
        plan=plan,
        erasure=erasure,
        last=next(store.visits(resource.id, 1), None),
        # whether its hunch is heeded only the forecast knows
        sentence=sentence(store, resource, replace(standing, hunch_per_day=nan), plan, erasure),
        holdings=holdings(store, resource),
        signals=signals(store, resource),
        kin=relatives(store, resource.id, standing.since_at),
        masks=mask_rows(resource, standing),
        n_twins=len(standing.noise.twins),
        newest=store.history(resource.id, newest_first=True, limit=2),
    )


def signals(store: Store, resource: Resource, limit: int = N_SIGNALS) -> list[Told]:
    """Newest first."""
    names: dict[int, str] = {}
    found = []
    for signal in store.signals(resource.id, limit):
        if signal.source_id not in names:
            names[signal.source_id] = url_of(store, signal.source_id)
        source = names[signal.source_id]
        found.append(Told(at=signal.at, source_id=signal.source_id, source=source, event_at=signal.event_at))
    return found


def holdings(store: Store, resource: Resource) -> dict[str, Holding]:
    """Every setting by its name: the nearest layer that says something of it wins."""
    asked = (
        Scope(ScopeKind.RESOURCE, resource.url),
        *(Scope(ScopeKind.TAG, tag) for tag in sorted(resource.tags)),
        Scope(ScopeKind.HOST, resource.host),
        GLOBAL,
    )
    layers = list(store.said(asked))
    effective = resource.effective
    found = {}
    for owner, kind in ((effective, Settings), (effective.manner, Manner)):
        for name in (one.name for one in fields(kind) if one.name != "manner"):
            said = (scope for scope, layer in layers if _said(layer, kind, name) is not None)
            value = getattr(owner, name)
            words = (
                said_words({name: value})[0].partition(" ")[2] if value is not None else _USUAL.get(name, "")
            )
            found[name] = Holding(name, words, next(said, None))
    return found


def _said(layer: Settings, kind: type[Settings] | type[Manner], name: str) -> object:
    return getattr(layer if kind is Settings else layer.manner or Manner(), name)


def visits_of(
    store: Store, resource_id: int, *, from_at: float = -inf, until_at: float = inf, limit: int
) -> tuple[Resource, list[Visit], bool]:
    """Newest first, and whether there are older ones."""
    resource, _, _ = numbered(store, resource_id)
    found = list(store.visits(resource_id, limit + 1, from_at=from_at, until_at=until_at))
    return resource, found[:limit], len(found) > limit


def versions_found(store: Store, resource_id: int, visits: Sequence[Visit]) -> dict[str, int]:
    """By the visit that found it, the version that has something to be compared with: what a change led to.
    The visits are the newest first, and none between them is left out."""
    if not visits:
        return {}
    # a visit makes one version at most; and one more, from before all of them
    kept = store.history(resource_id, until_at=after(visits[0].at), newest_first=True, limit=len(visits) + 1)
    found = {}
    for visit in visits:
        version = next((one for one in kept[:-1] if one.at <= visit.at), None)
        new = version is not None and not version.at <= visit.since_at
        if version is not None and new and visit.changed is Changed.YES and (version.file or version.gone):
            found[visit.fetch_id] = version.seq
    return found


def versions_of(
    store: Store, resource_id: int, *, until_at: float = inf, limit: int
) -> tuple[Resource, list[Version], bool]:
    """Likewise, of its history."""
    resource, _, _ = numbered(store, resource_id)
    found = list(store.history(resource_id, until_at=until_at, newest_first=True, limit=limit + 1))
    return resource, found[:limit], len(found) > limit


def version_of(store: Store, resource_id: int, seq: int) -> tuple[Resource, Version]:
    """A version by its number, evidence too."""
    resource, _, _ = numbered(store, resource_id)
    found = store.version(resource_id, seq)
    if found is None:
        raise NotWatchedError(f"{resource.url} has no version {seq}; look for it among its versions.")
    return resource, found
