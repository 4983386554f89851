"""The last step of writing a corpus: what was taken in is sorted and becomes the files of the format."""

from __future__ import annotations

import gzip
import json
import lzma
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from recrawl.corpora.about import FILE, FORMAT, about_of
from recrawl.corpora.native import EVENTS, NO_VERSIONS, REPEATED, RESOURCES, VISITS
from recrawl.corpora.writing.journal import Journal
from recrawl.corpora.writing.unfinished import Unfinished
from recrawl.errors import BadInputError
from recrawl.model import Bools, Ints

if TYPE_CHECKING:
    import pyarrow as pa

N_SORTED = 2_000_000  # rows that are sorted in memory at a time
SORTED_BYTES = 64 << 20  # of texts
N_GROUP = 500_000  # rows of a Parquet row group
_XZ_PRESET = 1  # a third of the time of the usual one, for a tenth more bytes
_N_REASONS = 3


def finish(
    unfinished: Unfinished, journals: Mapping[str, Journal], n_resources: int, about: Mapping[str, Any]
) -> dict[str, Any]:
    """Write all files, then let the corpus come to be; what its `corpus.json` says."""
    target, ready = unfinished.target, unfinished.ready
    # What can be said to be wrong before the long work is.
    about_of({"format": FORMAT, "start": 0, "end": 0} | dict(about), target / FILE)
    shutil.rmtree(ready, ignore_errors=True)
    ready.mkdir()
    found = _rows(ready, journals["rows"], n_resources, visits=about["observation"] == "visits")
    if not found["events"]:
        unfinished.discard()
        why = "".join(f"; {n:,} passed over: {why}" for why, n in _passed_over(about))
        raise BadInputError(
            f"There are no versions to write, so {target} was not made{why}; choose another source."
        )
    n_events, span = found.pop("n_events"), {name: found.pop(name) for name in ("start", "end")}
    facts = _resources(ready / RESOURCES, unfinished.folder / "names.jsonl", n_events)
    texts = {
        "threads_with_text": _posts(ready / "posts.jsonl.gz", journals["posts"], n_resources, facts),
        "texts": _texts(ready / "texts.jsonl.xz", journals["texts"], n_resources),
    }
    skipped = dict(about.get("skipped", {}))
    for why, n in ((REPEATED, found.pop("repeated")), (NO_VERSIONS, int(np.count_nonzero(n_events == 0)))):
        if n:
            skipped[why] = skipped.get(why, 0) + n
    said = {
        "format": FORMAT,
        "name": target.name,
        **span,
        **about,
        "resources": int(np.count_nonzero(n_events)),
        **found,
        **{name: n for name, n in texts.items() if n},
        "skipped": skipped,
    }
    about_of(said, target / FILE)
    (ready / FILE).write_text(json.dumps(said, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    unfinished.publish()
    return said


def _passed_over(about: Mapping[str, Any]) -> list[tuple[str, int]]:
    """What could not be used or was not wanted, the most frequent reasons first."""
    counts = Counter[str](about.get("skipped", {})) + Counter[str](about.get("left_out", {}))
    return counts.most_common(_N_REASONS)


def _rows(folder: Path, journal: Journal, n_resources: int, *, visits: bool) -> dict[str, Any]:
    """`events.parquet` and, of visits, `visits.parquet`; counts and the first and last time."""
    from pyarrow import parquet

    n_events: Ints = np.zeros(n_resources, dtype=np.int64)
    n_visits = n_repeated = 0
    start, end = np.inf, -np.inf
    writers: dict[str, Any] = {}
    with ExitStack() as stack:

        def write(name: str, table: pa.Table) -> None:
            if name not in writers:
                writers[name] = stack.enter_context(
                    parquet.ParquetWriter(
                        folder / name,
                        table.schema,
                        compression="zstd",
                        use_dictionary=[
                            column for column in table.column_names if column not in ("at", "digest")
                        ],
                    )
                )
            writers[name].write_table(table, row_group_size=N_GROUP)

        for table in journal.in_order(n_resources, N_SORTED):
            number, at = table["resource"].to_numpy(), table["at"].to_numpy()
            changed, again = _changes(table, number, at)
            start, end = min(start, at.min()), max(end, at.max())
            if visits:
                flagged = table.set_column(table.column_names.index("changed"), "changed", [changed])
                write(VISITS, flagged.filter(~again))
                n_visits += int(np.count_nonzero(~again))
            else:
                n_repeated += int(np.count_nonzero(~changed))
            write(EVENTS, table.drop_columns("changed").filter(changed))
            n_events += np.bincount(number[changed], minlength=n_resources)
    n = int(n_events.sum())
    found: dict[str, Any] = {"events": n, "n_events": n_events, "repeated": n_repeated}
    return (
        found
        | ({"visits": n_visits} if visits else {})
        | ({"start": int(start), "end": int(end)} if n else {})
    )


def _changes(table: pa.Table, number: Ints, at: Ints) -> tuple[Bools, Bools]:
    """Which rows bring another content than the row before (the first of a resource does), and which say the
    same as that row of the same moment once more."""
    import pyarrow.compute as pc

    digest, flag = table["digest"].combine_chunks(), table["changed"].combine_chunks()
    n = len(table)
    same = np.zeros(n, dtype=bool)
    same[1:] = number[1:] == number[:-1]
    equal = np.zeros(n, dtype=bool)
    if n > 1:
        alike = pc.equal(digest.slice(1), digest.slice(0, n - 1)).fill_null(False)
        equal[1:] = alike.to_numpy(zero_copy_only=False) & same[1:]
    said = flag.fill_null(True).to_numpy(zero_copy_only=False)
    again = equal.copy()
    again[1:] &= at[1:] == at[:-1]
    return ~same | (~equal & said), again


def _resources(path: Path, names: Path, n_events: Ints) -> dict[str, list[Any]]:
    """`resources.parquet`; its columns by the resources' numbers, those without versions too."""
    import pyarrow as pa
    from pyarrow import parquet

    n = len(n_events)
    columns: dict[str, list[Any]] = {"url": [], "host": [], "path": []}
    facts: dict[str, list[Any]] = {}
    with names.open("rb") as lines:
        for line in lines:
            said = json.loads(line)
            if isinstance(said, list):
                url, host = said
                is_url = "://" in url
                for name, value in (
                    ("url", url if is_url else None),
                    ("host", host),
                    ("path", None if is_url else url),
                ):
                    columns[name].append(value)
                continue
            number = said.pop("resource")
            for name, value in said.items():
                column = columns[name] if name in columns else facts.setdefault(name, [None] * n)
                column[number] = value
    kept = np.flatnonzero(n_events)
    table = {"resource": pa.array(kept, pa.int32())}
    for name, column in (columns | facts).items():
        if name == "path" and not any(column):
            continue
        fixed = pa.large_string() if name in columns else None
        try:
            table[name] = pa.array(column, fixed).take(kept)
        except (pa.ArrowInvalid, pa.ArrowTypeError):  # a fact of two types: as text it is still one
            table[name] = pa.array([None if one is None else str(one) for one in column]).take(kept)
    parquet.write_table(pa.table(table), path, compression="zstd", row_group_size=N_GROUP)
    return columns | facts


def _posts(path: Path, journal: Journal, n_resources: int, facts: Mapping[str, list[Any]]) -> int:
    n = 0
    if not journal.n_bytes:
        return n
    with gzip.open(path, "wt", encoding="utf-8") as out:
        for number, rows in _by_resource(journal, n_resources):
            told = {name: facts[name][number] for name in ("board", "forum", "title") if name in facts}
            posts = [{"at": row["at"], "user": row["who"], "text": row["text"]} for row in rows]
            out.write(json.dumps({"resource": number, **told, "posts": posts}, ensure_ascii=False) + "\n")
            n += 1
    return n


def _texts(path: Path, journal: Journal, n_resources: int) -> int:
    """Each distinct text of a resource once, under its digest."""
    n = 0
    if not journal.n_bytes:
        return n
    with lzma.open(path, "wt", preset=_XZ_PRESET, encoding="utf-8") as out:
        for number, rows in _by_resource(journal, n_resources):
            there: set[str] = set()
            for row in rows:
                digest = row["who"]
                if digest not in there:
                    said = {"resource": number, "at": row["at"], "digest": digest, "text": row["text"]}
                    out.write(json.dumps(said, ensure_ascii=False) + "\n")
                    there |= {digest} if digest is not None else set()
                    n += 1
    return n


def _by_resource(journal: Journal, n_resources: int) -> Iterator[tuple[int, Iterator[dict[str, Any]]]]:
    for table in journal.in_order(n_resources, SORTED_BYTES, "size"):
        rows = (row for batch in table.to_batches(1000) for row in batch.to_pylist())
        yield from groupby(rows, key=itemgetter("resource"))
