"""Commands that tell of visits, past and next."""

from __future__ import annotations

from itertools import islice
from typing import Annotated

import typer

from recrawl.cli import options, terminal


def history(
    url: options.Url,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most so many.")] = 50,
    changes: Annotated[bool, typer.Option("--changes", help="Only visits that found a change.")] = False,
    home: options.Home = None,
    json: options.JsonLines = False,
) -> None:
    """The visits to a resource, newest first.

    Time, outcome, status, verdict, size and evidence. A change is significant where the words differ by more
    than chance; what cannot be tested (bytes, a page that is gone) is neither significant nor slight.

    \b
    Example:
      recrawl history https://example.org/news --changes
    """
    from recrawl.app.rows import erased_words, verdict, visit_row
    from recrawl.app.watchlist import watched
    from recrawl.model import Changed

    with options.opened(home, reading=True) as house:
        resource = watched(house.store, url)
        found = (v for v in house.store.visits(resource.id) if not changes or v.changed is Changed.YES)
        counting = resource.effective.changes
        rows = [visit_row(one, resource.url, changes=counting) for one in islice(found, limit + 1)]
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
