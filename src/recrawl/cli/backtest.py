"""Replaying one's own past under other policies."""

from __future__ import annotations

from typing import Annotated

import typer

from recrawl.cli import options, places
from recrawl.cli.experiments import tell as tell_result
from recrawl.cli.replaying import Html, Policies, Seed, progressing


def backtest(
    ctx: typer.Context,
    policy: Policies = "uniform,floor,index",
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="N/day",
            help="Visits for policies with a price; else as many as were made.",
            show_default=False,
        ),
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option(
            "--goal",
            metavar="GOAL",
            help="fresh, fresh-harmonic, capture or prompt; else schedule.goal.",
            show_default=False,
        ),
    ] = None,
    days: Annotated[
        float | None,
        typer.Option(
            "--days",
            metavar="N",
            min=2.0,
            help="Only the last days; else all there is.",
            show_default=False,
        ),
    ] = None,
    draws: Annotated[
        int,
        typer.Option(
            "--draws", metavar="N", min=1, max=1_000, help="How many moments are drawn for each change."
        ),
    ] = 8,
    seed: Seed = 1,
    predictor: Annotated[
        str | None,
        typer.Option(
            "--predictor",
            metavar="NAME",
            help="What `index` forecasts with; else schedule.predictor.",
            show_default=False,
        ),
    ] = None,
    html: Html = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """What would other policies have done with your own past?

    Replays what visits have told of the resources watched here under policies by name, those that `recrawl
    simulate` knows, beside what really happened. Visits tell only between which two of them a change came, so
    every figure has a low and a high end: no way in which it can have been lies outside. The middle is the
    mean over moments drawn at random. How often something changed between two visits is not known; changes
    are counted as at least one.

    Policies with a price make as many visits as were made, or as --budget has. The configuration's
    gaps.min_gap and gaps.max_gap bound the gaps of all.

    \b
    Examples:
      recrawl backtest
      recrawl backtest --policy week,uniform,index --days 60
      recrawl backtest --policy index --goal prompt --budget 500/day --html past.html
    """
    from math import inf

    from recrawl.app.quantity import visits_per_day
    from recrawl.evaluate.ask import named
    from recrawl.evaluate.own.backtest import Wanted
    from recrawl.evaluate.own.backtest import backtest as replayed
    from recrawl.evaluate.report.own import page_of, table

    places.writable(html, places.PAGE)
    with options.opened(home, reading=True) as house, progressing("Replaying the past") as tell:
        gaps = house.config.gaps
        wanted = Wanted(
            policies=named(policy),
            goal=goal or house.config.schedule.goal,
            predictor=predictor or house.config.schedule.predictor,
            min_gap_s=gaps.min_gap,
            max_gap_s=gaps.max_gap,
            days=inf if days is None else days,
            budget_per_day=None if budget is None else visits_per_day(budget),
            n_draws=draws,
            seed=seed,
        )
        result = replayed(house.store.told(), wanted, tell)
    tell_result(ctx, result, page_of=page_of, tables=[(table, 1)], html=html, json=json)
