"""Taking along what is kept."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import typer

from recrawl.cli import options, places, terminal

if TYPE_CHECKING:
    from recrawl.app.build import House
    from recrawl.app.collection import Wanted
    from recrawl.app.rows import Row

_TOLD_EVERY = 1_000  # rows


class What(StrEnum):
    RESOURCES = "resources"
    VISITS = "visits"
    VERSIONS = "versions"
    WARC = "warc"
    WACZ = "wacz"


class Format(StrEnum):
    CSV = "csv"
    JSON = "json"
    JSONL = "jsonl"
    PARQUET = "parquet"


def export(
    what: Annotated[What, typer.Argument(metavar="WHAT", help="What to take along.")],
    to: Annotated[
        Path | None,
        typer.Argument(
            metavar="PATH", help="A file, else standard output; for warc a new folder.", show_default=False
        ),
    ] = None,
    format_: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="Of the rows: csv, json (one document), jsonl (one a line) or parquet; else as the file's "
            "name ends, else csv.",
            show_default=False,
        ),
    ] = None,
    url: Annotated[
        list[str] | None,
        typer.Option("--url", metavar="URL", help="warc, wacz: only this one; may stand several times."),
    ] = None,
    tag: Annotated[
        str | None, typer.Option("--tag", metavar="TAG", help="warc, wacz: only those with this tag.")
    ] = None,
    since: Annotated[
        str | None, typer.Option("--since", metavar="TIME", help="warc, wacz: only what came then or later.")
    ] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="warc, wacz: only what came before that.")
    ] = None,
    home: options.Home = None,
    json: Annotated[
        bool,
        typer.Option(
            "--json", help="As --format jsonl: JSON lines. For warc and wacz, a JSON document of counts."
        ),
    ] = False,
) -> None:
    """Take rows, WARC files or a WACZ along.

    Resources, visits or versions as rows; or everything kept as WARC files with a CDXJ index; or all that in
    one WACZ file, which browsers' replay tools open. In CSV a cell that a spreadsheet would run as a formula
    gets a leading apostrophe. Parquet has typed columns and needs `pip install 'recrawl[parquet]'`. A run may
    go on meanwhile.

    Of warc and wacz a part can be taken: by URL, by tag, by time. What a revisit in it repeats comes along,
    however old it is.

    \b
    Examples:
      recrawl export visits visits.csv
      recrawl export visits visits.parquet
      recrawl export versions --format jsonl
      recrawl export warc copy/
      recrawl export wacz all.wacz
      recrawl export wacz spring.wacz --tag law --since 2026-03 --until 2026-06
    """
    from recrawl.errors import BadInputError

    wanted = _wanted(url, tag, since, until)
    if what not in (What.WARC, What.WACZ):
        places.writable(to)
        format_ = Format.JSONL if json else format_ or _by_name(to)
    with options.opened(home, reading=True) as house, terminal.working("Exporting …") as tell:
        if what in (What.WARC, What.WACZ):
            if to is None:
                place, example = ("folder", "copy/") if what is What.WARC else ("file", "all.wacz")
                raise BadInputError(f"Name a {place} for it, as in `recrawl export {what} {example}`.")
            with house.archive.recording():  # meanwhile no file is exchanged for another
                _export_archive(house, what, to, wanted, tell, json)
            return
        if not wanted.everything:
            raise BadInputError(
                "--url, --tag, --since and --until choose among WARC records; use them with warc or wacz."
            )
        n = _export_rows(house, what, to, format_ or Format.CSV, tell)
        if to is not None:
            terminal.note(f"Wrote {terminal.n_of(n, what.removesuffix('s'))} to {to}.")


def _by_name(to: Path | None) -> Format:
    from recrawl.errors import BadInputError

    ending = to.suffix.removeprefix(".").lower() if to else ""
    if not ending:
        return Format.CSV
    if ending not in list(Format):  # else a spreadsheet by its name would be none inside
        known = ", ".join(f".{one}" for one in Format)
        raise BadInputError(
            f"Rows are not written as .{ending}; end the name in one of {known}, or say --format. "
            "Spreadsheets open .csv."
        )
    return Format(ending)


def _export_rows(
    house: House, what: What, to: Path | None, format_: Format, tell: Callable[[str], None]
) -> int:
    from recrawl.app import export as exports
    from recrawl.app import parquet
    from recrawl.app.quantity import iso
    from recrawl.errors import BadInputError

    if format_ is Format.PARQUET:
        parquet.require()
    columns = exports.COLUMNS[what]
    instant = parquet.moment if format_ is Format.PARQUET else iso
    rows = _counted(exports.TABLES[what](house.store, instant), tell)

    def write(out: IO[bytes]) -> int:
        if format_ is Format.PARQUET:
            return parquet.write(rows, out, columns)
        text = io.TextIOWrapper(out, encoding="utf-8", newline="")
        try:
            if format_ is Format.CSV:
                return exports.write_csv(rows, text, columns)
            return (exports.write_json if format_ is Format.JSON else exports.write_jsonl)(rows, text)
        finally:
            text.flush()
            text.detach()

    if to is None:
        if format_ is Format.PARQUET and sys.stdout.isatty():
            raise BadInputError("Parquet is nothing for a terminal; name a file, or send it there with >.")
        return write(sys.stdout.buffer)
    try:
        with to.open("wb") as out:
            return write(out)
    except OSError as problem:
        raise BadInputError(f"{to} cannot be written ({problem.strerror}); choose another path.") from None


def _wanted(url: list[str] | None, tag: str | None, since: str | None, until: str | None) -> Wanted:
    from recrawl.app.collection import Wanted
    from recrawl.app.names import checked_tags
    from recrawl.app.quantity import instant, stamp
    from recrawl.errors import BadInputError

    if tag is not None:
        checked_tags([tag])
    moments = {name: stamp(instant(said)) for name, said in (("since", since), ("until", until)) if said}
    wanted = Wanted(urls=tuple(url or ()), tag=tag, **moments)
    if wanted.since >= wanted.until:
        raise BadInputError(f"Nothing lies between {since} and {until}; swap or change them.")
    return wanted


def _export_archive(
    house: House, what: What, to: Path, wanted: Wanted, tell: Callable[[str], None], json: bool
) -> None:
    from recrawl.app import collection

    if what is What.WARC:
        copied = collection.write_warc(house.store, house.archive, wanted, to, tell=tell)
        row = {"files": copied.n_files, "bytes": copied.n_bytes, "records": copied.n_records}
    else:
        packed = collection.write_wacz(
            house.store, house.archive, wanted, to, now=house.clock.now(), tell=tell
        )
        row = {"files": packed.n_files, "bytes": packed.n_bytes, "records": packed.n_records}
        row["pages"] = packed.n_pages
    if json:
        terminal.say_json(row)
    else:
        n_files, n_bytes = terminal.n_of(row["files"], "file"), terminal.n_of(row["bytes"], "byte")
        terminal.note(f"Copied {n_files} ({n_bytes}) to {to}.")


def _counted(rows: Iterator[Row], tell: Callable[[str], None]) -> Iterator[Row]:
    for n, row in enumerate(rows, 1):
        if n % _TOLD_EVERY == 0:
            tell(f"Exporting … {n:,} rows so far")
        yield row
