"""The experiment about first sight."""

from __future__ import annotations

from typing import Annotated

import typer

from recrawl.cli import options, places
from recrawl.cli.experiments import tell as tell_result
from recrawl.cli.replaying import (
    Changes,
    Cores,
    CorpusName,
    Html,
    MaxGap,
    MinGap,
    Seed,
    gaps,
    progressing,
    short,
)


def barbosa(
    ctx: typer.Context,
    corpus: CorpusName,
    k: Annotated[int, typer.Option("--k", metavar="N", min=2, max=6, help="Classes of change rates.")] = 4,
    days: Annotated[
        int, typer.Option("--days", metavar="N", min=2, help="How long pages are visited daily.")
    ] = 100,
    test_days: Annotated[
        float, typer.Option("--test-days", metavar="N", min=1, help="How long pages are scheduled then.")
    ] = 200.0,
    splits: Annotated[
        int, typer.Option("--splits", metavar="N", min=2, help="Divisions into training and test pages.")
    ] = 10,
    every: Annotated[
        str | None,
        typer.Option(
            "--every",
            metavar="SPAN",
            help="The budget then: a visit to each page in so long, in the mean, such as 2d; "
            "else as many visits as there are changes.",
        ),
    ] = None,
    changes: Changes = "any",
    min_gap: MinGap = "1d",
    max_gap: MaxGap = "180d",
    seed: Seed = 1,
    cores: Cores = None,
    html: Html = None,
    json: options.Json = False,
) -> None:
    """First sight: what a page's look tells of its changes, and what that is good for.

    Barbosa, Salgado, de Carvalho, Robin and Freire (2005) put pages into classes of change rates by what the
    first visit showed, and moved them between classes by what later visits found. This does the same on any
    corpus, with the paper's figures beside ours: table 1 (learners), table 3 (the initial class) and table 5
    (the class after visits). Then it schedules the test pages with and without first sight, at equal visits:
    how stale are copies in the first visits, and afterwards?

    Test pages are drawn at random, and also whole sites at a time (hosts, or what the corpus names in their
    place): a page of an unseen site is the harder test. Features are what the corpus has kept: raw pages of
    first visits (first_html.jsonl.xz), or the texts that stood when one began to look, or URLs alone.
    Needs the extra `learn`.

    \b
    Examples:
      recrawl evaluate barbosa --corpus builtin:pages
      recrawl evaluate barbosa --corpus my-corpus --splits 20 --html report.html
      recrawl evaluate barbosa --corpus my-corpus --days 60 --k 3 --json
    """
    from recrawl.corpora.opened import opened
    from recrawl.evaluate.barbosa.ask import Ask
    from recrawl.evaluate.barbosa.experiment import evaluate
    from recrawl.evaluate.report.barbosa import page_of, summary, table
    from recrawl.evaluate.report.firsts import visits_table
    from recrawl.live.clock import stopwatch

    places.writable(html, places.PAGE)
    min_gap_s, max_gap_s = gaps(min_gap, max_gap)
    ask = Ask(
        n_classes=k,
        days=days,
        test_days=test_days,
        n_splits=splits,
        min_gap_s=min_gap_s,
        max_gap_s=max_gap_s,
        every_s=_mean_gap_s(every, min_gap_s, max_gap_s),
        seed=seed,
        changes=changes,
        n_cores=cores,
    )
    with progressing(f"Looking at {short(corpus)}") as tell:
        result = evaluate(corpus, opened(corpus, changes=changes, tell=tell), ask, tell, stopwatch)
    tables = [(table, 4), (visits_table, 3)]
    tell_result(ctx, result, page_of=page_of, tables=tables, summary=summary, html=html, json=json)


def _mean_gap_s(every: str | None, min_gap_s: float, max_gap_s: float) -> float | None:
    from recrawl.app.quantity import seconds
    from recrawl.errors import BadSettingError

    if every is None:
        return None
    if not min_gap_s <= seconds(every) <= max_gap_s:
        raise BadSettingError(f"--every {every} is not between --min-gap and --max-gap; change one of them.")
    return seconds(every)
