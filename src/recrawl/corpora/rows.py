"""The rows of `events.parquet` and `visits.parquet`, read batch by batch and never all at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from recrawl.corpora.about import EARLIEST_AT, LATEST_AT
from recrawl.corpora.arrow import batches, checked_columns, holds, ints, open_parquet
from recrawl.corpora.digests import bits_of
from recrawl.errors import BadInputError
from recrawl.model import Bools, Floats, Ints
from recrawl.model.columns import Bits

COLUMNS = {"resource": "whole numbers", "at": "numbers", "digest": "text"}
SIZE = "size"  # a further column that is looked at: the bytes of a version
NO_RESOURCE = "no resource"
NO_TIME = "no time"
BAD_TIME = "a time before 1970 or after 9999"
STRANGER = "a resource that resources.parquet does not list"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """A batch of sound rows. `place` is the place of the resource in order of its number, `row` the row's own
    number in the file, from 1 on."""

    place: Ints
    at: Ints
    digest: Bits
    row: Ints
    changed: Bools
    size: Floats | None = None  # where the file has such a column

    def __len__(self) -> int:
        return len(self.at)

    def pick(self, which: Any) -> Rows:
        return Rows(
            place=self.place[which],
            at=self.at[which],
            digest=self.digest[which],
            row=self.row[which],
            changed=self.changed[which],
            size=None if self.size is None else self.size[which],
        )


Fault = Callable[[str, str, int, int], None]  # why, in which file, how many rows, which is the first


def counting(skipped: Counter[str], *, strict: bool) -> Fault:
    """What to do about bad rows: count them or, when strict, end at the first."""

    def fault(why: str, path: str, n: int, row: int) -> None:
        if strict:
            raise BadInputError(
                f"{path}, row {row}: {why}; mend it, or leave --strict out to skip such rows."
            )
        skipped[why] += n

    return fault


def read_rows(path: Path, resources: Ints, fault: Fault, *, visits: bool = False) -> Iterator[Rows]:
    """The sound rows, as they come in the file; `resources` are the known numbers, in order.

    Raises BadInputError where the resources are not in order, since they then cannot be read one after
    the other.
    """
    wanted = COLUMNS | ({"changed": "flags"} if visits else {})
    latest = -1
    with open_parquet(path) as opened:
        checked_columns(path, opened.schema_arrow, wanted)
        sized = holds(opened.schema_arrow, SIZE, "numbers")
        first = 1
        for batch in batches(opened, [*wanted, *([SIZE] * sized)]):
            rows = _sound(batch, path, resources, fault, first, visits=visits)
            first += batch.num_rows
            if not len(rows):
                continue
            back = np.flatnonzero(np.diff(rows.place, prepend=latest) < 0)
            if len(back):
                raise BadInputError(
                    f"{path}, row {rows.row[back[0]]}: this resource stands after one with a higher number; "
                    "sort the file by resource and at."
                )
            latest = int(rows.place[-1])
            yield rows


def _sound(batch: Any, path: Path, resources: Ints, fault: Fault, first: int, *, visits: bool) -> Rows:
    number, at = batch.column("resource"), batch.column("at")
    row = np.arange(first, first + batch.num_rows)
    sound = np.ones(batch.num_rows, dtype=bool)

    def refuse(bad: Bools, why: str) -> None:
        found = np.flatnonzero(bad & sound)
        if len(found):
            fault(why, str(path), len(found), int(row[found[0]]))
            sound[found] = False

    for column, why in ((number, NO_RESOURCE), (at, NO_TIME)):
        if column.null_count:
            refuse(column.is_null().to_numpy(zero_copy_only=False), why)
    numbers, times = ints(number.fill_null(0)), ints(at.fill_null(0))
    refuse((times < EARLIEST_AT) | (times > LATEST_AT), BAD_TIME)
    place = np.searchsorted(resources, numbers)
    known = resources[np.minimum(place, len(resources) - 1)] == numbers if len(resources) else sound & False
    refuse(~known, STRANGER)
    flags = batch.column("changed").fill_null(True).to_numpy(zero_copy_only=False) if visits else sound
    size = None
    if SIZE in batch.schema.names:
        size = batch.column(SIZE).to_numpy(zero_copy_only=False).astype(np.float64)
        size[~(size >= 0.0)] = np.nan
    rows = Rows(
        place=place, at=times, digest=bits_of(batch.column("digest")), row=row, changed=flags, size=size
    )
    return rows if sound.all() else rows.pick(sound)
