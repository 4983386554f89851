"""Lines of a page with where they stand, and the parts in which two pages differ."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from recrawl.detect.edits import Edit, edits
from recrawl.detect.masks import REST, Masks
from recrawl.model import Part

N_PARTS = 200  # where more differ, it differs nearly everywhere
_N_ALIKE = 20  # of more lines that differ in one place, those that differ in like ways are told once
_MOST_ALIKE = 10_000  # lines that are looked at for that
_FIGURE = re.compile(r"\d[\d.,:'%/-]*")
_MOST_TRIED = 20_000_000  # characters that are held against masks, each for every one: some seconds at worst
_SHOWN_CHARACTERS = 40


@dataclass(frozen=True)
class Placed:
    """Lines in order, and the place of each."""

    lines: Sequence[str]
    places: Sequence[str]

    @property
    def pairs(self) -> Iterator[tuple[str, str]]:
        return zip(self.lines, self.places, strict=True)

    def spots(self, at: int) -> Iterator[str]:
        """Names that tell a line from others at its place: by what is above it, by what is below it, and (the
        worst, since anything that is put in changes it) by how many there are before it."""
        place = self.places[at]
        above = _quoted(self.lines[at - 1]) if at else "nothing"
        below = _quoted(self.lines[at + 1]) if at + 1 < len(self.lines) else "nothing"
        yield f"{place} after {above}"
        yield f"{place} before {below}"
        others = self.by_place[place]
        yield f"{place} at {bisect_left(others, at) + 1} of {len(others)}"

    @cached_property
    def by_place(self) -> Mapping[str, Sequence[int]]:
        """Which lines stand at each place."""
        found: dict[str, list[int]] = defaultdict(list)
        for at, place in enumerate(self.places):
            found[place].append(at)
        return found


def unmasked(placed: Placed, masks: Masks) -> Iterator[str]:
    """The lines as they count. One that is masked as a whole might as well not be there. A page that was
    made so that holding it against its masks takes for ever counts as it is."""
    if sum(len(line) * masks.n_at(place) for line, place in placed.pairs) > _MOST_TRIED:
        yield from placed.lines
        return
    spotted = {place.partition(" ")[0] for place in masks.places if " " in place}
    for at, (line, place) in enumerate(placed.pairs):
        seen = masks.seen(place, line)
        if seen == line and place in spotted:
            seen = next(
                (other for spot in placed.spots(at) if (other := masks.seen(spot, line)) != line), line
            )
        if seen != REST:
            yield seen


def parts(before: Placed, after: Placed) -> Sequence[Part]:
    """Every line that differs, matched place by place; none where that is nearly all."""
    old, new = before.by_place, after.by_place
    found: list[Part] = []
    n_all = 0
    for place in {**old, **new}:
        olds, news = old.get(place, ()), new.get(place, ())
        changes = edits([before.lines[i] for i in olds], [after.lines[j] for j in news])
        if changes is None:
            return ()
        n_edited = sum(max(change.i2 - change.i1, change.j2 - change.j1) for change in changes)
        n_all += n_edited
        if n_all > _MOST_ALIKE:
            return ()
        alone = n_edited >= max(len(olds), len(news))  # nothing there stayed as it was
        pairs = [pair for change in changes for pair in _pairs(change, olds, news)]
        if n_edited > _N_ALIKE:
            pairs = _unlike(pairs, before, after)
        if len(found) + len(pairs) > N_PARTS:
            return ()
        found += [
            Part(
                place,
                None if i is None else before.lines[i],
                None if j is None else after.lines[j],
                "" if alone else _spot(before, i, after, j),
            )
            for i, j in pairs
        ]
    return found


_Pair = tuple[int | None, int | None]


def _unlike(pairs: Sequence[_Pair], before: Placed, after: Placed) -> list[_Pair]:
    """Without those in which nothing but figures differs, around words that are in another one too: one mask
    for their place fits them all."""
    known: set[str] = set()
    left: list[_Pair] = []
    for i, j in pairs:
        if i is not None and j is not None:
            words = _FIGURE.sub("0", before.lines[i])
            if words == _FIGURE.sub("0", after.lines[j]) and any(map(str.isalpha, words)):
                if words in known:
                    continue
                known.add(words)
        left.append((i, j))
    return left


def _pairs(change: Edit, olds: Sequence[int], news: Sequence[int]) -> Iterator[_Pair]:
    went, came = olds[change.i1 : change.i2], news[change.j1 : change.j2]
    for k in range(max(len(went), len(came))):
        yield (went[k] if k < len(went) else None), (came[k] if k < len(came) else None)


def _spot(before: Placed, i: int | None, after: Placed, j: int | None) -> str:
    """The name that holds in both, if there is one."""
    if i is None or j is None:
        return next(before.spots(i) if i is not None else after.spots(j or 0))
    names = list(after.spots(j))
    return next((name for name in before.spots(i) if name in names), names[0])


def _quoted(line: str) -> str:
    short = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in line[:_SHOWN_CHARACTERS])
    return f'"{short}"'
