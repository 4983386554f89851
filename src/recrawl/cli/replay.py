"""The command that serves the past."""

from __future__ import annotations

import asyncio
import signal
import sys
from contextlib import suppress
from typing import Annotated

import typer

from recrawl.cli import options, terminal


def replay(
    host: Annotated[
        str,
        typer.Option("--host", metavar="ADDRESS", help="Where to listen; else only this machine can ask."),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="0 takes any free one.")
    ] = 0,
    origin: Annotated[
        str | None,
        typer.Option(
            "--origin",
            metavar="URL",
            help="What it is called from outside, behind a proxy, such as https://past.example.org.",
            show_default=False,
        ),
    ] = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Serve what is kept as it was, to browsers and to Memento clients (RFC 7089).

    Runs until Ctrl-C, also while `recrawl run` goes on. /timegate/URL leads to the copy that was in force at
    the time of Accept-Datetime, /timemap/link/URL and /timemap/json/URL list all copies, and
    /memento/20260131120000/URL is one of them (with id_ after the digits: its bytes as they were).

    Archived pages are shown without their scripts, and links lead to copies of the same time. Give it an
    origin of its own: never the host and port of anything else that you use.

    \b
    Examples:
      recrawl replay
      recrawl replay --port 8080
      recrawl replay --host 0.0.0.0 --port 8080 --origin https://past.example.org
    """
    from recrawl.app.replay import Replay
    from recrawl.web.replay import Server, is_loopback, plain_origin

    called = None if origin is None else plain_origin(origin)

    async def serve(past: Replay) -> None:
        server = Server(past, origin=called, local=is_loopback(host))
        try:
            where = await server.start(host, port)
            if json:
                terminal.say_json({"url": f"{where}/"})
            else:
                terminal.say(f"{where}/")
            terminal.note("Serving what is kept; Ctrl-C ends it.")
            if not is_loopback(host):
                terminal.note("Whoever reaches this machine can read all of it.")
            sys.stdout.flush()
            await asyncio.Event().wait()
        finally:
            await server.stop()

    with options.opened(home, reading=True) as house:
        if not house.kept:
            terminal.note(f"Nothing is kept in {house.home} yet; begin with `recrawl add URL`.")
            raise typer.Exit(1)
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C does
        with suppress(KeyboardInterrupt):
            asyncio.run(serve(Replay(house)))
