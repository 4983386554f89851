"""Sights as columns: raw for trees, and on one scale for learners that measure distances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from recrawl.model import FEATURES, SIGHT_FORMAT, Bools, Floats, Ints, Sight, column

# Those of Barbosa and others (2005).
PAPER: tuple[str, ...] = ("links", "emails", "last_modified", "text_bytes", "images", "depth", "level")
NAMES: tuple[str, ...] = tuple(feature.name for feature in FEATURES)


def matrix(sights: Sequence[Sight]) -> Floats:
    """One row for each sight, one column for each of `FEATURES`. Of a sight in another format nothing is
    known."""
    found = np.full((len(sights), len(FEATURES)), np.nan)
    for row, sight in enumerate(sights):
        if sight.format == SIGHT_FORMAT and len(sight.values) == len(FEATURES):
            found[row] = sight.values
    return found


def columns(names: Sequence[str]) -> Ints:
    """The places of features, in the order of their names."""
    return np.array([column(name) for name in names], dtype=np.int64)


def picked(values: Floats, names: Sequence[str]) -> Floats:
    """Some columns of a matrix of sights."""
    return values[:, columns(names)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """How features become comparable: counts and lengths by their logarithm, what is not known by the median
    of what is, with a column of its own that says so, and everything in multiples of its spread."""

    names: tuple[str, ...]  # those that were known and not all alike, in the data that it was made from
    fill: Floats  # for each: what stands for a value that is not known
    centre: Floats
    spread: Floats
    marked: Bools  # for each: whether a column says that it was not known

    def of(self, values: Floats) -> Floats:
        """Sights, with all `FEATURES` as columns, on this scale: finite in any case."""
        raw = _even(values, self.names)
        missing = np.isnan(raw)
        filled = np.where(missing, self.fill, raw)
        return np.hstack([(filled - self.centre) / self.spread, missing[:, self.marked].astype(np.float64)])


def scale(values: Floats, names: Sequence[str] = NAMES) -> Scale:
    """Made from these sights; features that tell them apart in no way are left out."""
    even = _even(values, names)
    known = ~np.isnan(even)
    telling = [
        place
        for place in range(len(names))
        if known[:, place].any() and len(np.unique(even[known[:, place], place])) > 1
    ]
    even, known = even[:, telling], known[:, telling]
    fill = np.nanmedian(even, axis=0) if telling else np.empty(0)
    filled = np.where(known, even, fill)
    spread = filled.std(axis=0)
    return Scale(
        names=tuple(names[place] for place in telling),
        fill=fill,
        centre=filled.mean(axis=0),
        spread=np.where(spread > 0, spread, 1.0),
        marked=np.asarray(~known.all(axis=0)),
    )


def _even(values: Floats, names: Sequence[str]) -> Floats:
    """Some columns, those that spread over powers of ten by the logarithm of one more."""
    wide = np.array([FEATURES[column(name)].wide for name in names], dtype=np.bool_)
    found = picked(values, names)
    found[:, wide] = np.log1p(found[:, wide])
    return found
