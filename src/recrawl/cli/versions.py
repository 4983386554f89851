"""Commands about what is kept."""

from __future__ import annotations

import base64
import re
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recrawl.cli import options, terminal

if TYPE_CHECKING:
    from rich.text import Text as RichText


_MARKED = re.compile(r"(\[-.+?-\]|\{\+.+?\+\})")
_STYLES = {"+": "green", "-": "red", "@": "cyan", "−": "red"}


def show(
    url: options.Url,
    at: Annotated[
        str | None,
        typer.Option(
            "--at", metavar="TIME|vN", help="The version in force then, or version N; else the newest."
        ),
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="The text that a reader sees.")] = False,
    evidence: Annotated[
        bool,
        typer.Option("--evidence", help="Also what is no version: cut short, unreadable, a login page …"),
    ] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Print a kept version, byte by byte, or as text.

    The exit code is 1 if there is nothing for that time: before the first copy, or while it was gone. Times
    are 2026-01-31T12:00 or 20260131120000, in UTC; 2026, 2026-01 and 2026-01-31 mean their beginning. A time
    as `recrawl history` shows it finds what came in that second. v1 is the first version; numbers also name
    what is evidence only. With --json the document has the version's facts and its text, or base64 where it
    is no text.

    \b
    Examples:
      recrawl show https://example.org/ > page.html
      recrawl show https://example.org/ --at 2026-01-31 --text
      recrawl show https://example.org/ --at v1
      recrawl show https://example.org/ --evidence --json
    """
    from recrawl.app import versions
    from recrawl.app.quantity import iso
    from recrawl.app.rows import erased_words, version_row
    from recrawl.app.watchlist import watched
    from recrawl.errors import BadInputError
    from recrawl.model import pieces

    with options.opened(home, reading=True) as house:
        resource = watched(house.store, url)
        version = versions.shown(house.store, resource, at, evidence=evidence)
        if version is None or version.gone:
            early = f"there is no copy as early as {at}" if at else "there is no copy yet"
            if (erasure := next(iter(house.store.erasures(resource.url)), None)) is not None:
                early = erased_words(erasure)
            gone = f"it was gone ({iso(version.at)})" if version else early
            terminal.note(f"Nothing of {resource.url} to show: {gone}.")
            raise typer.Exit(1)
        snapshot = house.archive.snapshot(version)
    if version.flag:
        terminal.note(f"Kept as evidence only ({version.flag}): it is no version of the resource.")
    readable = versions.text(snapshot) if text or json or sys.stdout.isatty() else None
    if json:
        if readable is None and len(snapshot.body) > versions.MOST_BYTES:
            raise BadInputError(
                f"{terminal.n_of(len(snapshot.body), 'byte')} are too many for a JSON document; leave --json "
                "out, and send them to a file with >."
            )
        body = (
            {"base64": base64.b64encode(bytes(snapshot.body)).decode()}
            if readable is None
            else {"text": readable}
        )
        terminal.say_json({**version_row(version, resource.url), **body})
    elif text or sys.stdout.isatty():
        if readable is None:
            raise BadInputError(
                f"{resource.url} is no text ({version.media_type}); send its bytes to a file with >."
            )
        # A page could take a terminal over with what it holds: bytes go to files and pipes only.
        terminal.say(readable if text else versions.characters(snapshot))
    else:
        sys.stdout.buffer.writelines(pieces(snapshot.body))


def diff(
    url: options.Url,
    from_: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME|vN", help="The earlier version; else the last but one."),
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="TIME|vN", help="The later version; else the newest.")
    ] = None,
    words: Annotated[
        bool | None,
        typer.Option(
            "--words/--lines",
            help="Mark words, as [-gone-] and {+new+}, or whole lines; on a terminal words, else lines.",
            show_default=False,
        ),
    ] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="All of the text, also what is masked, ignored or not included.")
    ] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """What differs between two versions.

    Of pages what differs in the text that counts: what is masked or ignored is left out. Of data what they
    say differently: values, rows, statements, entries. Of other things a plain statement. As with diff(1),
    the exit code is 0 if nothing differs and 1 if something does. Versions are named as for `recrawl show`.

    \b
    Examples:
      recrawl diff https://example.org/
      recrawl diff https://example.org/ --from v1 --to 2026-01-31 --words
      recrawl diff https://example.org/ --raw --lines
    """
    from recrawl.app import versions
    from recrawl.app.rows import erased_words, version_row
    from recrawl.app.watchlist import watched
    from recrawl.detect.noise import lens
    from recrawl.errors import BadInputError

    with options.opened(home, reading=True) as house:
        resource = watched(house.store, url)
        found = versions.history(house.store, resource)
        if not found and (erasure := next(iter(house.store.erasures(resource.url)), None)) is not None:
            raise BadInputError(f"Nothing of {resource.url} to compare: {erased_words(erasure)}.")
        if not found:
            raise BadInputError(
                f"There is no copy of {resource.url} yet; get one with `recrawl visit {resource.url}`."
            )
        after = found[-1] if to is None else versions.named(found, to)
        earlier = [version for version in found if version.seq < after.seq]
        if from_ is None and not earlier:
            until = f" up to {to}" if to else ""
            terminal.note(f"There is only one version of {resource.url}{until}: nothing differs.")
        before = versions.named(found, from_) if from_ else earlier[-1] if earlier else after
        result = versions.difference(
            house.archive,
            before,
            after,
            by_words=words if words is not None else sys.stdout.isatty() and not json,
            lens=lens(resource.effective.manner, house.store.standing(resource.id)[0].noise),
            raw=raw,
            detectors=house.detectors,
        )
    if json:
        terminal.say_json(
            {
                "differs": result.differs,
                "from": version_row(before, resource.url),
                "to": version_row(after, resource.url),
                "lines": result.lines,
                "remark": result.remark,
            }
        )
    elif result.lines:
        _print_lines(result.lines)
    elif earlier or from_:
        terminal.say(result.remark)
    if result.differs:
        raise typer.Exit(1)


def _print_lines(lines: Any) -> None:
    if not sys.stdout.isatty():
        for line in lines:
            terminal.say(line)
        return
    from rich.console import Console

    console = Console(highlight=False)
    for line in lines:
        console.print(_coloured(terminal.printable(line), marks=console.color_system is None), soft_wrap=True)


def _coloured(line: str, *, marks: bool) -> RichText:
    """A line in colours; the words that came and went without their marks, unless there are no colours."""
    from rich.text import Text

    pieces = _MARKED.split(line)
    if len(pieces) == 1:
        return Text(line, _STYLES.get(line[:1], ""))
    shown = Text()
    for piece in pieces:
        style = {"[-": "red strike", "{+": "green bold"}.get(
            piece[:2] if _MARKED.fullmatch(piece) else "", ""
        )
        shown.append(piece[2:-2] if style and not marks else piece, style)
    return shown


def verify(home: options.Home = None, json: options.Json = False) -> None:
    """Read everything kept and list what is damaged.

    The whole store and every byte of the archive. What a crash left half written is cut off first. The exit
    code is 1 if anything is damaged.

    \b
    Example:
      recrawl verify
    """
    from recrawl.app import health

    with options.opened(home, reading=True) as house, terminal.working("Verifying …") as tell:
        problems = list(health.verify(house, lambda n: tell(f"Verifying … {n:,} versions so far")))
        n_versions = house.store.counts(house.clock.now())["versions"]
        mended = list(house.recovered)
    for line in mended:
        terminal.note(f"Mended after a crash: {line}")
    if json:
        listed = [{"where": problem.where, "what": problem.what} for problem in problems]
        terminal.say_json({"versions": n_versions, "problems": listed, "mended": mended})
    else:
        for problem in problems:
            terminal.say(f"{problem.where}: {problem.what}")
        n_problems = terminal.n_of(len(problems), "problem")
        terminal.note(f"{terminal.n_of(n_versions, 'version')} read, {n_problems} found.")
    if problems:
        raise typer.Exit(1)
