"""What choosing a forecast came to, in tables and a drawing."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

from recrawl.errors import BadInputError
from recrawl.evaluate.choices import (
    TOGETHER,
    WANTED,
    Brought,
    Try,
    Verdict,
    brought,
    corpora_of,
    goals_of,
    of_corpus,
    score,
    verdict,
    verdicts,
)
from recrawl.evaluate.folds import ALL
from recrawl.evaluate.gains import Gain
from recrawl.evaluate.report.figures import Bars, Heap, Table
from recrawl.evaluate.report.table import count
from recrawl.evaluate.trials import Trial

GOAL_NAMES = {
    "fresh": "staleness cut, %",
    "prompt": "mean delay cut, %",
    "capture": "recall lift, %",
    TOGETHER: "together, times the wanted",
}

LEGEND = (
    "A candidate is chosen for its mean gain over the floor, every corpus counting alike, and tried where it "
    "was not chosen. Again: in how many resamples of what was seen the same one is chosen. Seen: its gain "
    "there. Optimism: what is seen less what is held out.",
    "What a part brings is the gain of the whole less that of the whole without it; alone, of the Gamma "
    "filter with nothing but it less that of the Gamma filter. Groups are stirs, heed and scouts together.",
    "Together is the mean over goals, each gain as a multiple of what is wanted of it: "
    + ", ".join(f"{100 * share:.0f} % ({goal})" for goal, share in WANTED.items())
    + ".",
)


def tables(trials: Sequence[Trial]) -> list[Table]:
    goals = goals_of(trials)
    parts = {goal: brought(trials, goal) for goal in goals}
    return [
        _corpora(trials),
        _candidates(trials, goals),
        _verdicts(verdicts(trials)),
        _means(parts, goals),
        *(_by_corpus(parts[goal], goal) for goal in goals if goal != TOGETHER),
    ]


def elsewhere(trials: Sequence[Trial], others: Sequence[Trial]) -> Table:
    """Chosen on these, tried on those; on corpora that are in both."""
    names = set(corpora_of(trials)) & set(corpora_of(others))
    if not names:
        raise BadInputError("No corpus is in both; measure the same ones twice.")
    seen, held_out = ([one for one in some if one.corpus in names] for some in (trials, others))
    goals = [goal for goal in goals_of(seen) if goal in goals_of(held_out)]
    return _verdicts([verdict("elsewhere", [Try(seen, ALL, held_out, ALL)], goal) for goal in goals])


def drawing(trials: Sequence[Trial]) -> Bars:
    goals = [goal for goal in goals_of(trials) if goal != TOGETHER]
    parts = {goal: brought(trials, goal) for goal in goals}
    return Bars(
        title="What each part of the forecast brings",
        y_name="points of gain over the floor",
        places=[_named(one) for one in parts[goals[0]]],
        heaps=[
            Heap(
                name=GOAL_NAMES[goal].removesuffix(", %"),
                style=i,
                values=[_percent(one.mean) for one in parts[goal]],
            )
            for i, goal in enumerate(goals)
        ],
    )


def documents(trials: Sequence[Trial]) -> dict[str, Any]:
    """Trials in full, from which all the rest can be made again, and the rest."""
    return {
        "choices": [
            {
                "how": one.how,
                "goal": one.goal,
                "chosen": list(one.chosen),
                "chosen_again_in_resamples": one.same,
                **{
                    name: gain.interval().document()
                    for name, gain in (
                        ("in_sample", one.seen),
                        ("held_out", one.held_out),
                        ("optimism", one.optimism),
                        ("whole_held_out", one.whole),
                        ("gamma_held_out", one.gamma),
                    )
                },
            }
            for one in verdicts(trials)
        ],
        "parts": [
            {
                "part": one.part,
                "alone": one.alone,
                "goal": goal,
                "mean": one.mean.interval().document(),
                "by_corpus": {name: gain.interval().document() for name, gain in one.by_corpus.items()},
            }
            for goal in goals_of(trials)
            for one in brought(trials, goal)
        ],
        "trials": [trial.document() for trial in trials],
    }


def plain(table: Table) -> str:
    """For a terminal."""
    rows = [list(table.columns), *map(list, table.rows)]
    wide = [max(len(row[i]) for row in rows) for i in range(len(table.columns))]
    lines = [
        "  ".join(
            cell.ljust(wide[i]) if i < table.n_words else cell.rjust(wide[i]) for i, cell in enumerate(row)
        ).rstrip()
        for row in rows
    ]
    return "\n".join([table.caption, *lines])


def markdown(table: Table) -> str:
    rule = ["---" if i < table.n_words else "---:" for i in range(len(table.columns))]
    rows = [table.columns, rule, *table.rows]
    return "\n".join([f"**{table.caption}**", "", *("| " + " | ".join(row) + " |" for row in rows)])


def _corpora(trials: Sequence[Trial]) -> Table:
    rows = []
    for name in corpora_of(trials):
        one = of_corpus(trials, name)[0]
        own = [name, one.grouped_by, count(one.n_resources), f"{one.days:.0f}", str(one.n_draws)]
        rows.append([*own, count(one.n_visits)])
    return Table(
        caption="Corpora: what folds have whole and what is resampled, and how much is measured",
        columns=("corpus", "groups", "resources", "days", "draws", "visits a draw"),
        rows=rows,
        n_words=2,
    )


def _candidates(trials: Sequence[Trial], goals: Sequence[str]) -> Table:
    return Table(
        caption="Gain over the floor at equal visits, in the mean over corpora (95 % interval)",
        columns=("candidate", *(GOAL_NAMES[goal] for goal in goals)),
        rows=[
            [name, *(_told(score(trials, goal, name, ALL), goal) for goal in goals)]
            for name in trials[0].gains
        ],
    )


def _verdicts(found: Sequence[Verdict]) -> Table:
    return Table(
        caption="Chosen on one part and tried on another: gains over the floor (95 % interval)",
        columns=(
            *("tried on", "goal", "chosen", "the whole", "again", "seen", "held out", "optimism"),
            *("the whole, held out", "gamma, held out"),
        ),
        rows=[
            [
                one.how,
                one.goal,
                ", ".join(f"{name} {n}×" if len(one.chosen) > 1 else name for name, n in one.counted),
                f"{one.n_whole} of {len(one.chosen)}",
                f"{100 * one.same:.0f} %",
                _told(one.seen, one.goal, bare=True),
                *(_told(each, one.goal) for each in (one.held_out, one.optimism, one.whole, one.gamma)),
            ]
            for one in found
        ],
        n_words=3,
    )


def _means(parts: dict[str, list[Brought]], goals: Sequence[str]) -> Table:
    return Table(
        caption="What each part brings, in points of gain over the floor, in the mean over corpora "
        "(95 % interval)",
        columns=("part", *(GOAL_NAMES[goal] for goal in goals)),
        rows=[
            [_named(one), *(_told(parts[goal][i].mean, goal) for goal in goals)]
            for i, one in enumerate(parts[goals[0]])
        ],
    )


def _by_corpus(parts: Sequence[Brought], goal: str) -> Table:
    return Table(
        caption=f"What each part brings, corpus by corpus: {GOAL_NAMES[goal]} (95 % interval)",
        columns=("corpus", *map(_named, parts)),
        rows=[[name, *(_told(one.by_corpus[name], goal) for one in parts)] for name in parts[0].by_corpus],
    )


def _named(one: Brought) -> str:
    return f"{one.part}, alone" if one.alone else one.part


def _percent(gain: Gain) -> tuple[float, float, float]:
    found = gain.interval()
    return 100 * found.value, 100 * found.low, 100 * found.high


def _told(gain: Gain, goal: str, *, bare: bool = False) -> str:
    if isnan(gain.value):
        return "-"
    factor, digits = (1.0, 2) if goal == TOGETHER else (100.0, 1)
    found = gain.interval()
    value, low, high = (f"{factor * one:+.{digits}f}" for one in (found.value, found.low, found.high))
    return value if bare or isnan(found.low) else f"{value} [{low} to {high}]"
