"""Replaying a history under other policies."""

from __future__ import annotations

from typing import Annotated

import typer

from recrawl.cli import options, places
from recrawl.cli.experiments import tell as tell_result
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
    Policies,
    Predictor,
    Seed,
    Years,
    gaps,
    progressing,
    short,
    window_days,
)


def simulate(
    ctx: typer.Context,
    corpus: CorpusName,
    policy: Policies = "week,fix,dyn,state-1,uniform,index",
    goal: Goal = "fresh",
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="N/day",
            help="Visits for policies with a price; else as many as the first rule makes.",
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
    rank: Annotated[
        int | None,
        typer.Option(
            "--rank",
            metavar="K",
            min=1,
            help="Each day's visits as a ranking, too: ChangeRate and NDCG@K.",
            show_default=False,
        ),
    ] = None,
    cores: Cores = None,
    html: Html = None,
    json: options.Json = False,
) -> None:
    """Replay a history: what would these policies have caught?

    Each policy visits the corpus's resources over a window of its time and is measured against what really
    changed: recall, precision, freshness, age and delay, with intervals, and the limits that none can pass.

    Rules decide themselves how often they look: week, fix, dyn, window, state-1, state-2 and gold (which
    knows the future), as archivers do; nutch, storm-crawler, heritrix, hydra, changedetection, miniflux,
    commafeed and freshrss-autottl, as these programs do; historic, historic-example and bayesian, which put
    each resource into one of four classes of intervals. Policies with a price are told: uniform, round-robin,
    proportional, floor and index (what `recrawl run` does), by --budget, or else by the first rule in the
    list, so that what they do can be compared at equal cost.

    CORPUS is a folder that `recrawl corpus import` wrote, or builtin:NAME. A year of it is replayed unless
    --days or --years say otherwise.

    \b
    Examples:
      recrawl simulate --corpus builtin:wiki --policy week,uniform,index
      recrawl simulate --corpus my-corpus --policy index,uniform --budget 500/day --goal capture
      recrawl simulate --corpus my-corpus --policy all --years 3 --html report.html
      recrawl simulate --corpus my-corpus --changes significant --budget 500/day
    """
    from recrawl.app.quantity import visits_per_day
    from recrawl.corpora.opened import opened
    from recrawl.evaluate.ask import Ask, named
    from recrawl.evaluate.contenders import DEFAULT_PREDICTOR
    from recrawl.evaluate.report.policies import page_of, table
    from recrawl.evaluate.simulation import simulate

    places.writable(html, places.PAGE)
    min_gap_s, max_gap_s = gaps(min_gap, max_gap)
    ask = Ask(
        policies=named(policy),
        days=window_days(days, years, 1.0),
        min_gap_s=min_gap_s,
        max_gap_s=max_gap_s,
        n_draws=draws,
        seed=seed,
        goal=goal,
        predictor=predictor or DEFAULT_PREDICTOR,
        budget_per_day=None if budget is None else visits_per_day(budget),
        rank=rank,
        changes=changes,
        n_cores=cores,
    )
    with progressing(f"Replaying {short(corpus)}") as tell:
        result = simulate(corpus, opened(corpus, changes=changes, tell=tell), ask, tell)
    tell_result(ctx, result, page_of=page_of, tables=[(table, 1)], html=html, json=json)
