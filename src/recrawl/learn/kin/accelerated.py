"""Kin by cross-correlation of all pairs, exactly, on a graphics processor (or on PyTorch's own processor).

The same sums as `correlation.correlated`, in the same order of work: for a block of pages word by word, one
matrix product for each lag, the highest of them, added up in the block's scores.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from recrawl.errors import BadInputError
from recrawl.learn.kin.correlation import LAGS
from recrawl.learn.kin.dynamics import Dynamics
from recrawl.learn.kin.kin import NOTHING, Kin, stacked
from recrawl.learn.kin.totals import Asked, reach
from recrawl.model import Ints

BLOCK = 4_096  # pages at a time
ROOM = 200_000_000  # similarities worked out together, 4 bytes each and three times over


def correlated(
    dynamics: Dynamics,
    k: int,
    lags: int | range = LAGS,
    *,
    pages: Ints | None = None,
    device: str | None = None,
    block: int = BLOCK,
) -> Kin:
    """As `correlation.correlated`; `device` is PyTorch's word for where, the first graphics processor if
    there is one."""
    torch = _torch()
    place = device or ("cuda" if torch.cuda.is_available() else "cpu")
    pages = np.arange(dynamics.n_pages) if pages is None else pages
    tried, asked = reach(lags, dynamics.n_steps), Asked(dynamics)
    move = torch.from_numpy(dynamics.move).to(place)
    page = torch.from_numpy(dynamics.page).to(place)
    parts = []
    precision = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")  # short products would not be equal to the processor's
    try:
        with torch.inference_mode():
            for start in range(0, len(pages), block):
                some = pages[start : start + block]
                score = _totals(torch, dynamics, asked, some, tried, move, page)
                top, of = torch.topk(score, min(k, dynamics.n_pages), dim=1)
                parts.append(_kin(top.cpu().numpy(), of.cpu().numpy(), k))
    finally:
        torch.set_float32_matmul_precision(precision)
    return stacked(parts, k)


def _totals(
    torch: Any, dynamics: Dynamics, asked: Asked, pages: Ints, lags: range, move: Any, page: Any
) -> Any:
    row, mine = asked.rows(pages)
    word = np.searchsorted(dynamics.bounds, row, side="right") - 1
    order = np.argsort(word, kind="stable")
    row, mine, word = row[order], mine[order], word[order]
    place = move.device
    weight = torch.from_numpy(dynamics.weight[row]).to(place)[:, None]
    rows, at = torch.from_numpy(row).to(place), torch.from_numpy(mine).to(place)[:, None]
    score = torch.zeros((len(pages), dynamics.n_pages), device=place)
    edges = np.flatnonzero(np.diff(word, prepend=-1, append=-1))
    for start, stop in pairwise(edges.tolist()):
        first, last = dynamics.bounds[word[start] : word[start] + 2].tolist()
        at_once = max(1, ROOM // (last - first))
        for i in range(start, stop, at_once):
            j = min(i + at_once, stop)
            best = _best(torch, move[rows[i:j]], move[first:last], lags)
            # no pair of page and other twice in one word: adding to what is there is safe
            score[at[i:j], page[first:last]] += weight[i:j] * best
    score[torch.arange(len(pages), device=place), torch.from_numpy(pages).to(place)] = 0.0
    return score


def _best(torch: Any, mine: Any, theirs: Any, lags: range) -> Any:
    n_steps, best = mine.shape[1], None
    for lag in lags:
        now = mine[:, lag:] if lag >= 0 else mine[:, : n_steps + lag]
        then = theirs[:, : n_steps - lag] if lag >= 0 else theirs[:, -lag:]
        product = now @ then.T
        best = product if best is None else torch.maximum(best, product, out=best)
    return best


def _kin(top: Any, of: Any, k: int) -> Kin:
    """Of equal weights those with the lowest numbers first, as without PyTorch."""
    order = np.lexsort((of, -top), axis=1)
    top, of = np.take_along_axis(top, order, axis=1), np.take_along_axis(of, order, axis=1)
    spare = ((0, 0), (0, k - top.shape[1]))
    weight = np.pad(np.where(top >= NOTHING, top, 0.0).astype(np.float64), spare)
    return Kin(np.where(weight > 0, np.pad(of, spare), -1), weight)


def _torch() -> Any:
    try:
        import torch
    except ImportError as error:
        raise BadInputError(
            "Comparing all pages on a graphics processor needs PyTorch, which is not installed; install it "
            "with `pip install 'recrawl[gpu]'`."
        ) from error
    return torch
