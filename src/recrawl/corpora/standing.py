"""What resources said at given moments: the text of the version that stood then, where texts were kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from recrawl.corpora.digests import bits_of_texts
from recrawl.corpora.firsts import text_rows
from recrawl.corpora.native import EVENTS
from recrawl.corpora.rows import counting, read_rows
from recrawl.model import Ints

_Key = tuple[int, int]  # a resource's place, with a time or a digest


@dataclass(frozen=True, slots=True)
class Standing:
    place: int  # of the resource, in order of the resources' numbers
    moments: tuple[int, ...]  # at which of them it said this
    text: str


def standing(folder: Path, resources: Ints, moments: Sequence[float]) -> Iterator[Standing]:
    """`resources` are the known numbers, in order. Nothing comes of a version whose text was not kept. Where
    only lines are told that came and went, a line that came stands anywhere: nobody knows where."""
    by_digest, by_time = _stood(folder, resources, moments)
    lines: list[str] = []
    of = -1
    for place, row in text_rows(folder, resources):
        if place != of:
            of, lines = place, []
        went_on = _went_on(lines, row)
        if went_on is None:
            continue
        lines = went_on
        digest = int(bits_of_texts([row["digest"]])[0])
        asked = by_digest.pop((place, digest), ()) if digest else by_time.pop((place, int(row["at"])), ())
        if asked:
            yield Standing(place, tuple(asked), "\n".join(lines))


def _stood(
    folder: Path, resources: Ints, moments: Sequence[float]
) -> tuple[dict[_Key, list[int]], dict[_Key, list[int]]]:
    """At which moments each version stood, by its digest or, where there is none, by its time."""
    read = list(read_rows(folder / EVENTS, resources, counting(Counter(), strict=False)))
    by_digest: dict[_Key, list[int]] = {}
    by_time: dict[_Key, list[int]] = {}
    if not read:
        return by_digest, by_time
    place, at = (np.concatenate([getattr(rows, name) for rows in read]) for name in ("place", "at"))
    digest = np.concatenate([rows.digest for rows in read])
    order = np.lexsort((at, place))
    place, at, digest = place[order], at[order], digest[order]
    for i, moment in enumerate(moments):
        before = np.flatnonzero(at <= moment)
        last = before[np.diff(place[before], append=-1) != 0]
        for whose, when, what in zip(
            place[last].tolist(), at[last].tolist(), digest[last].tolist(), strict=True
        ):
            found = by_digest.setdefault((whose, what), []) if what else by_time.setdefault((whose, when), [])
            found.append(i)
    return by_digest, by_time


def _went_on(lines: list[str], row: Mapping[str, Any]) -> list[str] | None:
    """The lines of a version, from those of the one before it; None: nobody kept them."""
    if isinstance(row.get("text"), str):
        return [row["text"]]
    said, came, went = (row.get(name) for name in ("lines", "added", "removed"))
    if isinstance(said, list):
        return _texts(said)
    if not isinstance(came, list) and not isinstance(went, list):
        return None
    gone = Counter(_texts(went))
    found = []
    for line in lines:
        if gone[line] > 0:
            gone[line] -= 1
        else:
            found.append(line)
    for line in _texts(came):  # by chance, always the same; what begins a content goes on doing so
        found.insert(1 + crc32(line.encode("utf-8", "replace")) % max(len(found), 1), line)
    return found


def _texts(said: Any) -> list[str]:
    return [line for line in said if isinstance(line, str)] if isinstance(said, list) else []
