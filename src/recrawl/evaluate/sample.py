"""Some resources of every piece, few enough to be held at once: a price is found on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from recrawl.evaluate.pieces import Piece
from recrawl.evaluate.protocol import Window
from recrawl.model import Ints
from recrawl.simulate.traces import Traces


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
    return Traces(bounds=bounds, **columns)  # type: ignore[arg-type]  # each of its column's type
