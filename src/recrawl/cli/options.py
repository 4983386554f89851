"""Options that several commands share, and the way from a command to its house."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from recrawl.cli import terminal

if TYPE_CHECKING:
    from recrawl.app.build import House
    from recrawl.app.watchlist import Choice
    from recrawl.model import Manner, Settings

_TYPE = re.compile(r" <(?:list\[)?\w+\]?>")  # how the library names a Python type in a help text


class Command(TyperCommand):
    """Its help names no Python types: people read it."""

    def get_help(self, ctx: Any) -> str:  # the context's class is the library's own
        return _TYPE.sub(lambda found: " " * len(found[0]), super().get_help(ctx))


INTERRUPTED = 130  # the exit code of what ends by Ctrl-C


def _home(ctx: typer.Context, said: Path | None) -> Path | None:
    """--home may stand before the command's name or after it."""
    if said or ctx.parent is None:
        return said
    above: Path | None = ctx.parent.params.get("home")
    return above


Home = Annotated[
    Path | None,
    typer.Option(
        "--home",
        metavar="DIR",
        help="Where everything is kept; also RECRAWL_HOME.",
        show_default=False,
        callback=_home,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
JsonLines = Annotated[bool, typer.Option("--json", help="Print JSON lines, one object a line.")]
Urls = Annotated[list[str] | None, typer.Argument(metavar="URL", help="Watched ones.", show_default=False)]
Url = Annotated[str, typer.Argument(metavar="URL", help="Of a resource that is watched.")]
Tag = Annotated[str | None, typer.Option("--tag", metavar="TAG", help="Those with this tag.")]
Host = Annotated[
    str | None,
    typer.Option(
        "--host", metavar="HOST", help="Those on this host: its name, with a port that is not the usual one."
    ),
]
Anyway = Annotated[
    bool,
    typer.Option("--anyway", help="Also where no watched resource has the tag or host: for later ones."),
]
Kind = Annotated[
    str | None,
    typer.Option(
        "--kind",
        metavar="KIND",
        help="auto (by media type), page, json, csv, rdf, sparql, feed, sitemap, thread (posts count), "
        "board (a list of threads) or file (every byte counts).",
    ),
]
Weight = Annotated[
    float | None,
    typer.Option("--weight", metavar="NUMBER", help="How much it counts beside others; 1 is usual."),
]
MinGap = Annotated[
    str | None, typer.Option("--min-gap", metavar="SPAN", help="Never look again sooner, such as 30m or 6h.")
]
MaxGap = Annotated[
    str | None, typer.Option("--max-gap", metavar="SPAN", help="Always look again by then, such as 2d or 4w.")
]


Render = Annotated[
    bool | None, typer.Option("--render/--no-render", help="Look through a real browser, or do not.")
]
Insecure = Annotated[
    bool | None,
    typer.Option(
        "--insecure/--no-insecure", help="Do not verify the server's certificate; `list` and `why` show it."
    ),
]
MaxBytes = Annotated[
    int | None,
    typer.Option("--max-bytes", metavar="N", help="The largest body read, instead of fetching.max_bytes."),
]
PageRows = Annotated[
    int | None, typer.Option("--page-rows", metavar="N", help="SPARQL: ask for so many rows at a time.")
]
UserAgent = Annotated[
    str | None, typer.Option("--user-agent", metavar="TEXT", help="Say this instead of recrawl's own name.")
]
Include = Annotated[
    list[str] | None,
    typer.Option(
        "--include",
        metavar="SELECTOR",
        help="Only what this chooses counts: CSS, XPath, JSONPath or column:NAME and the like; repeatable.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option("--ignore", metavar="SELECTOR", help="What this chooses does not count; repeatable."),
]
Keys = Annotated[
    list[str] | None,
    typer.Option("--keys", metavar="COLUMN", help="What tells the rows of a table apart; repeatable."),
]
Main = Annotated[
    bool | None,
    typer.Option("--main/--no-main", help="Of a page only its main content counts, without menus and such."),
]
Mask = Annotated[
    bool | None,
    typer.Option("--mask/--no-mask", help="Whether what differs on every fetch is learned and left out."),
]


Changes = Annotated[
    str | None,
    typer.Option(
        "--changes",
        metavar="WHICH",
        help="Which changes count: any, or significant (words differ by more than chance). All are archived.",
    ),
]


@contextmanager
def opened(home: Path | None, *, reading: bool = False, new: bool = True) -> Iterator[House]:
    """The house at this place, or at the usual one. Where there is none, none is made by whoever only reads,
    nor with `new` False by whoever needs something that is watched already."""
    from recrawl.app.build import open_house

    with open_house(home, reading=reading) as house:
        house.reading = reading or not (new or house.kept)
        yield house


def must_reach(house: House, chosen: Choice, *, anyway: bool = False) -> None:
    """End with exit code 1 where nothing is meant by a tag or a host, and nothing was said of it either."""
    from recrawl.app.names import unreached

    said = {scope for scope, _ in house.store.said()}
    if anyway or said.intersection(chosen.scopes()):
        return
    if wrong := unreached(house.store, tag=chosen.tag, host=chosen.host):
        terminal.note(wrong)
        raise typer.Exit(1)


def must_be_kept(house: House) -> None:
    """What is said of everything, or for later ones, makes no home: this one may be mistyped."""
    from recrawl.errors import BadInputError

    if not house.kept:
        raise BadInputError(
            f"There is nothing in {house.home} to say this of; add something with `recrawl add URL`, or "
            "choose another --home."
        )


def choice(urls: list[str] | None, tag: str | None, host: str | None, everything: bool = False) -> Choice:
    from recrawl.app.watchlist import Choice

    return Choice(urls=tuple(urls or ()), tag=tag, host=host, everything=everything)


def settings(
    kind: str | None,
    weight: float | None,
    min_gap: str | None,
    max_gap: str | None,
    allow_private: bool | None,
    manner: Manner | None = None,
    changes: str | None = None,
) -> Settings:
    """What the options say; what they do not say stays open."""
    from recrawl.app import settings

    return settings.settings(
        kind=kind,
        weight=weight,
        min_gap=min_gap,
        max_gap=max_gap,
        allow_private=allow_private,
        manner=manner,
        changes=changes,
    )


def manner(
    render: bool | None,
    insecure: bool | None,
    max_bytes: int | None,
    page_rows: int | None,
    user_agent: str | None,
    include: list[str] | None = None,
    ignore: list[str] | None = None,
    keys: list[str] | None = None,
    main: bool | None = None,
    mask: bool | None = None,
) -> Manner | None:
    """How to look, as the options say it; None where they say nothing."""
    from recrawl.app import settings

    return settings.manner(
        render=render,
        insecure=insecure,
        max_bytes=max_bytes,
        page_rows=page_rows,
        user_agent=user_agent,
        include=include,
        ignore=ignore,
        keys=keys,
        main=main,
        mask=mask,
    )
