"""Commands about what is watched."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import options, terminal

if TYPE_CHECKING:
    from recrawl.app.build import House
    from recrawl.app.sources import Found
    from recrawl.app.watchlist import Added

N_SHOWN = 20  # refusals told one by one


def add(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="URL|FILE|-",
            help="URLs, files with one URL a line (# begins a comment), or - for standard input.",
            show_default=False,
        ),
    ] = None,
    sitemap: Annotated[
        list[str] | None,
        typer.Option("--sitemap", metavar="FILE|URL", help="A sitemap, sitemap index or feed; repeatable."),
    ] = None,
    opml: Annotated[
        list[str] | None, typer.Option("--opml", metavar="FILE|URL", help="A list of feeds; repeatable.")
    ] = None,
    sparql: Annotated[
        str | None,
        typer.Option("--sparql", metavar="ENDPOINT", help="Watch the result of a query to this endpoint."),
    ] = None,
    query: Annotated[
        str | None, typer.Option("--query", metavar="QUERY", help="The query for --sparql.")
    ] = None,
    query_file: Annotated[
        str | None,
        typer.Option("--query-file", metavar="FILE|-", help="Where the query for --sparql stands."),
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", metavar="TAG", help="Tag them so; repeatable.")
    ] = None,
    kind: options.Kind = None,
    weight: options.Weight = None,
    min_gap: options.MinGap = None,
    max_gap: options.MaxGap = None,
    changes: options.Changes = None,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="They may be on this machine or a private network.")
    ] = False,
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
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Watch resources.

    What cannot be used is told with the reason and does not stop the rest; the exit code is 2 only if
    nothing could be used. Settings of resources that are watched already stay as they are.

    \b
    Examples:
      recrawl add https://example.org/ https://example.org/news --tag news
      recrawl add urls.txt --max-gap 7d
      recrawl add https://example.org/start --changes significant
      recrawl add --sitemap https://example.org/sitemap.xml
      recrawl add --kind rdf https://example.org/dataset
      recrawl add https://example.org/shop --include '#prices' --ignore .advert
      recrawl add --sparql https://example.org/sparql --query-file new-items.rq --page-rows 1000
      recrawl add file:///data/prices.csv
    """
    from recrawl.app.names import checked_tags
    from recrawl.app.watchlist import Added, add
    from recrawl.errors import BadInputError
    from recrawl.model import Settings

    if sparql or query or query_file:
        if words or sitemap or opml or kind not in (None, "sparql"):
            raise BadInputError("--sparql adds one query; give nothing else to add, and no other --kind.")
        words, kind = [_query_url(sparql, query, query_file)], "sparql"
    elif page_rows is not None and kind != "sparql":
        raise BadInputError("--page-rows is for SPARQL queries; use it with --sparql or --kind sparql.")
    if not (words or sitemap or opml):
        raise BadInputError("There is nothing to add; give URLs, a file, -, --sitemap, --opml or --sparql.")
    manner = options.manner(
        *(render, insecure, max_bytes, page_rows, user_agent), *(include, ignore, keys, main, mask)
    )
    said = options.settings(kind, weight, min_gap, max_gap, allow_private or None, manner, changes)
    if manner and said.kind:
        from recrawl.app.lens import idle

        for sentence in idle(said.kind, None, manner):
            terminal.note(sentence)
    tags, result, interrupted = checked_tags(tag or ()), Added(), False
    with (
        options.opened(home) as house,
        terminal.working("Adding …") as tell,
        terminal.interruptible() as whole,
    ):
        found = _found(house, words or [], sitemap or [], opml or [], allow_private)
        adding = add(
            house.store,
            found,
            result,
            settings=said,
            tags=tags,
            now=house.clock.now(),
            folders=house.config.fetching.allow_files,
            progress=lambda n: tell(f"Adding … {n:,} so far"),
            whole=whole,
        )
        try:
            asyncio.run(adding)
        except KeyboardInterrupt:
            interrupted = True
    _report(result, json)
    if result.n_known and said != Settings():
        terminal.note("Those known keep their settings; change them with `recrawl set`.")
    if interrupted:
        terminal.note("Interrupted: the rest was not added; add it all again, known ones do no harm.")
        raise typer.Exit(options.INTERRUPTED)
    if result.n_refused and not (result.n_added or result.n_known):
        raise typer.Exit(2)


def _query_url(endpoint: str | None, query: str | None, query_file: str | None) -> str:
    from recrawl.errors import BadInputError
    from recrawl.observe.query import query_url

    if endpoint is None or (query is None) == (query_file is None):
        raise BadInputError("A query is added with --sparql ENDPOINT and one of --query and --query-file.")
    if query_file == "-":
        query = sys.stdin.read()
    elif query_file is not None:
        try:
            query = Path(query_file).expanduser().read_text("utf-8-sig")
        except (OSError, UnicodeError) as problem:
            raise BadInputError(f"{query_file} cannot be read ({problem}); give a file of text.") from None
    return query_url(endpoint, query or "")


async def _found(
    house: House, given: list[str], sitemaps: list[str], opmls: list[str], allow_private: bool
) -> AsyncIterator[Found]:
    from recrawl.app.sources import Reader, words

    for item in words(given, sys.stdin):
        yield item
    if not (sitemaps or opmls):
        return
    async with house.fetcher() as fetcher:
        reader = Reader(fetcher, allow_private=allow_private, access_at=house.secrets.access_at)
        for place in sitemaps:
            async for item in reader.sitemap(place):
                yield item
        for place in opmls:
            async for item in reader.opml(place):
                yield item


def _report(result: Added, json: bool) -> None:
    for one in result.refused[:N_SHOWN]:
        where = f"{one.where}: " if one.where else ""
        named = "" if one.text in one.reason else f"{one.text}: "
        terminal.note(f"Refused: {where}{named}{one.reason}")
    if result.n_refused > N_SHOWN:
        terminal.note(f"… and {result.n_refused - N_SHOWN:,} more refused; --json lists up to a thousand.")
    if json:
        terminal.say_json(
            {
                "added": result.n_added,
                "known": result.n_known,
                "refused": result.n_refused,
                "reasons": [{"text": r.text, "where": r.where, "reason": r.reason} for r in result.refused],
            }
        )
    else:
        terminal.say(f"Added {result.n_added:,}, known {result.n_known:,}, refused {result.n_refused:,}.")


def remove(
    urls: options.Urls = None,
    tag: options.Tag = None,
    host: options.Host = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Stop watching these and forget their history.

    The files of the archive stay as they are.

    \b
    Example:
      recrawl remove --tag old --yes
    """
    from recrawl.app import watchlist
    from recrawl.errors import BadInputError

    chosen = options.choice(urls, tag, host)
    with options.opened(home, new=False) as house:
        options.must_reach(house, chosen)
        n = sum(1 for _ in watchlist.chosen(house.store, chosen))
        if n and not yes:
            if not sys.stdin.isatty():
                raise BadInputError(f"This would remove {n:,} with their history; add --yes if you mean it.")
            typer.confirm(f"Remove {n:,} with their history?", abort=True, err=True)
        with terminal.working("Removing …") as tell:
            n = watchlist.remove(
                house.store, house.secrets, chosen, lambda n: tell(f"Removing … {n:,} so far")
            )
    terminal.say_count("Removed", n, json)
