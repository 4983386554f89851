"""Lines of a page with where they stand, and the parts in which two pages differ."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from recrawl.detect.edits import Edit, edits
from recrawl.detect.masks import REST, Masks
from recrawl.model import Part

N_PARTS = 200  # where more differ, it differs nearly everywhere
_SHOWN_CHARACTERS = 40


@dataclass(frozen=True, slots=True)
class Placed:
    """Lines in order, and the place of each."""

    lines: Sequence[str]
    places: Sequence[str]

    def spots(self, at: int) -> Iterator[str]:
        """Names that tell a line from others at its place: by what is above it, and by what is below it."""
        place = self.places[at]
        above = _quoted(self.lines[at - 1]) if at else "nothing"
        below = _quoted(self.lines[at + 1]) if at + 1 < len(self.lines) else "nothing"
        yield f"{place} after {above}"
        yield f"{place} before {below}"


def unmasked(placed: Placed, masks: Masks) -> Iterator[str]:
    """The lines as they count. One that is masked as a whole might as well not be there."""
    spotted = {place.partition(" ")[0] for place in masks.places if " " in place}
    for at, (line, place) in enumerate(zip(placed.lines, placed.places, strict=True)):
        seen = masks.seen(place, line)
        if seen == line and place in spotted:
            seen = next(
                (other for spot in placed.spots(at) if (other := masks.seen(spot, line)) != line), line
            )
        if seen != REST:
            yield seen


def parts(before: Placed, after: Placed) -> Sequence[Part]:
    """Every line that differs, matched place by place; none where that is nearly all."""
    old, new = _by_place(before), _by_place(after)
    found: list[Part] = []
    for place in {**old, **new}:
        olds, news = old.get(place, []), new.get(place, [])
        changes = edits([before.lines[i] for i in olds], [after.lines[j] for j in news])
        if changes is None:
            return ()
        n_edited = sum(max(change.i2 - change.i1, change.j2 - change.j1) for change in changes)
        if len(found) + n_edited > N_PARTS:
            return ()
        alone = n_edited >= max(len(olds), len(news))  # nothing there stayed as it was
        for change in changes:
            for i, j in _pairs(change, olds, news):
                found.append(
                    Part(
                        place,
                        None if i is None else before.lines[i],
                        None if j is None else after.lines[j],
                        "" if alone else _spot(before, i, after, j),
                    )
                )
    return found


def _by_place(placed: Placed) -> dict[str, list[int]]:
    found: dict[str, list[int]] = defaultdict(list)
    for at, place in enumerate(placed.places):
        found[place].append(at)
    return found


def _pairs(change: Edit, olds: list[int], news: list[int]) -> Iterator[tuple[int | None, int | None]]:
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
