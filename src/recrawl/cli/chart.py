"""A curve on a terminal, in block characters, or in plain letters where it knows no others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

HEIGHT = 6
_BLOCKS = " ▁▂▃▄▅▆▇█"
_PLAIN = "  ..::||#"
_LEFT = 7  # for the figures


def chart(
    share: Callable[[float], float], marks: Sequence[tuple[float, str]], width: int, *, plain: bool = False
) -> list[str]:
    """Lines of a chart of `share`, which is asked for places from 0 to 1. Below it each mark has a line of
    its own: where it is on the curve, and what it is."""
    n = max(width - _LEFT - 1, 10)
    levels = _PLAIN if plain else _BLOCKS
    eighths = [round(8 * HEIGHT * min(max(share(i / (n - 1)), 0.0), 1.0)) for i in range(n)]
    lines = []
    for row in range(HEIGHT, 0, -1):
        figure = {HEIGHT: "100 %", HEIGHT // 2: " 50 %"}.get(row, "")
        bar = "".join(levels[min(max(level - 8 * (row - 1), 0), 8)] for level in eighths)
        lines.append(f"{figure:>5} |{bar}".rstrip())
    at = [round(place * (n - 1)) for place, _ in marks]
    axis = "".join("+" if i in at else "-" for i in range(n))
    lines.append(f"{'0 %':>5} +{axis}")
    lines += (_marked(place, text, n) for place, (_, text) in zip(at, marks, strict=True))
    return lines


def _marked(place: int, text: str, n: int) -> str:
    """The text stands on the side where there is room."""
    if place + 2 + len(text) <= n:
        return " " * (_LEFT + place) + f"^ {text}"
    return f"{text} ^".rjust(_LEFT + place + 1)
