"""Drawings as SVG text. Lines differ in colour, in dashes and in markers, and carry their names."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape

from recrawl.evaluate.report import axes, labels
from recrawl.evaluate.report.figures import Lines, Scatter, Series

WIDTH, HEIGHT = 440.0, 320.0
SIZE = 12.0  # of letters
N_COLOURS = 8
DASHES = ("", "7 3", "2 3", "10 3 2 3", "5 2 1 2 1 2", "14 4", "1 4")  # 7 and 8 have no common factor
_TOP, _BOTTOM = 14.0, 46.0
_LEAST_LABELS = 60.0


def lines(chart: Lines) -> str:
    drawn = [series for series in chart.series if any(math.isfinite(y) for y in series.y)]
    right = WIDTH - max([_LEAST_LABELS, *(labels.width(s.name, SIZE) + 22 for s in drawn)])
    name, places, ticks, written = _over_time(drawn) if chart.x_name is None else _by_figures(chart, drawn)
    left = _left(ticks)
    powers = chart.x_name is not None
    across = axes.Scale(places[0] if powers else 0.0, _farthest(drawn), left, right, powers)
    upward = axes.Scale(ticks[0], ticks[-1], HEIGHT - _BOTTOM, _TOP, powers)
    parts = [*_frame(across, upward, places, ticks, written, name, chart.y_name)]
    ends: list[tuple[float, float]] = []
    for turn, series in enumerate(drawn):
        placed = [(across(x), upward(y)) for x, y in zip(series.x, series.y, strict=True) if math.isfinite(y)]
        ends.append(placed[-1])
        marks = placed[turn % 4 :: max(1, len(placed) // 4)]
        parts.append(
            _group(series.name, series.style, [_path(placed, series.style), *_marks(marks, series.style)])
        )
    shelf = labels.spread([y for _, y in ends], SIZE + 1.0, _TOP, HEIGHT - _BOTTOM)
    for series, (x, y), at in zip(drawn, ends, shelf, strict=True):
        leader = f'<path class="leader" d="M{x:.1f} {y:.1f}L{right + 14:.1f} {at:.1f}"/>'
        name = _text(series.name, right + 17, at + 4)
        parts.append(f'<g class="curve s{series.style % N_COLOURS}">{leader}{name}</g>')
    names = ", ".join(f"{s.name} {_last(s):.3f}" for s in drawn) or "nothing to draw"
    what = chart.x_name or "time"
    return _svg(chart.title, f"{chart.y_name} over {what}; at the end: {names}.", parts)


def _over_time(drawn: Sequence[Series]) -> tuple[str, list[float], list[float], Callable[[float], str]]:
    unit, places, written = axes.days(_farthest(drawn))
    most = max((y for s in drawn for y in s.y if math.isfinite(y)), default=1.0) or 1.0
    return f"{unit} since the window began", places, axes.steps(0.0, most), written


def _by_figures(
    chart: Lines, drawn: Sequence[Series]
) -> tuple[str, list[float], list[float], Callable[[float], str]]:
    xs, ys = ([v for s in drawn for v in getattr(s, of) if v > 0.0 and math.isfinite(v)] for of in "xy")
    places = axes.powers(min(xs, default=1.0), max(xs, default=2.0))
    inside = [place for place in places if place <= max(xs, default=2.0)]
    return chart.x_name or "", inside, axes.powers(min(ys, default=1.0), max(ys, default=2.0)), axes.figure


def _farthest(drawn: Sequence[Series]) -> float:
    return max((max(s.x) for s in drawn), default=1.0)


def scatter(chart: Scatter) -> str:
    points = [p for p in chart.points if p.x > 0.0 and math.isfinite(p.y)]
    xs = [p.x for p in points] + [x for s in chart.limits for x in s.x if x > 0.0]
    ys = [y for p in points for y in (p.low, p.y, p.high)] + [y for s in chart.limits for y in s.y]
    ys = [y for y in ys if math.isfinite(y)]
    low, high = min(xs, default=1.0), max(xs, default=2.0)
    logarithmic = high > 6.0 * low and not chart.even
    places = (
        axes.powers(low, high) if logarithmic else axes.steps(min(low, 0.0) if low < high / 3 else low, high)
    )
    least, most = min(ys, default=0.0), max(ys, default=1.0)
    if least == most and 0.0 <= least <= 1.0:
        least, most = 0.0, 1.0  # a share, and all have the same
    ticks = axes.steps(least, most)
    left = _left(ticks)
    area = labels.Box(left + 2, _TOP - 4, WIDTH - 6, HEIGHT - _BOTTOM - 2)
    across = axes.Scale(places[0], places[-1], left + 8, WIDTH - 20, logarithmic)
    upward = axes.Scale(ticks[0], ticks[-1], HEIGHT - _BOTTOM - 6, _TOP)
    parts = [
        *_frame(
            across, upward, places, ticks, axes.figure, chart.x_name, chart.y_name, chart_right=WIDTH - 12
        )
    ]
    drawn, named = _limits(chart.limits, across, upward)
    parts += drawn
    spots = [(across(p.x), upward(p.y)) for p in points]
    bars = [
        labels.Box(x - 2, upward(p.high), x + 2, upward(p.low))
        for p, (x, _) in zip(points, spots, strict=True)
    ]
    texts = labels.beside(spots, [p.name for p in points], SIZE, area, [*named, *bars])
    for point, (x, y), (text_x, text_y, anchor) in zip(points, spots, texts, strict=True):
        inner = [f'<path class="bar" d="M{x:.1f} {upward(point.low):.1f}V{upward(point.high):.1f}"/>'] * (
            point.high > point.low
        )
        if abs(text_y - 4 - y) + abs(text_x - x) > 22:
            inner.append(f'<path class="leader" d="M{x:.1f} {y:.1f}L{text_x:.1f} {text_y - 4:.1f}"/>')
        inner += _marks([(x, y)], point.style)
        inner.append(
            f'<text x="{text_x:.1f}" y="{text_y:.1f}" text-anchor="{anchor}">{escape(point.name)}</text>'
        )
        told = f"{point.name}: {axes.figure(point.x)} {chart.x_name}, {chart.y_name} {point.y:.3f}"
        parts.append(_group(told, point.style, inner))
    names = "; ".join(f"{p.name} {p.y:.3f} at {axes.figure(p.x)}" for p in points)
    return _svg(chart.title, f"{chart.y_name} against {chart.x_name}: {names}.", parts)


def _frame(
    across: axes.Scale,
    upward: axes.Scale,
    places: Sequence[float],
    ticks: Sequence[float],
    written: Callable[[float], str],
    x_name: str,
    y_name: str,
    chart_right: float | None = None,
) -> Iterator[str]:
    left, right = _left(ticks), chart_right or across.end
    base = HEIGHT - _BOTTOM
    for tick in ticks:
        y = upward(tick)
        yield f'<path class="grid" d="M{left:g} {y:.1f}H{right:.1f}"/>'
        yield _text(axes.figure(tick), left - 6, y + 4, "end", "tick")
    for place in places:
        x = across(place)
        yield f'<path class="axis" d="M{x:.1f} {base:g}v4"/>'
        yield _text(written(place), x, base + 17, "middle", "tick")
    yield f'<path class="axis" d="M{left:g} {base:g}H{right:.1f}"/>'
    yield _text(x_name, (left + right) / 2, HEIGHT - 8, "middle", "name")
    turned = f"translate(12 {(_TOP + base) / 2:.1f}) rotate(-90)"
    yield f'<text class="name" transform="{turned}" text-anchor="middle">{escape(y_name)}</text>'


def _left(ticks: Sequence[float]) -> float:
    """Where the frame begins: right of the axis's name and its figures."""
    return 28.0 + max(labels.width(axes.figure(tick), SIZE) for tick in ticks)


