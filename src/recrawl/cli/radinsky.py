"""The experiment about content and kin."""

from __future__ import annotations

from typing import Annotated

import typer

from recrawl.cli import options, places
from recrawl.cli.experiments import tell as tell_result
from recrawl.cli.replaying import Cores, CorpusName, Html, Seed, progressing, short


def radinsky(
    ctx: typer.Context,
    corpus: CorpusName,
    pages: Annotated[
        int, typer.Option("--pages", metavar="N", min=2, help="Pages that are foretold, drawn at random.")
    ] = 60,
    steps: Annotated[
        int, typer.Option("--steps", metavar="N", min=20, help="The last steps of the corpus, so many.")
    ] = 250,
    step: Annotated[
        str | None,
        typer.Option(
            "--step",
            metavar="SPAN",
            help="How long a step is, such as 1d; else the corpus's own.",
            show_default=False,
        ),
    ] = None,
    train: Annotated[
        int, typer.Option("--train", metavar="N", min=5, help="Steps that are learned from.")
    ] = 50,
    tests: Annotated[
        int, typer.Option("--tests", metavar="N", min=10, help="Steps that are foretold from, evenly spread.")
    ] = 60,
    k: Annotated[int, typer.Option("--k", metavar="N", min=1, max=200, help="Kin of each page.")] = 20,
    changes: Annotated[
        str,
        typer.Option(
            "--changes",
            metavar="WHICH",
            help="significant, any, or auto: any only where too few pages are left.",
        ),
    ] = "auto",
    switching: Annotated[
        float,
        typer.Option(
            "--switching",
            metavar="SHARE",
            min=0.0,
            max=1.0,
            help="Pages are left out that go from change to no change, or back, in fewer of their steps.",
        ),
    ] = 0.3,
    crawl: Annotated[
        int, typer.Option("--crawl", metavar="N", min=1, help="Steps of the crawl that sees a tenth.")
    ] = 100,
    draws: Annotated[int, typer.Option("--draws", metavar="N", min=1, max=100, help="Coins' crawls.")] = 2,
    words: Annotated[
        int,
        typer.Option("--words", metavar="N", min=10, help="By so many words are pages compared over time."),
    ] = 1_000,
    seed: Seed = 1,
    cores: Cores = None,
    html: Html = None,
    json: options.Json = False,
) -> None:
    """Content and kin: what a page's words and related pages foretell of its changes.

    Radinsky and Bennett (2013) foretold for each page whether it changes significantly by the next day: from
    how often it changed (1D), from its own words and moves (2D), and from those of related pages that serve
    as experts (3D). This does the same on any corpus that keeps contents, with the paper's figures beside
    ours: tables 1 to 3, the training size (figure 6), the number of experts (figure 7), and a crawl of a
    tenth of the pages a day (figure 8), by a coin as in the paper and by recrawl's index policy. `ours` is
    one learner for all pages together, blended with the experts, and learns from all that is known.

    Steps are the corpus's own. A corpus that knows every change is looked at daily, or weekly where that
    leaves more pages. Pages that nearly always or hardly ever change are left out, as in the paper.
    Needs the extra `learn`.

    \b
    Examples:
      recrawl evaluate radinsky --corpus builtin:kin
      recrawl evaluate radinsky --corpus my-corpus --pages 200 --tests 100 --html report.html
      recrawl evaluate radinsky --corpus my-corpus --changes any --step 1d --json
    """
    from recrawl.app.quantity import seconds
    from recrawl.corpora.opened import opened
    from recrawl.errors import BadSettingError
    from recrawl.evaluate.radinsky.ask import Ask
    from recrawl.evaluate.radinsky.experiment import evaluate
    from recrawl.evaluate.report.radinsky import page_of, summary, table

    places.writable(html, places.PAGE)
    step_s = None if step is None else seconds(step)
    if step_s is not None and step_s < 1.0:
        raise BadSettingError("A step must be a second or longer; write it as 2h, 1d or 1w.")
    ask = Ask(
        n_pages=pages,
        n_steps=steps,
        n_train=train,
        n_tests=tests,
        k=k,
        least_switching=switching,
        changes=changes,
        step_s=step_s,
        n_words=words,
        crawl_steps=crawl,
        n_draws=draws,
        seed=seed,
        n_cores=cores,
    )
    with progressing(f"Looking at {short(corpus)}") as tell:
        result = evaluate(corpus, opened(corpus), ask, tell)
    tell_result(ctx, result, page_of=page_of, tables=[(table, 2)], summary=summary, html=html, json=json)
