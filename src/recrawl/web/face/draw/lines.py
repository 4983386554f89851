"""Figures over time as lines: told apart by dashes and marks as well as colours, and given as a table too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite

from markupsafe import Markup

from recrawl.evaluate.report.axes import Scale, steps
from recrawl.model import DAY_S

WIDTH, HEIGHT = 640.0, 240.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 64.0, 12.0, 30.0, 28.0
_DASHES = ("", "7 4", "2 3", "10 3 2 3")
_SHAPES = (
    "m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z",  # disc
    "m-3 -3h6v6h-6z",  # square
    "m0 -4l4 7h-8z",  # triangle
    "m0 -4l4 4l-4 4l-4 -4z",  # diamond
)
_MINUTES = (1, 5, 15, 60, 180, 360, 720)
_LETTER = 9.5  # pixels at most: they are larger on a phone


@dataclass(frozen=True, slots=True)
class Line:
    """Figures at moments; NaN: not known."""

    name: str
    y: Sequence[float]


def lines(
    drawn: Sequence[Line],
    at: Sequence[float],
    *,
    title: str,
    written: Callable[[float], str],
    marked: Callable[[float], str] | None = None,
    least: float | None = 0.0,
    units: Sequence[float] = (1.0,),
) -> Markup:
    """`at` are the moments of all lines; `least` is the lowest figure shown, None: what there is. Figures on
    the axis are round in one of the `units`, the largest first, and `marked` where they are written otherwise
    than those on the lines."""
    known = [y for line in drawn for y in line.y if isfinite(y)]
    if not known or len(at) < 2:
        return Markup('<p class="quiet">{}: nothing to draw yet.</p>').format(title)
    unit = next((unit for unit in units if max(known) >= unit), units[-1])
    low = min(known) if least is None else min(least, *known)
    ticks = [tick * unit for tick in steps(low / unit, max(known) / unit, 4)]
    across = Scale(at[0], at[-1], _LEFT, WIDTH - _RIGHT)
    upward = Scale(ticks[0], ticks[-1], HEIGHT - _BOTTOM, _TOP)
    parts = [_frame(across, upward, ticks, marked or written), _legend(drawn)]
    for turn, line in enumerate(drawn):
        parts.append(_curve(line, turn, at, across, upward, written))
    svg = Markup('<svg viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}" class="chart">{}</svg>').format(
        WIDTH, HEIGHT, title, Markup("").join(parts)
    )
    return Markup("<figure>{}<figcaption>{}</figcaption>{}</figure>").format(
        svg, title, _table(drawn, at, title, written)
    )


def _frame(across: Scale, upward: Scale, ticks: Sequence[float], written: Callable[[float], str]) -> Markup:
    parts = []
    for tick in ticks:
        y = upward(tick)
        parts.append(
            Markup(
                '<path class="grid" d="M{:.0f} {:.1f}H{:.0f}"/>'
                '<text x="{:.0f}" y="{:.1f}" text-anchor="end">{}</text>'
            ).format(_LEFT, y, WIDTH - _RIGHT, _LEFT - 6, y + 4, written(tick))
        )
    for place in moments(across.low, across.high):
        parts.append(
            Markup(
                '<path class="axis" d="M{:.1f} {:.0f}v4"/>'
                '<text x="{:.1f}" y="{:.0f}" text-anchor="middle">{}</text>'
            ).format(
                across(place),
                HEIGHT - _BOTTOM,
                across(place),
                HEIGHT - 8,
                short_moment(place, across.high - across.low),
            )
        )
    return Markup("").join(parts)


def _legend(drawn: Sequence[Line]) -> Markup:
    parts, x = [], _LEFT
    for turn, line in enumerate(drawn):
        parts.append(
            Markup(
                '<g class="s{}"><path class="line" d="M{:.0f} 12h26"{}/>'
                '<path class="knot" d="M{:.0f} 12{}"/></g>'
                '<text x="{:.0f}" y="16">{}</text>'
            ).format(turn + 1, x, _dash(turn), x + 13, _SHAPES[turn], x + 32, line.name)
        )
        x += 32 + _LETTER * len(line.name) + 22
    return Markup("").join(parts)


def _curve(
    line: Line,
    turn: int,
    at: Sequence[float],
    across: Scale,
    upward: Scale,
    written: Callable[[float], str],
) -> Markup:
    path, spots, pen = [], [], "M"
    for moment, y in zip(at, line.y, strict=True):
        if not isfinite(y):
            pen = "M"  # what is not known is a gap
            continue
        place = f"{across(moment):.1f} {upward(y):.1f}"
        path.append(f"{pen}{place}")
        pen = "L"
        spots.append(
            Markup('<path class="knot" d="M{}{}"><title>{}, {}: {}</title></path>').format(
                place, _SHAPES[turn], line.name, short_moment(moment, DAY_S), written(y)
            )
        )
    return Markup('<g class="s{}"><path class="line" d="{}"{}/>{}</g>').format(
        turn + 1, "".join(path), _dash(turn), Markup("").join(spots)
    )


def _dash(turn: int) -> Markup:
    return Markup(' stroke-dasharray="{}"').format(_DASHES[turn]) if _DASHES[turn] else Markup("")


def _table(drawn: Sequence[Line], at: Sequence[float], title: str, written: Callable[[float], str]) -> Markup:
    head = Markup("").join(Markup('<th scope="col">{}</th>').format(line.name) for line in drawn)
    rows = Markup("").join(
        Markup('<tr><th scope="row">{}</th>{}</tr>').format(
            short_moment(moment, DAY_S),
            Markup("").join(
                Markup("<td>{}</td>").format(written(line.y[i]) if isfinite(line.y[i]) else "–")
                for line in drawn
            ),
        )
        for i, moment in enumerate(at)
    )
    return Markup(
        "<details><summary>As a table</summary><table><caption>{}</caption>"
        '<thead><tr><th scope="col">Until</th>{}</tr></thead><tbody>{}</tbody></table></details>'
    ).format(title, head, rows)


def moments(from_at: float, until_at: float, most: int = 7) -> list[float]:
    """Round moments in a stretch of time: minutes, hours of a day, or days, at most so many."""
    span_s = until_at - from_at
    for step_s in (*(60.0 * n for n in _MINUTES), *(n * DAY_S for n in (1, 2, 7, 14, 28, 91, 182))):
        if span_s / step_s <= most:
            break
    else:
        step_s = span_s / most
    first = -(-from_at // step_s) * step_s
    return [first + i * step_s for i in range(most + 1) if first + i * step_s <= until_at]


def short_moment(at: float, span_s: float) -> str:
    """As short as can be: the day, the hour where the stretch is less than one, or both.

    >>> [short_moment(1_700_000_000.0, span_s) for span_s in (1e6, 1e5, 1e4)]
    ['14 Nov', '14 Nov 22:13', '22:13']
    """
    moment = datetime.fromtimestamp(at, UTC)
    if span_s > 2 * DAY_S:
        return f"{moment:%-d %b}"
    return f"{moment:%H:%M}" if span_s < DAY_S else f"{moment:%-d %b %H:%M}"
