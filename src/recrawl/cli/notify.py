"""Commands about who is told of what."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from recrawl.cli import options, terminal

app = typer.Typer(invoke_without_command=True)

Name = Annotated[str, typer.Argument(metavar="NAME", help="The notice's name.")]


@app.callback()
def notify(
    ctx: typer.Context,
    home: options.Home = None,  # noqa: ARG001  # the commands look for it
) -> None:
    """Be told of changes, silences and trouble: by webhook, mail, or any service that Apprise knows.

    A notice says who is told of what, and when. `recrawl run` sends; what cannot be sent now is kept and sent
    later. Addresses are kept in notices.json in the home folder, which only you can read, and are in no log
    and no export.

    \b
    Begin with:
      recrawl notify add me --on significant --quiet 22:00-07:00 --zone Europe/Vienna
      recrawl notify test me
      recrawl notify list
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@app.command("add", cls=options.Command)
def add(
    name: Name,
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="Of this watched resource alone.")
    ] = None,
    tag: options.Tag = None,
    host: options.Host = None,
    on: Annotated[
        list[str] | None,
        typer.Option(
            "--on",
            metavar="NEWS",
            help="change, significant, posts, gone, back, silent, host or trouble (our own); repeatable. "
            "Unless said otherwise: change, gone and back.",
        ),
    ] = None,
    match: Annotated[
        list[str] | None,
        typer.Option("--match", metavar="TEXT", help="Of changes only those with these words; repeatable."),
    ] = None,
    pattern: Annotated[
        str, typer.Option("--pattern", metavar="REGEX", help="… or with a line like this (Python's syntax).")
    ] = "",
    side: Annotated[
        str, typer.Option("--in", metavar="SIDE", help="Where these are: added, removed or either.")
    ] = "either",
    quiet: Annotated[
        str,
        typer.Option("--quiet", metavar="HOURS", help="Not within these hours, as 22:00-07:00; then after."),
    ] = "",
    daily: Annotated[
        str, typer.Option("--daily", metavar="TIME", help="One message a day, at 8 or 17:30.")
    ] = "",
    every: Annotated[
        str, typer.Option("--every", metavar="SPAN", help="One message for what comes within 6h, say.")
    ] = "",
    zone: Annotated[
        str, typer.Option("--zone", metavar="ZONE", help="Whose clocks these are, as Europe/Vienna.")
    ] = "UTC",
    per_hour: Annotated[
        int, typer.Option("--per-hour", metavar="N", help="At most so many messages; then all in one.")
    ] = 20,
    link: Annotated[
        str,
        typer.Option("--link", metavar="URL", help="Link there, with {url} and {version} filled in."),
    ] = "",
    sign: Annotated[
        bool, typer.Option("--sign", help="Sign webhooks with a secret, which is asked for too.")
    ] = False,
    allow_private: Annotated[
        bool, typer.Option("--allow-private", help="The address may be on this machine or network.")
    ] = False,
    stdin: Annotated[
        bool, typer.Option("--stdin", help="Read the address (and the secret) from standard input.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="In place of one of this name.")] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Add a notice. The address that messages go to is asked for.

    It is a webhook where it begins with https:// or http://: news is posted there as JSON. Everything else is
    for Apprise (`pip install 'recrawl[notify]'`): mailto://, slack://, discord:// and a hundred more. The
    address is typed without being shown, or read from standard input with --stdin: one line, and another
    one with the secret where --sign is given. It is never taken from the command line, since everyone on the
    machine can see that in the list of processes.

    News from now on is told. `silent` tells of what has been quiet for longer than its forecast can explain,
    with the probability; `host` of hosts that fail again and again; `trouble` of a full disk and the like.

    \b
    Examples:
      recrawl notify add me
      recrawl notify add shop --tag shop --match "sold out" --in added --stdin < address.txt
      recrawl notify add daily --on significant --on gone --daily 8 --zone Europe/Vienna
      recrawl notify add ops --on host --on silent --on trouble --sign
    """
    from recrawl.app import notices
    from recrawl.app.names import unreached
    from recrawl.app.watchlist import watched
    from recrawl.notify.recipient import Recipient

    choice = options.choice([url] if url else None, tag, host) if url or tag or host else None
    notice = notices.asked(
        name,
        choice=choice,
        on=on or (),
        match=match or (),
        pattern=pattern,
        side=side,
        quiet=quiet,
        daily=daily,
        every=every,
        zone_name=zone,
        per_hour=per_hour,
        link=link,
    )
    wanted = ["the address", *(["the secret to sign with"] if sign else [])]
    with options.opened(home, reading=True) as house:  # what is refused makes no home
        if url:
            watched(house.store, url)
        if wrong := unreached(house.store, tag=tag, host=notice.scope.name if host else None):
            terminal.note(wrong)  # it may have some later
    given = [*terminal.secrets(wanted, stdin=stdin), ""]
    recipient = Recipient(url=given[0].strip(), secret=given[1], allow_private=allow_private)
    with options.opened(home) as house:
        notices.add(house, notice, recipient, replacing=replace)
    if json:
        terminal.say_json({"added": name, "to": recipient.shown})
    else:
        terminal.say(f"Added {name}: {recipient.shown}. Try it with `recrawl notify test {name}`.")


@app.command("list", cls=options.Command)
def list_(home: options.Home = None, json: options.JsonLines = False) -> None:
    """Who is told of what, and how that stands; never an address.

    \b
    Example:
      recrawl notify list
    """
    from recrawl.app import notices

    with options.opened(home, reading=True) as house:
        rows = notices.listed(house)
    if json:
        for row in rows:
            terminal.say_json_line(row)
        return
    terminal.say_table(
        ["NAME", "TO", "OF", "ON", "WHEN", "STANDING"],
        (
            (
                row["name"],
                row["to"],
                row["of"] or "everything",
                ", ".join(row["on"]),
                row["when"],
                _standing(row["n_waiting"] + row["n_sending"], row["trouble"]),
            )
            for row in rows
        ),
    )
    if not rows:
        terminal.note("Nobody is told of anything; `recrawl notify add --help` tells how.")


def _standing(n_waiting: int, trouble: str) -> str:
    return ", ".join(filter(None, [f"{n_waiting:,} waiting" if n_waiting else "", trouble])) or "well"


@app.command("remove", cls=options.Command)
def remove(name: Name, home: options.Home = None, json: options.Json = False) -> None:
    """Remove a notice, its address, and what waits for it.

    The exit code is 1 if there is none of that name.

    \b
    Example:
      recrawl notify remove me
    """
    from recrawl.app import notices

    with options.opened(home) as house:
        there = notices.remove(house, name)
    if json:
        terminal.say_json({"removed": int(there)})
    else:
        terminal.say(f"Removed {name}." if there else f"There is no notice {name}.")
    if not there:
        raise typer.Exit(1)


@app.command("test", cls=options.Command)
def sample(name: Name, home: options.Home = None, json: options.Json = False) -> None:
    """Send a sample now, whatever the hour.

    The exit code is 1 if it was not delivered.

    \b
    Example:
      recrawl notify test me
    """
    from recrawl.app import notices

    with options.opened(home, reading=True) as house, terminal.working("Sending …"):
        sent = notices.test(house, name)
    if json:
        terminal.say_json({"delivered": sent.delivered, "why": sent.why})
    else:
        terminal.say("Delivered." if sent.delivered else f"Not delivered: {sent.why}.")
    if not sent.delivered:
        raise typer.Exit(1)


@app.command("log", cls=options.Command)
def log(
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most so many.")] = 50,
    home: options.Home = None,
    json: options.JsonLines = False,
) -> None:
    """What was sent lately and what became of it, the newest first.

    \b
    Example:
      recrawl notify log --limit 10
    """
    from recrawl.app import notices

    with options.opened(home, reading=True) as house:
        rows = notices.log(house, limit)
    if json:
        for row in rows:
            terminal.say_json_line(row)
        return
    terminal.say_table(
        ["TIME", "NOTICE", "NEWS", "RESULT"],
        ((row["at"], row["notice"], row["n_news"], _result(row)) for row in rows),
    )
    if not rows:
        terminal.note("Nothing was sent yet.")
    sys.stdout.flush()


def _result(row: dict[str, object]) -> str:
    if row["delivered"]:
        return "delivered"
    return f"{'given up' if row['given_up'] else 'failed, to be tried again'}: {row['why']}"
