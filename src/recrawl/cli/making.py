"""The command that makes corpora up."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recrawl.cli import options, terminal
from recrawl.cli.terminal import n_of


def make(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A built-in corpus: see `recrawl corpus list`.")
    ],
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where the corpus is to be; must not be there yet.")
    ],
    resources: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many resources, instead of its own number.")
    ] = None,
    years: Annotated[
        float | None, typer.Option(metavar="Y", help="How many years, instead of its own span.")
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="S", min=0, help="The same seed gives the same corpus. builtin: has 1.")
    ] = 1,
    anew: Annotated[
        bool, typer.Option("--anew", help="Start over, where something else was cut off.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Make a corpus up, in a folder: one of the built-in ones, of any size.

    Of the same seed and span, a larger corpus begins with the smaller one (mix aside). What only its maker
    can know is in further columns: true rates, static features, who follows whom, which changes are noise.
    `news` and `policies` come with their texts and word counts, `threads` with authors and texts of posts.

    \b
    Examples:
      recrawl corpus make wiki corpora/wiki
      recrawl corpus make data corpora/large --resources 100000 --years 2 --seed 7
    """
    from recrawl.corpora.builtin import builtin
    from recrawl.corpora.making import make as made
    from recrawl.corpora.opened import PREFIX

    corpus = builtin(name.removeprefix(PREFIX), seed=seed, n_resources=resources, years=years)
    try:
        with terminal.working("Making …") as tell:
            about = made(
                corpus,
                folder,
                anew=anew,
                progress=lambda done, total: tell(f"Making … {done:,} of {n_of(total, 'resource')}"),
            )
    except KeyboardInterrupt:
        terminal.note(f"Interrupted: the same command starts over; until then {folder}.unfinished stays.")
        raise typer.Exit(options.INTERRUPTED) from None
    if json:
        terminal.say_json({"folder": str(folder), **about})
        return
    terminal.say(
        f"Made {n_of(about['resources'], 'resource')} with {n_of(about['events'], 'version')} in {folder}."
    )
