"""Gaps that could not hold beside those said before: refused, since what is taken must count.

The nearest layer wins, gap by gap, and a smallest gap wins over a largest. So a largest gap means nothing
where a wider layer's smallest is above it: that is refused, whoever speaks last. A smallest gap of a nearer
layer above a wider one's largest is what somebody asked for, and holds.

The default needs no asking: a smallest gap that nobody else spoke of follows the largest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from math import inf

from recrawl.app.quantity import written
from recrawl.contracts import Store
from recrawl.errors import ConflictError
from recrawl.model import GLOBAL, Resource, Scope, ScopeKind, Settings
from recrawl.remember.layers import merged

_NAMES = ("min_gap_s", "max_gap_s")
_Layers = Sequence[tuple[Scope, Settings]]  # nearest first


@dataclass(frozen=True, slots=True, kw_only=True)
class Saying:
    """What is about to be said: of these scopes, or of resources each by itself; and the tags that they get
    and lose."""

    settings: Settings
    forget: Sequence[str] = ()
    scopes: Sequence[Scope] = ()  # none: of the resources themselves
    add_tags: Sequence[str] = ()
    drop_tags: Sequence[str] = ()

    @property
    def speaks(self) -> bool:
        return any(getattr(self.settings, name) is not None or name in self.forget for name in _NAMES)

    def layer(self, scope: Scope, before: Settings) -> Settings:
        """What was said of this scope, and would be."""
        return merged(before, self.settings, self.forget) if self._of(scope) else before

    def bounds(self, scope: Scope) -> bool:
        """Whether this scope gets a largest gap."""
        return self.settings.max_gap_s is not None and self._of(scope)

    def _of(self, scope: Scope) -> bool:
        return scope in self.scopes if self.scopes else scope.kind is ScopeKind.RESOURCE


@dataclass(frozen=True, slots=True)
class _Vain:
    """A largest gap that means nothing, and the smallest of a wider layer that overrules it."""

    of: Scope
    max_gap_s: float
    by: Scope
    min_gap_s: float


def vain(store: Store, settings: Settings, tags: Sequence[str]) -> Callable[[str], str]:
    """Of a host: why the largest gap would mean nothing for a new resource there; empty where it counts."""
    if settings.max_gap_s is None or settings.min_gap_s is not None:
        return lambda _: ""

    def reason(host: str) -> str:
        found = _vain([(_own(""), settings), *_wider(store, tuple(tags), host)])
        return "" if found is None else _overruled(found)

    return lru_cache(maxsize=1_000)(reason)


def retagging(store: Store, tags: Sequence[str]) -> Callable[[str], str]:
    """Of a URL: why these tags cannot be given to it, where it is watched already; empty where they can."""
    saying = Saying(settings=Settings(), add_tags=tags)
    if not _may_clash(store, saying):
        return lambda _: ""

    def reason(url: str) -> str:
        resource = store.find(url)
        try:
            check(store, [] if resource is None else [resource], saying)
        except ConflictError as problem:
            return str(problem).removeprefix(f"{url}: ")
        return ""

    return reason


def moving(store: Store, resource: Resource, host: str) -> str:
    """Why a largest gap that counts would mean nothing on another host; empty where it still would count, or
    does not now."""
    own, tags = (_own(resource.url), resource.settings), tuple(sorted(resource.tags))
    before, after = (_vain([own, *_wider(store, tags, on)]) for on in (resource.host, host))
    return "" if after is None or before is not None else _deprived(after)


def check(store: Store, resources: Iterable[Resource], saying: Saying) -> None:
    """Whether all gaps that count now would still count, and what is said with them: those of the scopes
    themselves, and of all resources that are reached. The first that would not is named."""
    for scope in saying.scopes if saying.speaks else ():
        before = next((said for _, said in store.said([scope])), Settings())
        _check_own(f"the {scope.kind.value} {scope.name}", before, saying)
    if not _may_clash(store, saying):
        return
    wider = lru_cache(maxsize=1_000)(partial(_wider, store))
    for resource in resources:
        own = (_own(resource.url), resource.settings)
        if not saying.scopes:
            _check_own(resource.url, resource.settings, saying)
        tags = tuple(sorted({*resource.tags, *saying.add_tags}.difference(saying.drop_tags)))
        layers = [own, *wider(tags, resource.host)]
        found = _vain([(scope, saying.layer(scope, said)) for scope, said in layers])
        if found is None:
            continue
        if saying.bounds(found.of):
            raise ConflictError(f"{resource.url}: {_overruled(found)}")
        known = _vain([own, *wider(tuple(sorted(resource.tags)), resource.host)])
        if known is None:  # what meant nothing already does not stand in the way
            raise ConflictError(f"{resource.url}: {_deprived(found)}")


def _may_clash(store: Store, saying: Saying) -> bool:
    """Whether it is worth asking each resource: a tag or a host may reach a million, and mostly nothing that
    was said anywhere can clash."""
    tags = [Scope(ScopeKind.TAG, tag) for tag in (*saying.add_tags, *saying.drop_tags)]
    retagged = any(getattr(said, name) is not None for _, said in store.said(tags) for name in _NAMES)
    if not (saying.speaks or retagged):
        return False
    if not saying.scopes:
        return True  # they were chosen one by one
    longest_s, shortest_s = saying.settings.min_gap_s or 0.0, saying.settings.max_gap_s or inf
    for scope, said in store.said():
        if scope != GLOBAL:
            longest_s, shortest_s = (
                max(longest_s, said.min_gap_s or 0.0),
                min(shortest_s, said.max_gap_s or inf),
            )
    return longest_s > shortest_s


def _check_own(whose: str, before: Settings, saying: Saying) -> None:
    """Both gaps of one layer, where something was said of it before."""
    after, said = merged(before, saying.settings, saying.forget), saying.settings
    min_gap_s, max_gap_s = after.min_gap_s, after.max_gap_s
    if saying.speaks and min_gap_s is not None and max_gap_s is not None and min_gap_s > max_gap_s:
        old, new = ("largest", "smallest") if said.max_gap_s is None else ("smallest", "largest")
        of_old, of_new = (max_gap_s, min_gap_s) if said.max_gap_s is None else (min_gap_s, max_gap_s)
        raise ConflictError(
            f"The {old} gap of {whose} was said to be {written(of_old)}, and a {new} of "
            f"{written(of_new)} does not go with it; say both (--min-gap, --max-gap), or take the {old} back."
        )


def _own(url: str) -> Scope:
    return Scope(ScopeKind.RESOURCE, url)


def _wider(store: Store, tags: Sequence[str], host: str) -> _Layers:
    """What was said of its tags and its host; layers that nothing was said of yet are there too."""
    near = [*(Scope(ScopeKind.TAG, tag) for tag in sorted(tags)), Scope(ScopeKind.HOST, host)]
    said = dict(store.said(near))
    return [(scope, said.get(scope, Settings())) for scope in near]


def _vain(layers: _Layers) -> _Vain | None:
    longest = next(((i, said.max_gap_s) for i, (_, said) in enumerate(layers) if said.max_gap_s), None)
    least = next(((i, said.min_gap_s) for i, (_, said) in enumerate(layers) if said.min_gap_s), None)
    if longest is None or least is None or least[0] <= longest[0] or least[1] <= longest[1]:
        return None
    return _Vain(layers[longest[0]][0], longest[1], layers[least[0]][0], least[1])


def _deprived(found: _Vain) -> str:
    """Of a largest gap that counted until now."""
    return (
        f"the smallest gap of its {_named(found.by)} would be {written(found.min_gap_s)}, so that the "
        f"largest of {'its own' if found.of.kind is ScopeKind.RESOURCE else f'its {_named(found.of)}'}, "
        f"{written(found.max_gap_s)}, would mean nothing; first give {_it(found.of)} a smallest gap as well "
        f"(`recrawl set {_option(found.of)} --min-gap …`), or take the largest back (--clear max-gap)."
    )


def _overruled(found: _Vain) -> str:
    return (
        f"the smallest gap of its {_named(found.by)} is {written(found.min_gap_s)}, so "
        f"that a largest of {written(found.max_gap_s)} would mean nothing; give a smallest gap as well "
        "(--min-gap)."
    )


def _named(scope: Scope) -> str:
    return f"{scope.kind.value} {scope.name}"


def _it(scope: Scope) -> str:
    return "it" if scope.kind is ScopeKind.RESOURCE else f"the {_named(scope)}"


def _option(scope: Scope) -> str:
    return scope.name if scope.kind is ScopeKind.RESOURCE else f"--{scope.kind.value} {scope.name}"
