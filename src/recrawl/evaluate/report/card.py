"""The report card as tables and as a page."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan

from recrawl.evaluate.calibration import Bin
from recrawl.evaluate.card.figures import Calibration, Card
from recrawl.evaluate.card.missed import CROWDED
from recrawl.evaluate.card.words import compared, foretold, moment, percent, title, words
from recrawl.evaluate.report.figures import Block, Lines, Point, Report, Scatter, Section, Series, Table
from recrawl.evaluate.report.table import count, share
from recrawl.model import DAY_S
from recrawl.schedule.reason import span

WIDE = 41  # characters from 0 % to 100 %
DAYS = ("day from", "visits", "second looks", "budget", "changes", "told nothing")
RIVALS = ("schedule", "freshness", "recall", "mean wait")
HOSTS = ("host", "visits", "told nothing", "in a row")
CURVE = ("forecast", "visits", "said", "happened", "0 %" + " " * (WIDE - 8) + "100 %")


def days(card: Card) -> list[list[str]]:
    return [
        [
            moment(day.at),
            *(count(n) for n in (day.n_visits, day.n_second, day.budget, day.n_changes, day.n_failed)),
        ]
        for day in card.days
    ]


def rivals(card: Card) -> list[list[str]]:
    return [[one.name, share(one.freshness), share(one.recall), _span(one.wait_s)] for one in card.rivals]


def hosts(card: Card) -> list[list[str]]:
    return [
        [one.host, count(one.n_visits), count(one.n_failed), count(one.n_in_a_row)] for one in card.troubles
    ]


def curve(good: Calibration) -> list[list[str]]:
    """The reliability curve as lines of text: what was said, and what happened with its interval."""
    return [
        [
            f"{percent(one.low)} to {percent(one.high)}",
            count(one.n),
            percent(one.forecast),
            percent(one.happened),
            _line(one),
        ]
        for one in good.curve
        if one.n
    ]


def _line(one: Bin) -> str:
    cells = ["·"] * WIDE
    for i in range(_cell(one.least), _cell(one.most) + 1):
        cells[i] = "─"
    cells[_cell(one.happened)] = "●"
    said = _cell(one.forecast)
    cells[said] = "◉" if cells[said] == "●" else "│"
    return "".join(cells)


def _cell(p: float) -> int:
    return round(min(max(p, 0.0), 1.0) * (WIDE - 1))


def picture(good: Calibration) -> Scatter:
    """The reliability curve; beside each point stands how many visits it is of."""
    return Scatter(
        title="What was forecast, and how often it happened",
        x_name="the chance of a change that was forecast",
        y_name="how often a visit found one",
        points=[
            Point(
                name=count(one.n),
                style=0,
                x=max(one.forecast, 1e-9),
                y=one.happened,
                low=one.least,
                high=one.most,
            )
            for one in good.curve
            if one.n
        ],
        limits=[Series(name="calibrated", style=2, x=[1e-9, 1.0], y=[0.0, 1.0])],
        even=True,
    )


def page_of(card: Card, command: str) -> Report:
    return Report(
        title="Report card",
        lead=f"{title(card)}.",
        about="",
        facts=[
            ("Resources", f"{card.n_resources:,}"),
            ("Visits", f"{card.n_visits:,}"),
            ("Second looks", f"{card.n_second:,}"),
            ("Budget now", "none" if isnan(card.per_day) else f"{card.per_day:,.0f} a day"),
            ("Changes caught", f"{card.n_changes:,}"),
            ("Hosts in trouble", f"{card.n_troubled:,}"),
        ],
        sections=[
            Section(
                title="In short",
                blocks=[*(f"{name.capitalize()}: {text}." for name, text in words(card)), *card.notes],
            ),
            Section(title="Day by day", blocks=[*_daily(card), _table("Visits by day", DAYS, days(card))]),
            Section(title="Forecasts", blocks=_foretold(card)),
            Section(title="Against other schedules", blocks=_rivalry(card)),
            Section(
                title="Hosts in trouble",
                blocks=[
                    _table("Hosts most of whose visits told nothing, or that fail now", HOSTS, hosts(card))
                    if card.troubles
                    else "None."
                ],
            ),
            Section(title="How it was worked out", blocks=_CONVENTIONS),
        ],
        command=command,
    )


def _daily(card: Card) -> list[Block]:
    if len(card.days) < 2:
        return []
    x = [(day.at - card.from_at) / DAY_S + day.days / 2.0 for day in card.days]

    def series(name: str, style: int, values: Sequence[float]) -> Series:
        return Series(
            name=name, style=style, x=x, y=[v / day.days for v, day in zip(values, card.days, strict=True)]
        )

    charged = [day.n_visits + day.n_second for day in card.days]
    drawn = [
        series("visits", 0, [day.n_visits for day in card.days]),
        *([series("visits and second looks", 2, charged)] if card.n_second else []),
        series("changes", 1, [day.n_changes for day in card.days]),
    ]
    if not isnan(card.budget):
        drawn.append(series("budget", 6, [day.budget for day in card.days]))
    return [(Lines(title="Visits and changes caught, a day", y_name="a day", series=drawn),)]


def _foretold(card: Card) -> list[Block]:
    if card.calibration is None:
        return [f"Forecasts: {foretold(card)}."]
    return [
        (picture(card.calibration),),
        _table("What became of the forecasts", CURVE[:4], [row[:4] for row in curve(card.calibration)]),
    ]


def _rivalry(card: Card) -> list[Block]:
    if not card.rivals:
        return [f"Against others: {compared(card)}."]
    return [_table("With as many visits, expected from the present rates", RIVALS, rivals(card))]


_CONVENTIONS = (
    "A change lies somewhere between two visits. Its delay is from the newest change in that gap to the "
    "visit: its own time where the content gives it, else what the forecast's survival curve expects, and "
    "never outside the bounds.",
    "Missed changes are those that were followed by another before the next visit. How many is expected from "
    "the rate of the resource, which is known only so far: the interval holds the number with 95 %. Gaps in "
    f"which more than {CROWDED:g} changes are expected are left out of it and counted apart.",
    "Forecasts are those of the plans that led to the visits, kept with them before anybody knew what they "
    "would find. On the dashed line things happen as often as was said; bars are 95 % intervals.",
    "Other schedules are worked out, not made: what is to be expected of as many visits at equal gaps, and "
    "at the gaps that are best where rates are known, from the rates that are believed now and as if changes "
    "were Poisson. This one is worked out from its real gaps in the same way.",
)


def _table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    return Table(caption=caption, columns=columns, rows=rows)


def _span(seconds: float) -> str:
    return "-" if isnan(seconds) else span(seconds)
