"""Corpora in recrawl's own format: a folder with `corpus.json`, `resources.parquet` and `events.parquet`.

`docs/reference/corpus-format.md` describes it. Events are read in batches of columns, a hundred million of
them in the memory that the resources of one chunk need.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from recrawl.corpora.about import FILE, About, read_about
from recrawl.corpora.arrow import checked_columns, holds, ints, open_parquet
from recrawl.corpora.rows import Rows, counting, read_rows
from recrawl.errors import BadInputError
from recrawl.model import Bools, Floats, Ints
from recrawl.model.columns import Bits
from recrawl.simulate.traces import Traces

RESOURCES, EVENTS, VISITS = "resources.parquet", "events.parquet", "visits.parquet"
SAME_MOMENT = "another version of the same moment follows"
REPEATED = "the same content as just before"
NO_VERSIONS = "a resource without any version"
OUT_OF_ORDER = "a version dated before the row above it"
NEEDED = f"{FILE}, {RESOURCES} and {EVENTS}"

# Which versions of the resources from one place to another count, the first of each among them.
Counting = Callable[[int, int, Ints, Ints, Bits], Bools]


class Corpus:
    """A folder that holds a corpus. Opening it reads the resources, not the events.

    Rows that cannot be used are skipped and counted; with `strict` they raise BadInputError, which names file
    and row. `skipped` counts what the latest (or present) pass over the events passed over.
    """

    def __init__(self, folder: Path, *, strict: bool = False) -> None:
        self.folder = folder
        self.about: About = read_about(folder)
        self.skipped: Counter[str] = Counter()
        self._strict = strict
        self._counting: Counting | None = None
        self.number, self.host, self.hosts, self.weight, self._names = _resources(folder / RESOURCES)

    def __len__(self) -> int:
        return len(self.number)

    def traces(self) -> Traces:
        """All of them at once."""
        return next(self.chunks(max(1, len(self))), None) or self._traces(0, 0, [])

    def chunks(self, n_resources: int) -> Iterator[Traces]:
        """So many resources at a time, in order of their numbers. Resources without versions are left out."""
        self.skipped = skipped = Counter[str]()
        fault = counting(skipped, strict=self._strict)
        held: list[Rows] = []
        low = 0
        for rows in read_rows(self.folder / EVENTS, self.number, fault):
            while rows.place[-1] >= low + n_resources:  # so that all before it is complete
                cut = int(np.searchsorted(rows.place, low + n_resources))
                yield self._traces(low, low + n_resources, [*held, rows.pick(slice(0, cut))])
                held, rows, low = [], rows.pick(slice(cut, None)), low + n_resources
            held.append(rows)
        while low < len(self):
            yield self._traces(low, min(low + n_resources, len(self)), held)
            held, low = [], low + n_resources

    def _traces(self, low: int, high: int, rows: list[Rows]) -> Traces:
        place, at, digest = (
            np.concatenate([np.zeros(0, dtype=kind), *(getattr(part, name) for part in rows)])
            for name, kind in (("place", np.int64), ("at", np.int64), ("digest", np.uint64))
        )
        order, kept = versions(place, at, digest, self.skipped)
        place, at, digest = (column[order][kept] for column in (place, at, digest))
        counts = slice(None) if self._counting is None else self._counting(low, high, place, at, digest)
        place, at, digest = place[counts], at[counts], digest[counts]
        first = np.diff(place, prepend=-1) > 0
        sizes = [part.size for part in rows if part.size is not None]
        size = np.concatenate(sizes)[order][kept][counts] if rows and len(sizes) == len(rows) else None
        born = place[first]
        self._count(NO_VERSIONS, high - low - len(born))
        n_changes = np.diff(np.append(np.flatnonzero(first), len(place))) - 1
        return Traces(
            born_at=at[first].astype(np.float64),
            bounds=np.concatenate([[0], np.cumsum(n_changes)]).astype(np.int64),
            at=at[~first].astype(np.float64),
            digest=digest[~first],
            first_digest=digest[first],
            host=self.host[born],
            weight=self.weight[born],
            url=self.names(born),
            size_bytes=None if size is None else _means(size, np.cumsum(first) - 1, len(born)),
        )

    def names(self, places: Ints) -> list[str]:
        """The URLs of these resources or, where they have none, what else names them."""
        found: list[list[str | None]] = [column.take(places).to_pylist() for column in self._names]
        numbers = self.number[places]
        return [next(filter(None, given), f"resource {n}") for *given, n in zip(*found, numbers, strict=True)]

    def _count(self, why: str, n: int) -> None:
        if n:
            self.skipped[why] += n


def versions(place: Ints, at: Ints, digest: Any, skipped: Counter[str]) -> tuple[Ints, Bools]:
    """The rows in order of resource and time, and which of them are versions: the last of each moment, unless
    it brings what was there already. The others are counted."""
    step, same = np.diff(at), np.diff(place) == 0
    order = np.arange(len(at))
    n_back = int(np.count_nonzero(same & (step < 0)))
    if n_back:
        skipped[OUT_OF_ORDER] += n_back
        order = np.lexsort((at, place))  # stable: of one moment, the last one stays the last
        place, at, digest = place[order], at[order], digest[order]
        step, same = np.diff(at), np.diff(place) == 0
    kept = np.ones(len(at), dtype=bool)
    kept[:-1] = ~(same & (step == 0))
    stands = np.flatnonzero(kept)
    repeats = (np.diff(place[stands]) == 0) & (np.diff(digest[stands]) == 0) & (digest[stands][1:] != 0)
    for why, n in ((SAME_MOMENT, len(at) - len(stands)), (REPEATED, int(np.count_nonzero(repeats)))):
        if n:
            skipped[why] += n
    kept[stands[1:][repeats]] = False
    return order, kept


def _means(values: Floats, owner: Ints, n: int) -> Floats:
    """Of those that are known, for each of n; NaN where none is."""
    known = ~np.isnan(values)
    total = np.bincount(owner[known], values[known], n)
    n_known = np.bincount(owner[known], minlength=n)
    return np.asarray(np.divide(total, n_known, out=np.full(n, np.nan), where=n_known > 0))


def _resources(path: Path) -> tuple[Ints, Ints, list[str], Floats, list[Any]]:
    """Numbers, hosts as numbers, the hosts' names, weights, and what names the resources; by number."""
    import pyarrow as pa

    wanted = {"resource": "whole numbers", "host": "text", "url": "text"}
    with open_parquet(path) as opened:
        checked_columns(path, opened.schema_arrow, wanted, optional=("host", "url"))
        named = [name for name in ("url", "path", "title") if holds(opened.schema_arrow, name, "text")]
        weighed = holds(opened.schema_arrow, "weight", "numbers")
        there = [name for name in wanted if name in opened.schema_arrow.names]
        table = opened.read(columns=[*dict.fromkeys([*there, *named, *(["weight"] * weighed)])])
        table.validate(full=True)  # else text that is none would be found out when it is asked for
    if table["resource"].null_count:
        raise BadInputError(f"{path}: column 'resource' is null somewhere; give every resource a number.")
    number = ints(table["resource"])
    order = np.argsort(number, kind="stable")
    twice = np.flatnonzero(np.diff(number[order]) == 0)
    if len(twice):
        raise BadInputError(f"{path} lists resource {number[order][twice[0]]} twice; number them anew.")
    table = table.take(order)

    def text(name: str) -> Any:
        column = table[name].combine_chunks() if name in table.column_names else pa.nulls(len(table))
        return column.cast(pa.large_string()).fill_null("")

    host = text("host").dictionary_encode()
    weight = np.ones(len(table))
    if weighed:
        given = table["weight"].to_numpy().astype(np.float64)
        weight = np.where(np.isfinite(given) & (given >= 0), given, 1.0)
    codes: Ints = host.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    hosts: list[str] = host.dictionary.to_pylist()
    if "" in hosts:  # those without a host are strangers to each other: each is a host of its own
        nowhere = np.flatnonzero(codes == hosts.index(""))
        codes[nowhere[1:]] = len(hosts) + np.arange(len(nowhere) - 1)
        hosts += [""] * (len(nowhere) - 1)
    return number[order], codes, hosts, weight, [text(name) for name in named]
