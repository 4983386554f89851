"""The command that takes somebody's WARC files in."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import options, terminal
from recrawl.cli.terminal import n_of

if TYPE_CHECKING:
    from recrawl.app.pasts import Imported

_N_SHOWN = 8  # damaged records
_SAYS_NOTHING = {"not watched", "damaged"}  # of whether anything is watched


def import_(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH", help="WARC and WACZ files, or folders that hold them.")
    ],
    add: Annotated[
        bool, typer.Option("--add", help="Watch what is found: pages and data, not pictures and scripts.")
    ] = False,
    match: Annotated[
        str | None,
        typer.Option(
            "--match", metavar="GLOB", help="Only these URLs; with --add also pictures and the like."
        ),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="With --add: give them this tag.")
    ] = None,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="With --add: also hosts on this machine or network.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="End at the first damaged record, instead of passing it over.")
    ] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Take existing WARC files in as history.

    Every answer of a watched URL becomes a visit of its own date: judged against the one before, learned
    from, and copied into recrawl's own archive. Files may be plain, gzip or zstd, by any crawler. What is
    recorded stays as it is: an answer dated between two recorded visits is passed over. Importing the same
    file twice adds nothing, and after Ctrl-C the same command goes on. The exit code is 2 if nothing could be
    read.

    \b
    Examples:
      recrawl import crawl-2024/ --add
      recrawl import old.warc.gz more.wacz --add --match 'https://example.org/*' --tag old
      recrawl import dump.warc.gz --strict --json
    """
    from recrawl.app import imports
    from recrawl.app.names import checked_tags
    from recrawl.app.pasts import Imported
    from recrawl.errors import BadInputError

    if not add and (tag or allow_private):
        raise BadInputError("--tag and --allow-private say how to watch what is found; use them with --add.")
    choice = imports.Choice(add=add, match=match, tags=checked_tags(tag or ()), allow_private=allow_private)
    result = Imported()
    interrupted = False
    with (
        options.opened(home, new=add) as house,
        terminal.working("Reading …") as tell,
        terminal.interruptible() as whole,
    ):
        try:
            imports.run(house, paths, choice, result, strict=strict, tell=tell, whole=whole)
        except KeyboardInterrupt:
            interrupted = True
    _report(result, json, adding=add)
    if interrupted:
        terminal.note(
            "Interrupted: what is counted here is recorded; the same command goes on with the rest."
        )
        raise typer.Exit(options.INTERRUPTED)
    if result.damaged and result.skipped["damaged"] >= result.n_read:
        raise typer.Exit(2)


def _report(result: Imported, json: bool, *, adding: bool) -> None:
    done = result.adopted
    skipped = {reason: n for reason, n in result.skipped.most_common() if n}
    if json:
        terminal.say_json(
            {
                "records": result.n_read,
                "imported": done.n_visits,
                "first": done.n_first,
                "changes": done.n_changes,
                "unchanged": done.n_unchanged,
                "failures": done.n_failures,
                "versions": done.n_versions,
                "added": result.n_added,
                "skipped": skipped,
                "damaged": [
                    {"file": found.name, "offset": found.offset, "problem": found.problem}
                    for found in result.damaged
                ],
            }
        )
        return
    terminal.say(
        f"Imported {n_of(done.n_visits, 'visit')} (first copies: {done.n_first:,}, "
        f"changes: {done.n_changes:,}, unchanged: {done.n_unchanged:,}, failures: {done.n_failures:,}), "
        f"{n_of(done.n_versions, 'version')}."
    )
    if result.n_added:
        terminal.say(f"Added {n_of(result.n_added, 'resource')}.")
    for reason, n in skipped.items():
        terminal.say(f"Skipped {n:,}: {reason}.")
    for found in result.damaged[:_N_SHOWN]:
        terminal.note(f"{found.name}, byte {found.offset}: {found.problem}")
    if len(result.damaged) > _N_SHOWN:
        terminal.note("… and others; --json names them.")
    if not adding and "not watched" in skipped and not (done.n_visits or set(skipped) - _SAYS_NOTHING):
        terminal.note("Nothing of it is watched; --add watches what is found.")
