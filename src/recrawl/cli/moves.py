"""The command about resources that live elsewhere now."""

from __future__ import annotations

from typing import Annotated

import typer

from recrawl.cli import options, terminal


def moved(
    urls: options.Urls = None,
    apply: Annotated[bool, typer.Option("--apply", help="Change the addresses of these.")] = False,
    all_: Annotated[bool, typer.Option("--all", help="With --apply: of all that moved.")] = False,
    home: options.Home = None,
    json: options.JsonLines = False,
) -> None:
    """List resources that have moved, or change their addresses.

    A resource has moved when two visits in a row were sent on to the same place by permanent redirects alone
    (301 or 308). Each line: where it is watched, where it points, since when. With --apply it is watched
    there from now on, with its history, tags and settings; its own secrets go along only within the same
    host. The exit code is 1 if something could not be changed.

    \b
    Examples:
      recrawl moved
      recrawl moved --apply https://example.org/old
      recrawl moved --apply --all
    """
    from recrawl.app import moves
    from recrawl.app.notices import notices
    from recrawl.errors import BadInputError

    if apply and bool(urls) == all_:
        raise BadInputError("Say which addresses to change, in one way: URLs or --all.")
    if all_ and not apply:
        raise BadInputError("--all goes with --apply; without it all that moved are listed.")
    with options.opened(home, reading=not apply, new=False) as house:
        offers = list(moves.offers(house.store, urls or ()))
        if not apply:
            rows = [moves.offer_row(*offer) for offer in offers]
        else:
            rows, n_refused = [], 0
            follow = notices(house).moved
            for one in moves.applied(house.store, house.secrets, offers, house.clock.now(), follow=follow):
                if one.refused:
                    n_refused += 1
                    terminal.note(f"Stays: {one.before}: {one.refused}")
                    continue
                rows.append({"url": one.before, "moved_to": one.after, "left_secrets": one.left_secrets})
                if one.left_secrets:
                    terminal.note(
                        f"The secrets of {one.before} were dropped, not sent to another place; if they are "
                        f"meant for it: recrawl access set {one.after}"
                    )
    if json:
        for row in rows:
            terminal.say_json_line(row)
    elif apply:
        terminal.say_count("Moved", len(rows), json)
    else:
        terminal.say_table(["URL", "MOVED TO", "SINCE"], (list(row.values()) for row in rows))
        if not rows:
            terminal.note("Nothing has moved.")
    if apply and n_refused:
        raise typer.Exit(1)
