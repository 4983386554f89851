"""The command that lists what is watched."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import options, terminal

if TYPE_CHECKING:
    from recrawl.app.rows import Row


def list_(
    tag: options.Tag = None,
    host: options.Host = None,
    text: Annotated[
        str | None, typer.Option("--text", metavar="TEXT", help="Those with this text in the URL.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most so many.")] = 50,
    all_: Annotated[bool, typer.Option("--all", help="All of them, however many.")] = False,
    home: options.Home = None,
    json: options.JsonLines = False,
) -> None:
    """List what is watched.

    URL, kind, next visit, gap, changes/visits that told something, last change, and how it is looked at where
    that is not as usual: an unverified certificate, a browser, another size or name, private addresses.

    \b
    Examples:
      recrawl list --tag news
      recrawl list --all --json
    """
    from recrawl.app.names import checked_tags, host_named, nothing_matches
    from recrawl.app.rows import resource_row

    tag = None if tag is None else checked_tags([tag])[0]
    host = None if host is None else host_named(host)
    with options.opened(home, reading=True) as house:
        store, now = house.store, house.clock.now()
        found = store.resources(tag=tag, host=host, text=text, limit=None if all_ else limit + 1)
        erasures = {erasure.url: erasure for erasure in store.erasures()}
        rows = (resource_row(*item, erasures.get(item[0].url)) for item in found)
        shown, n = rows if all_ else list(islice(rows, limit)), 0
        if json:
            for n, row in enumerate(shown, 1):  # noqa: B007  # the count is told below
                terminal.say_json_line(row)
        else:
            n = _listed(shown, now)
        n_all = store.counts(now)["resources"]
        if n_all == 0:
            terminal.note(f"Nothing is watched in {house.home} yet; add something with `recrawl add URL`.")
        elif not n:
            terminal.note(nothing_matches(store, tag=tag, host=host, text=text))
        elif not all_ and next(rows, None) is not None:
            terminal.note(
                f"The first {limit} of more; {n_all:,} are watched in all. See more with --limit or --all."
            )


def _listed(rows: Iterable[Row], now: float) -> int:
    """A table for whoever reads it: with whole instants for a program, with how far off for a person, and
    there in few columns: how it is looked at stands below the URL, where nothing of it is cut."""
    from recrawl.app.quantity import away, instant, short
    from recrawl.app.rows import deviations
    from recrawl.schedule.reason import span

    person = sys.stdout.isatty()

    def moment(at: str | None, *, since_at: float = -inf) -> str:
        return "-" if at is None else away(max(instant(at), since_at), now) if person else at

    cells = []
    for row in rows:
        how = ", ".join(deviations(row))
        gap_s = row["gap_s"]
        cells.append(
            [
                f"{row['url']}\n  {how}" if person and how else row["url"],
                row["kind"],
                "paused" if row["paused"] else moment(row["next_visit_at"], since_at=now),
                "-" if gap_s is None else short(gap_s) if person else span(gap_s),
                f"{row['n_changes']}/{row['n_informative']}",
                moment(row["last_change_at"]),
                *([] if person else [how or "-"]),
            ]
        )
    columns = ["URL", "KIND", "NEXT VISIT", "GAP", "CHANGES", "LAST CHANGE", "HOW"]
    terminal.say_table(columns[: 6 if person else 7], cells)
    return len(cells)
