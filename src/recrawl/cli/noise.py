"""The command about what differs without having changed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import options, terminal

if TYPE_CHECKING:
    from recrawl.app.rows import Row
    from recrawl.model import Resource, Standing

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
            told = [_told(*one, json=json) for one in masks.noisy(house.store)]
        else:
            resource = watched(house.store, url)
            told = [_told(resource, house.store.standing(resource.id)[0], json=json)]
    if not any(told) and not json:
        terminal.note("No noise is known.")


def _told(resource: Resource, standing: Standing, *, json: bool) -> bool:
    """Whether there was anything to tell."""
    from recrawl.app.masks import mask_rows

    rows, n_twins = mask_rows(resource, standing), len(standing.noise.twins)
    if json:
        for row in rows:
            terminal.say_json_line(row)
        if n_twins:
            terminal.say_json_line({"url": resource.url, "contents_in_turn": n_twins})
    elif sys.stdout.isatty():
        _show(resource.url, rows)
    else:
        names = ("url", "number", "state", "learned", "learned_at", "place", "shape")
        terminal.say_table(names, ([row[name] for name in names] for row in rows))
    if n_twins and not json:
        terminal.note(
            f"{resource.url} gives {n_twins} contents in turn; going from one to another is no change."
        )
    return bool(rows or n_twins)


def _show(url: str, rows: list[Row]) -> None:
    """Places and shapes may be long, and a table would cut them."""
    for row in rows:
        if row is rows[0]:
            terminal.say(url)
        terminal.say(f"  {row['number']:>2}  {row['state']:<8}  {row['place']}")
        terminal.say(f"{'':16}{row['shape']}")
        terminal.say(f"{'':16}learned by {row['learned']}, {row['learned_at']}")
