"""The command that collects whole sites."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import options, terminal
from recrawl.cli.terminal import n_of

if TYPE_CHECKING:
    from recrawl.app.build import House
    from recrawl.app.collecting import Collecting
    from recrawl.app.rounds import Tally

_COLUMNS = ("found", "chosen", "fetched", "gone", "failed", "blocked", "left")


def collect(
    sites: Annotated[
        list[str],
        typer.Argument(metavar="SITE", help="A host, or a first page.", show_default=False),
    ],
    depth: Annotated[
        int, typer.Option("--depth", metavar="N", min=1, max=20, help="So many levels; the first page is 1.")
    ] = 9,
    per_level: Annotated[
        int, typer.Option("--per-level", metavar="N", min=1, help="At most so many of a level and site.")
    ] = 500,
    most: Annotated[
        int, typer.Option("--most", metavar="N", min=1, help="At most so many of a host, over all levels.")
    ] = 5_000,
    host_only: Annotated[bool, typer.Option("--host-only", help="Without the host's subdomains.")] = False,
    tag: Annotated[
        str | None,
        typer.Option("--tag", metavar="TAG", help="For all of it; else the site's name."),
    ] = None,
    daily: Annotated[
        bool, typer.Option("--daily", help="From now on look at all of it once a day, no more and no less.")
    ] = False,
    for_: Annotated[
        str | None, typer.Option("--for", metavar="SPAN", help="End after this long, such as 90s or 8h.")
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option("--budget", metavar="RATE", help="Instead of schedule.budget, such as 20000/day."),
    ] = None,
    seed: Annotated[
        int,
        typer.Option("--seed", metavar="N", min=0, max=2**62, help="Another one makes another sample."),
    ] = 1,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="The sites may be on this machine or network.")
    ] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Visit a site breadth first, and watch what is found.

    All pages of a level are visited, then those that they link to, and so on. Each is a visit like any other:
    as polite, within the budget, judged and archived; it is watched from then on, with the site's name as its
    tag. Where a level has more than --per-level pages, a random sample of them is taken, not the first.

    Followed are links, areas and frames to the same host and its subdomains, unless the page or the link says
    nofollow. What is not HTML is visited and leads nowhere. Session ids are left out of addresses; paths that
    go round in circles are not followed.

    Ctrl-C ends it in good order. The same command goes on where it ended, and fetches nothing again; what has
    failed is tried again once that is due.

    The exit code is 1 if a site could not be collected, or not to its end within --for; 130 after Ctrl-C.

    \b
    Examples:
      recrawl collect example.org
      recrawl collect https://example.org/docs/ --depth 3 --host-only
      recrawl collect example.org example.com --tag training --daily --budget 20000/day
      recrawl collect example.org --for 8h --json
    """
    from recrawl.app import collecting
    from recrawl.app.names import checked_tags
    from recrawl.app.quantity import Budget, seconds
    from recrawl.app.quantity import budget as budgeted
    from recrawl.observe.robots import product

    named = collecting.sites_named(sites, host_only=host_only)
    checked_tags([tag] if tag is not None else [])
    for_s = inf if for_ is None else seconds(for_)
    limits = Budget() if budget is None else budgeted(budget)
    with options.opened(home) as house:
        wish = collecting.Wish(
            depth=depth,
            per_level=per_level,
            most=most,
            seed=seed,
            tag=tag,
            allow_private=allow_private,
            agent=product(house.config.fetching.user_agent),
        )
        with terminal.working("Starting …") as tell:
            done, tally = asyncio.run(
                collecting.collect(
                    house,
                    named,
                    wish,
                    daily=daily,
                    for_s=for_s,
                    per_day=limits.visits_per_day,
                    bytes_per_day=limits.bytes_per_day,
                    begun=lambda under_way: _telling(house, under_way, tell),
                    tell=terminal.note,
                )
            )
        _summed_up(house, done, tally, json)
    if tally.stopped:
        raise typer.Exit(options.INTERRUPTED)
    if any(descent.problem or not descent.over for descent in done.descents):
        raise typer.Exit(1)


_tasks: set[asyncio.Task[None]] = set()  # else nobody would hold on to them


def _telling(house: House, under_way: Collecting, tell: Callable[[str], None]) -> None:
    """A line that is kept up to date, once a second. Where there is none, waits for the budget are noted."""

    async def keep_telling() -> None:
        told = ""
        while True:
            now = house.clock.now()
            tell(under_way.line(now))
            until = under_way.poor_until(now)
            if until > told and not sys.stderr.isatty():
                terminal.note(f"The budget is spent; going on at {until}.")
                told = until
            await house.clock.sleep(1.0)

    task = asyncio.get_running_loop().create_task(keep_telling())
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)


def _summed_up(house: House, done: Collecting, tally: Tally, json: bool) -> None:
    from recrawl.app.collecting import site_row
    from recrawl.schedule.reason import span

    rows = [site_row(descent) for descent in done.descents]
    took_s = house.clock.now() - tally.began_at
    if json:
        complete = all(row["complete"] for row in rows)
        terminal.say_json(
            {"sites": rows, "complete": complete, "visits": tally.n_visits, "took_s": round(took_s, 3)}
        )
    else:
        terminal.say_table(
            ["SITE", "LEVEL", *(name.upper() for name in _COLUMNS)],
            (
                (row["site"], level["level"], *(level[name] for name in _COLUMNS))
                for row in rows
                for level in row["levels"]
            ),
        )
    for row in rows:
        if row["problem"]:
            terminal.note(f"{row['site']}: {row['problem']}.")
        if row["unread"]:
            terminal.note(f"{row['site']}: the links of {n_of(row['unread'], 'page')} could not be read.")
        n_failed = sum(level["failed"] for level in row["levels"])
        if n_failed and not row["problem"]:
            terminal.note(
                f"{row['site']}: {n_of(n_failed, 'page')} could not be visited; the same command tries again "
                "once that is due."
            )
    going = [descent.site.name for descent in done.descents if not descent.over]
    problems = any(row["problem"] for row in rows)
    word = "Stopped" if tally.stopped else "Time is up" if going else "Ended" if problems else "Done"
    terminal.note(
        f"{word} after {span(took_s)}: {n_of(tally.n_visits, 'visit')}"
        f"{'; the same command goes on with ' + ', '.join(going) if going else ''}."
    )
