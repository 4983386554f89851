"""Which versions of a resource may go. The first, the newest and tombstones never do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import floor, inf

from recrawl.model import Version


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How long versions are kept; what is not said keeps them for ever. Rules add up: what one of them lets
    go, goes."""

    n_most: int = 0  # of a resource; 0: any number
    keep_s: float = inf  # after it stopped being the newest
    thin: tuple[tuple[float, float], ...] = ()  # after so long, at most one in so long

    def __bool__(self) -> bool:
        return bool(self.n_most or self.keep_s < inf or self.thin)


def dispensable(versions: Sequence[Version], rule: Retention, now: float) -> list[Version]:
    """Those of one resource's versions that the rule lets go; evidence goes first."""
    known = sorted((version for version in versions if version.file), key=lambda v: (v.at, v.seq))
    history = [version for version in known if not version.flag]
    evidence = [version for version in known if version.flag]
    kept_always = {v.seq for v in (*history[:1], *history[-1:], *(v for v in history if v.gone))}
    goes: dict[int, Version] = {}

    def let_go(version: Version) -> None:
        if version.seq not in kept_always:
            goes[version.seq] = version

    for version, after in pairwise(history):
        if now - after.at > rule.keep_s:
            let_go(version)
    for version in _thinned(history, rule.thin, now):
        let_go(version)
    soonest_s = min([rule.keep_s, *(after_s for after_s, _ in rule.thin)])
    for version in evidence:
        if now - version.at > soonest_s:
            let_go(version)
    n_over = len(known) - len(goes) - rule.n_most if rule.n_most else 0
    for version in [*evidence, *history]:  # the oldest evidence first, then the oldest versions
        if n_over <= 0:
            break
        if version.seq not in goes and version.seq not in kept_always:
            let_go(version)
            n_over -= 1
    return sorted(goes.values(), key=lambda version: version.seq)


def _thinned(history: Sequence[Version], thin: Sequence[tuple[float, float]], now: float) -> list[Version]:
    """All but the newest of each stretch of time; the widest stretch that applies to its age."""
    newest: dict[tuple[float, int], Version] = {}
    goes: list[Version] = []
    for version in history:
        every_s = max((every_s for after_s, every_s in thin if now - version.at > after_s), default=0.0)
        if not every_s:
            continue
        stretch = (every_s, floor(version.at / every_s))
        if stretch in newest:
            goes.append(newest[stretch])
        newest[stretch] = version
    return goes
