"""How good forecasts were, as a page and as a table."""

from __future__ import annotations

from collections.abc import Callable
from math import isnan

from recrawl.evaluate.forecasts import SCHEDULES, SCORES, Forecast, Forecasting
from recrawl.evaluate.intervals import Interval
from recrawl.evaluate.report.figures import Report, Scatter, Section, Series, Table
from recrawl.evaluate.report.table import count, share, titled
from recrawl.model import DAY_S

COLUMNS = ("schedule", "part", "predictor", "visits", "changed", "brier", "log-loss", "off")


def table(result: Forecasting) -> tuple[list[str], list[list[str]]]:
    """For a terminal: columns and rows."""
    return titled(COLUMNS), [
        [
            row.schedule,
            row.part,
            row.predictor,
            count(row.n_visits),
            share(row.share_changed),
            *(_four(row.scores[name].value) for name in SCORES),
            share(row.calibration_error),
        ]
        for row in result.rows
    ]


def page_of(result: Forecasting, command: str) -> Report:
    names = ", ".join(dict.fromkeys(row.predictor for row in result.rows))
    return Report(
        title=f"How good forecasts are: {result.about.name}",
        lead=f"Before each visit: has it changed since the last one? Asked of {names}.",
        about=result.about.title,
        facts=[
            ("Corpus", result.about.name),
            ("Resources", f"{result.n_resources:,}"),
            ("Window", f"{result.days:,.0f} days"),
            ("Gaps", f"{result.ask.min_gap_s / DAY_S:g} to {result.ask.max_gap_s / DAY_S:g} days"),
            ("Draws", f"{result.ask.n_draws}"),
            ("Seed", f"{result.ask.seed}"),
        ],
        sections=[
            Section(title="Scores", blocks=[*result.notes, _scores(result)]),
            *(
                Section(
                    title=f"Reliability on the visits of {schedule}",
                    blocks=[_curves(result, schedule), *_bins(result, schedule)],
                )
                for schedule in SCHEDULES
            ),
            Section(title="How it was measured", blocks=_CONVENTIONS),
        ],
        command=command,
    )


_CONVENTIONS = (
    "Every predictor is asked of the same visits: one a week for each resource, and as many where policy "
    "index would have them with the plain Gamma filter. It says the chance of a change before each visit, "
    "knowing only visits before it, and then learns what was found. `late` is the later half of the window.",
    "The Brier score is the mean square of what a forecast was off; the log-loss the mean of -ln of the "
    "chance given to what happened. The difference is to the first predictor, on the same visits: below 0 is "
    "better. In brackets are 95 % intervals, with whole groups of resources resampled.",
    "On the line a predictor is calibrated: things happen as often as it says. The calibration error is the "
    "distance from the line, in the mean over visits.",
)


def _scores(result: Forecasting) -> Table:
    first = result.rows[0].predictor
    return Table(
        caption="Scores, by schedule and predictor; less is better",
        columns=(
            *("schedule", "part", "predictor", "visits", "changed", "Brier", "difference"),
            *("log-loss", "difference", "calibration error"),
        ),
        rows=[
            [
                row.schedule,
                row.part,
                row.predictor,
                count(row.n_visits),
                share(row.share_changed),
                *(cell for name in SCORES for cell in _score(row, name, row.predictor == first)),
                share(row.calibration_error),
            ]
            for row in result.rows
        ],
        n_words=3,
    )


def _score(row: Forecast, name: str, first: bool) -> tuple[str, str]:
    against = "-" if first else _within(row.differences[name], _signed)
    return _within(row.scores[name], _four), against


def _curves(result: Forecasting, schedule: str) -> tuple[Scatter, ...]:
    return tuple(
        Scatter(
            title=f"Reliability: {'all visits' if part == 'all' else 'the later half'}",
            x_name="the chance that was forecast",
            y_name="how often it happened",
            points=(),
            limits=[
                Series(name="calibrated", style=2, x=[1e-9, 1.0], y=[0.0, 1.0]),
                *(
                    Series(
                        name=row.predictor,
                        style=(0, 1, 3, 4, 5, 6)[i % 6],
                        x=[one.forecast for one in row.curve if one.n],
                        y=[one.happened for one in row.curve if one.n],
                    )
                    for i, row in enumerate(_of(result, schedule, part))
                ),
            ],
            even=True,
        )
        for part in ("all", "late")
    )


def _bins(result: Forecasting, schedule: str) -> list[Table]:
    return [
        Table(
            caption=f"{row.predictor}: what became of its forecasts",
            columns=("forecast", "visits", "mean forecast", "happened"),
            rows=[
                [
                    f"{one.low:.0%} to {one.high:.0%}",
                    count(one.n),
                    share(one.forecast),
                    f"{share(one.happened)} [{share(one.least)}–{share(one.most)}]",
                ]
                for one in row.curve
                if one.n
            ],
        )
        for row in _of(result, schedule, "all")
    ]


def _of(result: Forecasting, schedule: str, part: str) -> list[Forecast]:
    return [row for row in result.rows if (row.schedule, row.part) == (schedule, part)]


def _four(value: float) -> str:
    return "-" if isnan(value) else f"{value:.4f}"


def _signed(value: float) -> str:
    return "-" if isnan(value) else f"{value:+.4f}"


def _within(found: Interval, write: Callable[[float], str]) -> str:
    if isnan(found.low):
        return write(found.value)
    return f"{write(found.value)} [{write(found.low)}–{write(found.high)}]"
