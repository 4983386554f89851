"""What policies did in a simulation, as a page and as a table."""

from __future__ import annotations

from collections.abc import Sequence

from recrawl.evaluate.report.conventions import facts_of, protocol
from recrawl.evaluate.report.figures import Lines, Point, Report, Scatter, Section, Series, Table
from recrawl.evaluate.report.table import between, count, days, share, titled
from recrawl.evaluate.simulation import Simulated, Simulation
from recrawl.evaluate.sums import ends_days, ratio, so_far

# ages and delays in days; short names, so that a row fits in a line of eighty letters
COLUMNS = ("policy", "visits", "recall", "precision", "fresh", "age", "harm.", "delay", "p50", "p95")
RANKED = ("rate", "ndcg")


def table(result: Simulation) -> tuple[list[str], list[list[str]]]:
    """For a terminal: columns and rows."""
    ranked = result.ask.rank is not None
    return titled(COLUMNS + RANKED * ranked), [
        [row.policy, count(row.score.visits), *_shares(row), *_lengths(row), *_ranked(row) * ranked]
        for row in result.rows
    ]


def _shares(row: Simulated) -> list[str]:
    return [share(getattr(row.score, name)) for name in ("recall", "precision", "freshness")]


def _ranked(row: Simulated) -> list[str]:
    return [share(row.change_rate), share(row.ndcg)]


def _lengths(row: Simulated) -> list[str]:
    score = row.score
    return [
        days(score.age_days),
        share(score.harmonic),
        *(days(value) for value in (score.delay_days_mean, score.delay_days_p50, score.delay_days_p95)),
    ]


def page_of(result: Simulation, command: str) -> Report:
    everyone = result.rows[0].score
    best = max(result.rows, key=lambda row: row.score.freshness)
    return Report(
        title=f"What these policies would have caught: {result.about.name}",
        lead=(
            f"{len(result.rows)} policies replayed over {everyone.resources:,} resources that changed "
            f"{everyone.changes:,} times in {result.days:,.0f} days. The freshest copies: {best.policy}, "
            f"{best.score.freshness:.1%} of the time, with {best.score.visits:,} visits."
        ),
        about=result.about.title,
        facts=[
            *facts_of(result.about, result.ask, result.days, everyone),
            ("Goal", result.ask.goal),
            ("Predictor", result.ask.predictor),
        ],
        sections=[
            Section(
                title="Policies", blocks=[*result.notes, _main(result), _times(result), *_rankings(result)]
            ),
            Section(title="At which cost", blocks=[_cost(result, "recall", "freshness")]),
            Section(
                title="Over time",
                blocks=[
                    (
                        _curves(result, "Recall over time", "recall so far", "observed", "changes"),
                        _curves(result, "Precision over time", "precision so far", "observed", "visits"),
                        _freshness(result),
                    )
                ],
            ),
            Section(title="What is possible", blocks=[_LIMITS, _possible(result)]),
            Section(title="How it was measured", blocks=[*_CONVENTIONS, *protocol(result.grouped_by)]),
        ],
        command=command,
    )


_LIMITS = (
    "Beside each policy stands what the same number of visits could have done. Each figure is that of a "
    "schedule of its own, the best one for it. The omniscient scheduler knows every change beforehand and "
    "keeps to no gap bounds: nothing can do better. The known-rate optimum knows how often each resource "
    "changes in the window, not when, and visits in even gaps within the bounds, those that would be best if "
    "changes were Poisson; a policy that learns more than rates can do better."
)
_CONVENTIONS = (
    "Rules decide themselves how often they look. Policies with a price (uniform, round-robin, "
    "proportional, index, floor) are run at the price that gives the visits they are allowed, within one in "
    "a hundred.",
    "Age is the time since the first change that the copy does not have, 0 while it is fresh, averaged "
    "over time and resources. Harmonic is the harmonic number of the changes it does not have, "
    "averaged likewise. Delay is the time from a change to the first visit after it, over the changes "
    "that were visited by the end.",
)


def _main(result: Simulation) -> Table:
    names = ("recall", "precision", "freshness")
    return Table(
        caption="Recall, precision and freshness",
        columns=("policy", *names, "visits", "observed"),
        rows=[
            [
                row.policy,
                *(between(row.intervals[name], share(getattr(row.score, name))) for name in names),
                count(row.score.visits),
                count(row.score.observed),
            ]
            for row in result.rows
        ],
    )


def _times(result: Simulation) -> Table:
    return Table(
        caption="How far behind, and how late",
        columns=("policy", "age, days", "harmonic", "delay, days", "half within", "95 % within"),
        rows=[[row.policy, *_lengths(row)] for row in result.rows],
    )


def _rankings(result: Simulation) -> list[Table]:
    if result.ask.rank is None:
        return []
    return [
        Table(
            caption="Each day's visits as a ranking",
            columns=("policy", "ChangeRate", f"NDCG@{result.ask.rank}"),
            rows=[[row.policy, *_ranked(row)] for row in result.rows],
        )
    ]


def _possible(result: Simulation) -> Table:
    rows = []
    for row in result.rows:
        best, even = row.limits.omniscient, row.limits.known_rates
        rows.append(
            [
                row.policy,
                count(row.score.visits),
                *(share(value) for value in (row.score.recall, best["recall"], even["recall"])),
                *(share(value) for value in (row.score.freshness, best["freshness"], even["freshness"])),
            ]
        )
    return Table(
        caption="What the same visits could have done",
        columns=(
            *("policy", "visits", "recall", "omniscient recall", "known-rate recall"),
            *("freshness", "omniscient freshness", "known-rate freshness"),
        ),
        rows=rows,
    )


def _cost(result: Simulation, *names: str) -> tuple[Lines | Scatter, ...]:
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
                for i, row in enumerate(result.rows)
            ],
            limits=[
                _limit("omniscient", 1, result.rows, [row.limits.omniscient[name] for row in result.rows]),
                _limit(
                    "known-rate optimum",
                    2,
                    result.rows,
                    [row.limits.known_rates[name] for row in result.rows],
                ),
            ],
        )
        for name in names
    )


def _limit(name: str, style: int, rows: Sequence[Simulated], values: Sequence[float]) -> Series:
    return Series(name=name, style=style, x=[row.score.visits for row in rows], y=values)


def _curves(result: Simulation, title: str, y_name: str, above: str, below: str) -> Lines:
    return Lines(
        title=title,
        y_name=y_name,
        series=[
            Series(
                name=row.policy,
                style=i,
                x=ends_days(result.days),
                y=so_far(row.slices[above], row.slices[below]),
            )
            for i, row in enumerate(result.rows)
        ],
    )


def _freshness(result: Simulation) -> Lines:
    return Lines(
        title="Freshness over time",
        y_name="freshness",
        series=[
            Series(
                name=row.policy,
                style=i,
                x=ends_days(result.days),
                y=ratio(row.slices["fresh_s"], row.slices["window_s"]).tolist(),
            )
            for i, row in enumerate(result.rows)
        ],
    )
