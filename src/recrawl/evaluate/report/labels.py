"""Where names go in a drawing, so that none lies on another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

LETTER = 0.56  # of the size of a letter is its width, about, whatever fonts there are


@dataclass(frozen=True, slots=True)
class Box:
    left: float
    top: float
    right: float
    bottom: float

    def overlap(self, other: Box) -> float:
        across = min(self.right, other.right) - max(self.left, other.left)
        down = min(self.bottom, other.bottom) - max(self.top, other.top)
        return across * down if across > 0.0 and down > 0.0 else 0.0


def width(text: str, size: float) -> float:
    return len(text) * size * LETTER


def spread(wanted: Sequence[float], step: float, low: float, high: float) -> list[float]:
    """Places at least `step` apart and as near as can be (least squares) to the wanted ones.

    >>> spread([10.0, 10.0, 50.0], 10.0, 0.0, 100.0)
    [5.0, 15.0, 50.0]
    """
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    pools: list[tuple[float, int]] = []  # the mean of what stands together, and how many that are
    for turn, i in enumerate(order):
        mean, n = wanted[i] - turn * step, 1
        while pools and pools[-1][0] >= mean:
            before, n_before = pools.pop()
            mean, n = (before * n_before + mean * n) / (n_before + n), n_before + n
        pools.append((mean, n))
    room = high - (len(wanted) - 1) * step
    placed = [0.0] * len(wanted)
    turn = 0
    for mean, n in pools:
        for _ in range(n):
            placed[order[turn]] = max(low, min(mean, room)) + turn * step
            turn += 1
    return placed


def beside(
    points: Sequence[tuple[float, float]],
    names: Sequence[str],
    size: float,
    area: Box,
    others: Sequence[Box] = (),
) -> list[tuple[float, float, str]]:
    """For each point where its name stands and how it is anchored: the place around the point that meets
    least of the other points, names and `others`. Good enough for a few dozen points."""
    taken = [*(Box(x - 5, y - 5, x + 5, y + 5) for x, y in points), *others]
    placed: list[tuple[float, float, str]] = []
    for (x, y), name in zip(points, names, strict=True):
        best: tuple[float, float, float, str, Box] | None = None
        for across, down, anchor in _around():
            text_x, text_y = x + across, y + down
            box = box_of(text_x, text_y, width(name, size), size, anchor)
            outside = 1e4 * (
                max(0.0, area.left - box.left)
                + max(0.0, box.right - area.right)
                + max(0.0, area.top - box.top)
                + max(0.0, box.bottom - area.bottom)
            )
            cost = outside + 5.0 * sum(map(box.overlap, taken)) + math.hypot(across, down)
            if best is None or cost < best[0]:
                best = (cost, text_x, text_y, anchor, box)
        if best is not None:
            taken.append(best[4])
            placed.append(best[1:4])
    return placed


def _around() -> list[tuple[float, float, str]]:
    """Places from near to far: right, left, above, below, and further out on either side."""
    near = [(8.0, 4.0, "start"), (-8.0, 4.0, "end"), (0.0, -9.0, "middle"), (0.0, 17.0, "middle")]
    far = [
        (side * across, down + 4.0, "start" if side > 0 else "end")
        for across in (10.0, 24.0, 44.0, 68.0)
        for down in (-12.0, 12.0, -26.0, 26.0, -40.0, 40.0, -54.0, 54.0, -68.0, 68.0, -96.0, 96.0)
        for side in (1.0, -1.0)
    ]
    return near + far


def box_of(x: float, y: float, wide: float, size: float, anchor: str) -> Box:
    left = {"start": x, "middle": x - wide / 2, "end": x - wide}[anchor]
    return Box(left, y - 0.8 * size, left + wide, y + 0.25 * size)
