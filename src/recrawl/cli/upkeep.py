"""Commands about the house itself, and for trying it out."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import options, terminal

if TYPE_CHECKING:
    from recrawl.app.demo import Demonstrated, Progress
    from recrawl.livingweb import LivingWeb

Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="The same number, the same web.")]


def status(home: options.Home = None, json: options.Json = False) -> None:
    """What is watched, what is due, and how the budget is used.

    Budget, rule (policy and goal) and price are those of the last run, and of the settings before the first.
    The price is what a visit must be worth to be made: the fewer visits there are for what is watched, the
    higher it is. Second looks tell noise from change; they are charged to the budget like visits, and are
    not counted among them.

    A goal, policy or predictor in the settings that is not there is refused, as `recrawl run` would.

    \b
    Examples:
      recrawl status
      recrawl status --json
    """
    from recrawl.app.health import status
    from recrawl.app.policies import check_schedule
    from recrawl.cli.figures import figures

    with options.opened(home, reading=True) as house:
        check_schedule(house.config.schedule)
        row = status(house)
    if json:
        terminal.say_json(row)
        return
    terminal.say_fields(list(figures(row)))
    if not row["resources"]:
        terminal.note(f"Nothing is watched in {house.home} yet; add something with `recrawl add URL`.")


def doctor(home: options.Home = None, json: options.Json = False) -> None:
    """Look for trouble without asking the network.

    Looks at versions, settings, disk, clock, plug-ins, secrets, store, archive and notices, each by itself.
    Parts that the settings choose and parts of plug-ins are made, as a run makes them: what cannot be loaded
    or made is told, with the reason.

    The exit code is 1 if something is wrong.

    \b
    Example:
      recrawl doctor
    """
    from recrawl.app.config import default_home
    from recrawl.app.doctor import doctor
    from recrawl.live.clock import WallClock

    words = {True: "ok", False: "WRONG", None: "note"}
    checks = []
    for check in doctor((home or default_home()).expanduser(), WallClock().now()):
        checks.append(check)
        if not json:
            terminal.say(f"{words[check.ok]:<5}  {check.name:<11}  {check.finding}")
            sys.stdout.flush()  # what is found before a check that hangs is seen
    if json:
        terminal.say_json([{"name": c.name, "ok": c.ok, "finding": c.finding} for c in checks])
    if any(check.ok is False for check in checks):
        raise typer.Exit(1)


def config(home: options.Home = None, json: options.Json = False) -> None:
    """Show every setting.

    Its value, where that comes from, its environment variable, what it means.

    Settings are in recrawl.toml in the home folder, by section; environment variables win over the file. The
    exit code is 1 if a goal, policy or predictor is chosen that is not there.

    \b
    Examples:
      recrawl config
      RECRAWL_SCHEDULE__BUDGET=50/h recrawl config --json
    """
    from recrawl.app import health
    from recrawl.app.parts import absent_parts

    with options.opened(home, reading=True) as house:
        rows = health.settings(house.config, house.home)
        absent = list(absent_parts(house.config.schedule))
    columns = ["name", "written", "from", "variable", "description"]
    if json:
        terminal.say_json([{key: value for key, value in row.items() if key != "written"} for row in rows])
    elif sys.stdout.isatty():
        for row in rows:
            terminal.say(f"{row['name']} = {row['written'] or 'nothing'} ({row['from']})")
            terminal.say(f"    {row['description']}\n    {row['variable']}")
    else:
        terminal.say_table(columns, ([row[name] for name in columns] for row in rows))
    for problem in absent:
        terminal.note(problem)
    if absent:
        raise typer.Exit(1)


def demo(
    for_: Annotated[
        str, typer.Option("--for", metavar="SPAN", help="How long; each second is a day there.")
    ] = "30s",
    seed: Seed = 1,
    goal: Annotated[
        str | None, typer.Option("--goal", metavar="GOAL", help="fresh, fresh-harmonic, capture or prompt.")
    ] = None,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Watch a small web change, a day a second.

    The web is on this machine; what was seen is compared with what was true.
    Keeps everything in a new folder, or in --home or RECRAWL_HOME if there is no store yet. Asks no network.

    \b
    Examples:
      recrawl demo
      recrawl demo --for 10 --json
    """
    import tempfile

    from recrawl.app.config import HOME, default_home
    from recrawl.app.demo import demo
    from recrawl.app.quantity import seconds

    if home is None:
        home = default_home() if os.environ.get(HOME) else Path(tempfile.mkdtemp(prefix="recrawl-demo-"))
    terminal.note("200 resources on 16 hosts of a small web on this machine; each second is a day there.")
    result = asyncio.run(
        demo(home, seconds=seconds(for_), seed=seed, goal=goal, tell=lambda p: terminal.note(_told(p)))
    )
    if json:
        terminal.say_json(result.document())
    else:
        _shown(result, home)


