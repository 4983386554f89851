"""The command that learns all visits anew."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from recrawl.cli import options, terminal


def relearn(
    words: Annotated[
        bool, typer.Option("--words", help="Instead, read the words of versions from the archive anew.")
    ] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Learn from all visits anew.

    Plays every recorded visit to the predictor and the rule in force, in the order of time, and keeps what
    they know then. For when another predictor was chosen in recrawl.toml: else it begins with nothing, or
    with the rates alone that the last one has learned. And for when other changes are to count (`recrawl set
    --changes`): the past is counted so too.

    The words of versions are kept as they come, to tell significant changes. With --words those of what the
    archive holds are read anew, as if the versions had come one by one: of each resource the newest, and some
    of the older ones. Visits keep their verdicts.

    Asks no network and changes no visit, version or setting; plans follow when the next run finds its price.

    Resources that are visited meanwhile keep what was known of them; then run it again.

    \b
    Examples:
      recrawl relearn
      recrawl relearn --words
    """
    if words:
        _reread(home, json)
        return
    from recrawl.app.relearning import relearn

    with options.opened(home, new=False) as house, terminal.working("Learning …") as tell:
        done = relearn(house, lambda text: tell(f"Learning … {text}"))
    if json:
        terminal.say_json({name.removeprefix("n_"): n for name, n in asdict(done).items()})
        return
    n_visits, n_resources = terminal.n_of(done.n_visits, "visit"), terminal.n_of(done.n_resources, "resource")
    terminal.say(f"Learned {n_visits} anew, of {n_resources}.")
    if done.n_passed:
        terminal.note(
            f"{terminal.n_of(done.n_passed, 'resource')} visited meanwhile; run `recrawl relearn` again."
        )


def _reread(home: Path | None, json: bool) -> None:
    from recrawl.app.words import reread

    with options.opened(home, new=False) as house, terminal.working("Reading …") as tell:
        done = reread(house, lambda text: tell(f"Reading … {text}"))
    if json:
        terminal.say_json({name.removeprefix("n_"): n for name, n in asdict(done).items()})
        return
    versions, resources = (
        terminal.n_of(n, noun) for n, noun in ((done.n_versions, "version"), (done.n_resources, "resource"))
    )
    terminal.say(f"Read the words of {versions}, of {resources}.")
    if done.n_unread:
        terminal.note(f"{terminal.n_of(done.n_unread, 'version')} without words, or not to be read.")
