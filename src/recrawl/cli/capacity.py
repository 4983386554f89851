"""The command that tells how long a round takes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recrawl.cli import options, terminal

if TYPE_CHECKING:
    from recrawl.app.ledger import Sized


def capacity(
    urls: Annotated[
        list[str] | None, typer.Argument(metavar="URL", help="Watched or not.", show_default=False)
    ] = None,
    tag: options.Tag = None,
    host: options.Host = None,
    everything: Annotated[bool, typer.Option("--all", help="All that is watched and not paused.")] = False,
    file: Annotated[
        Path | None,
        typer.Option("--file", metavar="FILE", help="One URL a line, watched or not; - is standard input."),
    ] = None,
    within: Annotated[
        str | None, typer.Option("--within", metavar="SPAN", help="How many workers end it within this time?")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            "--workers", metavar="N", min=1, max=4096, help="Fetches at once; else fetching.concurrency."
        ),
    ] = None,
    method: Annotated[
        str,
        typer.Option(
            "--method", metavar="NAME", help="ours, or paper: the formulas of Umbrich et al. (2015)."
        ),
    ] = "ours",
    past: Annotated[
        bool, typer.Option("--past", help="Estimate and reality of the rounds of `run --rounds` so far.")
    ] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """How long a round would take, and what it needs.

    A round visits each of the resources once, one request at a time a host. How long visits take, and how
    long each host is left alone between them, is what was measured in earlier visits; where there were none,
    it is a guess, and that is said. Nine rounds in ten should end within the interval.

    \b
    Examples:
      recrawl capacity --all --within 1h
      recrawl capacity --tag news --workers 16
      recrawl capacity --file urls.txt --method paper
      recrawl capacity --past
    """
    from recrawl.app.capacity import capacity
    from recrawl.app.ledger import past as past_rounds
    from recrawl.app.quantity import seconds

    with options.opened(home, reading=True) as house:
        if past:
            _said_past(past_rounds(house.store), json)
            return
        within_s = None if within is None else seconds(within)
        named = _read(urls, file)
        choice = None
        if not named or tag is not None or host is not None or everything:
            choice = options.choice(named, tag, host, everything)
            options.must_reach(house, choice)
        with terminal.working("Running through the line …"):
            row = capacity(
                house, choice=choice, urls=named, within_s=within_s, n_workers=workers, method=method
            )
    if json:
        terminal.say_json(row)
    else:
        _said(row)


def _read(urls: list[str] | None, file: Path | None) -> list[str]:
    import sys

    from recrawl.app.sources import Refused, words
    from recrawl.errors import BadInputError

    named = list(urls or ())
    if file is not None:
        for item in words([str(file)], sys.stdin):
            if isinstance(item, Refused):
                raise BadInputError(f"{item.text}: {item.reason}")
            named.append(item.text)
    return named


def _said(row: dict[str, Any]) -> None:
    from recrawl.cli.terminal import n_of
    from recrawl.schedule.reason import span

    what = f"{n_of(row['urls'], 'URL')} on {n_of(row['hosts'], 'host')}"
    if not row["guessed"]:
        rests = (
            f"{n_of(row['visits_known'], 'visit')}; {row['hosts_known']:,} of {row['hosts']:,} hosts known"
        )
    else:
        delay = "a delay of 1 second" if row["method"] == "paper" else "fetching.min_delay between two"
        rests = f"nothing was ever visited: all of this is a guess, from 2 seconds a visit and {delay}"
    if row["method"] == "paper":
        terminal.say_fields(
            [
                ("round", f"{what}: {span(row['seconds'])}"),
                ("threads", f"{row['workers_needed']:,} of {row['workers']:,}"),
                (
                    "a domain",
                    f"at most {n_of(row['threads_per_domain'], 'thread')}, in {n_of(row['bins'], 'bin')}",
                ),
                ("rests on", rests),
            ]
        )
        terminal.note("The paper asks a host several times at once; recrawl does not. See --method ours.")
        return
    interval = f"nine in ten: {span(row['low_s'])} to {span(row['high_s'])}"
    if row["guessed"]:
        interval = "a guess"
    fields: list[tuple[str, object]] = [
        ("round", what),
        ("takes", f"{span(row['seconds'])} ({interval})"),
        ("workers", f"{row['workers']:,}, of which {row['in_the_air']:,.1f} are busy on average"),
    ]
    if row["within_s"] is not None:
        needed = row["workers_needed"]
        told = f"{n_of(needed, 'worker')} needed" if needed is not None else "impossible"
        fields.append(
            (
                f"in {span(row['within_s'])}",
                f"{told}; {n_of(row['urls_within'], 'URL')} with {row['workers']:,}",
            )
        )
    for slow in row["slowest"]:
        rest = f"{span(slow['rest_s'])} between them" + ("" if slow["known"] else ", a guess")
        fields.append(
            ("host", f"{slow['host']}: {span(slow['seconds'])} for {n_of(slow['urls'], 'URL')}, {rest}")
        )
    fields.append(("rests on", rests))
    fields += [("would help", said) for said in row["advice"]]
    terminal.say_fields(fields)


def _said_past(rounds: list[Sized], json: bool) -> None:
    from recrawl.app.ledger import round_row
    from recrawl.app.quantity import iso, short

    if json:
        terminal.say_json([round_row(one) for one in rounds])
    else:
        terminal.say_table(
            ["BEGAN", "DUE", "VISITS", "ESTIMATE", "INTERVAL", "TOOK", "OFF BY"],
            (
                (
                    iso(one.began_at),
                    one.n_due,
                    one.n_visits,
                    short(one.middle_s),
                    "a guess" if one.guessed else f"{short(one.low_s)} to {short(one.high_s)}",
                    short(one.took_s),
                    f"{one.error:+.0%}",
                )
                for one in rounds
            ),
        )
    if not rounds:
        terminal.note("No round was made yet; `recrawl run --rounds 1h` makes them.")
