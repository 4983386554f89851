"""Bars with their intervals, as an SVG file that stands alone: it is read on light paper and on dark."""

from __future__ import annotations

from html import escape
from math import isfinite

from recrawl.evaluate.report import axes, labels
from recrawl.evaluate.report.figures import Bars

WIDTH, HEIGHT = 860.0, 400.0
SIZE = 12.0
COLOURS = ("#2f6fb0", "#b0772b", "#3f8f6b", "#8e5a9e")  # which can be told apart on both
_TOP, _BOTTOM, _RIGHT = 44.0, 34.0, 12.0
_FILLED = 0.76  # of a place by its bars


def bars(chart: Bars) -> str:
    values = [v for heap in chart.heaps for triple in heap.values for v in triple if isfinite(v)]
    ticks = axes.steps(min([0.0, *values]), max([0.0, *values]), 6)
    left = 34.0 + max(labels.width(axes.figure(tick), SIZE) for tick in ticks)
    upward = axes.Scale(ticks[0], ticks[-1], HEIGHT - _BOTTOM, _TOP)
    wide = (WIDTH - _RIGHT - left) / max(len(chart.places), 1)
    bar = _FILLED * wide / max(len(chart.heaps), 1)
    parts = []
    for tick in ticks:
        y = upward(tick)
        parts.append(f'<path d="M{left:.1f} {y:.1f}H{WIDTH - _RIGHT:.1f}" stroke="#8884" fill="none"/>')
        parts.append(_text(axes.figure(tick), left - 6, y + 4, "end"))
    for p, place in enumerate(chart.places):
        # beside each other they would run together
        lines = place.split(" ", 1) if labels.width(place, SIZE) > wide else [place]
        for i, line in enumerate(lines):
            parts.append(_text(line, left + (p + 0.5) * wide, HEIGHT - 18 + 13 * i, "middle"))
    for h, heap in enumerate(chart.heaps):
        colour = COLOURS[heap.style % len(COLOURS)]
        for p, (value, low, high) in enumerate(heap.values):
            if not isfinite(value):
                continue
            x = left + p * wide + (1.0 - _FILLED) / 2.0 * wide + h * bar
            top, base = sorted((upward(value), upward(0.0)))
            told = f"{chart.places[p]}: {heap.name} {value:+.1f} [{low:+.1f} to {high:+.1f}]"
            middle = x + bar / 2.0
            span = f'd="M{middle:.1f} {upward(low):.1f}V{upward(high):.1f}" fill="none"'
            # pale under dark: seen on the bar and beside it
            whisker = f'<path {span} stroke="#fff9" stroke-width="4"/><path {span} stroke="#555"/>'
            parts.append(
                f'<g class="bar"><title>{escape(told)}</title><rect x="{x + 1:.1f}" y="{top:.1f}" '
                f'width="{bar - 2:.1f}" height="{base - top:.1f}" fill="{colour}"/>'
                f"{whisker if isfinite(low) and isfinite(high) else ''}</g>"
            )
    parts.append(f'<path d="M{left:.1f} {upward(0.0):.1f}H{WIDTH - _RIGHT:.1f}" stroke="#777" fill="none"/>')
    at = left
    for heap in chart.heaps:
        colour = COLOURS[heap.style % len(COLOURS)]
        parts.append(f'<rect x="{at:.1f}" y="21" width="12" height="12" fill="{colour}"/>')
        parts.append(_text(heap.name, at + 17, 31, "start"))
        at += 34 + labels.width(heap.name, SIZE)
    turned = f"translate(14 {(_TOP + HEIGHT - _BOTTOM) / 2:.1f}) rotate(-90)"
    parts.append(f'<text transform="{turned}" text-anchor="middle">{escape(chart.y_name)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" '
        f'font-family="sans-serif" font-size="{SIZE:g}" fill="#777" role="img">'
        f"<title>{escape(chart.title)}</title>{''.join(parts)}</svg>\n"
    )


def _text(text: str, x: float, y: float, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'
