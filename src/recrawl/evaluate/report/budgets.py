"""What budgets buy, as a table, as drawings and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from recrawl.evaluate.budgets.curve import Bought, Moved
from recrawl.evaluate.budgets.outlook import Expected
from recrawl.evaluate.report import plot
from recrawl.evaluate.report.figures import Point, Report, Scatter, Section, Series, Table
from recrawl.evaluate.report.style import style
from recrawl.evaluate.report.table import count
from recrawl.schedule.reason import span

FEWER = 0.95  # of a budget: so few visits made are worth a column
NAMES = {
    "freshness": "freshness",
    "recall": "recall",
    "delay_days_mean": "delay days",
    "harmonic": "harmonic",
    "within": "in time",
}


def table(
    points: Sequence[Bought], present: float, limited: bool, *, n_measures: int = 5
) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """What is the same as the budget, or nothing at all, has no column. Of more measures than there is room
    for the harmonic one gives way."""
    names = list(points[0].measures)
    if len(names) > n_measures:
        names.remove("harmonic")
    fewer = any(one.made_per_day < FEWER * one.per_day for one in points)
    full = any(one.n_full for one in points)
    columns = ["budget", *["made"] * fewer, *(NAMES[name] for name in names), *["full hosts"] * full]
    rows = []
    for one in points:
        mark = ("now: " if limited else "most: ") if one.per_day == present else ""
        rows.append(
            [
                f"{mark}{count(one.per_day)}",
                *[count(one.made_per_day)] * fewer,
                *(_figure(one.measures[name]) for name in names),
                *[count(one.n_full)] * full,
            ]
        )
    return columns, rows


def _figure(found: Expected) -> str:
    """As few digits as tell something, so that a table fits a terminal."""
    return f"{_short(found.value)} ({_short(found.low)}–{_short(found.high)})"


def _short(value: float) -> str:
    """
    >>> _short(0.7042), _short(12.34), _short(0.0041)
    ('0.70', '12', '0.004')
    """
    if isnan(value):
        return "-"
    return f"{value:.0f}" if value >= 10.0 else f"{value:.2f}" if value >= 0.0095 else f"{value:.3f}"


def moved_table(moved: Sequence[tuple[str, Moved]]) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    columns = ("resource", "gap", "then")
    return columns, [(url, span(one.gap_s), span(one.other_gap_s)) for url, one in moved]


def charts(points: Sequence[Bought], present: float, limited: bool) -> dict[str, Scatter]:
    """One for each measure; the budget in force is named."""
    found = {}
    for name in points[0].measures:
        spots = [
            Point(
                name=("now" if limited else "most") if one.per_day == present else count(one.made_per_day),
                style=1 if one.per_day == present else 0,
                x=one.made_per_day,
                y=one.measures[name].value,
                low=one.measures[name].low,
                high=one.measures[name].high,
            )
            for one in points
        ]
        line = Series(name="", style=0, x=[spot.x for spot in spots], y=[spot.y for spot in spots])
        found[name] = Scatter(
            title=f"{NAMES[name].capitalize()} against the budget",
            x_name="visits a day",
            y_name=NAMES[name],
            points=spots,
            limits=[line],
        )
    return found


def standalone(chart: Scatter) -> str:
    """A drawing in a file of its own."""
    drawn = plot.scatter(chart)
    begin = drawn.index(">") + 1
    head = drawn[: begin - 1].replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')
    return f"{head}><style>{style()}</style>{drawn[begin:]}\n"


def page_of(
    points: Sequence[Bought],
    *,
    present: float,
    limited: bool,
    facts: Sequence[tuple[str, str]],
    sentences: Sequence[str],
    more: tuple[float, Sequence[tuple[str, Moved]]],
    less: tuple[float, Sequence[tuple[str, Moved]]],
    command: str,
) -> Report:
    columns, rows = table(points, present, limited)
    drawings = tuple(charts(points, present, limited).values())
    sections = [
        Section(
            title="What budgets buy",
            blocks=[
                "The higher, the more often copies are as the resources are (freshness), and the more "
                "changes are told apart (recall); the lower, the sooner a change is known (delay), and "
                "the fewer changes a copy is behind (harmonic). The bars hold what a week would show, 19 "
                "times in 20, if resources go on as they did. Full is how many hosts have no room for more.",
                drawings,
                Table(caption="Expected with each budget", columns=columns, rows=rows),
                *sentences,
            ],
        )
    ]
    for title, (per_day, moved) in (("Who gains by more", more), ("Who loses by less", less)):
        if moved:
            columns, rows = moved_table(moved)
            caption = f"With {count(per_day)} visits a day instead of {count(present)}"
            sections.append(Section(title=title, blocks=[Table(caption=caption, columns=columns, rows=rows)]))
    return Report(
        title="What a budget buys",
        lead="Expected from the forecasts of the resources that are watched, and nothing else.",
        about="",
        facts=facts,
        sections=sections,
        command=command,
    )
