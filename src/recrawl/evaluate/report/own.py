"""One's own past under other policies, as a table and as a page."""

from __future__ import annotations

from collections.abc import Sequence

from recrawl.evaluate.own.results import MEASURES, Backtest, Bounded
from recrawl.evaluate.report.figures import Point, Report, Scatter, Section, Table
from recrawl.evaluate.report.table import count, days, share

NAMES = {
    "freshness": "freshness",
    "recall": "recall",
    "wait_days_mean": "delay days",
    "harmonic": "harmonic",
}


def table(result: Backtest) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    columns = ["policy", "visits", *(NAMES[name] for name in MEASURES)]
    rows = [
        [row.policy, count(row.visits), *(_between(name, row.measures[name]) for name in MEASURES)]
        for row in result.rows
    ]
    return columns, rows


def _between(name: str, found: Bounded) -> str:
    written = days if name == "wait_days_mean" else share
    if written(found.value) == "-":
        return "-"
    return f"{written(found.value)} [{written(found.low)}–{written(found.high)}]"


def page_of(result: Backtest, command: str) -> Report:
    columns, rows = table(result)
    past = result.past
    drawings = tuple(
        Scatter(
            title=f"{NAMES[name].capitalize()} against visits",
            x_name="visits",
            y_name=NAMES[name],
            points=[
                Point(
                    name=row.policy,
                    style=i,
                    x=row.visits,
                    y=row.measures[name].value,
                    low=row.measures[name].low,
                    high=row.measures[name].high,
                )
                for i, row in enumerate(result.rows)
            ],
        )
        for name in MEASURES
    )
    return Report(
        title="What other policies would have done",
        lead="The visits that were made, and those that others would have made to the same resources.",
        about="",
        facts=[
            ("resources", f"{len(past):,}"),
            ("days", f"{past.days:.1f}"),
            ("visits", f"{len(past.visits):,}"),
            ("changes, at least", f"{past.n_changes:,}"),
        ],
        sections=[
            Section(
                title="Policies side by side",
                blocks=[
                    "The truth lies within the bars, whenever between two visits each change came; the "
                    "middle is the mean over moments drawn at random. Where bars overlap widely, this past "
                    "cannot tell the policies apart.",
                    drawings,
                    Table(caption="From the least to the most that is possible", columns=columns, rows=rows),
                    *result.notes,
                ],
            )
        ],
        command=command,
    )
