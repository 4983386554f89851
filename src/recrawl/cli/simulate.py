"""Replaying a history under other policies."""

from __future__ import annotations

from typing import Annotated

import typer

from recrawl.cli import options, terminal
from recrawl.cli.replaying import (
    Cores,
    CorpusName,
    Draws,
    Html,
    MaxGap,
    MinGap,
    Seed,
    command_line,
    gaps,
    progressing,
    say_figures,
    short,
    writable,
    write_page,
)


def simulate(
    ctx: typer.Context,
    corpus: CorpusName,
    policy: Annotated[
        str,
        typer.Option(
            "--policy", metavar="A,B,…", help="Which to compare, with commas between them; `all` are all."
        ),
    ] = "week,fix,dyn,state-1,uniform,index",
    goal: Annotated[
        str, typer.Option("--goal", metavar="GOAL", help="fresh, fresh-harmonic, capture or prompt.")
    ] = "fresh",
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="N/day",
            help="Visits for policies with a price; else as many as the first rule makes.",
            show_default=False,
        ),
    ] = None,
    days: Annotated[
        float | None, typer.Option("--days", metavar="N", help="How long to replay.", show_default=False)
    ] = None,
    years: Annotated[
        float | None, typer.Option("--years", metavar="N", help="The same in years of 365 days; 1 is usual.")
    ] = None,
    min_gap: MinGap = "1d",
    max_gap: MaxGap = "180d",
    draws: Draws = 20,
    seed: Seed = 1,
    predictor: Annotated[
        str, typer.Option("--predictor", metavar="NAME", help="What `index` forecasts with.")
    ] = "gamma",
    cores: Cores = None,
    html: Html = None,
    json: options.Json = False,
) -> None:
    """Replay a history: what would these policies have caught?

    Each policy visits the corpus's resources over a window of its time and is measured against what really
    changed: recall, precision, freshness, age and delay, with intervals, and the limits that none can pass.
    Rules (week, fix, nutch, ...) decide themselves how often they look. Policies with a price (uniform,
    round-robin, proportional, index) are told how often: by --budget, or else by the first rule in the list,
    so that what they do can be compared at equal cost.

    CORPUS is a folder that `recrawl corpus import` wrote, or builtin:NAME.

    \b
    Examples:
      recrawl simulate --corpus builtin:wiki --policy week,uniform,index
      recrawl simulate --corpus my-corpus --policy index,uniform --budget 500/day --goal capture
      recrawl simulate --corpus my-corpus --policy all --years 3 --html report.html
    """
    from recrawl.app.quantity import visits_per_day
    from recrawl.corpora.opened import opened
    from recrawl.errors import BadInputError
    from recrawl.evaluate.ask import Ask, named
    from recrawl.evaluate.report.policies import page_of, table
    from recrawl.evaluate.simulation import simulate

    if days is not None and years is not None:
        raise BadInputError("--days and --years say the same twice; give one of them.")
    writable(html)
    min_gap_s, max_gap_s = gaps(min_gap, max_gap)
    ask = Ask(
        policies=named(policy),
        days=days if days is not None else 365.0 * (1.0 if years is None else years),
        min_gap_s=min_gap_s,
        max_gap_s=max_gap_s,
        n_draws=draws,
        seed=seed,
        goal=goal,
        predictor=predictor,
        budget_per_day=None if budget is None else visits_per_day(budget),
        n_cores=cores,
    )
    with progressing(f"Replaying {short(corpus)}") as tell:
        result = simulate(corpus, opened(corpus), ask, tell)
    if html:
        write_page(html, page_of(result, command_line(ctx)))
    if json:
        terminal.say_json(result.document())
        return
    for line in result.notes:
        terminal.note(line)
    say_figures(*table(result), 1)
