"""The words of a corpus's versions, as far as it keeps them: from `terms.parquet`, else `texts.jsonl.xz`.

Both are read resource by resource, in the order of the events, and never all at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recrawl.corpora.arrow import batches, checked_columns, ints, open_parquet
from recrawl.corpora.digests import bits_of_texts
from recrawl.corpora.firsts import TEXTS, text_rows
from recrawl.errors import BadInputError
from recrawl.model import Bags, Bools, Floats, Ints
from recrawl.model.columns import Bits
from recrawl.parse.bags import counted, most, telling, word_number

TERMS = "terms.parquet"
_COLUMNS = {"resource": "whole numbers", "at": "numbers", "term": "whole numbers", "count": "numbers"}
TermRows = tuple[Ints, Ints, Ints, Floats]  # places, times, words and counts
_N_WORDS = 1_000_000  # held at a time, and those of one more resource


@dataclass(frozen=True, slots=True)
class Contents:
    """The bags of some resources' versions, all of each of them. The last bag is empty.

    A version whose words were not kept is one without words where words alone were kept, since a page without
    any has no row there. Where texts were kept it is not known.
    """

    place: Ints  # of each bag's resource, in order of the resources' numbers
    at: Ints
    digest: Bits  # 0: not known; versions of one digest have one bag
    bags: Bags
    all_told: bool

    def rows(self, place: Ints, at: Ints, digest: Bits) -> Ints:
        """The bag of each of these versions; -1: not known."""
        first, span = int(place.min(initial=0)), 1 << 38  # no time is later
        order = np.lexsort((self.at, self.place))
        own = ((self.place - first) * span + self.at)[order]
        wanted = (place - first) * span + at
        found = np.searchsorted(own, wanted, "right") - 1  # of one moment, the last one stands
        hit = (found >= 0) & (np.append(own, -1)[found] == wanted)
        empty = len(self.bags) - 1 if self.all_told else -1
        rows = np.where(hit, np.append(order, 0)[found], empty)
        if self.digest.any():
            named = {
                key: row
                for row, key in enumerate(zip(self.place.tolist(), self.digest.tolist(), strict=True))
            }
            given = zip(place.tolist(), digest.tolist(), rows.tolist(), strict=True)
            rows = np.array(
                [named.get((whose, what), row) if what else row for whose, what, row in given], dtype=np.int64
            )
        return rows


def must_have_contents(folder: Path) -> None:
    """Raises BadInputError where no contents were kept."""
    if not (folder / TERMS).is_file() and not (folder / TEXTS).is_file():
        raise BadInputError(
            f"{folder} keeps no contents of its versions, so nobody can tell which changes are significant; "
            f"take a corpus with {TERMS} or {TEXTS}, or count any change."
        )


@dataclass(frozen=True, slots=True)
class Wanted:
    """Versions whose words are asked for, by their resources' places. Counting the words of whole texts takes
    longer than reading them."""

    place: Ints
    at: Ints
    digest: Bits

    def chosen(self) -> tuple[set[tuple[int, int]], set[tuple[int, int]]]:
        """By time and by digest."""
        place, at, digest = self.place.tolist(), self.at.tolist(), self.digest.tolist()
        return set(zip(place, at, strict=True)), set(zip(place, digest, strict=True))


def contents(folder: Path, resources: Ints, wanted: Wanted | None = None) -> Iterator[Contents]:
    """Some resources at a time; `resources` are the known numbers, in order. Of texts that are kept in whole,
    those that are not `wanted` may be left out."""
    must_have_contents(folder)
    if (folder / TERMS).is_file():
        return _of_terms(folder / TERMS, resources)
    return _of_texts(folder, resources, wanted)


def _of_terms(path: Path, resources: Ints) -> Iterator[Contents]:
    held: list[TermRows] = []
    for rows in _term_rows(path, resources):
        held.append(rows)
        if sum(len(part[0]) for part in held) >= _N_WORDS:
            last = rows[0][-1]  # more of it may follow; all before it is complete
            done = [_slice(part, part[0] < last) for part in held if part[0][0] < last]
            if done:
                yield _bags(done)
                held = [_slice(part, part[0] == last) for part in held if part[0][-1] == last]
    if held:
        yield _bags(held)


def _slice(rows: TermRows, part: slice | Bools) -> TermRows:
    return rows[0][part], rows[1][part], rows[2][part], rows[3][part]


def _term_rows(path: Path, resources: Ints) -> Iterator[TermRows]:
    """Places, times, words and counts. What cannot be used is left out."""
    latest = -1
    with open_parquet(path) as opened:
        checked_columns(path, opened.schema_arrow, _COLUMNS)
        for batch in batches(opened, [*_COLUMNS]):
            number, at, term = (ints(batch.column(name).fill_null(-1)) for name in ("resource", "at", "term"))
            count = batch.column("count").fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64)
            place = np.searchsorted(resources, number)
            listed = np.append(resources, -1)[place] == number
            sound = listed & (number >= 0) & (at >= 0) & (term >= 0) & np.isfinite(count) & (count > 0.0)
            rows = _slice((place, at, term, count), sound)
            if not len(rows[0]):
                continue
            if (np.diff(rows[0], prepend=latest) < 0).any():
                raise BadInputError(
                    f"{path}: a resource stands after one with a higher number; sort it by resource and at."
                )
            latest = int(rows[0][-1])
            yield rows


def _bags(parts: list[TermRows]) -> Contents:
    """Counts of one word in versions of one moment are added up: they cannot be told apart."""
    place, at, term = (np.concatenate([part[i] for part in parts]).astype(np.int64) for i in range(3))
    count = np.concatenate([part[3] for part in parts])
    place, at, term, count = _slice((place, at, term, count), _order(place, at, term))
    version = (np.diff(place, prepend=-1) != 0) | (np.diff(at, prepend=-1) != 0)
    word = np.flatnonzero(version | (np.diff(term, prepend=-1) != 0))
    begins = np.flatnonzero(version)
    ends = np.searchsorted(word, np.append(begins, len(at)))
    return Contents(
        place[begins],
        at[begins],
        np.zeros(len(begins), dtype=np.uint64),
        Bags(np.append(ends, ends[-1]), term[word], np.add.reduceat(count, word)),
        all_told=True,
    )


def _order(place: Ints, at: Ints, term: Ints) -> Any:
    """By resource, time and word; files mostly are."""
    same = np.diff(place) == 0
    back = same & ((np.diff(at) < 0) | ((np.diff(at) == 0) & (np.diff(term) < 0)))
    return np.lexsort((term, at, place)) if back.any() else slice(None)


def _of_texts(folder: Path, resources: Ints, wanted: Wanted | None) -> Iterator[Contents]:
    by_time, by_digest = wanted.chosen() if wanted is not None else (set(), set())
    held: list[tuple[int, int, str | None, Mapping[str, int]]] = []
    n_held, latest = 0, -1
    lines: Counter[str] = Counter()  # the words of a resource that is told line by line
    for place, row in text_rows(folder, resources):
        if place > latest:
            lines.clear()
            if n_held >= _N_WORDS:
                yield _spelt(held)
                held, n_held = [], 0
        latest = place
        if wanted is not None and isinstance(row.get("text"), str):
            named = place, int(bits_of_texts([row["digest"]])[0])
            if named not in by_digest and (place, int(row["at"])) not in by_time:
                continue
        words = _words(row, lines)
        if words is not None:
            held.append((place, int(row["at"]), row["digest"], telling(most(words))))
            n_held += len(held[-1][3])
    if held:
        yield _spelt(held)


def _words(row: Mapping[str, Any], lines: Counter[str]) -> Mapping[str, int] | None:
    """All words of a version; where only lines that came and went are told, of what they make of `lines`."""
    if isinstance(row.get("text"), str):
        return counted(row["text"])
    if not any(isinstance(row.get(name), list) for name in ("lines", "added", "removed")):
        return None
    if isinstance(row.get("lines"), list):
        lines.clear()
    for name in ("lines", "added"):
        lines.update(counted(_joined(row.get(name))))
    lines.subtract(counted(_joined(row.get("removed"))))
    for gone in [word for word, n in lines.items() if n <= 0]:
        del lines[gone]
    return lines


def _joined(said: Any) -> str:
    return "\n".join(line for line in said if isinstance(line, str)) if isinstance(said, list) else ""


def _spelt(held: list[tuple[int, int, str | None, Mapping[str, int]]]) -> Contents:
    words, counts, bounds = [], [], [0]
    for *_, bag in held:
        word = np.fromiter(map(word_number, bag), dtype=np.int64, count=len(bag))
        order = np.argsort(word)
        words.append(word[order])
        counts.append(np.fromiter(bag.values(), dtype=np.float64, count=len(bag))[order])
        bounds.append(bounds[-1] + len(bag))
    return Contents(
        np.array([place for place, *_ in held]),
        np.array([at for _, at, *_ in held]),
        bits_of_texts([digest for _, _, digest, _ in held]),
        Bags(np.array([*bounds, bounds[-1]]), np.concatenate(words), np.concatenate(counts)),
        all_told=False,
    )
