"""The command that says why."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from math import isfinite, isnan
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import options, terminal

if TYPE_CHECKING:
    from recrawl.app.account import Account

_RARE = 1.0 / 36_500  # a day: less than once in a century
_IN_YEARS = 1.0 / 730
_SLIGHT = 0.05  # what runs so little faster or slower than usual is not worth a line


def why(
    url: options.Url,
    svg: Annotated[
        Path | None, typer.Option("--svg", metavar="FILE", help="Draw the forecast into this file too.")
    ] = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Why the next visit is when it is.

    A sentence, the forecast as a curve (on a terminal), what it rests on, how sure it is, and what gap there
    would be with half the budget and with twice as much.

    \b
    Examples:
      recrawl why https://example.org/news
      recrawl why https://example.org/news --svg forecast.svg
    """
    from recrawl.app.account import account

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
    from recrawl.app.rows import deviations
    from recrawl.cli.history import verdict
    from recrawl.schedule.reason import span

    row = found.row()
    seen = row["last_visit"]
    due_at = found.standing.due_at
    away = "now" if due_at <= found.now else f"in {span(due_at - found.now)}"
    n_visits = terminal.n_of(row["n_informative"], "visit")
    yield "next visit", None if found.resource.effective.paused else f"{row['next_visit_at']} ({away})"
    yield "gap", "-" if row["gap_s"] is None else span(row["gap_s"])
    yield "bounds", f"{span(row['min_gap_s'])} to {span(row['max_gap_s'])}, weight {row['weight']:g}"
    yield "how", ", ".join(deviations(row)) or "as usual"
    change = "a change" if row["changes"] == "any" else f"a {row['changes']} change"
    yield "seen", f"{change} in {row['n_changes']} of {n_visits} that told something"
    yield "last visit", f"{seen['at']} {verdict(seen).lower()}: {seen['evidence']}" if seen else None
    if seen and (moments := seen["moments"]):
        yield "it showed", f"{terminal.n_of(len(moments), 'post')} since {moments[0]}, the last {moments[-1]}"
    if isfinite(found.p_now):
        yield "by now", f"{100.0 * found.p_now:.0f} % likely to have changed since the last look"
    yield from _basis(found)
    yield "budget", _budgets(found)
    if found.silence is not None:
        yield "silence", f"{silent_words(found.silence.p, found.silence.length_s)}; {found.silence.words}"


def _basis(found: Account) -> Iterator[tuple[str, str]]:
    """What the forecast rests on, as far as its predictor says so."""
    from recrawl.app.account import SHARE
    from recrawl.app.quantity import iso
    from recrawl.model import DAY_S
    from recrawl.schedule.reason import looks_like

    basis, (low, high) = found.basis, found.per_day
    if isfinite(high):
        mean = _rate(basis["shape"] / basis["evidence_s"] * DAY_S)
        yield (
            "rate",
            f"{mean}; with {SHARE:.0%} probability from {_rate(low)} to {_rate(high)}".replace("%", " %"),
        )
    if "prior_share" in basis:
        usual = _rate(basis["prior_shape"] / basis["prior_scale_s"] * DAY_S)
        whose = "as is usual of what looks so" if found.heeded else "as is usual there"
        yield (
            "prior",
            f"{usual}, {whose}; {100.0 * basis['prior_share']:.0f} % of its weight is left",
        )
    if isfinite(found.standing.hunch_per_day):
        seen_at = f"; seen {iso(found.standing.sight_at)}" if isfinite(found.standing.sight_at) else ""
        heeded = "" if found.heeded else "; not heeded, since looks have not told enough here yet"
        yield "first sight", f"{looks_like(found.standing.hunch_per_day)}{seen_at}{heeded}"
    if isfinite(pace := basis.get("habit_pace", float("nan"))):
        yield "habit", f"{pace:.2g} times its mean rate, so long after its last change"
    if isfinite(pace := basis.get("group_pace", float("nan"))):
        heard = terminal.n_of(found.n_heard, "visit")
        heed = f"it goes with that by {100.0 * basis['heed']:.0f} %"
        yield (
            "group",
            f"{_pace(pace)} since the last look, by {heard} of its host; {heed}",
        )
    if abs((pace := basis.get("calendar_pace", 1.0)) - 1.0) > _SLIGHT:
        believed = 100.0 * basis.get("calendar_belief", 1.0)
        yield (
            "calendar",
            f"{_pace(pace)} at this hour of the week; believed by {believed:.0f} %",
        )
    if found.told_by:
        belief = basis.get("signal_belief", float("nan"))
        believed_words = "" if isnan(belief) else f"; believed by {100.0 * belief:.0f} %"
        yield "told", f"{found.told_by} told of a change {iso(found.standing.told_at)}{believed_words}"
    for one in found.kin:
        told_words = f"; seen to change {iso(one.told_at)}" if isfinite(one.told_at) else ""
        yield "kin", f"{one.url}, whose changes come with one here by {100.0 * one.weight:.0f} %{told_words}"
    if isfinite(belief := basis.get("kin_belief", float("nan"))):
        yield "told by kin", f"of a change since the last look; believed by {100.0 * belief:.0f} %"


def _budgets(found: Account) -> str:
    from recrawl.schedule.reason import span

    if not found.otherwise:
        return "without a limit, or not priced yet"
    gaps = {one.times: span(one.gap_s) for one in found.otherwise}
    words = (
        f"in the long run a gap of {gaps[1.0]}; with half of it {gaps[0.5]}, with twice as much {gaps[2.0]}"
    )
    if any(one.full for one in found.otherwise):
        words += "; its host can serve no more"
    first = found.otherwise[0]
    if not first.error:
        return words
    return f"{words} (by {first.n_asked:,} resources: give or take {200.0 * first.error:.1g} %)"


def _rate(per_day: float) -> str:
    from recrawl.schedule.reason import rate

    if per_day < _RARE:
        return "hardly ever"
    return rate(per_day) if per_day > _IN_YEARS else f"one in {1.0 / 365.0 / per_day:.2g} years"


def _pace(pace: float) -> str:
    return "as fast as usual" if abs(pace - 1.0) <= _SLIGHT else f"{pace:.2g} times as fast as usual"


def silent_words(p: float, length_s: float) -> str:
    """How long it has been silent, and how improbable that was."""
    from recrawl.schedule.reason import span

    return f"no change seen for {span(length_s)}, which had a probability of {percent(p)}"


def percent(p: float) -> str:
    """A small probability.

    >>> percent(0.0042), percent(3e-9)
    ('0.42 %', 'less than 0.0001 %')
    """
    return f"{100.0 * p:.2g} %" if p >= 1e-6 else "less than 0.0001 %"
