"""Experiments of papers, on any corpus."""

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

app = typer.Typer(invoke_without_command=True)


@app.callback()
def evaluate(ctx: typer.Context) -> None:
    """Experiments of papers, on any corpus.

    \b
    Begin with:
      recrawl evaluate umbrich --corpus builtin:wiki --html report.html
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
    """
    from recrawl.corpora.opened import opened
    from recrawl.evaluate.ask import Ask
    from recrawl.evaluate.findings import STRATEGIES
    from recrawl.evaluate.report.strategies import page_of, table
    from recrawl.evaluate.umbrich import evaluate

    writable(html)
    min_gap_s, max_gap_s = gaps(min_gap, max_gap)
    ask = Ask(
        policies=STRATEGIES,
        days=365.0 * years,
        min_gap_s=min_gap_s,
        max_gap_s=max_gap_s,
        n_draws=draws,
        seed=seed,
        n_cores=cores,
    )
    with progressing(f"Replaying {short(corpus)}") as tell:
        result = evaluate(corpus, opened(corpus), ask, tell)
    if html:
        write_page(html, page_of(result, command_line(ctx)))
    if json:
        terminal.say_json(result.document())
        return
    for line in result.notes:
        terminal.note(line)
    say_figures(*table(result), 2)
    for finding in result.findings:
        word = {True: "holds", False: "does not hold", None: "open"}[finding.holds]
        terminal.note(f"{word}: {finding.claim} {finding.sentence}")
