"""Forecasts against what happened: a point for each chance that was forecast, with its interval."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from recrawl.evaluate.calibration import Bin
from recrawl.evaluate.report.axes import Scale
from recrawl.schedule.reason import percent

_SIZE, _LEFT, _RIGHT, _TOP, _BOTTOM = 400.0, 68.0, 28.0, 12.0, 48.0
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
TITLE = "What was forecast, and how often it happened"


def scatter(curve: Sequence[Bin]) -> Markup:
    """On the dashed line forecasts come true as often as they say; above it changes are commoner."""
    across = Scale(0.0, 1.0, _LEFT, _SIZE - _RIGHT)
    upward = Scale(0.0, 1.0, _SIZE - _BOTTOM, _TOP)
    shown = [one for one in curve if one.n]
    parts = [_frame(across, upward)]
    for one in shown:
        x, y = across(one.forecast), upward(one.happened)
        said = f"{percent(one.forecast)} forecast, {percent(one.happened)} happened, {one.n:,} visits"
        parts.append(
            Markup(
                '<g class="s1"><title>{}</title><path class="line" d="M{:.1f} {:.1f}V{:.1f}"/>'
                '<circle class="knot" cx="{:.1f}" cy="{:.1f}" r="4.5"/></g>'
            ).format(said, x, upward(one.least), upward(one.most), x, y)
        )
    svg = Markup(
        '<svg viewBox="0 0 {:.0f} {:.0f}" role="img" aria-label="{}" class="square">{}</svg>'
    ).format(_SIZE, _SIZE, TITLE, Markup("").join(parts))
    return Markup("<figure>{}<figcaption>{}</figcaption>{}</figure>").format(svg, TITLE, _table(shown))


def _frame(across: Scale, upward: Scale) -> Markup:
    parts = []
    for tick in _TICKS:
        x, y = across(tick), upward(tick)
        parts.append(
            Markup(
                '<path class="grid" d="M{:.0f} {:.1f}H{:.0f}M{:.1f} {:.0f}V{:.0f}"/>'
                '<text x="{:.0f}" y="{:.1f}" text-anchor="end">{}</text>'
                '<text x="{:.1f}" y="{:.0f}" text-anchor="middle">{}</text>'
            ).format(
                *(_LEFT, y, _SIZE - _RIGHT, x, _TOP, _SIZE - _BOTTOM),
                *(_LEFT - 6, y + 4, f"{100.0 * tick:.0f} %"),
                *(x, _SIZE - _BOTTOM + 16, f"{100.0 * tick:.0f} %"),
            )
        )
    middle = (_LEFT + _SIZE - _RIGHT) / 2
    parts.append(
        Markup(
            '<path class="mark" d="M{:.1f} {:.1f}L{:.1f} {:.1f}"/>'
            '<text x="{:.1f}" y="{:.0f}" text-anchor="middle">chance of a change that was forecast</text>'
            '<text transform="translate(12 {:.1f}) rotate(-90)" text-anchor="middle">'
            "how often a visit found one</text>"
        ).format(
            *(across(0.0), upward(0.0), across(1.0), upward(1.0)),
            *(middle, _SIZE - 8, (_TOP + _SIZE - _BOTTOM) / 2),
        )
    )
    return Markup("").join(parts)


def _table(shown: Sequence[Bin]) -> Markup:
    rows = Markup("").join(
        Markup(
            '<tr><th scope="row">{} to {}</th><td>{}</td><td>{}</td><td>{}</td><td>{} to {}</td></tr>'
        ).format(
            *(percent(one.low), percent(one.high), f"{one.n:,}", percent(one.forecast)),
            *(percent(one.happened), percent(one.least), percent(one.most)),
        )
        for one in shown
    )
    return Markup(
        "<details><summary>As a table</summary><table><caption>{}</caption><thead><tr>"
        '<th scope="col">Forecast</th><th scope="col">Visits</th><th scope="col">Said</th>'
        '<th scope="col">Happened</th><th scope="col">Between</th></tr></thead>'
        "<tbody>{}</tbody></table></details>"
    ).format(TITLE, rows)
