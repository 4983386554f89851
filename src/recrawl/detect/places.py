"""Where two documents differ, place by place, for learning what of it is noise.

A place is exact (`$.items[id=7].seen_at`) or general (`$.items[*].seen_at`). What differs in every one of
several like places is told once, of the general one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from recrawl.detect.masks import Masks, shape
from recrawl.model import Part

N_PARTS = 200
_P_ALL = 0.9  # of like places, so many that differ are all of them: a counter may stand still by chance
_N_EXAMPLES = 4


@dataclass(frozen=True, slots=True)
class Pair:
    """What stands in one place before and after; None: nothing did."""

    exact: str
    general: str
    before: str | None
    after: str | None


def parts(pairs: Iterable[Pair], *, n_least: int = 2) -> tuple[Part, ...]:
    """Of all places that are in both documents, and of those that come and go. None where there are too many
    parts to learn from.

    >>> parts([Pair("a[0]", "a[*]", "10:15", "10:16"), Pair("a[1]", "a[*]", "11:00", "11:02")])
    (Part(place='a[*]', before='10:15', after='10:16', spot=''),)
    """
    like: dict[str, list[Pair]] = defaultdict(list)
    n_same: dict[str, int] = defaultdict(int)
    for pair in pairs:
        if pair.before == pair.after:
            n_same[pair.general] += 1
        else:
            like[pair.general].append(pair)
    found: list[Part] = []
    for general, differing in like.items():
        n_both = sum(pair.before is not None and pair.after is not None for pair in differing)
        n_all = n_same[general] + len(differing)
        if n_all >= n_least and n_both >= _P_ALL * n_all:
            found += [Part(general, pair.before, pair.after) for pair in _examples(differing)]
        else:
            found += [Part(pair.exact, pair.before, pair.after) for pair in differing]
        if len(found) > N_PARTS:
            return ()
    return tuple(found)


def seen(masks: Masks, exact: str, general: str, value: str) -> str:
    """The value as it counts, by a mask for its own place or for all like it."""
    through = masks.seen(exact, value)
    return masks.seen(general, value) if through == value else through


def _examples(differing: list[Pair]) -> list[Pair]:
    """One for each shape, so that a mask made of them fits all."""
    by_shape: dict[str, Pair] = {}
    for pair in differing[: 10 * N_PARTS]:
        by_shape.setdefault(shape(pair.before or "", pair.after or ""), pair)
        if len(by_shape) == _N_EXAMPLES:
            break
    return list(by_shape.values())
