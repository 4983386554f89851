"""A probability over time, as an SVG file that stands alone: it is read on light paper and on dark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from recrawl.evaluate.report import axes, labels
from recrawl.model import DAY_S

WIDTH, HEIGHT = 640.0, 320.0
SIZE = 12.0
_TOP, _BOTTOM, _LEFT, _RIGHT = 30.0, 44.0, 56.0, 16.0
_FEW_DAYS = 3.0  # up to here time is told in hours
_LINE, _MARK = "#2f6fb0", "#b0772b"


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    title: str
    since: str  # what the time counts from
    t_s: Sequence[float]
    share: Sequence[float]
    marks: Sequence[tuple[float, str]]  # where, and what is there


def drawn(curve: Curve) -> str:
    longest = curve.t_s[-1] / DAY_S
    unit, places, written = axes.days(longest)
    if longest < _FEW_DAYS:
        unit, places = "hours", [hours / 24 for hours in axes.steps(0.0, 24 * longest, 6)]
        places, written = [at for at in places if at <= longest], lambda at: axes.figure(round(24 * at, 6))
    across = axes.Scale(0.0, longest, _LEFT, WIDTH - _RIGHT)
    upward = axes.Scale(0.0, 1.0, HEIGHT - _BOTTOM, _TOP)
    parts = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = upward(tick)
        parts.append(f'<path d="M{_LEFT:g} {y:.1f}H{WIDTH - _RIGHT:g}" stroke="#8884" fill="none"/>')
        parts.append(_text(f"{100 * tick:.0f} %", _LEFT - 6, y + 4, "end"))
    for place in places:
        parts.append(_text(written(place), across(place), HEIGHT - _BOTTOM + 17, "middle"))
    parts.append(_text(f"{unit} since {curve.since}", (_LEFT + WIDTH - _RIGHT) / 2, HEIGHT - 8, "middle"))
    spots = [
        f"{across(t_s / DAY_S):.1f} {upward(share):.1f}"
        for t_s, share in zip(curve.t_s, curve.share, strict=True)
    ]
    parts.append(f'<path d="M{"L".join(spots)}" stroke="{_LINE}" stroke-width="2.5" fill="none"/>')
    for turn, (t_s, text) in enumerate(curve.marks):
        x, y = across(t_s / DAY_S), _TOP + 14.0 + turn * (SIZE + 4.0)
        room = x + 6 + labels.width(text, SIZE) <= WIDTH - _RIGHT
        parts.append(
            f'<path d="M{x:.1f} {_TOP:g}V{HEIGHT - _BOTTOM:g}" stroke="{_MARK}" stroke-dasharray="4 3" '
            f'fill="none"/>{_text(text, x + (6 if room else -6), y, "start" if room else "end")}'
        )
    parts.append(_text(curve.title, _LEFT, 16, "start"))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" '
        f'font-family="sans-serif" font-size="{SIZE:g}" fill="#777" role="img">'
        f"<title>{escape(curve.title)}</title>{''.join(parts)}</svg>\n"
    )


def _text(text: str, x: float, y: float, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
