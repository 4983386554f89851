"""Commands that visit, and that tell of visits."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from math import inf
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recrawl.cli import options, terminal

if TYPE_CHECKING:
    from recrawl.app.build import House
    from recrawl.app.rounds import Tally
    from recrawl.live.runner import Landed
    from recrawl.loop import Loop

ForThisRun = Annotated[
    bool, typer.Option("--allow-private", help="Private addresses may be visited, this time only.")
]


def run(
    for_: Annotated[
        str | None, typer.Option("--for", metavar="SPAN", help="End after this long, such as 90s or 8h.")
    ] = None,
    once: Annotated[bool, typer.Option("--once", help="End when what is due now has been visited.")] = False,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="RATE", help="Visits, such as 2000/day or 50/h.")
    ] = None,
    goal: Annotated[
        str | None, typer.Option("--goal", metavar="GOAL", help="fresh, fresh-harmonic, capture or prompt.")
    ] = None,
    allow_private: ForThisRun = False,
    home: options.Home = None,
    json: options.JsonLines = False,
) -> None:
    """Visit what is due, until it is told to stop.

    Each change found is one line on standard output; with --json each visit is one, written once the visit
    is safely recorded. Ctrl-C or SIGTERM ends the run in good order with exit code 0; a second one ends it
    at once.

    \b
    Examples:
      recrawl run
      recrawl run --for 8h --budget 500/day
      recrawl run --once --json
    """
    from recrawl.app import rounds
    from recrawl.app.quantity import seconds, visits_per_day
    from recrawl.errors import BadInputError

    for_s = inf if for_ is None else seconds(for_)
    per_day = None if budget is None else visits_per_day(budget)
    if per_day is not None and per_day <= 0.0:
        raise BadInputError("A budget of nothing allows no visit; write it as 2000/day or 50/h.")
    with options.opened(home) as house, _live(house) as tell:
        tally = asyncio.run(
            rounds.run(
                house,
                for_s=for_s,
                once=once,
                goal=goal,
                per_day=per_day,
                allow_private=allow_private,
                watch=lambda landed, _: _told(landed, json),
                begun=tell,
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
        row = visit_row(visit, url)
        terminal.say_json_line({**row, "next_visit_at": iso(landed.absorbed.plan.due_at)})
    elif visit.changed is Changed.YES:
        terminal.say(f"{iso(visit.at)}\t{url}\t{visit.evidence}")
        sys.stdout.flush()


@contextmanager
def _live(house: House) -> Iterator[Any]:
    """Where a person watches: a line that is kept up to date, once a second."""
    with terminal.working("Starting …") as tell:
        if not sys.stderr.isatty():
            yield lambda *_: None
            return
        # The run's own store belongs to its worker thread.
        with options.opened(house.home) as beside:

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
        f"{tally.n_visits:,} visits, {tally.n_changes:,} changes, {tally.n_failures:,} failures; "
        f"{budget}; next: {due}"
    )


def _summed_up(house: House, tally: Tally) -> None:
    from recrawl.app.quantity import iso
    from recrawl.schedule.reason import span

    now = house.clock.now()
    counts = house.store.counts(now)
    ready_at = house.store.ready_at(now)
    paused = f", {counts['paused']:,} paused" if counts["paused"] else ""
    due = "No visit is planned" if ready_at == inf else f"The next visit is due at {iso(ready_at)}"
    terminal.note(
        f"{'Stopped' if tally.stopped else 'Done'} after {span(now - tally.began_at)}: "
        f"{tally.n_visits:,} visits ({tally.n_first:,} first copies), {tally.n_changes:,} changes, "
        f"{tally.n_failures:,} failures, {tally.n_bytes:,} bytes. "
        f"{counts['resources']:,} are watched{paused}. {due}."
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
    from recrawl.app.rows import visit_row
    from recrawl.app.watchlist import watched
    from recrawl.errors import RecrawlError

    with options.opened(home) as house:
        if add:
            _added(house, url, allow_private)
        resource = watched(house.store, url)
        with terminal.working(f"Visiting {resource.url} …"):
            landed = asyncio.run(rounds.visit(house, resource, allow_private=allow_private))
    if not landed.absorbed.accepted:
        raise RecrawlError("Another process took this visit over meanwhile; see `recrawl history URL`.")
    done = landed.absorbed.visit
    if json:
        row = visit_row(done, resource.url)
        terminal.say_json({**row, "next_visit_at": iso(landed.absorbed.plan.due_at)})
    else:
        terminal.say(f"{_verdict(visit_row(done, resource.url))}: {done.evidence}")
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


def _verdict(row: dict[str, Any]) -> str:
    if row["outcome"] not in ("ok", "not-modified", "gone"):
        return f"Told nothing ({row['outcome']})"
    return {True: "Changed", False: "Not changed", None: "Seen"}[row["changed"]]


def history(
    url: options.Url,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most so many.")] = 50,
    changes: Annotated[bool, typer.Option("--changes", help="Only visits that found a change.")] = False,
    home: options.Home = None,
    json: options.JsonLines = False,
) -> None:
    """The visits to a resource, newest first.

    Time, outcome, status, verdict, size and evidence.

    \b
    Example:
      recrawl history https://example.org/news --changes
    """
    from recrawl.app.rows import visit_row
    from recrawl.app.watchlist import watched
    from recrawl.model import Changed

    with options.opened(home) as house:
        resource = watched(house.store, url)
        found = (v for v in house.store.visits(resource.id) if not changes or v.changed is Changed.YES)
        rows = [visit_row(one, resource.url) for one in islice(found, limit + 1)]
    if json:
        for row in rows[:limit]:
            terminal.say_json_line(row)
    else:
        terminal.say_table(
            ["AT", "OUTCOME", "STATUS", "VERDICT", "BYTES", "EVIDENCE"],
            (
                (r["at"], r["outcome"], r["status"], _verdict(r).lower(), r["n_bytes"], r["evidence"])
                for r in rows[:limit]
            ),
        )
    if not rows:
        what = "change" if changes else "visit"
        terminal.note(f"No {what} of {resource.url} yet; `recrawl run` visits what is due.")
    elif len(rows) > limit:
        terminal.note(f"The newest {limit}; see more with --limit.")


def why(url: options.Url, home: options.Home = None, json: options.Json = False) -> None:
    """Why the next visit is when it is.

    A sentence, and the figures it rests on.

    \b
    Example:
      recrawl why https://example.org/news
    """
    from recrawl.app.rows import deviations, plan_row, resource_row, visit_row
    from recrawl.app.watchlist import watched
    from recrawl.schedule.reason import reason, span

    with options.opened(home) as house:
        resource = watched(house.store, url)
        standing, plan = house.store.standing(resource.id)
        last = next(house.store.visits(resource.id, 1), None)
        now = house.clock.now()
    sentence = reason(plan, standing) if plan else "Nothing is planned for it."
    if resource.effective.paused:
        sentence = "Paused: it is not looked at until `recrawl resume`."
    row = resource_row(resource, standing, plan)
    seen = visit_row(last, resource.url) if last else None
    if json:
        terminal.say_json(
            {**row, "reason": sentence, "plan": plan_row(plan) if plan else None, "last_visit": seen}
        )
        return
    away = "now" if standing.due_at <= now else f"in {span(standing.due_at - now)}"
    terminal.say(sentence)
    terminal.say_fields(
        [
            ("next visit", None if resource.effective.paused else f"{row['next_visit_at']} ({away})"),
            ("gap", "-" if row["gap_s"] is None else span(row["gap_s"])),
            ("bounds", f"{span(row['min_gap_s'])} to {span(row['max_gap_s'])}, weight {row['weight']:g}"),
            ("how", ", ".join(deviations(row)) or "as usual"),
            ("seen", f"a change in {row['n_changes']} of {row['n_visits']} visits that told something"),
            ("last visit", f"{seen['at']} {_verdict(seen).lower()}: {seen['evidence']}" if seen else None),
        ]
    )
