"""The words of versions: which of them are kept; and in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import inf

import numpy as np

from recrawl.model import Bag, Bags, Completion, Floats, Ints, unpacked
from recrawl.remember.watchlist import MemoryWatchlist

MOST_BAGS = 60  # of a resource
N_NEWEST = 30  # of them are the newest; the others lie as evenly in time as they can
N_TOGETHER = 2_000  # bags in a page: some thousand words each


def surplus(times: Sequence[tuple[float, bool]]) -> list[float]:
    """Of bags in order, by their moments and whether they are bases, the moments of those to be dropped.

    One after the other whichever leaves the smallest gap. The first stays, and so does the last base: what
    comes next is held against it.
    """
    left, dropped = list(times), []
    while len(left) > MOST_BAGS:
        last_base = max((at for at, base in left if base), default=inf)
        inner = [i for i in range(1, len(left) - N_NEWEST) if left[i][0] != last_base]
        least = min(inner, key=lambda i: left[i + 1][0] - left[i - 1][0])
        dropped.append(left.pop(least)[0])
    return dropped


class MemoryBags(MemoryWatchlist):
    def bags(self, ids: Ints | None = None) -> Iterator[tuple[Ints, Floats, Bags]]:
        wanted = sorted(self._bags if ids is None else self._bags.keys() & set(ids.tolist()))
        rows = [(key, at, bag.packed) for key in wanted for at, bag in sorted(self._bags[key].items())]
        if rows:
            yield bags_of(rows)

    def base(self, resource_id: int, until_at: float = inf) -> Bag | None:
        kept = self._bags.get(resource_id, {})
        return kept.get(max((at for at, bag in kept.items() if bag.base and at < until_at), default=inf))

    def rebag(self, resource_id: int, bags: Sequence[Bag], until_at: float) -> int:
        record = self._watched.records.get(resource_id)
        kept = self._bags.setdefault(resource_id, {})
        for at in [at for at in kept if at <= until_at]:
            del kept[at]
        if record is None:
            del self._bags[resource_id]
            return 0
        erasure = self._erasures.get(record.resource.url)
        erased_at = -inf if erasure is None else erasure.at
        there = {version.at for _, version in record.versions if not version.flag and version.at > erased_at}
        found = [bag for bag in bags if bag.at in there]
        self._keep_bags(resource_id, found)
        return len(found)

    def _bag(self, done: Sequence[Completion]) -> None:
        for completion in done:
            if completion.bags:
                self._keep_bags(completion.lease.resource.id, completion.bags)

    def _keep_bags(self, resource_id: int, bags: Sequence[Bag]) -> None:
        kept = self._bags.setdefault(resource_id, {})
        kept.update((bag.at, bag) for bag in bags)
        for at in surplus([(at, kept[at].base) for at in sorted(kept)]):
            del kept[at]


def bags_of(rows: Sequence[tuple[int, float, bytes]]) -> tuple[Ints, Floats, Bags]:
    ids, at, blobs = zip(*rows, strict=True)
    return np.array(ids, dtype=np.int64), np.array(at, dtype=np.float64), unpacked(blobs)
