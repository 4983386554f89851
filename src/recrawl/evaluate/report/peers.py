"""Rules beside ours at equal visits, as a page and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import isnan

from recrawl.evaluate.gains import aim
from recrawl.evaluate.intervals import Interval
from recrawl.evaluate.matches import ROUNDED, Match, Peers
from recrawl.evaluate.report.conventions import facts_of, protocol
from recrawl.evaluate.report.figures import Lines, Point, Report, Scatter, Section, Series, Table
from recrawl.evaluate.report.table import count, days, share, titled

# `ours` stands right of each figure of the rule; short names, so that a row fits in a line of eighty letters
COLUMNS = ("rule", "visits", "recall", "ours", "fresh", "ours", "delay", "ours", "harm.", "ours", "better")
SHOWN = ("recall", "freshness", "delay_days_mean", "harmonic")
NAMES = {
    "recall": "recall",
    "freshness": "freshness",
    "delay_days_mean": "delay, days",
    "harmonic": "harmonic",
}
_SAID = {**NAMES, "delay_days_mean": "mean delay", "harmonic": "harmonic cost"}
_LEFT = {**_SAID, "freshness": "staleness"}  # what a gain is a share of


def table(result: Peers) -> tuple[list[str], list[list[str]]]:
    """For a terminal: columns and rows."""
    return titled(COLUMNS), [
        [row.rule, count(row.theirs.visits), *_pairs(row), _better(row)] for row in result.rows
    ]


def summary(result: Peers) -> list[str]:
    """What the table comes to."""
    measure = aim(result.ask.goal)[0]
    lost = [row.rule for row in result.rows if row.winner == "rule"]
    even = [row for row in result.rows if row.winner == "even"]
    forced, open_ = ([row.rule for row in even if row.forced is which] for which in (True, False))
    told = (
        f"Ours ({result.ask.predictor}, goal {result.ask.goal}) has the better {_SAID[measure]} beside "
        f"{result.n_won} of {len(result.rows)} rules at as many visits"
    )
    told += f"; not beside {', '.join(lost)}" if lost else ""
    told += f"; it is even with {', '.join(forced)}, as the gap bounds leave no choice" if forced else ""
    told += f"; beside {', '.join(open_)} neither has won" if open_ else ""
    lines = [f"{told}."]
    if measure in result.gains and not isnan(result.gains[measure].value):
        found = result.gains[measure].interval()
        told = _percent(found if measure == "recall" else _turned(found))
        better = "more" if measure == "recall" else "less"
        lines.append(
            f"Beside the floor, in the mean over these budgets: {_LEFT[measure]} {told}; {better} is better."
        )
    return lines


def _pairs(row: Match) -> list[str]:
    shown = []
    for name in SHOWN:
        write = days if name == "delay_days_mean" else share
        shown += [write(getattr(row.theirs, name)), write(getattr(row.ours, name))]
    return shown


def _better(row: Match) -> str:
    return f"{row.winner}{'' if row.sure else ' ?'}"


def _percent(found: Interval) -> str:
    told = f"{100 * found.value:+.1f} %"
    return told if isnan(found.low) else f"{told} [{100 * found.low:+.1f} to {100 * found.high:+.1f}]"


def _turned(found: Interval) -> Interval:
    """A cut, as the change that it is."""
    return replace(found, value=-found.value, low=-found.high, high=-found.low)


def page_of(result: Peers, command: str) -> Report:
    everyone = result.rows[0].theirs
    return Report(
        title=f"Rules beside ours: {result.about.name}",
        lead=" ".join(summary(result)),
        about=result.about.title,
        facts=[
            *facts_of(result.about, result.ask, result.days, everyone),
            ("Goal", result.ask.goal),
            ("Predictor", result.ask.predictor),
        ],
        sections=[
            Section(title="At equal visits", blocks=[*result.notes, _main(result), (_drawn(result),)]),
            Section(title="By how much", blocks=[_SIGNS, _differences(result)]),
            Section(title="All measures", blocks=[_all(result)]),
            Section(title="How it was measured", blocks=[_CONVENTIONS, *protocol(result.grouped_by)]),
        ],
        command=command,
    )


_SIGNS = (
    "Ours less the rule's: of recall and freshness more is better, of delay and harmonic less. Where the "
    "interval holds 0 the difference may be chance."
)
_CONVENTIONS = (
    "Each rule looks as often as it likes. Ours and the floor then make as many visits, within one in a "
    "hundred, to the same resources in the same windows; the first to each resource comes at the same time "
    "for all and is left out there, though not where visits are shown. The floor is one Gamma filter for "
    "each resource, which forgets a twentieth at every visit, with the goal's own index. The limit is what a "
    "scheduler that knew every change could do with as many visits within the same gaps, in the first draw: "
    "nothing can do better. Of the delay it is not known. Where a rule makes the fewest or the most visits "
    "that the gaps allow, everybody makes the same ones: there it is even."
)


def _main(result: Peers) -> Table:
    measure = aim(result.ask.goal)[0]
    write = days if measure == "delay_days_mean" else share
    return Table(
        caption=f"{NAMES[measure].capitalize()} at each rule's own number of visits",
        columns=("rule", "better", "visits", "rule's", "floor", "ours", "limit"),
        rows=[
            [
                row.rule,
                _better(row),
                count(row.theirs.visits),
                *(write(getattr(score, measure)) for score in (row.theirs, row.floor, row.ours)),
                write(row.limits[measure]) if measure in row.limits else "-",
            ]
            for row in result.rows
        ],
        n_words=2,
    )


def _differences(result: Peers) -> Table:
    return Table(
        caption="Ours less the rule's, with 95 % intervals",
        columns=("rule", *(NAMES[name] for name in SHOWN)),
        rows=[[row.rule, *(_signed(row.differences[name]) for name in SHOWN)] for row in result.rows],
    )


def _signed(found: Interval) -> str:
    if isnan(found.value):
        return "-"
    told, low, high = (f"{value:+.3g}" for value in _rounded(found))
    return told if isnan(found.low) else f"{told} [{low}–{high}]"


def _rounded(found: Interval) -> list[float]:
    return [0.0 if abs(value) < ROUNDED else value for value in (found.value, found.low, found.high)]


def _all(result: Peers) -> Table:
    return Table(
        caption="Every measure, the rule's and ours",
        columns=("rule", "visits", *(f"{NAMES[name]}{who}" for name in SHOWN for who in ("", ": ours"))),
        rows=[[row.rule, count(row.theirs.visits), *_pairs(row)] for row in result.rows],
    )


def _drawn(result: Peers) -> Lines | Scatter:
    measure = aim(result.ask.goal)[0]
    rows = sorted(result.rows, key=lambda row: row.ours.visits)
    lines = [
        _line("ours", 1, rows, [getattr(row.ours, measure) for row in rows]),
        _line("floor", 2, rows, [getattr(row.floor, measure) for row in rows]),
    ]
    return Scatter(
        title=f"{NAMES[measure].capitalize()} against visits",
        x_name="visits",
        y_name=NAMES[measure],
        points=[
            Point(
                name=row.rule,
                style=i,
                x=row.theirs.visits,
                y=getattr(row.theirs, measure),
                low=getattr(row.theirs, measure),
                high=getattr(row.theirs, measure),
            )
            for i, row in enumerate(result.rows)
        ],
        limits=lines,
    )


def _line(name: str, style: int, rows: Sequence[Match], values: Sequence[float]) -> Series:
    return Series(name=name, style=style, x=[row.ours.visits for row in rows], y=values)
