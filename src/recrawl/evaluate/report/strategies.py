"""What the archiver's strategies did, as a page and as a table."""

from __future__ import annotations

from collections.abc import Sequence

from recrawl.evaluate.bands import ALL
from recrawl.evaluate.report.conventions import facts_of, protocol
from recrawl.evaluate.report.figures import Block, Lines, Point, Report, Scatter, Section, Series, Table
from recrawl.evaluate.report.table import between, count, share, titled
from recrawl.evaluate.sums import ends_days
from recrawl.evaluate.umbrich import Strategy, Umbrich

COLUMNS = ("band", "policy", "resources", "changes", "visits", "observed", "recall", "precision", "freshness")


def table(result: Umbrich) -> tuple[list[str], list[list[str]]]:
    """For a terminal: columns and rows."""
    rows = []
    for row in result.rows:
        score = row.score
        counts = [count(n) for n in (score.resources, score.changes, score.visits, score.observed)]
        shares = [share(value) for value in (score.recall, score.precision, score.freshness)]
        rows.append([row.band, row.policy, *counts, *shares])
    return titled(COLUMNS), rows


def summary(result: Umbrich) -> list[str]:
    return [finding.line for finding in result.findings]


def page_of(result: Umbrich, command: str) -> Report:
    found = [finding.holds for finding in result.findings]
    everyone = result.of(ALL)[0].score
    return Report(
        title=f"What seven strategies would have caught: {result.about.name}",
        lead=(
            "The archiver's strategies of Umbrich, Mrzelj and Polleres (2015), replayed over "
            f"{everyone.resources:,} resources that changed {everyone.changes:,} times in "
            f"{result.days:,.0f} days. Of {len(found)} findings of the paper {found.count(True)} hold "
            f"here, {found.count(False)} do not, {found.count(None)} cannot be told."
        ),
        about=result.about.title,
        facts=facts_of(result.about, result.ask, result.days, everyone),
        sections=[
            Section(title="Findings", blocks=[*result.notes, *result.findings]),
            Section(title="All resources", blocks=[*_band(result, ALL), _scatters(result.of(ALL))]),
            *(
                Section(title=f"Band {band}", blocks=_band(result, band))
                for band in result.bands
                if band != ALL
            ),
            Section(
                title="How it was measured",
                blocks=[*_CONVENTIONS, *protocol(result.grouped_by)],
            ),
        ],
        command=command,
    )


_CONVENTIONS = (
    "A resource's band is the mean time between its changes: the time from its first version to the "
    "end of the corpus, by the number of its changes. It is taken from the whole history, as in the "
    "paper; no strategy knows it. The paper has no band below two days. A month is 30 days.",
    "gold knows the future: its gap is the length of the window by the number of changes in it. It is a "
    "reference, and takes no part where the findings say highest or lowest. All others know only what their "
    "own visits found. Every strategy begins with a gap of a week.",
    "Curves show recall and precision from the beginning of the window up to each moment, over all draws.",
)


def _band(result: Umbrich, band: str) -> list[Block]:
    rows = result.of(band)
    score = rows[0].score
    where = "All resources" if band == ALL else f"Mean change interval {band}"
    n_resources = f"{score.resources:,} resource" + ("" if score.resources == 1 else "s")
    return [
        Table(
            caption=f"{where}: {n_resources}, {score.changes:,} changes",
            columns=("strategy", "recall", "precision", "freshness", "visits", "observed"),
            rows=[
                [
                    row.policy,
                    *(
                        between(row.intervals[name], share(getattr(row.score, name)))
                        for name in ("recall", "precision", "freshness")
                    ),
                    count(row.score.visits),
                    count(row.score.observed),
                ]
                for row in rows
            ],
        ),
        (
            _curves(result, rows, f"Recall over time, {band}", "recall so far", "changes"),
            _curves(result, rows, f"Precision over time, {band}", "precision so far", "visits"),
        ),
    ]


def _curves(result: Umbrich, rows: Sequence[Strategy], title: str, y_name: str, below: str) -> Lines:
    ends = ends_days(result.days)
    return Lines(
        title=title,
        y_name=y_name,
        series=[
            Series(name=row.policy, style=i, x=ends, y=row.so_far("observed", below))
            for i, row in enumerate(rows)
        ],
    )


def _scatters(rows: Sequence[Strategy]) -> tuple[Lines | Scatter, ...]:
    return tuple(
        Scatter(
            title=f"{name.capitalize()} against visits",
            x_name="visits",
            y_name=name,
            points=[
                Point(
                    name=row.policy,
                    style=i,
                    x=row.score.visits,
                    y=getattr(row.score, name),
                    low=row.intervals[name].low,
                    high=row.intervals[name].high,
                )
                for i, row in enumerate(rows)
            ],
        )
        for name in ("recall", "freshness")
    )
