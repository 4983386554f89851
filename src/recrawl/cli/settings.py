"""Commands that say something about what is watched."""

from __future__ import annotations

from typing import Annotated

import typer

from recrawl.cli import options, terminal

_CLEARABLE = {"min-gap": "min_gap_s", "max-gap": "max_gap_s"}


def set_(
    urls: options.Urls = None,
    tag: options.Tag = None,
    host: options.Host = None,
    all_: Annotated[bool, typer.Option("--all", help="Everything.")] = False,
    kind: options.Kind = None,
    weight: options.Weight = None,
    min_gap: options.MinGap = None,
    max_gap: options.MaxGap = None,
    allow_private: Annotated[
        bool | None,
        typer.Option("--allow-private/--no-allow-private", help="Whether private addresses may be visited."),
    ] = None,
    render: options.Render = None,
    insecure: options.Insecure = None,
    max_bytes: options.MaxBytes = None,
    page_rows: options.PageRows = None,
    user_agent: options.UserAgent = None,
    add_tag: Annotated[
        list[str] | None, typer.Option("--add-tag", metavar="TAG", help="Give this tag; repeatable.")
    ] = None,
    drop_tag: Annotated[
        list[str] | None, typer.Option("--drop-tag", metavar="TAG", help="Take this tag away; repeatable.")
    ] = None,
    clear: Annotated[
        list[str] | None,
        typer.Option(
            "--clear",
            metavar="NAME",
            help="Take back what was said by the option of this name, such as weight; repeatable.",
        ),
    ] = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Say something about resources, a tag, a host or everything.

    What is said of a resource wins over its tags, they over its host, and that over everything.

    \b
    Examples:
      recrawl set https://example.org/news --weight 3 --min-gap 15m
      recrawl set --tag news --max-gap 1d
      recrawl set --host example.org --clear weight --clear user-agent
      recrawl set https://old.example.org/ --insecure
    """
    from recrawl.app import watchlist
    from recrawl.errors import BadInputError
    from recrawl.model import Settings

    chosen = options.choice(urls, tag, host, all_)
    manner = options.manner(render, insecure, max_bytes, page_rows, user_agent)
    said = options.settings(kind, weight, min_gap, max_gap, allow_private, manner)
    forget = tuple(_CLEARABLE.get(name, name.replace("-", "_")) for name in clear or ())
    if said == Settings() and not (forget or add_tag or drop_tag):
        raise BadInputError("There is nothing to set; see `recrawl set --help` for what can be said.")
    with options.opened(home) as house:
        now, n = house.clock.now(), 0
        if said != Settings() or forget:
            n = watchlist.say(house.store, chosen, said, now, forget=forget)
        if add_tag or drop_tag:
            n = watchlist.label(house.store, chosen, tuple(add_tag or ()), tuple(drop_tag or ()), now)
    terminal.say_count("Set", n, json)


def pause(
    urls: options.Urls = None,
    tag: options.Tag = None,
    host: options.Host = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Visit these no more until `recrawl resume`.

    \b
    Example:
      recrawl pause --host example.org
    """
    from recrawl.app import watchlist
    from recrawl.model import Settings

    chosen = options.choice(urls, tag, host)
    with options.opened(home) as house:
        n = watchlist.say(house.store, chosen, Settings(paused=True), house.clock.now())
    terminal.say_count("Paused", n, json)


def resume(
    urls: options.Urls = None,
    tag: options.Tag = None,
    host: options.Host = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Take a pause back.

    \b
    Example:
      recrawl resume https://example.org/news
    """
    from recrawl.app import watchlist

    chosen = options.choice(urls, tag, host)
    with options.opened(home) as house:
        n, n_still = watchlist.resume(house.store, chosen, house.clock.now())
    if n_still:
        terminal.note(f"{n_still:,} of them still pause for another reason; resume them by their URLs.")
    terminal.say_count("Resumed", n - n_still, json)
