"""The report card."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import options, places, terminal
from recrawl.cli.replaying import Html, command_line, say_figures, write_page

if TYPE_CHECKING:
    from recrawl.evaluate.card.figures import Card


def report(
    ctx: typer.Context,
    days: Annotated[
        float,
        typer.Option("--days", metavar="N", min=0.01, max=3_660.0, help="How far to look back."),
    ] = 7.0,
    html: Html = None,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg",
            metavar="FILE",
            help="Draw there what was forecast against what happened.",
            show_default=False,
        ),
    ] = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """How the schedule did lately: the report card of the last week.

    Visits against the budget, changes caught and how late, visits that found nothing, changes that must have
    been missed, whether forecasts came true, hosts in trouble; and what as many visits would have given if
    they had been shared out evenly, or as is best where every rate of change is known.

    \b
    Examples:
      recrawl report
      recrawl report --days 30 --html month.html
      recrawl report --svg forecasts.svg
    """
    from recrawl.evaluate.card.reading import read_card
    from recrawl.evaluate.report import card as shown
    from recrawl.evaluate.report import plot
    from recrawl.evaluate.report.alone import alone

    places.writable(html, places.PAGE)
    places.writable(svg, places.DRAWING)
    with options.opened(home, reading=True) as house, terminal.working("Reading …") as tell:
        card = read_card(house.store, house.clock.now(), days, tell)
    if html is not None:
        write_page(html, shown.page_of(card, command_line(ctx)))
    if svg is not None and card.calibration is not None:
        svg.write_text(alone(plot.scatter(shown.picture(card.calibration))), encoding="utf-8")
        terminal.note(f"The drawing is in {svg}.")
    if json:
        terminal.say_json(card.document())
    elif not card.n_visits:
        terminal.note(f"No visit in the last {days:g} days; `recrawl run` makes them.")
    else:
        _say(card)
    if svg is not None and card.calibration is None:
        terminal.note("Too few visits had a forecast: nothing was drawn. Look again after more visits.")
        raise typer.Exit(1)


def _say(card: Card) -> None:
    from recrawl.evaluate.card.words import title, words
    from recrawl.evaluate.report import card as shown
    from recrawl.evaluate.report.table import titled

    terminal.say(f"{title(card)}\n")
    terminal.say_fields(words(card))
    for line in card.notes:
        terminal.note(line)
    tables: list[tuple[Sequence[str], list[list[str]]]] = [(shown.DAYS, shown.days(card))]
    if card.calibration is not None:
        tables.append((shown.CURVE, shown.curve(card.calibration)))
    if card.rivals:
        tables.append((shown.RIVALS, shown.rivals(card)))
    if card.troubles:
        tables.append((shown.HOSTS, shown.hosts(card)))
    for columns, rows in tables:
        terminal.say("")
        say_figures(titled(columns), rows, 1)
