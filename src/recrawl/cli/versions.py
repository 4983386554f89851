"""Commands about what is kept."""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from recrawl.cli import options, terminal

if TYPE_CHECKING:
    from recrawl.app.rows import Row
    from recrawl.model import Version

_TOLD_EVERY = 1_000  # rows


def show(
    url: options.Url,
    at: Annotated[
        str | None,
        typer.Option(
            "--at", metavar="TIME|vN", help="The version in force then, or version N; else the newest."
        ),
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="The text that a reader sees.")] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Print a kept version, byte by byte, or as text.

    The exit code is 1 if there is nothing for that time: before the first copy, or while it was gone. Times
    are 2026-01-31T12:00 or 20260131120000, in UTC; 2026, 2026-01 and 2026-01-31 mean their beginning. v1 is
    the first version. With --json the document has the version's facts and its text, or base64 where it is no
    text.

    \b
    Examples:
      recrawl show https://example.org/ > page.html
      recrawl show https://example.org/ --at 2026-01-31 --text
      recrawl show https://example.org/ --at v1
    """
    from recrawl.app import versions
    from recrawl.app.quantity import iso
    from recrawl.app.rows import version_row
    from recrawl.app.watchlist import watched
    from recrawl.errors import BadInputError
    from recrawl.model import pieces

    with options.opened(home, reading=True) as house:
        resource = watched(house.store, url)
        version = _at(versions.history(house.store, resource), at)
        if version is None or version.gone:
            early = f"there is no copy as early as {at}" if at else "there is no copy yet"
            gone = f"it was gone ({iso(version.at)})" if version else early
            terminal.note(f"Nothing of {resource.url} to show: {gone}.")
            raise typer.Exit(1)
        snapshot = house.archive.snapshot(version)
    readable = versions.text(snapshot) if text or json or sys.stdout.isatty() else None
    if json:
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


def _at(found: list[Version], at: str | None) -> Version | None:
    from recrawl.app import versions

    if at is None:
        return found[-1] if found else None
    if versions.number(at) is not None:
        return versions.named(found, at)
    return versions.in_force(found, versions.moment(at))


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
        bool, typer.Option("--words", help="Mark words, as [-gone-] and {+new+}, instead of lines.")
    ] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """What differs between two versions.

    Of the text where there is text, else a plain statement. As with diff(1), the exit code is 0 if
    nothing differs and 1 if something does. Versions are named as for `recrawl show`.

    \b
    Examples:
      recrawl diff https://example.org/
      recrawl diff https://example.org/ --from v1 --to 2026-01-31 --words
    """
    from recrawl.app import versions
    from recrawl.app.rows import version_row
    from recrawl.app.watchlist import watched
    from recrawl.errors import BadInputError

    with options.opened(home, reading=True) as house:
        resource = watched(house.store, url)
        found = versions.history(house.store, resource)
        if not found:
            raise BadInputError(
                f"There is no copy of {resource.url} yet; get one with `recrawl visit {resource.url}`."
            )
        after = found[-1] if to is None else versions.named(found, to)
        earlier = [version for version in found if version.seq < after.seq]
        if from_ is None and not earlier:
            terminal.note(f"There is only one version of {resource.url} up to then: nothing differs.")
        before = versions.named(found, from_) if from_ else earlier[-1] if earlier else after
        result = versions.difference(house.archive, before, after, by_words=words)
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
    from rich.text import Text

    console = Console(highlight=False)
    styles = {"+": "green", "-": "red", "@": "cyan"}
    for line in lines:
        console.print(Text(terminal.printable(line), styles.get(line[:1], "")), soft_wrap=True)


class What(StrEnum):
    RESOURCES = "resources"
    VISITS = "visits"
    VERSIONS = "versions"
    WARC = "warc"


class Format(StrEnum):
    CSV = "csv"
    JSONL = "jsonl"


def export(
    what: Annotated[What, typer.Argument(metavar="WHAT", help="What to take along.")],
    to: Annotated[
        Path | None,
        typer.Argument(
            metavar="PATH", help="A file, else standard output; for warc a new folder.", show_default=False
        ),
    ] = None,
    format_: Annotated[Format, typer.Option("--format", help="Of the rows.")] = Format.CSV,
    home: options.Home = None,
    json: Annotated[
        bool,
        typer.Option("--json", help="As --format jsonl: JSON lines. For warc, a JSON document of counts."),
    ] = False,
) -> None:
    """Take rows or WARC files along.

    Resources, visits or versions as rows, or everything kept as WARC files with a CDXJ index. In CSV
    a cell that a spreadsheet would run as a formula gets a leading apostrophe.

    \b
    Examples:
      recrawl export visits visits.csv
      recrawl export versions --format jsonl
      recrawl export warc copy/
    """
    from recrawl.app import export as exports
    from recrawl.app.build import ARCHIVE_FOLDER
    from recrawl.errors import BadInputError

    with options.opened(home, reading=True) as house, terminal.working("Exporting …") as tell:
        if what is What.WARC:
            if to is None:
                raise BadInputError(
                    "WARC files need a folder to go to; give one, as in `recrawl export warc copy/`."
                )
            files = house.store.files()
            copied = exports.copy_warc(
                house.home / ARCHIVE_FOLDER,
                files,
                to,
                lambda n: tell(f"Copying … file {n:,} of {len(files):,}"),
            )
            row = {"files": copied.n_files, "bytes": copied.n_bytes, "records": copied.n_records}
            if json:
                terminal.say_json(row)
            else:
                n_files = terminal.n_of(copied.n_files, "file")
                terminal.note(f"Copied {n_files} ({terminal.n_of(copied.n_bytes, 'byte')}) to {to}.")
            return
        rows = _counted(exports.TABLES[what](house.store), tell)

        def write(out: IO[str]) -> int:
            if json or format_ is Format.JSONL:
                return exports.write_jsonl(rows, out)
            return exports.write_csv(rows, out, exports.COLUMNS[what])

        if to is None:
            write(sys.stdout)
            return
        try:
            with to.open("w", encoding="utf-8", newline="") as out:
                n = write(out)
        except OSError as problem:
            raise BadInputError(
                f"{to} cannot be written ({problem.strerror}); choose another path."
            ) from None
        terminal.note(f"Wrote {terminal.n_of(n, what.removesuffix('s'))} to {to}.")


def _counted(rows: Iterator[Row], tell: Callable[[str], None]) -> Iterator[Row]:
    for n, row in enumerate(rows, 1):
        if n % _TOLD_EVERY == 0:
            tell(f"Exporting … {n:,} rows so far")
        yield row


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
