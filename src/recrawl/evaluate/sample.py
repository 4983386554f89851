"""Some resources of every piece, few enough to be held at once: a price is found on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from recrawl.corpora.opened import Histories
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.pieces import Piece, pieces
from recrawl.evaluate.protocol import Window
from recrawl.model import Ints
from recrawl.simulate.traces import Traces


def held_in_memory(corpus: Histories, ask: Ask, notes: list[str]) -> Piece | None:
    """All of a corpus, or an even sample where it is too large; that is noted. None where it is empty."""
    parts: list[Piece] = []
    step, first_row = -(-len(corpus) // ask.n_at_once), 0
    for piece in pieces(corpus, ask):
        parts.append(every(piece, step, first_row))
        first_row += len(piece.traces)
    if not parts:
        return None
    held = together(parts)
    if len(held.traces) < len(corpus):
        notes.append(
            f"{len(held.traces):,} of {len(corpus):,} resources are compared: an even sample of them."
        )
    return held


def unweighted(held: Piece, notes: list[str]) -> Piece:
    """The same, where all count alike; that is noted. Rules and the floor know no weights, and no measure of
    a comparison has any: who spends visits by weight would be judged by what it was not after."""
    weight = held.traces.weight
    if len(np.unique(weight)) > 1:
        notes.append("The corpus's weights are left out: all resources count alike, for everybody.")
    return replace(held, traces=replace(held.traces, weight=np.ones_like(weight)))


def every(piece: Piece, step: int, first_row: int) -> Piece:
    """Each `step`-th resource of the corpus that is in this piece, whose first one has this number."""
    if step == 1:
        return piece
    rows = np.arange(-first_row % step, len(piece.traces), step)
    place = np.full(len(piece.traces), -1)
    place[rows] = np.arange(len(rows))
    return replace(
        piece,
        traces=replace(piece.traces.pick(rows), url=()),
        windows=[_taken(window, place) for window in piece.windows],
        group=piece.group[rows],
    )


def _taken(window: Window, place: Ints) -> Window:
    own = place[window.rows]
    return replace(window, rows=own[own >= 0], first_gap_s=window.first_gap_s[own >= 0])


def together(parts: Sequence[Piece]) -> Piece:
    """Pieces as one."""
    if len(parts) == 1:
        return parts[0]
    before = np.cumsum([0, *(len(part.traces) for part in parts)])
    drawn = [
        replace(
            parts[0].windows[draw],
            rows=np.concatenate(
                [part.windows[draw].rows + n for part, n in zip(parts, before, strict=False)]
            ),
            first_gap_s=np.concatenate([part.windows[draw].first_gap_s for part in parts]),
        )
        for draw in range(len(parts[0].windows))
    ]
    return replace(
        parts[0],
        traces=_joined([part.traces for part in parts]),
        windows=drawn,
        group=np.concatenate([part.group for part in parts]),
    )


def _joined(parts: Sequence[Traces]) -> Traces:
    sizes = np.concatenate([part.n_changes for part in parts])
    names = ("born_at", "at", "digest", "first_digest", "host", "weight")
    columns = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    known = [part.size_bytes for part in parts if part.size_bytes is not None]
    size_bytes = np.concatenate(known) if len(known) == len(parts) else None
    return Traces(bounds=bounds, size_bytes=size_bytes, **columns)  # type: ignore[arg-type]  # of its type
