"""The words of versions, in the file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby
from math import inf

import numpy as np

from recrawl.model import BAG_FORMAT, Bag, Bags, Floats, Ints
from recrawl.remember.bags import N_TOGETHER, bags_of, surplus
from recrawl.remember.sqlite.database import Database

_N_RESOURCES = 50  # asked for at once: each has up to sixty


class SqliteBags:
    _db: Database

    def bags(self, ids: Ints | None = None) -> Iterator[tuple[Ints, Floats, Bags]]:
        if ids is None:
            resource_id, at = 0, -inf
            asked = {"format": BAG_FORMAT, "limit": N_TOGETHER}
            while page := self._db.tuples("bags", {"resource_id": resource_id, "at": at, **asked}):
                yield bags_of([row[1:] for row in page])
                _, resource_id, at, _ = page[-1]
            return
        wanted = np.unique(ids).tolist()
        for start in range(0, len(wanted), _N_RESOURCES):
            some = json.dumps(wanted[start : start + _N_RESOURCES])
            if page := self._db.tuples("bags_of", {"ids": some, "format": BAG_FORMAT}):
                yield bags_of([row[1:] for row in page])

    def base(self, resource_id: int, until_at: float = inf) -> Bag | None:
        return self._bases([resource_id], until_at).get(resource_id)

    def rebag(self, resource_id: int, bags: Sequence[Bag], until_at: float) -> int:
        with self._db.writing():
            self._db.run("drop_bags", {"id": resource_id, "until_at": until_at})
            times = json.dumps([bag.at for bag in bags])
            left = self._db.tuples("versions_left", {"id": resource_id, "times": times})
            there = {at for (at,) in left}
            found = [bag for bag in bags if bag.at in there]
            self._keep_bags([(resource_id, bag) for bag in found])
        return len(found)

    def _bases(self, ids: Sequence[int], until_at: float = inf) -> dict[int, Bag]:
        asked = {"ids": json.dumps(list(ids)), "until_at": until_at, "format": BAG_FORMAT}
        return {
            key: Bag(at=at, packed=packed, detector=detector)
            for key, at, detector, packed in self._db.tuples("bases", asked)
        }

    def _keep_bags(self, bags: Sequence[tuple[int, Bag]]) -> None:
        """In a transaction of the caller's."""
        if not bags:
            return
        self._db.run_many(
            "keep_bag", [(key, bag.at, bag.base, BAG_FORMAT, bag.detector, bag.packed) for key, bag in bags]
        )
        for key, _ in groupby(bags, key=lambda one: one[0]):
            dropped = surplus([(at, bool(base)) for at, base in self._db.tuples("bag_times", {"id": key})])
            self._db.run_many("drop_bag", [(key, at) for at in dropped])
