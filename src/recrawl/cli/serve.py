"""The command that opens the web face, and those about who may come in."""

from __future__ import annotations

import signal
import sys
from contextlib import nullcontext, suppress
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import options, terminal

if TYPE_CHECKING:
    from recrawl.app.build import House
    from recrawl.app.tokens import Tokens

PORT = 8642

tokens_app = typer.Typer(invoke_without_command=True)


def serve(
    host: Annotated[
        str,
        typer.Option("--host", metavar="ADDRESS", help="Where to listen; else only this machine can ask."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="0 takes any free one.")
    ] = PORT,
    origin: Annotated[
        str | None,
        typer.Option(
            "--origin",
            metavar="URL",
            help="What it is called from outside, behind a proxy, such as https://watch.example.org.",
            show_default=False,
        ),
    ] = None,
    run: Annotated[
        bool, typer.Option("--run", help="Visit what is due meanwhile, as `recrawl run` does.")
    ] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """See what changes, when it will be looked at next, and why: a dashboard and an API.

    Prints the address to open, with a token in it that holds until this ends; `recrawl token add` makes ones
    that last. Nobody comes in without one. It visits nothing by itself, unless --run says so: then a
    `recrawl run` is begun beside it, begun anew where it ends in trouble, and ended with it.

    Only this machine can reach it, unless --host says else. It speaks plain HTTP: put a proxy with TLS before
    it where others are to use it, and name that with --origin.

    \b
    Examples:
      recrawl serve
      recrawl serve --run
      recrawl serve --port 8080
      recrawl serve --host 0.0.0.0 --origin https://watch.example.org
    """
    from recrawl.app.running import beside
    from recrawl.app.tokens import fresh
    from recrawl.errors import BadInputError
    from recrawl.web.replay import is_loopback, plain_origin

    try:
        from recrawl.web.face.app import create
        from recrawl.web.face.serving import Serving
    except ModuleNotFoundError as problem:
        raise BadInputError(
            f"The web face needs {problem.name}, which is not installed; install it with "
            "`pip install 'recrawl[web]'`."
        ) from None

    called = None if origin is None else plain_origin(origin)
    with options.opened(home) as house:
        _ = house.store  # made now: whoever serves an empty home can add to it
        tokens, place, now = _tokens(house), house.home, house.clock.now()
    secret = fresh()
    tokens.begin(secret, now)
    with Serving(host, port) as serving, beside(place) if run else nullcontext():
        app = create(
            place,
            tokens,
            origin=called,
            local=is_loopback(host),
            cookie=f"recrawl-{serving.port}",
        )
        where = called or serving.origin
        if json:
            terminal.say_json({"url": f"{where}/", "token": secret})
        else:
            terminal.say(f"{where}/#{secret}")
        sys.stdout.flush()
        terminal.note("Open it in a browser; Ctrl-C ends it.")
        if not is_loopback(host) and not (called or "").startswith("https:"):
            terminal.note("Others can reach it over plain HTTP: put a proxy with TLS before it.")
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C does
        with suppress(KeyboardInterrupt):
            serving.run(app, app.state.ending)


@tokens_app.callback()
def token(
    ctx: typer.Context,
    home: options.Home = None,  # noqa: ARG001  # the commands look for it
) -> None:
    """Who may come in at `recrawl serve`: tokens for people, programs and feed readers.

    Only a digest of each is kept. Removing one ends the sessions that were opened with it.

    \b
    Begin with:
      recrawl token add laptop
      recrawl token add prometheus --read
      recrawl token list
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@tokens_app.command("add", cls=options.Command)
def add(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What you will know it by.")],
    read: Annotated[bool, typer.Option("--read", help="It may look and not touch.")] = False,
    feed: Annotated[
        bool,
        typer.Option("--feed", help="It opens the feeds of changes and nothing else, also in an address."),
    ] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Make a token and show it, this once.

    \b
    Examples:
      recrawl token add laptop
      recrawl token add grafana --read
      recrawl token add reader --feed
    """
    from recrawl.app.tokens import May
    from recrawl.errors import BadInputError

    if read and feed:
        raise BadInputError("A token for feeds reads nothing else; say --read or --feed.")
    may = May.READ if read else May.FEED if feed else May.WRITE
    with options.opened(home) as house:
        secret = _tokens(house).add(name, may, house.clock.now())
    if json:
        terminal.say_json({"name": name, "may": may.value, "token": secret})
    else:
        terminal.say(secret)
        terminal.note("Keep it; it is not shown again.")


@tokens_app.command("list", cls=options.Command)
def list_(home: options.Home = None, json: options.JsonLines = False) -> None:
    """The tokens there are, without what they are.

    \b
    Example:
      recrawl token list --json
    """
    from recrawl.app.quantity import iso

    with options.opened(home, reading=True) as house:
        found = _tokens(house).list()
    for one in found:
        if json:
            terminal.say_json_line({"name": one.name, "may": one.may.value, "made_at": iso(one.made_at)})
        else:
            terminal.say(f"{one.name}\t{one.may.value}\t{iso(one.made_at)}")
    if not found:
        terminal.note("There is none; `recrawl token add NAME` makes one.")


@tokens_app.command("remove", cls=options.Command)
def remove(
    name: Annotated[str, typer.Argument(metavar="NAME", help="As `recrawl token list` has it.")],
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Let nobody in with this token any more, and end its sessions.

    \b
    Example:
      recrawl token remove laptop
    """
    with options.opened(home) as house:
        _tokens(house).remove(name)
    if json:
        terminal.say_json({"removed": name})
    else:
        terminal.note(f"The token {name} opens nothing any more.")


def _tokens(house: House) -> Tokens:
    from recrawl.app.tokens import FILE_NAME, Tokens

    return Tokens(house.home / FILE_NAME)
