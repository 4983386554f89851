"""One measure against the budget: the curve, how sure it is, and where we are on it."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite, log

from markupsafe import Markup

from recrawl.app.foresight import Foresight
from recrawl.evaluate.budgets.curve import Bought
from recrawl.evaluate.report import axes
from recrawl.evaluate.report.table import count
from recrawl.schedule.reason import percent

WIDTH, HEIGHT = 640.0, 280.0
_TOP, _BOTTOM, _LEFT, _RIGHT = 14.0, 44.0, 58.0, 30.0
_SHARES = frozenset({"freshness", "recall", "within"})
_UNITS = (
    ("days", "d", 1.0),
    ("hours", "h", 1.0 / 24.0),
    ("minutes", "min", 1.0 / 1_440.0),
    ("seconds", "s", 1.0 / 86_400.0),
)
TITLES = {
    "freshness": "Copies that are up to date",
    "recall": "Changes told apart",
    "delay_days_mean": "Time until a change is known, on average",
    "harmonic": "How far copies fall behind",
    "within": "Changes known in time",
}


def written(name: str, value: float) -> str:
    """A figure of this measure, for people.

    >>> written("freshness", 0.8312), written("freshness", 1.0)
    ('83.1 %', '100.0 %')
    >>> written("delay_days_mean", 1.24), written("delay_days_mean", 0.0086)
    ('1.2 days', '12 minutes')
    """
    if not isfinite(value):
        return "–"
    if name in _SHARES:
        return percent(value)
    if name == "delay_days_mean":
        unit, _, size = _unit(value)
        return f"{_figure(value / size)} {unit}"
    return _figure(value)


def _figure(value: float) -> str:
    return f"{value:.0f}" if value >= 10.0 else f"{value:.2g}"


def _unit(days: float) -> tuple[str, str, float]:
    """In which so many days are told, the same in short, and how many days it has."""
    return next((one for one in _UNITS if days >= one[2]), _UNITS[-1])


def drawn(found: Foresight, name: str) -> Markup:
    """Each budget so many times the one before; the band is where a week's figure should lie."""
    points = [one for one in found.points if isfinite(one.measures[name].value) and one.made_per_day > 0.0]
    if len(points) < 2:
        return Markup("")
    x = [log(one.made_per_day) for one in points]
    across = axes.Scale(x[0], max(x[-1], x[0] + 1e-9), _LEFT, WIDTH - _RIGHT)
    most = 1.0 if name in _SHARES else max(max(one.measures[name].high for one in points), 1e-9)
    _, unit, size = _unit(most) if name == "delay_days_mean" else ("", "", 1.0)
    steps = [step * size for step in axes.steps(0.0, most / size, 5)]
    top = steps[-1]
    upward = axes.Scale(0.0, top, HEIGHT - _BOTTOM, _TOP)
    parts = []
    for step in steps:
        parts.append(
            Markup('<path class="grid" d="M{} {}H{}"/>').format(
                f"{_LEFT:g}", f"{upward(step):.1f}", f"{WIDTH - _RIGHT:g}"
            )
        )
        label = f"{100.0 * step:.0f} %" if name in _SHARES else f"{axes.figure(step / size)} {unit}".strip()
        parts.append(_text(label, _LEFT - 6.0, upward(step) + 4.0, "end"))
    parts += _budgets(points, x, across)
    parts.append(_text("visits a day", (_LEFT + WIDTH - _RIGHT) / 2.0, HEIGHT - 6.0, "middle"))
    spots = list(zip(x, points, strict=True))
    above = [f"{across(at):.1f} {upward(min(one.measures[name].high, top)):.1f}" for at, one in spots]
    below = [f"{across(at):.1f} {upward(one.measures[name].low):.1f}" for at, one in reversed(spots)]
    parts.append(Markup('<path class="band" d="M{}Z"/>').format("L".join(above + below)))
    line = "L".join(f"{across(at):.1f} {upward(one.measures[name].value):.1f}" for at, one in spots)
    parts.append(Markup('<path class="line s1" d="M{}"/>').format(line))
    for at, one in spots:
        here = one.per_day == found.present
        parts.append(
            Markup('<circle class="{}" cx="{}" cy="{}" r="{}" data-budget="{}"/>').format(
                "spot here" if here else "spot",
                f"{across(at):.1f}",
                f"{upward(one.measures[name].value):.1f}",
                "6" if here else "4",
                f"{one.per_day:.17g}",
            )
        )
    return Markup('<svg class="budgets" viewBox="0 0 {} {}" role="img" aria-label="{}">{}</svg>').format(
        f"{WIDTH:g}", f"{HEIGHT:g}", _words(found, name, points), Markup("").join(parts)
    )


def _budgets(points: Sequence[Bought], x: Sequence[float], across: axes.Scale) -> list[Markup]:
    """Names below the axis, as many as there is room for."""
    found, free = [], -1e9
    for at, one in zip(x, points, strict=True):
        place = across(at)
        if place >= free:
            found.append(_text(count(one.made_per_day), place, HEIGHT - _BOTTOM + 17.0, "middle"))
            free = place + 56.0
    return found


def _words(found: Foresight, name: str, points: Sequence[Bought]) -> str:
    told = [f"{count(one.per_day)} a day: {written(name, one.measures[name].value)}" for one in points]
    return f"{TITLES[name]}, by visits a day; now {count(found.present)}. {'; '.join(told)}."


def _text(text: str, x: float, y: float, anchor: str) -> Markup:
    return Markup('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(
        f"{x:.1f}", f"{y:.1f}", anchor, text
    )
