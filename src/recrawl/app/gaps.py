"""Gaps of resources that could not hold beside those said before: refused, since what is taken must count.
What is said of a tag or a host is held against what was said of it before, not against all that it reaches.

The default needs no asking: a smallest gap that nobody else spoke of follows the largest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache, partial

from recrawl.app.quantity import written
from recrawl.contracts import Store
from recrawl.errors import ConflictError
from recrawl.model import Resource, Scope, ScopeKind, Settings

_NAMES = ("min_gap_s", "max_gap_s")


def vain(store: Store, settings: Settings, tags: Sequence[str]) -> Callable[[str], str]:
    """Of a host: why the largest gap would mean nothing for a new resource there; empty where it counts."""
    if settings.max_gap_s is None or settings.min_gap_s is not None:
        return lambda _: ""
    longest_s = settings.max_gap_s
    return lru_cache(maxsize=1_000)(lambda host: _overruled(store, longest_s, tags, host))


def check_layer(store: Store, scope: Scope, settings: Settings, forget: Sequence[str]) -> None:
    """What is said of a tag or a host beside what was said of it before."""
    if _speaks(settings):
        before = next((said for _, said in store.said([scope])), Settings())
        _check_own(f"the {scope.kind.value} {scope.name}", before, settings, forget)


def check_resources(
    store: Store, resources: Iterable[Resource], settings: Settings, forget: Sequence[str]
) -> None:
    """What is said of resources beside what was said before of them, their tags and their hosts."""
    if not _speaks(settings):
        return
    overruled = lru_cache(maxsize=1_000)(partial(_overruled, store))
    for resource in resources:
        min_gap_s = _check_own(resource.url, resource.settings, settings, forget)
        if settings.max_gap_s is not None and min_gap_s is None:
            problem = overruled(settings.max_gap_s, tuple(resource.tags), resource.host)
            if problem:
                raise ConflictError(f"{resource.url}: {problem}")


def _speaks(settings: Settings) -> bool:
    return any(getattr(settings, name) is not None for name in _NAMES)


def _check_own(whose: str, before: Settings, settings: Settings, forget: Sequence[str]) -> float | None:
    """The smallest gap that would be said there."""
    kept = [None if name in forget else getattr(before, name) for name in _NAMES]
    said = [getattr(settings, name) for name in _NAMES]
    min_gap_s, max_gap_s = (old if new is None else new for old, new in zip(kept, said, strict=True))
    if min_gap_s is not None and max_gap_s is not None and min_gap_s > max_gap_s:
        old, new = ("largest", "smallest") if said[1] is None else ("smallest", "largest")
        of_old, of_new = (max_gap_s, min_gap_s) if said[1] is None else (min_gap_s, max_gap_s)
        raise ConflictError(
            f"The {old} gap of {whose} was said to be {written(of_old)}, and a {new} of "
            f"{written(of_new)} does not go with it; say both (--min-gap, --max-gap), or take the {old} back."
        )
    return min_gap_s


def _overruled(store: Store, max_gap_s: float, tags: Sequence[str], host: str) -> str:
    near = [*(Scope(ScopeKind.TAG, tag) for tag in sorted(tags)), Scope(ScopeKind.HOST, host)]
    for scope, said in store.said(near):
        if said.min_gap_s is not None:
            if said.min_gap_s <= max_gap_s:
                return ""
            return (
                f"the smallest gap of its {scope.kind.value} {scope.name} is {written(said.min_gap_s)}, so "
                f"that a largest of {written(max_gap_s)} would mean nothing; give a smallest gap as well "
                "(--min-gap)."
            )
    return ""
