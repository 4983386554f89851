"""Corpora as tests make them, and what they should read like."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from recrawl.corpora.digests import bits_of_texts
from recrawl.simulate.traces import Traces

ABOUT: Mapping[str, Any] = {
    "format": 1,
    "name": "made",
    "kind": "page",
    "observation": "every-change",
    "start": 0,
    "end": 10_000,
}
History = list[tuple[float, int]]  # versions: when, and the digest's bits


def corpus_folder(
    folder: Path,
    events: Sequence[tuple[Any, Any, Any]],
    *,
    resources: Mapping[str, Any] | None = None,
    about: Mapping[str, Any] = ABOUT,
    more: Mapping[str, Sequence[Any]] | None = None,
) -> Path:
    """A corpus written without our writer. Events are resource, at and digest."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = sorted({row[0] for row in events if row[0] is not None})
    listed: Mapping[str, Any] = resources or {
        "resource": numbers,
        "url": [f"https://{n}.org/" for n in numbers],
        "host": ["h"] * len(numbers),
    }
    (folder / "corpus.json").write_text(json.dumps(about))
    pq.write_table(pa.table(dict(listed)), folder / "resources.parquet")
    number, at, digest = zip(*events, strict=True) if events else ((), (), ())
    columns = {
        "resource": pa.array(number, pa.int32()),
        "at": pa.array(at, pa.int64()),
        "digest": pa.array(digest, pa.string()),
        **(more or {}),
    }
    pq.write_table(pa.table(columns), folder / "events.parquet", row_group_size=3)
    return folder


def visits_file(folder: Path, rows: Sequence[tuple[int, int, str | None, bool]]) -> None:
    number, at, digest, changed = zip(*rows, strict=True)
    table = {"resource": pa.array(number, pa.int32()), "at": at, "digest": digest, "changed": changed}
    pq.write_table(pa.table(table), folder / "visits.parquet")


def histories(traces: Traces) -> dict[str, History]:
    """By URL: the first version and every change."""
    found = {}
    for i, url in enumerate(traces.url):
        low, high = traces.bounds[i], traces.bounds[i + 1]
        changes = zip(traces.at[low:high].tolist(), traces.digest[low:high].tolist(), strict=True)
        found[url] = [(float(traces.born_at[i]), int(traces.first_digest[i])), *changes]
    return found


def plainly(rows: Iterable[tuple[str, float, str | None]]) -> dict[str, History]:
    """What rows in any order amount to, said as simply as can be."""
    by_url: dict[str, list[tuple[int, str | None]]] = {}
    for url, at, digest in rows:
        by_url.setdefault(url, []).append((int(at), digest))
    out = {}
    for url, versions in by_url.items():
        last_of_moment = dict(sorted(versions, key=lambda version: version[0]))
        history: list[tuple[int, str | None]] = []
        for at, digest in last_of_moment.items():
            if not history or digest is None or digest != history[-1][1]:
                history.append((at, digest))
        out[url] = [(float(at), int(bits_of_texts([digest])[0])) for at, digest in history]
    return out