def _told(progress: Progress) -> str:
    return (
        f"day {progress.day:4.0f}  {progress.n_visits:5,} visits  {progress.n_changes:5,} changes found  "
        f"{progress.n_failures:3,} failed   {progress.learned}"
    )


def _shown(result: Demonstrated, folder: Path) -> None:
    ours, even = result.ours, result.uniform
    terminal.say(
        f"{result.days:g} days, {ours.resources} resources, {result.budget_per_day:g} visits a day: "
        f"{result.n_visits:,} visits, {ours.changes:,} changes really happened."
    )
    missed, missed_even = ours.changes - ours.observed, even.changes - even.observed
    wasted, wasted_even = result.n_visits - ours.observed, even.visits - even.observed
    rows = [
        ("changes seen", f"{ours.observed:,}", f"{even.observed:,}"),
        ("changes missed", f"{missed:,}", f"{missed_even:,}"),
        ("visits that found none", f"{wasted:,}", f"{wasted_even:,}"),
        ("recall", f"{ours.recall:.1%}", f"{even.recall:.1%}"),
        ("precision", f"{ours.precision:.1%}", f"{even.precision:.1%}"),
        ("freshness", f"{ours.freshness:.1%}", f"{even.freshness:.1%}"),
    ]
    terminal.say(f"{'':24}{'recrawl':>10}{'uniform':>10}")
    for name, mine, other in rows:
        terminal.say(f"{name:24}{mine:>10}{other:>10}")
    terminal.say(f"{result.n_failures:,} visits failed; {result.n_false_alarms:,} took noise for a change.")
    sys.stdout.flush()
    terminal.note("All of it is kept; look around:")
    for command in ("list --limit 10", f"why {result.busiest}", f"diff {result.busiest}", "verify"):
        terminal.note(f"  recrawl --home {folder} {command}")


def livingweb(
    port: Annotated[
        int, typer.Option("--port", metavar="N", min=0, max=65535, help="0 takes any free one.")
    ] = 8765,
    speed: Annotated[
        float,
        typer.Option(
            "--speed", metavar="N", min=0.001, help="How fast its time passes; 1440: a day a minute."
        ),
    ] = 1440.0,
    seed: Seed = 1,
    resources: Annotated[
        int | None, typer.Option("--resources", metavar="N", min=1, help="How much there is; else 200.")
    ] = None,
    forums: Annotated[
        bool, typer.Option("--forums", help="Serve three small forums instead, with threads and boards.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Serve a small living web to try things on.

    Runs until Ctrl-C. Its hosts are names like news.localhost. Add some of the URLs it prints with
    --allow-private.

    \b
    Example:
      recrawl livingweb --port 8765
      recrawl livingweb --forums
    """
    from recrawl.errors import BadInputError
    from recrawl.live.clock import FastClock, WallClock
    from recrawl.livingweb import forum, serve_forever, town

    if forums and resources is not None:
        raise BadInputError("The forums are as large as they are; leave out --resources, or --forums.")

    def announce(web: LivingWeb) -> None:
        urls = web.urls()
        if json:
            terminal.say_json({"port": web.port, "urls": urls})
        else:
            for url in urls:
                terminal.say(url)
        n_served = terminal.n_of(len(urls), "resource")
        terminal.note(f"Serving {n_served}; Ctrl-C ends it. In another terminal:")
        kind = " --kind thread" if forums else ""
        terminal.note(f"  recrawl add --allow-private --min-gap 5s{kind} {urls[0]}")
        sys.stdout.flush()

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C does
    clock = FastClock(start_at=WallClock().now(), speed=speed)
    with suppress(KeyboardInterrupt):
        script = forum() if forums else town(resources or 200, seed)
        served = serve_forever(script, clock, port, seed=seed, told_at=clock.wall_at, announce=announce)
        asyncio.run(served)
