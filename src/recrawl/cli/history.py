"""Commands that tell of visits, past and next."""

from __future__ import annotations

from itertools import islice
from typing import Annotated, Any

import typer

from recrawl.cli import options, terminal


def verdict(row: dict[str, Any]) -> str:
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
    from recrawl.app.rows import erased_words, visit_row
    from recrawl.app.watchlist import watched
    from recrawl.model import Changed

    with options.opened(home, reading=True) as house:
        resource = watched(house.store, url)
        found = (v for v in house.store.visits(resource.id) if not changes or v.changed is Changed.YES)
        rows = [visit_row(one, resource.url) for one in islice(found, limit + 1)]
        erasure = next(iter(house.store.erasures(resource.url)), None)
    if json:
        for row in rows[:limit]:
            terminal.say_json_line(row)
    else:
        terminal.say_table(
            ["AT", "OUTCOME", "STATUS", "VERDICT", "BYTES", "EVIDENCE"],
            (
                (r["at"], r["outcome"], r["status"], verdict(r).lower(), r["n_bytes"], r["evidence"])
                for r in rows[:limit]
            ),
        )
    if erasure is not None:
        terminal.note(f"{resource.url}: {erased_words(erasure)}.")
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
    from recrawl.app.rows import deviations, erased_words, plan_row, resource_row, visit_row
    from recrawl.app.watchlist import watched
    from recrawl.schedule.reason import reason, span

    with options.opened(home, reading=True) as house:
        resource = watched(house.store, url)
        standing, plan = house.store.standing(resource.id)
        last = next(house.store.visits(resource.id, 1), None)
        erasure = next(iter(house.store.erasures(resource.url)), None)
        now = house.clock.now()
    sentence = reason(plan, standing) if plan else "Nothing is planned for it."
    if resource.effective.paused:
        sentence = "Paused: it is not looked at until `recrawl resume`."
    if erasure is not None and resource.effective.paused:
        sentence = f"{sentence[:-1]}; {erased_words(erasure)}."
    row = resource_row(resource, standing, plan, erasure)
    seen = visit_row(last, resource.url) if last else None
    if json:
        terminal.say_json(
            {**row, "reason": sentence, "plan": plan_row(plan) if plan else None, "last_visit": seen}
        )
        return
    n_visits = terminal.n_of(row["n_informative"], "visit")
    away = "now" if standing.due_at <= now else f"in {span(standing.due_at - now)}"
    terminal.say(sentence)
    terminal.say_fields(
        [
            ("next visit", None if resource.effective.paused else f"{row['next_visit_at']} ({away})"),
            ("gap", "-" if row["gap_s"] is None else span(row["gap_s"])),
            ("bounds", f"{span(row['min_gap_s'])} to {span(row['max_gap_s'])}, weight {row['weight']:g}"),
            ("how", ", ".join(deviations(row)) or "as usual"),
            ("seen", f"a change in {row['n_changes']} of {n_visits} that told something"),
            ("last visit", f"{seen['at']} {verdict(seen).lower()}: {seen['evidence']}" if seen else None),
        ]
    )
