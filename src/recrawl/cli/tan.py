"""The experiment about threads."""

from __future__ import annotations

from typing import Annotated

import typer

from recrawl.cli import options, places
from recrawl.cli.experiments import tell as tell_result
from recrawl.cli.replaying import CorpusName, Html, Seed, progressing, short


def tan(
    ctx: typer.Context,
    corpus: CorpusName,
    posts: Annotated[
        str, typer.Option("--posts", metavar="N-M", help="Threads of so many posts are followed.")
    ] = "100-1000",
    train: Annotated[
        float,
        typer.Option("--train", metavar="SHARE", help="Of each thread's posts, those that are learned from."),
    ] = 0.75,
    budgets: Annotated[
        str,
        typer.Option("--budgets", metavar="A,B,…", help="Visits per post that all models are given."),
    ] = "0.25,0.5,1,2,4,8",
    board: Annotated[
        str | None,
        typer.Option("--board", metavar="NAME", help="Of this board alone; else of all.", show_default=False),
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(
            "--models",
            metavar="A,B,…",
            help="Of the paper's models these alone; else all.",
            show_default=False,
        ),
    ] = None,
    seed: Seed = 1,
    html: Html = None,
    json: options.Json = False,
) -> None:
    """Threads: who comes back soon after somebody spoke, and with how many visits?

    Tan (2012) predicts the gap to the next post of a thread from the last gaps, the time of day and week,
    and the words of the last posts, and visits then. This does the same on any corpus of threads, with the
    paper's table beside ours: a fixed rate, mean gaps, support vector machines with vocabularies of 5 to 50
    words, and online learning, each at its own number of visits; and ours with as many visits as each. Then
    all models get equal visits: the T-score, which is the mean delay of a post in minutes, against visits
    per post. No schedule can be below `omniscient`, which knows when posts will come.

    Every version of a resource is a post. Authors and words are in posts.jsonl.gz, where a corpus has it;
    without, models that need words are left out. Needs the extra `learn`.

    \b
    Examples:
      recrawl evaluate tan --corpus builtin:threads
      recrawl evaluate tan --corpus my-boards --html report.html
      recrawl evaluate tan --corpus my-boards --posts 30-99 --budgets 0.5,1,2 --json
      recrawl evaluate tan --corpus my-boards --posts 10-100000 --models fixed,window-mean
    """
    from recrawl.corpora.opened import opened
    from recrawl.evaluate.report.tan import levels_table, page_of, summary, table
    from recrawl.evaluate.tan.ask import asked
    from recrawl.evaluate.tan.experiment import evaluate

    places.writable(html, places.PAGE)
    ask = asked(posts=posts, train=train, budgets=budgets, seed=seed, board=board, models=models)
    with progressing(f"Looking at {short(corpus)}") as tell:
        result = evaluate(corpus, opened(corpus), ask, tell)
    tables = [(table, 1), (levels_table, 1)]
    tell_result(ctx, result, page_of=page_of, tables=tables, summary=summary, html=html, json=json)
