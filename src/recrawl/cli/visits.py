"""Commands that visit."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recrawl.cli import options, terminal
from recrawl.cli.terminal import n_of

if TYPE_CHECKING:
    from recrawl.app.build import House
    from recrawl.app.ledger import Sized
    from recrawl.app.rounds import Tally
    from recrawl.live.runner import Landed
    from recrawl.loop import Loop

SHORTEST_ROUND_S = 1.0
ForThisRun = Annotated[
    bool, typer.Option("--allow-private", help="Private addresses may be visited, this time only.")
]


def run(
    for_: Annotated[
        str | None, typer.Option("--for", metavar="SPAN", help="End after this long, such as 90s or 8h.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="End when what is due now has been visited.")] = False,
    rounds_: Annotated[
        str | None,
        typer.Option("--rounds", metavar="SPAN", help="In rounds that begin so often, such as 1h."),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget",
            metavar="RATE",
            help="Visits or bytes, such as 2000/day, 50/h or '500/day, 2GB/day'; else as in recrawl.toml.",
        ),
    ] = None,
    goal: Annotated[
        str | None,
        typer.Option(
            "--goal",
            metavar="GOAL",
            help="What visits are for: fresh, fresh-harmonic, capture or prompt; else as in recrawl.toml.",
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            "--policy",
            metavar="NAME",
            help="How gaps are chosen: index (by worth and price), uniform, or a rule such as nutch or "
            "state-1; else as in recrawl.toml.",
        ),
    ] = None,
    allow_private: ForThisRun = False,
    home: options.Home = None,
    json: options.JsonLines = False,
) -> None:
    """Visit what is due, until it is told to stop.

    Each change found is one line on standard output; with --json each visit is one, written once the visit
    is safely recorded. Ctrl-C or SIGTERM ends the run in good order with exit code 0; a second one ends it
    at once.

    Budget, goal and policy are those of the settings (`recrawl config` shows them) unless said otherwise
    here, for this run. Several runs may share one home: they keep one budget and one queue for each host.

    With --once the run ends when what was due at its beginning has been visited. It waits for nobody for
    longer than a quarter of an hour: where no host of what is left may be asked sooner, or the budget is
    spent, it ends and says how much is left, and why.

    With --rounds what is due is looked for at the beginning of each round alone, and so much of it is chosen
    that the round should end before the next begins; the rest waits for that. `recrawl capacity --past` shows
    how long rounds were estimated to take, and took. With --once too there is one round.

    While the disk has too little room (archiving.min_free_bytes), or what was visited cannot be recorded,
    it says so, begins no new visit and goes on by itself once it can; with --once it ends with exit code 3.

    \b
    Examples:
      recrawl run
      recrawl run --for 8h --budget 500/day
      recrawl run --budget '2,000/day, 1GB/day'
      recrawl run --policy nutch
      recrawl run --rounds 1h
      recrawl run --once --json
    """
    from recrawl.app import rounds
    from recrawl.app.quantity import Budget, seconds
    from recrawl.app.quantity import budget as budgeted
    from recrawl.errors import BadInputError

    for_s = inf if for_ is None else seconds(for_)
    every_s = None if rounds_ is None else seconds(rounds_)
    if every_s is not None and every_s < SHORTEST_ROUND_S:
        raise BadInputError("A round takes a while; write --rounds as 10m or 1h, and no less than 1s.")
    limits = Budget() if budget is None else budgeted(budget)
    with options.opened(home, new=False) as house, _live(house) as tell:
        tally = asyncio.run(
            rounds.run(
                house,
                for_s=for_s,
                once=once,
                every_s=every_s,
                policy=policy,
                goal=goal,
                per_day=limits.visits_per_day,
                bytes_per_day=limits.bytes_per_day,
                allow_private=allow_private,
                watch=lambda landed, _: _told(landed, json),
                begun=tell,
                tell=_noted,
                rounded=_rounded,
            )
        )
        for line in house.recovered:
            terminal.note(f"Mended after a crash: {line}")
        _summed_up(house, tally)


def _told(landed: Landed, json: bool) -> None:
    from recrawl.app.quantity import iso
    from recrawl.app.rows import visit_row
    from recrawl.model import Changed

    visit, url = landed.absorbed.visit, landed.lease.resource.url
    if json:
        row = visit_row(visit, url, changes=landed.lease.resource.effective.changes)
        terminal.say_json_line({**row, "next_visit_at": iso(landed.absorbed.plan.due_at)})
    elif visit.changed is Changed.YES:
        counts = visit.counted(landed.lease.resource.effective.changes) is Changed.YES
        slight = "" if counts else " (slight: does not count)"
        terminal.say(f"{iso(visit.at)}\t{url}\t{visit.evidence}{slight}")
        sys.stdout.flush()


def _rounded(made: Sized) -> None:
    from recrawl.app.quantity import short

    if made.n_chosen:
        interval = "a guess" if made.guessed else f"{short(made.low_s)} to {short(made.high_s)}"
        _noted(
            f"Round: {made.n_visits:,} visits of {made.n_chosen:,} chosen of {made.n_due:,} due, in "
            f"{short(made.took_s)}; estimated: {short(made.middle_s)} ({interval})."
        )
    else:
        _noted("Round: nothing is due." if not made.n_due else "Round: nothing fits into it.")


def _noted(text: str) -> None:
    if sys.stderr.isatty():
        sys.stderr.write("\r\x1b[2K")  # it takes the place of the line that is kept up to date
    terminal.note(text)
    sys.stderr.flush()


@contextmanager
def _live(house: House) -> Iterator[Any]:
    """Where a person watches: a line that is kept up to date, once a second."""
    with terminal.working("Starting …") as tell:
        if not sys.stderr.isatty():
            yield lambda *_: None
            return
        # The run's own store belongs to its worker thread.
        with options.opened(house.home, reading=True) as beside:

            async def keep_telling(loop: Loop, tally: Tally) -> None:
                while True:
                    tell(_line(beside, loop, tally))
                    await beside.clock.sleep(1.0)

            tasks: list[asyncio.Task[None]] = []  # else nobody would hold on to it
            yield lambda loop, tally: tasks.append(asyncio.create_task(keep_telling(loop, tally)))


def _line(house: House, loop: Loop, tally: Tally) -> str:
    from recrawl.schedule.reason import span

    now = house.clock.now()
    left, ready_at = loop.n_free(now), house.store.ready_at(now)
    budget = "no budget" if left == inf else f"{left:,.0f} visits free now"
    due = (
        "nothing planned"
        if ready_at == inf
        else "due now"
        if ready_at <= now
        else f"in {span(ready_at - now)}"
    )
    return (
        f"{n_of(tally.n_visits, 'visit')}, {n_of(tally.n_changes, 'change')}, "
        f"{n_of(tally.n_failures, 'failure')}; {budget}; next: {due}"
    )


def _summed_up(house: House, tally: Tally) -> None:
    from recrawl.app.health import status
    from recrawl.app.quantity import iso
    from recrawl.cli.figures import looks
    from recrawl.schedule.reason import span

    now = house.clock.now()
    counts = house.store.counts(now)
    row = status(house)
    paused = f", {counts['paused']:,} paused" if counts["paused"] else ""
    next_at, spent = row["next_visit_at"], ", when the budget has one free" if row["free_at"] else ""
    due = f"The next visit is due at {next_at}{spent}" if next_at else "No visit is planned"
    terminal.note(
        f"{'Stopped' if tally.stopped else 'Done'} after {span(now - tally.began_at)}: "
        f"{looks(tally.n_visits, tally.n_second)} (first copies: {tally.n_first:,}), "
        f"{n_of(tally.n_changes, 'change')}, {n_of(tally.n_failures, 'failure')}, "
        f"{n_of(tally.n_bytes, 'byte')}. Watched: {counts['resources']:,}{paused}. {due}."
    )
    if tally.left is not None:
        why = (
            "the budget has no visit free"
            if tally.left.poor
            else "hosts are in trouble, or asked to be left alone,"
        )
        terminal.note(
            f"Left of what was due: {tally.left.n:,}; {why} until {iso(tally.left.ready_at)} at the earliest."
        )


def visit(
    url: options.Url,
    add: Annotated[bool, typer.Option("--add", help="Watch it first, if it is not watched.")] = False,
    allow_private: ForThisRun = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Look at one resource now, as soon as its host may be asked.

    The exit code is 1 if the visit told nothing (a failure, or robots.txt forbids it).

    \b
    Example:
      recrawl visit https://example.org/news
    """
    from recrawl.app import rounds
    from recrawl.app.quantity import iso
    from recrawl.app.rows import verdict, visit_row
    from recrawl.app.watchlist import watched
    from recrawl.errors import RecrawlError

    with options.opened(home, new=add) as house:
        if add:
            _added(house, url, allow_private)
        resource = watched(house.store, url)
        try:
            with terminal.working(f"Visiting {resource.url} …"):
                landed = asyncio.run(rounds.visit(house, resource, allow_private=allow_private))
        except KeyboardInterrupt:
            terminal.note(f"Interrupted; `recrawl history {resource.url}` shows what was recorded.")
            raise typer.Exit(options.INTERRUPTED) from None
    if not landed.absorbed.accepted:
        raise RecrawlError("Another process took this visit over meanwhile; see `recrawl history URL`.")
    done = landed.absorbed.visit
    row = visit_row(done, resource.url, changes=resource.effective.changes)
    if json:
        terminal.say_json({**row, "next_visit_at": iso(landed.absorbed.plan.due_at)})
    else:
        terminal.say(f"{verdict(row)}: {done.evidence}")
        terminal.note(f"The next visit is due at {iso(landed.absorbed.plan.due_at)}.")
    if not done.informative:
        raise typer.Exit(1)


def _added(house: House, url: str, allow_private: bool) -> None:
    """One that is added for a visit keeps no permission that was given for this visit only."""
    from recrawl.app.sources import Candidate, Refused
    from recrawl.app.watchlist import admitted
    from recrawl.errors import BadUrlError
    from recrawl.model import Settings

    given = Candidate(url, "", by_hand=True)
    said = Settings(allow_private=allow_private or None)
    new = admitted(given, said, (), house.config.fetching.allow_files)
    if isinstance(new, Refused):
        raise BadUrlError(new.reason)
    house.store.add([replace(new, settings=Settings())], house.clock.now())