def _text(text: str, x: float, y: float, anchor: str = "start", look: str = "label") -> str:
    return f'<text class="{look}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _limits(
    limits: Sequence[Series], across: axes.Scale, upward: axes.Scale
) -> tuple[list[str], list[labels.Box]]:
    """Lines with their names above the right end, and the room that the names take."""
    lines_ = []
    for series in limits:
        placed = sorted(
            (across(x), upward(y))
            for x, y in zip(series.x, series.y, strict=True)
            if x > 0.0 and math.isfinite(y)
        )
        if placed:
            lines_.append((series, placed))
    wanted = [placed[-1][1] - 6 for _, placed in lines_]
    shelf = labels.spread(wanted, SIZE + 1.0, _TOP - 2, HEIGHT - _BOTTOM)
    parts, boxes = [], []
    for (series, placed), y in zip(lines_, shelf, strict=True):
        path = "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in placed)
        x = placed[-1][0]
        parts.append(
            f'<g class="limit"><title>{escape(series.name)}</title>'
            f'<path stroke-dasharray="{DASHES[series.style]}" d="{path}"/>'
            f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="end">{escape(series.name)}</text></g>'
        )
        boxes.append(labels.box_of(x, y, labels.width(series.name, SIZE), SIZE, "end"))
    return parts, boxes


def _path(placed: Sequence[tuple[float, float]], style: int) -> str:
    dash = DASHES[style % len(DASHES)]
    path = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in placed)
    return f'<path class="line" d="{path}"' + (f' stroke-dasharray="{dash}"/>' if dash else "/>")


def _marks(placed: Iterable[tuple[float, float]], style: int) -> list[str]:
    shape = _SHAPES[style % len(_SHAPES)]
    return [f'<path class="mark" d="M{x:.1f} {y:.1f}{shape}"/>' for x, y in placed]


# Each begins at the middle of the marker.
_SHAPES = (
    "m-3.5 0a3.5 3.5 0 1 0 7 0a3.5 3.5 0 1 0 -7 0z",  # disc
    "m-3 -3h6v6h-6z",  # square
    "m0 -4l4 7h-8z",  # triangle
    "m0 -4.5l4 4.5l-4 4.5l-4 -4.5z",  # diamond
    "m0 4l4 -7h-8z",  # triangle on its point
    "m-1.3 -4.5h2.6v3.2h3.2v2.6h-3.2v3.2h-2.6v-3.2h-3.2v-2.6h3.2z",  # plus
    "m-4 -2.5h8v5h-8z",  # bar
    "m-2.5 -4h5v8h-5z",  # post
    "m0 -4.5l1.3 3.2h3.2l-2.5 2l1 3.5l-3 -2l-3 2l1 -3.5l-2.5 -2h3.2z",  # star
)
N_SHAPES = len(_SHAPES)


def _group(title: str, style: int, inner: Sequence[str]) -> str:
    return f'<g class="curve s{style % N_COLOURS}"><title>{escape(title)}</title>{"".join(inner)}</g>'


def _last(series: Series) -> float:
    return next(y for y in reversed(series.y) if math.isfinite(y))


def _svg(title: str, description: str, parts: Sequence[str]) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" aria-label="{escape(title)}">'
        f"<title>{escape(title)}</title><desc>{escape(description)}</desc>{''.join(parts)}</svg>"
    )
