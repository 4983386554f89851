"""Writes a generated corpus as a folder, piece by piece, with what only its maker can know.

Besides the columns that every corpus has, `resources.parquet` tells of each resource what a first look shows
(depth, links, bytes, words), which of the recipe's ingredients it is, its true rate and whom it follows;
`events.parquet` tells of each version whether it is noise and whether its content was there before.
"""

from __future__ import annotations

import json
import lzma
import shutil
from collections.abc import Callable
from contextlib import ExitStack
from gzip import GzipFile
from io import TextIOWrapper
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from recrawl.corpora.about import FILE, FORMAT
from recrawl.corpora.arrow import require
from recrawl.corpora.builtin import Builtin
from recrawl.corpora.native import EVENTS, RESOURCES
from recrawl.corpora.posts import POSTS
from recrawl.corpora.writing.unfinished import Unfinished
from recrawl.model import Bools, Ints
from recrawl.simulate.blocks import Piece
from recrawl.simulate.posts import said
from recrawl.simulate.texts import counts_of, lexicon, words_of
from recrawl.simulate.worlds import host_of

if TYPE_CHECKING:
    import pyarrow as pa

TERMS, TEXTS = "terms.parquet", "texts.jsonl.xz"
_N_PIECE = 2_000  # resources that are written at a time
_N_TERMS = 1_000_000  # rows of word counts that are written at a time
_XZ_PRESET = 1  # others take thrice the time for a tenth of the bytes

Progress = Callable[[int, int], None]  # resources that are done, and all of them


def make(
    corpus: Builtin, folder: Path, *, anew: bool = False, progress: Progress | None = None
) -> dict[str, Any]:
    """What its `corpus.json` says. The folder is there whole or not at all."""
    require()
    about = corpus.about
    what = {"made": about.source, "resources": len(corpus), "end": about.end_at}
    unfinished = Unfinished(folder, what, anew=anew)
    try:
        shutil.rmtree(unfinished.ready, ignore_errors=True)
        unfinished.ready.mkdir()
        found = _written(corpus, unfinished.ready, progress)
        document = {
            "format": FORMAT,
            "name": unfinished.target.name,
            "title": about.title,
            "kind": about.kind,
            "observation": about.observation,
            "start": int(about.start_at),
            "end": int(about.end_at),
            "resolution_s": about.resolution_s,
            "resources": len(corpus),
            **found,
            "licence": about.licence,
            "source": about.source,
        }
        (unfinished.ready / FILE).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        unfinished.publish()
    finally:
        unfinished.close()
    return document


def _written(corpus: Builtin, folder: Path, progress: Progress | None) -> dict[str, int]:
    from pyarrow import parquet

    counts = {"events": 0, "texts": 0, "threads_with_text": 0}
    done = 0
    with ExitStack() as stack:
        writers: dict[str, Any] = {}

        def write(name: str, table: pa.Table) -> None:
            if name not in writers:
                writers[name] = stack.enter_context(
                    parquet.ParquetWriter(folder / name, table.schema, compression="zstd")
                )
            writers[name].write_table(table)

        out: IO[str] | None = None
        if corpus.has_texts:
            out = stack.enter_context(
                lzma.open(folder / TEXTS, "wt", preset=_XZ_PRESET, encoding="utf-8", newline="\n")
            )
        talk: IO[str] | None = None
        if any(quarter.recipe.talk is not None for quarter in corpus.world.quarters):
            packed = stack.enter_context(GzipFile(folder / POSTS, "wb", mtime=0))
            talk = stack.enter_context(TextIOWrapper(packed, encoding="utf-8", newline="\n"))
        for piece in corpus.world.pieces(_N_PIECE):
            write(RESOURCES, _resources(piece, done))
            events = _events(piece, done)
            write(EVENTS, events)
            counts["events"] += len(events)
            if out is not None:
                counts["texts"] += _said(corpus, piece, done, out, lambda table: write(TERMS, table))
            if talk is not None:
                counts["threads_with_text"] += _talked(corpus, piece, done, talk)
            done += len(piece.traces)
            if progress is not None:
                progress(done, len(corpus))
    return {name: n for name, n in counts.items() if n}


def _talked(corpus: Builtin, piece: Piece, first: int, out: IO[str]) -> int:
    """The posts of all threads; how many threads."""
    traces, n = piece.traces, 0
    for row in range(len(traces)):
        talk = corpus.world.talk_of(first + row)
        if talk is None:
            continue
        at = np.append(traces.born_at[row], traces.of(row))
        found = said(talk, at, first + row, corpus.world.seed)
        told = zip(at.tolist(), found.author.tolist(), found.texts(talk), strict=True)
        line = {
            "resource": first + row,
            "board": host_of(int(traces.host[row])),
            "posts": [{"at": int(when), "user": who, "text": what} for when, who, what in told],
        }
        out.write(json.dumps(line) + "\n")
        n += 1
    return n


