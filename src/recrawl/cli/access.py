"""Commands about secrets. Their values come from a prompt or from standard input, never from arguments."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import options, terminal

if TYPE_CHECKING:
    from recrawl.app.access import Parts

app = typer.Typer(invoke_without_command=True)

All = Annotated[bool, typer.Option("--all", help="Everything: it is then sent to every host.")]
Headers = Annotated[
    list[str] | None, typer.Option("--header", metavar="NAME", help="A header of this name; repeatable.")
]
Cookies = Annotated[
    list[str] | None, typer.Option("--cookie", metavar="NAME", help="A cookie of this name; repeatable.")
]
Proxy = Annotated[bool, typer.Option("--proxy", help="A proxy, as http://user:password@host:port.")]


@app.callback()
def access(
    ctx: typer.Context,
    home: options.Home = None,  # noqa: ARG001  # the commands look for it
) -> None:
    """Secrets that open doors: headers, cookies, logins, proxies.

    They are kept in secrets.json in the home folder, which only you can read, and are sent to the resource's
    own host and nowhere else. They are in no log, no archive and no export.

    \b
    Begin with:
      recrawl access set https://example.org/members --basic ada
      recrawl access list
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@app.command("set", cls=options.Command)
def set_(
    urls: options.Urls = None,
    tag: options.Tag = None,
    host: options.Host = None,
    all_: All = False,
    header: Headers = None,
    cookie: Cookies = None,
    basic: Annotated[
        str | None, typer.Option("--basic", metavar="USER", help="A user name, with its password.")
    ] = None,
    bearer: Annotated[bool, typer.Option("--bearer", help="A token for Authorization: Bearer.")] = False,
    proxy: Proxy = False,
    stdin: Annotated[bool, typer.Option("--stdin", help="Read the secrets from standard input.")] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Keep secrets for resources, a tag, a host or everything.

    Secrets are asked for without being shown, or read from standard input with --stdin: one line each, in
    this order: headers and cookies as given, the password, the token, the proxy. They are never taken from
    the command line, since everyone on the machine can see that in the list of processes. What is kept for a
    resource wins over its tags, they over its host, and that over everything, part by part.

    \b
    Examples:
      recrawl access set --host api.example.org --header X-Api-Key
      recrawl access set https://example.org/members --basic ada --stdin < password.txt
      recrawl access set --all --proxy
    """
    from recrawl.app.doors import checked
    from recrawl.app.watchlist import chosen
    from recrawl.errors import BadInputError
    from recrawl.model import Access

    choice = options.choice(urls, tag, host, all_)
    if not (header or cookie or basic is not None or bearer or proxy):
        raise BadInputError("Say what to keep: --header, --cookie, --basic, --bearer or --proxy.")
    # what is wrong with the names is told before anyone types a secret
    checked(
        Access(
            headers=tuple((name, "x") for name in header or ()),
            cookies=tuple((name, "x") for name in cookie or ()),
            basic=None if basic is None else (basic, "x"),
            bearer="x" if bearer else None,
        )
    )
    named = [
        *(f"header {name}" for name in header or ()),
        *(f"cookie {name}" for name in cookie or ()),
        *([f"the password of {basic}"] if basic is not None else []),
        *(["the bearer token"] if bearer else []),
        *(["the proxy's URL"] if proxy else []),
    ]
    with options.opened(home, reading=True) as house:  # but for the secrets, which may come before all else
        n = sum(1 for _ in chosen(house.store, choice))
        values = iter(terminal.secrets(named, stdin=stdin))
        said = Access(
            headers=tuple((name, next(values)) for name in header or ()),
            cookies=tuple((name, next(values)) for name in cookie or ()),
            basic=None if basic is None else (basic, next(values)),
            bearer=next(values) if bearer else None,
            proxy=next(values) if proxy else None,
        )
        house.secrets.say(choice.scopes(), said)
    if json:
        terminal.say_json({"reaches": n})
    else:
        terminal.say(f"Kept; it reaches {n:,} {'resource' if n == 1 else 'resources'} now.")


@app.command("list", cls=options.Command)
def list_(home: options.Home = None, json: options.JsonLines = False) -> None:
    """Which secrets are kept for what; never their values.

    \b
    Example:
      recrawl access list
    """
    from recrawl.app.access import parts

    with options.opened(home, reading=True) as house:
        kept = [(scope, parts(access)) for scope, access in house.secrets.layers().items()]
    if json:
        for scope, has in kept:
            terminal.say_json_line({"scope": scope.kind.value, "name": scope.name, **asdict(has)})
        return
    terminal.say_table(["SCOPE", "NAME", "HAS"], ((s.kind.value, s.name, _shown(has)) for s, has in kept))
    if not kept:
        terminal.note("No secrets are kept; `recrawl access set --help` tells how.")


def _shown(has: Parts) -> str:
    single = [name for name in ("basic", "bearer", "proxy") if getattr(has, name)]
    named = [f"header {name}" for name in has.headers] + [f"cookie {name}" for name in has.cookies]
    return ", ".join(named + single)


@app.command("clear", cls=options.Command)
def clear(
    urls: options.Urls = None,
    tag: options.Tag = None,
    host: options.Host = None,
    all_: Annotated[
        bool, typer.Option("--all", help="What is kept for everything, not all that is kept.")
    ] = False,
    header: Headers = None,
    cookie: Cookies = None,
    basic: Annotated[bool, typer.Option("--basic", help="The user name and password.")] = False,
    bearer: Annotated[bool, typer.Option("--bearer", help="The token.")] = False,
    proxy: Annotated[bool, typer.Option("--proxy", help="The proxy.")] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Forget secrets: the named parts, or all that is kept there.

    The exit code is 1 if there was nothing to forget.

    \b
    Examples:
      recrawl access clear https://example.org/members
      recrawl access clear --host api.example.org --header X-Api-Key
    """
    from recrawl.app.access import Parts

    choice = options.choice(urls, tag, host, all_)
    which = Parts(
        headers=tuple(header or ()), cookies=tuple(cookie or ()), basic=basic, bearer=bearer, proxy=proxy
    )
    with options.opened(home, reading=True) as house:
        n = house.secrets.forget(choice.scopes(), None if which == Parts() else which)
    if json:
        terminal.say_json({"cleared": n})
    else:
        terminal.say("Forgotten." if n else "There was nothing to forget.")
    if not n:
        raise typer.Exit(1)
