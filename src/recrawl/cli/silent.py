"""The command that lists what has fallen silent."""

from __future__ import annotations

import sys
from itertools import islice
from typing import Annotated

import typer

from recrawl.cli import options, terminal


def silent(
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most so many.")] = 50,
    all_: Annotated[bool, typer.Option("--all", help="All of them, however many.")] = False,
    home: options.Home = None,
    json: options.JsonLines = False,
) -> None:
    """List what has been quiet for longer than was to be expected.

    URL, how improbable its silence is, how long it has lasted, when the last change was seen, and what may be
    behind it. By the forecast at the last change, so long a silence had a probability below 1 %: about one in
    a hundred of those that are well is listed too, the most improbable come first.

    \b
    Examples:
      recrawl silent
      recrawl silent --all --json
    """
    from recrawl.app.basis import small
    from recrawl.app.beliefs import Beliefs
    from recrawl.app.quantity import away, short
    from recrawl.app.silence import all_silent
    from recrawl.schedule.reason import span

    person = sys.stdout.isatty()
    with options.opened(home, reading=True) as house:
        now = house.clock.now()
        beliefs = Beliefs(house)
        batch = beliefs.all()
        n, found = all_silent(beliefs, batch, now)
        shown = found if all_ else islice(found, limit)
        if json:
            for one in shown:
                terminal.say_json_line(one.row())
        else:
            terminal.say_table(
                ["URL", "CHANCE", "SILENT FOR", "LAST CHANGE", "BEHIND IT"],
                (
                    (
                        row["url"],
                        small(row["p"]),
                        short(row["silent_s"]) if person else span(row["silent_s"]),
                        away(one.changed_at, now) if person else row["last_change_at"],
                        row["words"],
                    )
                    for one in shown
                    for row in [one.row()]
                ),
            )
    if not n:
        terminal.note(f"None of {terminal.n_of(len(batch), 'resource')} has fallen silent.")
    elif not all_ and n > limit:
        terminal.note(f"The {limit} most improbable of {n:,}; see more with --limit or --all.")
