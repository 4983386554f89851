"""Commands that say something about what is watched."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import options, terminal

if TYPE_CHECKING:
    from recrawl.app.build import House
    from recrawl.model import Manner

_CLEARABLE = (
    *("kind", "weight", "min-gap", "max-gap", "allow-private", "changes"),
    *("render", "insecure", "max-bytes", "page-rows", "user-agent"),
    *("include", "ignore", "keys", "main", "mask"),
)


def set_(
    urls: options.Urls = None,
    tag: options.Tag = None,
    host: options.Host = None,
    all_: Annotated[
        bool, typer.Option("--all", help="Everything, whose weight and gaps the settings file has.")
    ] = False,
    kind: options.Kind = None,
    weight: options.Weight = None,
    min_gap: options.MinGap = None,
    max_gap: options.MaxGap = None,
    changes: options.Changes = None,
    allow_private: Annotated[
        bool | None,
        typer.Option("--allow-private/--no-allow-private", help="Whether private addresses may be visited."),
    ] = None,
    render: options.Render = None,
    insecure: options.Insecure = None,
    max_bytes: options.MaxBytes = None,
    page_rows: options.PageRows = None,
    user_agent: options.UserAgent = None,
    include: options.Include = None,
    ignore: options.Ignore = None,
    keys: options.Keys = None,
    main: options.Main = None,
    mask: options.Mask = None,
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
    anyway: options.Anyway = False,
    show: Annotated[
        bool, typer.Option("--show", help="Show all that was said, from the widest to the nearest.")
    ] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Say something about resources, a tag, a host or everything.

    What is said of a resource wins over its tags, they over its host, and that over everything. A smallest
    gap that only the settings file says follows a largest one below it; one that is said of a tag or a host
    and would overrule the largest gap of something nearer is refused.

    A selector with / or ( at its beginning is XPath, one with $ is JSONPath, others are CSS; css:, xpath:,
    json:, column:, predicate: and field: before it say so. Selectors take the place of those said before by
    the same option.

    \b
    Examples:
      recrawl set https://example.org/news --weight 3 --min-gap 15m
      recrawl set --tag news --max-gap 1d
      recrawl set --tag news --changes significant
      recrawl set --host example.org --clear weight --clear user-agent
      recrawl set https://old.example.org/ --insecure
      recrawl set https://example.org/shop --include 'css:.price' --ignore '//aside'
      recrawl set https://example.org/items.json --ignore '$..fetched_at'
      recrawl set https://example.org/register.csv --keys id --ignore column:exported
      recrawl set --show
    """
    from recrawl.app import watchlist
    from recrawl.app.names import checked_tags
    from recrawl.errors import BadInputError
    from recrawl.model import Settings

    manner = options.manner(
        *(render, insecure, max_bytes, page_rows, user_agent), *(include, ignore, keys, main, mask)
    )
    said = options.settings(kind, weight, min_gap, max_gap, allow_private, manner, changes)
    forget = tuple(_clearable(name) for name in clear or ())
    tags, dropped = checked_tags(add_tag or ()), checked_tags(drop_tag or ())
    if show:
        besides = urls or tag or host or all_ or tags or dropped or forget or anyway or said != Settings()
        _show(home, json, besides)
        return
    chosen = options.choice(urls, tag, host, all_)
    if said == Settings() and not (forget or tags or dropped):
        raise BadInputError("There is nothing to set; see `recrawl set --help` for what can be said.")
    with options.opened(home, new=False) as house:
        now = house.clock.now()
        options.must_reach(house, chosen, anyway=anyway)
        n = watchlist.say(house.store, chosen, said, now, forget=forget, add_tags=tags, drop_tags=dropped)
        options.must_be_kept(house)  # all else that is wrong comes first
        if manner:
            _warn(house, chosen.urls, manner)
    terminal.say_count("Set", n, json)
    if n and (changes or "changes" in forget):
        terminal.note("What counts holds from now on; `recrawl relearn` counts the past so too.")


def _warn(house: House, urls: tuple[str, ...], manner: Manner) -> None:
    """Of what was said of a tag or a host, each selector may well concern some of its resources only."""
    from recrawl.app.lens import idle
    from recrawl.app.watchlist import watched

    for url in urls:
        resource = watched(house.store, url)
        for sentence in idle(resource.effective.kind, house.store.standing(resource.id)[0].version, manner):
            terminal.note(f"{resource.url}: {sentence}")


def _clearable(name: str) -> str:
    from recrawl.errors import BadSettingError

    if name not in _CLEARABLE:
        raise BadSettingError(f"Nothing is called {name!r} here; choose from: {', '.join(_CLEARABLE)}.")
    return {"min-gap": "min_gap_s", "max-gap": "max_gap_s"}.get(name, name.replace("-", "_"))


def _show(home: Path | None, json: bool, besides: object) -> None:
    from recrawl.app.rows import said_words
    from recrawl.app.watchlist import said_rows
    from recrawl.errors import BadInputError

    if besides:
        raise BadInputError("--show shows all that was said; give nothing else with it but --json.")
    with options.opened(home, reading=True) as house:
        rows = list(said_rows(house.store))
    if json:
        terminal.say_json(rows)
        return
    terminal.say_table(
        ["SCOPE", "NAME", "SAYS"],
        ((row.pop("scope"), row.pop("name") or "everything", ", ".join(said_words(row))) for row in rows),
    )
    if not rows:
        terminal.note("Nothing was said yet; `recrawl set --help` tells how.")


def pause(
    urls: options.Urls = None,
    tag: options.Tag = None,
    host: options.Host = None,
    anyway: options.Anyway = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Visit these no more until `recrawl resume`.

    Tells how many pause now that did not before.

    \b
    Example:
      recrawl pause --host example.org
    """
    from recrawl.app import pauses

    chosen = options.choice(urls, tag, host)
    with options.opened(home, new=False) as house:
        options.must_reach(house, chosen, anyway=anyway)
        options.must_be_kept(house)
        done = pauses.pause(house.store, chosen, house.clock.now())
    if done.n_otherwise:
        n = terminal.n_of(done.n_otherwise, "resource")
        terminal.note(f"Not paused: {n}, since something nearer says otherwise; name URLs to pause them.")
    terminal.say_count("Paused", done.n_changed, json)


def resume(
    urls: options.Urls = None,
    tag: options.Tag = None,
    host: options.Host = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Take a pause back.

    Tells how many go on now that did not before. One that is named by its URL goes on whatever its tags and
    host say.

    \b
    Example:
      recrawl resume https://example.org/news
    """
    from recrawl.app import pauses

    chosen = options.choice(urls, tag, host)
    with options.opened(home, new=False) as house:
        options.must_reach(house, chosen)
        done = pauses.resume(house.store, chosen, house.clock.now())
    if done.n_otherwise:
        n = terminal.n_of(done.n_otherwise, "resource")
        terminal.note(f"Still paused: {n}, for another reason; name URLs to resume them all the same.")
    terminal.say_count("Resumed", done.n_changed, json)
