"""Experiments of papers, on any corpus."""

from __future__ import annotations

from typing import Annotated

import typer

from recrawl.cli import options, places
from recrawl.cli.barbosa import barbosa
from recrawl.cli.experiments import tell as tell_result
from recrawl.cli.radinsky import radinsky
from recrawl.cli.replaying import (
    Changes,
    Cores,
    CorpusName,
    Days,
    Draws,
    Goal,
    Html,
    MaxGap,
    MinGap,
    Predictor,
    Seed,
    Years,
    gaps,
    progressing,
    short,
    window_days,
)
from recrawl.cli.tan import tan

app = typer.Typer(invoke_without_command=True)
app.command("barbosa", cls=options.Command)(barbosa)
app.command("radinsky", cls=options.Command)(radinsky)
app.command("tan", cls=options.Command)(tan)


@app.callback()
def evaluate(ctx: typer.Context) -> None:
    """Experiments of papers, on any corpus.

    \b
    Begin with:
      recrawl evaluate umbrich --corpus builtin:wiki --html report.html
      recrawl evaluate peers --corpus builtin:wiki --goal fresh
      recrawl evaluate barbosa --corpus builtin:pages
      recrawl evaluate radinsky --corpus builtin:kin
      recrawl evaluate tan --corpus builtin:threads
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@app.command("umbrich", cls=options.Command)
def umbrich(
    ctx: typer.Context,
    corpus: CorpusName,
    years: Annotated[
        float, typer.Option("--years", metavar="N", help="How long to replay, in years of 365 days.")
    ] = 3.0,
    changes: Changes = "any",
    min_gap: MinGap = "1d",
    max_gap: MaxGap = "180d",
    draws: Draws = 20,
    seed: Seed = 1,
    cores: Cores = None,
    html: Html = None,
    json: options.Json = False,
) -> None:
    """The archiver's strategies: fix, dyn, window, state-1, state-2, gold, week.

    Umbrich, Mrzelj and Polleres (2015) let seven strategies archive Wikipedia articles and compared how many
    changes each caught and at which cost, by how often the articles change. This does the same on any corpus
    and says of each of their findings whether it holds there.

    A history shorter than --years is used as far as it goes, and that is said.

    \b
    Examples:
      recrawl evaluate umbrich --corpus builtin:wiki
      recrawl evaluate umbrich --corpus my-corpus --years 1 --html report.html
      recrawl evaluate umbrich --corpus my-corpus --min-gap 6h --max-gap 30d --json
      recrawl evaluate umbrich --corpus my-corpus --changes significant
    """
    from recrawl.corpora.opened import opened
    from recrawl.evaluate.ask import Ask
    from recrawl.evaluate.findings import STRATEGIES
    from recrawl.evaluate.report.strategies import page_of, summary, table
    from recrawl.evaluate.umbrich import evaluate

    places.writable(html, places.PAGE)
    min_gap_s, max_gap_s = gaps(min_gap, max_gap)
    ask = Ask(
        policies=STRATEGIES,
        days=window_days(None, years, 3.0),
        min_gap_s=min_gap_s,
        max_gap_s=max_gap_s,
        n_draws=draws,
        seed=seed,
        changes=changes,
        n_cores=cores,
    )
    with progressing(f"Replaying {short(corpus)}") as tell:
        result = evaluate(corpus, opened(corpus, changes=changes, tell=tell), ask, tell)
    tell_result(ctx, result, page_of=page_of, tables=[(table, 2)], summary=summary, html=html, json=json)


@app.command("peers", cls=options.Command)
def peers(
    ctx: typer.Context,
    corpus: CorpusName,
    goal: Goal = "fresh",
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            metavar="A,B,…",
            help="Which rules; else all but those of rate classes (historic, historic-example, bayesian).",
            show_default=False,
        ),
    ] = None,
    days: Days = None,
    years: Years = None,
    changes: Changes = "any",
    min_gap: MinGap = "1d",
    max_gap: MaxGap = "180d",
    draws: Draws = 20,
    seed: Seed = 1,
    predictor: Predictor = None,
    cores: Cores = None,
    html: Html = None,
    json: options.Json = False,
) -> None:
    """Every rule beside ours, at the same number of visits.

    The rules are the strategies of Umbrich et al. (fix, dyn, window, ...; see `recrawl evaluate umbrich`) and
    those of other programs (nutch, heritrix, miniflux, ...). "Ours" is policy `index`, by which `recrawl run`
    goes. Each rule looks as often as it likes; then `index` makes as many visits to the same things in the
    same time, within one in a hundred, the first to each left out since all make those alike, for the goal
    you name: who catches more, is fresher, is sooner?

    Differences have intervals: `?` marks those that may be chance. The floor, the plainest scheduler that
    learns, stands beside both, and so does what could be done by whoever knew every change.

    Three years are replayed unless --days or --years say otherwise; a shorter history is used as far as it
    goes, and that is said. Some rules alone (--policy) or fewer --draws are quicker.

    \b
    Examples:
      recrawl evaluate peers --corpus builtin:wiki
      recrawl evaluate peers --corpus my-corpus --goal prompt --years 1 --html report.html
      recrawl evaluate peers --corpus my-corpus --policy week,nutch --min-gap 6h --draws 5 --json
      recrawl evaluate peers --corpus my-corpus --changes significant --days 60
    """
    from recrawl.corpora.opened import opened
    from recrawl.evaluate.ask import Ask, named
    from recrawl.evaluate.contenders import DEFAULT_PREDICTOR
    from recrawl.evaluate.peers import KNOWN, RULES, evaluate
    from recrawl.evaluate.report.peers import page_of, summary, table

    places.writable(html, places.PAGE)
    min_gap_s, max_gap_s = gaps(min_gap, max_gap)
    ask = Ask(
        policies=RULES if policy is None else named(policy, KNOWN),
        days=window_days(days, years, 3.0),
        min_gap_s=min_gap_s,
        max_gap_s=max_gap_s,
        n_draws=draws,
        seed=seed,
        goal=goal,
        predictor=predictor or DEFAULT_PREDICTOR,
        changes=changes,
        n_cores=cores,
    )
    with progressing(f"Replaying {short(corpus)}") as tell:
        result = evaluate(corpus, opened(corpus, changes=changes, tell=tell), ask, tell)
    tell_result(ctx, result, page_of=page_of, tables=[(table, 1)], summary=summary, html=html, json=json)


@app.command("forecasts", cls=options.Command)
def forecasts(
    ctx: typer.Context,
    corpus: CorpusName,
    predictor: Annotated[
        str | None,
        typer.Option(
            "--predictor", metavar="A,B,…", help="Which; else all. The first is the measure of the others."
        ),
    ] = None,
    days: Days = None,
    years: Years = None,
    changes: Changes = "any",
    min_gap: MinGap = "1d",
    max_gap: MaxGap = "180d",
    draws: Draws = 3,
    seed: Seed = 1,
    cores: Cores = None,
    html: Html = None,
    json: options.Json = False,
) -> None:
    """How good the forecasts are: "has it changed by this visit?"

    Each predictor says the chance of a change before every visit and learns from what was found, on the same
    visits: one a week, and as many where the index policy would have them. Brier score and log-loss tell how
    far off it was (less is better); the calibration error whether things happen as often as it says. `late`
    is the later half of the window, when there was time to learn.

    \b
    Examples:
      recrawl evaluate forecasts --corpus builtin:wiki
      recrawl evaluate forecasts --corpus my-corpus --predictor gamma --html report.html
      recrawl evaluate forecasts --corpus my-corpus --changes significant --json
    """
    from recrawl.corpora.opened import opened
    from recrawl.evaluate.ask import Ask
    from recrawl.evaluate.contenders import predictors_named
    from recrawl.evaluate.forecasts import SCHEDULES, evaluate
    from recrawl.evaluate.report.forecasts import page_of, table

    places.writable(html, places.PAGE)
    min_gap_s, max_gap_s = gaps(min_gap, max_gap)
    ask = Ask(
        policies=SCHEDULES,
        days=window_days(days, years, 3.0),
        min_gap_s=min_gap_s,
        max_gap_s=max_gap_s,
        n_draws=draws,
        seed=seed,
        changes=changes,
        n_cores=cores,
    )
    names = predictors_named(predictor)
    with progressing(f"Replaying {short(corpus)}") as tell:
        result = evaluate(corpus, opened(corpus, changes=changes, tell=tell), ask, tell, predictors=names)
    tell_result(ctx, result, page_of=page_of, tables=[(table, 3)], html=html, json=json)
