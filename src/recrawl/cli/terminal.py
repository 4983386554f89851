"""What is printed and where: data on standard output, talk on standard error."""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

# What a page or a server says must not be able to move the cursor or rename the window.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def printable(text: str) -> str:
    """Text with every control character but tab and newline made visible."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


def say(text: str) -> None:
    """A line of data."""
    sys.stdout.write(printable(text) + "\n")


def note(text: str) -> None:
    """A line of talk."""
    sys.stderr.write(printable(text) + "\n")


def say_json(document: Any) -> None:
    """One JSON document for people and programs."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def say_json_line(document: Any) -> None:
    """One line of a stream, written out at once: whoever reads it knows that it has happened."""
    sys.stdout.write(json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n")
    sys.stdout.flush()


def say_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table on a terminal; tab-separated lines without a head where a program reads."""
    cells = [[printable("" if value is None else str(value)) for value in row] for row in rows]
    if not sys.stdout.isatty():
        for row in cells:
            sys.stdout.write("\t".join(cell.replace("\t", " ").replace("\n", " ") for cell in row) + "\n")
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in columns:
        # the first column and the last give way; what lies between is short, and useless when it is cut
        table.add_column(name, overflow="fold", no_wrap=name not in (columns[0], columns[-1]))
    for row in cells:
        table.add_row(*map(Text, row))
    Console().print(table)


def say_fields(fields: Iterable[tuple[str, object]]) -> None:
    """Names and values, one pair a line."""
    pairs = [(name, "-" if value is None else str(value)) for name, value in fields]
    width = max((len(name) for name, _ in pairs), default=0)
    for name, value in pairs:
        say(f"{name:<{width}}  {value}")


def n_of(n: int, noun: str) -> str:
    """
    >>> n_of(1, "visit"), n_of(2000, "visit")
    ('1 visit', '2,000 visits')
    """
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def say_count(did: str, n: int, json: bool) -> None:
    """How many resources something was done to."""
    if json:
        say_json({did.lower(): n})
    else:
        say(f"{did} {n:,}.")


@contextmanager
def interruptible() -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """Ctrl-C is a KeyboardInterrupt, wherever it comes, also within asyncio, where it would else wait for the
    next pause. Within a `with` of what is given here it waits for that to end."""
    whole = asked = False

    def interrupt(*_: object) -> None:
        nonlocal asked
        asked = True
        if not whole:
            raise KeyboardInterrupt

    @contextmanager
    def uninterrupted() -> Iterator[None]:
        nonlocal whole
        whole = True
        yield
        whole = False
        if asked:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield uninterrupted
    finally:
        signal.signal(signal.SIGINT, before)


@contextmanager
def working(text: str) -> Iterator[Callable[[str], None]]:
    """A line on a terminal that says what is going on, and can be told more."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner
    from rich.text import Text

    spinner = Spinner("dots", Text(text))
    # Rich would otherwise take standard output over too, and data would land on the terminal.
    with Live(
        spinner,
        console=Console(stderr=True),
        transient=True,
        refresh_per_second=8,
        redirect_stdout=False,
        redirect_stderr=False,
    ):
        yield lambda more: spinner.update(text=Text(printable(more)))


def secrets(named: Sequence[str], *, stdin: bool) -> list[str]:
    """These, typed without being shown, or from standard input, one line each."""
    return _lines(named) if stdin else _typed(named)


def _lines(named: Sequence[str]) -> list[str]:
    from recrawl.errors import BadInputError

    lines = [line.removesuffix("\r") for line in sys.stdin.read().removesuffix("\n").split("\n")]
    if len(lines) != len(named):
        raise BadInputError(
            f"Standard input has {len(lines)} lines; give {len(named)}, in this order: {', '.join(named)}."
        )
    return lines


def _typed(named: Sequence[str]) -> list[str]:
    from getpass import getpass

    from recrawl.errors import BadInputError

    if not sys.stdin.isatty():
        raise BadInputError("There is no terminal to ask at; use --stdin and give one line for each secret.")
    # getpass falls silent before it asks; typer asks first, and what is typed at once would be shown
    return [getpass(f"{what[0].upper()}{what[1:]}: ") for what in named]
