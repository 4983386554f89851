"""The command that tells what a budget buys."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import options, places, terminal
from recrawl.cli.replaying import Html, command_line, say_figures, write_page

if TYPE_CHECKING:
    from recrawl.app.foresight import Foresight
    from recrawl.evaluate.budgets.curve import Needed


def plan(
    ctx: typer.Context,
    budgets: Annotated[
        str | None,
        typer.Option(
            "--budgets",
            metavar="A,B,…",
            help="Which to compare, such as 500,1000,2000/day; else an eighth of the present to eight times.",
            show_default=False,
        ),
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option(
            "--goal",
            metavar="GOAL",
            help="fresh, fresh-harmonic, capture or prompt; else that of the last run.",
            show_default=False,
        ),
    ] = None,
    within: Annotated[
        str | None,
        typer.Option(
            "--within", metavar="SPAN", help="Say what it takes to know of changes within this, such as 2h."
        ),
    ] = None,
    share: Annotated[
        str | None,
        typer.Option(
            "--share",
            metavar="P%",
            help="With --within: of what share of changes; 95 % unless said.",
            show_default=False,
        ),
    ] = None,
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Draw the goal's measure into this file too.")
    ] = None,
    html: Html = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """What half the budget would give, or twice as much.

    From the forecasts of all that is watched: how fresh copies would be, how many changes would be caught and
    how soon, with each budget once the gaps between visits have settled; and which resources would gain or
    lose most. Nothing is visited, replayed or changed. In brackets is what a week may show 19 times in 20, if
    resources go on as they did.

    With --within it says how many visits a day are needed to know of a share of all changes in time, and
    whether the smallest gaps and the hosts' delays allow as many.

    It needs a home that was visited for a while. Budgets are visits a day: a limit in bytes is left out.
    docs/howto/plan-a-budget.md explains the columns.

    \b
    Examples:
      recrawl plan
      recrawl plan --budgets 500,1000,2000/day --goal prompt
      recrawl plan --within 2h --share 95%
      recrawl plan --html budgets.html
    """
    from recrawl.app.foresight import budgets_of, foreseen, share_of
    from recrawl.app.quantity import seconds
    from recrawl.errors import BadInputError

    places.writable(html, places.PAGE)
    places.writable(svg, places.DRAWING)
    if share is not None and within is None:
        raise BadInputError("--share is of changes known in time; say how soon, with --within 2h.")
    within_s = None if within is None else seconds(within)
    if within_s is not None and within_s <= 0.0:
        raise BadInputError("Nothing is known within no time; say how soon, with --within 2h.")
    with options.opened(home, reading=True) as house:
        found = foreseen(
            house,
            budgets=() if budgets is None else budgets_of(budgets),
            goal=goal,
            within_s=within_s,
            share=0.95 if share is None else share_of(share),
        )
    _write(found, svg, html, ctx)
    if json:
        terminal.say_json(found.row())
        return
    _say(found)


def _write(found: Foresight, svg: Path | None, html: Path | None, ctx: typer.Context) -> None:
    from recrawl.evaluate.report.budgets import charts, page_of, standalone

    if svg is not None:
        drawn = charts(found.points, found.present, found.limited)[found.measure]
        svg.write_text(standalone(drawn), "utf-8")
        terminal.note(f"The curve is drawn in {svg}.")
    if html is not None:
        report = page_of(
            found.points,
            present=found.present,
            limited=found.limited,
            facts=[
                ("resources", f"{found.n_resources:,}"),
                ("rule", found.rule),
                ("budget", f"{found.present:,.0f} a day" if found.limited else "none"),
            ],
            sentences=[
                *found.notes,
                *([needed_words(found.needed)] if found.needed is not None else []),
                _assumes(found),
            ],
            more=found.more,
            less=found.less,
            command=command_line(ctx),
        )
        write_page(html, report)


def _say(found: Foresight) -> None:
    from recrawl.evaluate.report.budgets import moved_table, table

    for line in found.notes:
        terminal.note(line)
    if sys.stdout.isatty():
        for line in _chart(found):
            terminal.say(line)
    columns, rows = table(found.points, found.present, found.limited, n_measures=4)
    say_figures([name.upper() for name in columns], rows, 1)
    for words, (per_day, moved) in (("gain most", found.more), ("lose most", found.less)):
        if moved:
            n = f"{per_day:,.0f}" if per_day >= 1.0 else f"{per_day:.3g}"
            terminal.note(f"With {n} visits a day instead of {found.present:,.0f} these {words}:")
            columns, rows = moved_table(moved)
            terminal.say_table([name.upper() for name in columns], rows)
    if found.needed is not None:
        terminal.say(needed_words(found.needed))
    terminal.note(_assumes(found))


def _assumes(found: Foresight) -> str:
    return f"Assumed: {' '.join(found.assumes)}"


def _chart(found: Foresight) -> list[str]:
    """The goal's measure over budgets, each step of the axis so many times as much."""
    from math import log
    from shutil import get_terminal_size

    import numpy as np

    from recrawl.cli.chart import chart
    from recrawl.evaluate.report.budgets import NAMES

    if len(found.points) < 2:
        return []
    values = np.array([one.measures[found.measure].value for one in found.points])
    whole = max(1.0, float(values.max())) if found.measure != "delay_days_mean" else float(values.max())
    logs = np.array([log(max(one.made_per_day, 1e-9)) for one in found.points])
    wide = max(float(logs[-1] - logs[0]), 1e-9)
    here = next(one for one in found.points if one.per_day == found.present)
    of = "" if whole == 1.0 else f", 100 % is {whole:.3g}"
    marks = [
        (
            (log(max(here.made_per_day, 1e-9)) - float(logs[0])) / wide,
            f"{here.made_per_day:,.0f} visits a day, {'now' if found.limited else 'the most'}",
        )
    ]
    lines = chart(
        lambda place: float(np.interp(logs[0] + place * wide, logs, values)) / whole,
        marks,
        min(get_terminal_size().columns, 80),
        plain="utf" not in (sys.stdout.encoding or "").lower(),
    )
    return [f"{NAMES[found.measure]} against visits a day{of}", *lines]


def needed_words(needed: Needed) -> str:
    from recrawl.schedule.reason import span

    asked = f"To know of {100.0 * needed.share:g} % of changes within {span(needed.within_s)}"
    if needed.per_day is None:
        why = []
        if needed.n_bound:
            why.append(f"the smallest gap of {terminal.n_of(needed.n_bound, 'resource')} is longer")
        if needed.n_full:
            why.append(f"{terminal.n_of(needed.n_full, 'host')} cannot serve more, with the delays asked for")
        because = f": {' and '.join(why)}" if why else ""
        return (
            f"{asked} no budget is enough{because}. All {needed.most_per_day:,.0f} visits a day that are "
            f"possible give {100.0 * needed.reachable:.3g} %; allow smaller gaps (`recrawl set --min-gap`)."
        )
    sure = ""
    if needed.bought is not None:
        found = needed.bought.measures["within"]
        sure = f" (a week may show {100.0 * found.low:.3g} to {100.0 * found.high:.3g} %)"
    return (
        f"{asked} it takes {needed.per_day:,.0f} visits a day{sure}. The gaps and hosts' delays allow up to "
        f"{needed.most_per_day:,.0f}, and {100.0 * needed.reachable:.3g} %."
    )
