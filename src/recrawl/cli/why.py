"""The command that says why."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from math import isfinite, isnan
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import options, places, terminal

if TYPE_CHECKING:
    from recrawl.app.account import Account


def why(
    url: options.Url,
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Draw the forecast into this file too.")
    ] = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Why the next visit is when it is.

    First the reason in a sentence; then, on a terminal, the forecast as a curve: how likely the resource has
    changed, by the time since the last look. Below it stands what that rests on, how sure it is, the price
    that a visit must be worth, and how long the gap between visits would be with half the budget and with
    twice as much. docs/howto/see-why.md explains it line by line. Nothing is visited.

    \b
    Examples:
      recrawl why https://example.org/news
      recrawl why https://example.org/news --svg forecast.svg
    """
    from recrawl.app.account import account

    places.writable(svg, places.DRAWING)
    with options.opened(home, reading=True) as house:
        found = account(house, url)
    if svg is not None:
        svg.write_text(_drawn(found), "utf-8")
    if json:
        terminal.say_json(found.row())
        return
    terminal.say(found.sentence)
    if sys.stdout.isatty():
        for line in charted(found, get_terminal_size().columns):
            terminal.say(line)
    terminal.say_fields(_fields(found))
    if svg is not None:
        terminal.note(f"The forecast is drawn in {svg}.")


def _drawn(found: Account) -> str:
    from recrawl.evaluate.report.curve import Curve, drawn

    curve = found.curve
    return drawn(
        Curve(
            title=f"Has {found.resource.url} changed?",
            since="the first look" if isnan(curve.since_at) else "the last look",
            t_s=curve.t_s.tolist(),
            share=curve.p_changed.tolist(),
            marks=curve.marks(),
        )
    )


def charted(found: Account, width: int) -> list[str]:
    """The forecast in letters."""
    import numpy as np

    from recrawl.cli.chart import chart

    curve = found.curve
    end_s = float(curve.t_s[-1])
    return chart(
        lambda place: float(np.interp(place * end_s, curve.t_s, curve.p_changed)),
        [(place_s / end_s, text) for place_s, text in curve.marks()],
        width,
        plain=not _knows("█"),
    )


def _knows(letters: str) -> bool:
    try:
        letters.encode(sys.stdout.encoding or "ascii")
    except UnicodeEncodeError:
        return False
    return True


def _fields(found: Account) -> Iterator[tuple[str, object]]:
    from recrawl.app.basis import basis, budgets, silent_words
    from recrawl.app.rows import deviations, verdict
    from recrawl.schedule.reason import percent, span

    row = found.row()
    seen = row["last_visit"]
    due_at = found.standing.due_at
    away = "now" if due_at <= found.now else f"in {span(due_at - found.now)}"
    n_visits = terminal.n_of(row["n_informative"], "visit")
    spent = f"; the budget has no visit free until {row['free_at']}" if row["free_at"] else ""
    yield "next visit", None if found.resource.effective.paused else f"{row['next_visit_at']} ({away}){spent}"
    yield "gap", "-" if row["gap_s"] is None else span(row["gap_s"])
    yield "bounds", f"{span(row['min_gap_s'])} to {span(row['max_gap_s'])}, weight {row['weight']:g}"
    yield "how", ", ".join(deviations(row)) or "as usual"
    change = "a change" if row["changes"] == "any" else f"a {row['changes']} change"
    yield "seen", f"{change} in {row['n_changes']} of {n_visits} that told something"
    yield "last visit", f"{seen['at']} {verdict(seen).lower()}: {seen['evidence']}" if seen else None
    if seen and (moments := seen["moments"]):
        one, several = ("post", "posts") if row["kind"] == "thread" else ("entry", "entries")
        shown = f"{len(moments):,} {one if len(moments) == 1 else several}"
        yield "it showed", f"{shown} since {moments[0]}, the last {moments[-1]}"
    if isfinite(found.p_now):
        yield "by now", f"{percent(found.p_now)} likely to have changed since the last look"
    yield from basis(found)
    yield "budget", budgets(found)
    if found.silence is not None:
        yield "silence", f"{silent_words(found.silence.p, found.silence.length_s)}; {found.silence.words}"