def _resources(piece: Piece, first: int) -> pa.Table:
    import pyarrow as pa

    traces = piece.traces
    known = np.isfinite(piece.per_day)
    return pa.table(
        {
            "resource": np.arange(first, first + len(traces), dtype=np.int32),
            "url": pa.array(traces.url, pa.large_string()),
            "host": pa.array([host_of(host) for host in traces.host.tolist()], pa.large_string()),
            **{name: column.astype(np.int32) for name, column in piece.features.items()},
            "ingredient": piece.ingredient.astype(np.int32),
            "per_day": pa.array(piece.per_day, mask=~known),
            "follows": pa.array(piece.follows.astype(np.int32), mask=piece.follows < 0),
            "lag_s": pa.array(piece.lag_s, mask=piece.follows < 0),
        }
    )


def _events(piece: Piece, first: int) -> pa.Table:
    """One row for every version, the first ones among them."""
    import pyarrow as pa

    traces = piece.traces
    begun, changes = _places(piece)
    n = len(traces) + len(traces.at)
    at, digest = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.uint64)
    noise = np.zeros(n, dtype=bool)
    at[begun], at[changes] = traces.born_at, traces.at
    digest[begun], digest[changes] = traces.first_digest, traces.digest
    noise[changes] = piece.noise
    seen = np.zeros(n, dtype=bool)
    seen[changes] = _seen_before(piece)
    return pa.table(
        {
            "resource": np.repeat(
                np.arange(first, first + len(traces), dtype=np.int32), traces.n_changes + 1
            ),
            "at": at,
            "digest": pa.array(digest).cast(pa.large_string()),
            "noise": noise,
            "seen_before": seen,
        }
    )


def _places(piece: Piece) -> tuple[Ints, Ints]:
    """Where first versions and changes go, when each resource's first version stands before its changes."""
    begun = piece.traces.bounds[:-1] + np.arange(len(piece.traces))
    row = np.repeat(np.arange(len(piece.traces)), piece.traces.n_changes)
    return begun, np.arange(len(row)) + row + 1


def _seen_before(piece: Piece) -> Bools:
    """A content is new when its number is above all that the resource had before."""
    row = np.repeat(np.arange(len(piece.traces)), piece.traces.n_changes)
    above = int(np.max(piece.content, initial=0)) + 1
    highest = np.maximum.accumulate(row * above + piece.content)
    before = np.concatenate([[-1], highest[:-1]])
    starts = piece.traces.bounds[:-1][piece.traces.n_changes > 0]
    before[starts] = row[starts] * above  # the first version's content is 0
    return row * above + piece.content <= before


def _said(corpus: Builtin, piece: Piece, first: int, out: IO[str], write: Callable[[pa.Table], None]) -> int:
    """The texts of all contents, each once, and the word counts of all versions; how many texts."""
    import pyarrow as pa

    traces, n = piece.traces, 0
    waiting: list[pa.Table] = []
    for row in range(len(traces)):
        text = corpus.world.text_of(first + row)
        if text is None:
            continue
        words = words_of(text, piece, row, first + row, corpus.world.seed)
        own = slice(traces.bounds[row], traces.bounds[row + 1])
        content = np.concatenate([[0], piece.content[own]])
        at = np.concatenate([traces.born_at[row : row + 1], traces.at[own]]).astype(np.int64)
        digest = np.concatenate([traces.first_digest[row : row + 1], traces.digest[own]])
        known = lexicon(text.n_known)
        born, place = np.unique(content, return_index=True)
        for number, version in zip(born.tolist(), place.tolist(), strict=True):
            line = {
                "resource": first + row,
                "at": int(at[version]),
                "digest": str(digest[version]),
                "text": " ".join(map(known.__getitem__, words[number].tolist())),
            }
            out.write(json.dumps(line) + "\n")
        n += len(born)
        counted = list(counts_of(words, content))
        sizes = np.array([len(term) for term, _ in counted])
        waiting.append(
            pa.table(
                {
                    "resource": np.full(int(sizes.sum()), first + row, dtype=np.int32),
                    "at": np.repeat(at, sizes),
                    "term": np.concatenate([term for term, _ in counted]).astype(np.int32),
                    "count": np.concatenate([count for _, count in counted]).astype(np.int16),
                }
            )
        )
        if sum(map(len, waiting)) > _N_TERMS:
            write(pa.concat_tables(waiting))
            waiting.clear()
    if waiting:
        write(pa.concat_tables(waiting))
    return n
