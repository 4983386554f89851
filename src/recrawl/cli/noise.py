"""The command about what differs without having changed."""

from __future__ import annotations

from typing import Annotated

import typer

from recrawl.cli import options, terminal

_Numbers = list[int] | None


def noise(
    url: Annotated[
        str | None, typer.Argument(metavar="URL", help="Of this resource; else of all.", show_default=False)
    ] = None,
    undo: Annotated[
        _Numbers, typer.Option("--undo", metavar="N", help="Let what mask N hides count again; repeatable.")
    ] = None,
    redo: Annotated[
        _Numbers, typer.Option("--redo", metavar="N", help="Take the undoing of mask N back; repeatable.")
    ] = None,
    home: options.Home = None,
    json: options.JsonLines = False,
) -> None:
    """List what was learned to be noise, and undo it.

    Parts that differ on every fetch (clocks, nonces, counters, advertisements) are masked: a difference there
    is no change. They are learned by looking twice, moments apart, and from the history. A mask is on trial
    until three visits found something else there; it is dropped by itself where the same stays there. Where a
    server gives two contents in turn, going from one to the other is no change either.

    What is undone is not masked again. To have nothing masked at all: recrawl set URL --no-mask.

    \b
    Examples:
      recrawl noise
      recrawl noise https://example.org/
      recrawl noise https://example.org/ --undo 2
    """
    from recrawl.app import masks
    from recrawl.app.watchlist import watched
    from recrawl.errors import BadInputError

    changing = bool(undo or redo)
    if changing and url is None:
        raise BadInputError("Say of which resource: give its URL.")
    if undo and redo:
        raise BadInputError("Undo or redo, one at a time.")
    with options.opened(home, reading=not changing, new=False) as house:
        if changing:
            resource = watched(house.store, url or "")
            change = masks.undo if undo else masks.redo
            n = change(house.store, resource, undo or redo or (), house.clock.now())
            terminal.say_count("Undone" if undo else "Redone", n, json)
            return
        if url is None:
            found = list(masks.noisy(house.store))
        else:
            resource = watched(house.store, url)
            found = [(resource, house.store.standing(resource.id)[0])]
    rows = [row for resource, standing in found for row in masks.mask_rows(resource, standing)]
    turns = [
        (resource.url, len(standing.noise.twins)) for resource, standing in found if standing.noise.twins
    ]
    if json:
        for row in rows:
            terminal.say_json_line(row)
        for turning, n in turns:
            terminal.say_json_line({"url": turning, "contents_in_turn": n})
        return
    names: tuple[str, ...] = ("number", "place", "shape", "state", "learned", "learned_at")
    head = ["N", "PLACE", "LOOKS LIKE", "STATE", "LEARNED BY", "AT"]
    if url is None:
        names, head = ("url", *names), ["URL", *head]
    terminal.say_table(head, ([row[name] for name in names] for row in rows))
    for turning, n in turns:
        terminal.note(f"{turning} gives {n} contents in turn; going from one to another is no change.")
    if not rows and not turns:
        terminal.note("No noise is known.")
