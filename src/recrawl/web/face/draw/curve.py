"""The forecast of one resource: how likely it has changed, by the time since the last look."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import isfinite

import numpy as np
from markupsafe import Markup, escape

from recrawl.app.account import Curve
from recrawl.app.quantity import iso
from recrawl.evaluate.report import axes, labels
from recrawl.model import DAY_S
from recrawl.schedule.reason import percent, span

WIDTH, HEIGHT, SIZE = 640.0, 300.0, 12.0
_TOP, _BOTTOM, _LEFT, _RIGHT = 14.0, 44.0, 62.0, 16.0
_FEW = 3.0  # of a unit: what is shorter is told in a smaller one
_SHORT = (("hours", 24.0), ("minutes", 1_440.0), ("seconds", 86_400.0))  # so many are a day
_SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)


def drawn(curve: Curve) -> Markup:
    """With the last look, now and the planned visit marked on it."""
    longest = float(curve.t_s[-1]) / DAY_S
    unit, places, written = _axis(longest)
    across = axes.Scale(0.0, longest, _LEFT, WIDTH - _RIGHT)
    upward = axes.Scale(0.0, 1.0, HEIGHT - _BOTTOM, _TOP)
    known = isfinite(curve.since_at)
    parts = [_line("grid", f"M{_LEFT:g} {upward(share):.1f}H{WIDTH - _RIGHT:g}") for share in _SHARES]
    parts += [_text(f"{100.0 * share:.0f} %", _LEFT - 6.0, upward(share) + 4.0, "end") for share in _SHARES]
    parts += [_text(written(at), across(at), HEIGHT - _BOTTOM + 17.0, "middle") for at in places]
    since = f"{unit} since the {'last' if known else 'first'} look"
    parts.append(_text(since, (_LEFT + WIDTH - _RIGHT) / 2.0, HEIGHT - 6.0, "middle"))
    spots = zip(curve.t_s.tolist(), curve.p_changed.tolist(), strict=True)
    path = "L".join(f"{across(t_s / DAY_S):.1f} {upward(p):.1f}" for t_s, p in spots)
    parts.append(_line("line s1", f"M{path}"))
    parts += _marks(curve, across)
    return Markup('<svg class="curve" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        f"{WIDTH:g}", f"{HEIGHT:g}", words(curve), Markup("").join(parts)
    )


def _axis(longest: float) -> tuple[str, list[float], Callable[[float], str]]:
    """The unit of time, round places on the axis (in days), and how they are written."""
    if longest >= _FEW:
        return axes.days(longest)
    unit, size = next((one for one in _SHORT if one[1] * longest >= _FEW), _SHORT[-1])
    places = [at / size for at in axes.steps(0.0, size * longest, 6) if at <= size * longest]
    return unit, places, lambda at: axes.figure(round(size * at, 6))


def words(curve: Curve) -> str:
    """The drawing for those who do not see it."""
    end_s = float(curve.t_s[-1])
    if not isfinite(curve.since_at):
        return f"Likely to change within {span(end_s)} of the first look: {_share(curve, end_s)}."
    told = []
    for at, name in ((curve.now, "by now"), (curve.due_at, f"by the next visit, {iso(curve.due_at)}")):
        if isfinite(at) and at - curve.since_at <= end_s:
            told.append(f"{name} {_share(curve, at - curve.since_at)}")
    end = f"after {span(end_s)} {_share(curve, end_s)}"
    return f"Likely to have changed since {iso(curve.since_at)}: {'; '.join([*told, end])}."


def chance(p: float) -> tuple[str, str]:
    """That it has changed by now; nothing is sure.

    >>> chance(0.42), chance(0.9999)
    (('42.0 %', 'likely'), ('over 99.9 %', 'likely'))
    """
    if not isfinite(p):
        return "–", "it was not looked at yet"
    return "over 99.9 %" if p > 0.999 else percent(p) if p > 0.001 else "under 0.1 %", "likely"


def _share(curve: Curve, t_s: float) -> str:
    return percent(float(np.interp(t_s, curve.t_s, curve.p_changed)))


def _marks(curve: Curve, across: axes.Scale) -> Sequence[Markup]:
    """A dashed line for each moment, its name beside it, one below the other; names lie on all lines."""
    dashes, names = [], []
    for turn, (t_s, text) in enumerate(curve.marks()):
        x, y = across(t_s / DAY_S), _TOP + 14.0 + turn * (SIZE + 5.0)
        room = x + 6.0 + labels.width(text, SIZE) <= WIDTH - _RIGHT
        dashes.append(_line("mark", f"M{x:.1f} {_TOP:g}V{HEIGHT - _BOTTOM:g}"))
        names.append(_text(text, x + (6.0 if room else -6.0), y, "start" if room else "end"))
    return dashes + names


def _line(look: str, path: str) -> Markup:
    return Markup('<path class="{}" d="{}"/>').format(look, path)


def _text(text: str, x: float, y: float, anchor: str) -> Markup:
    return Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(
        f"{x:.1f}", f"{y:.1f}", anchor, escape(text)
    )
