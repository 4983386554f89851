"""What the commands that replay histories share: how they tell what came of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import typer

from recrawl.cli import terminal
from recrawl.cli.replaying import command_line, say_figures, write_page

if TYPE_CHECKING:
    from recrawl.evaluate.report.figures import Report


class Result(Protocol):
    @property
    def notes(self) -> Sequence[str]: ...

    def document(self) -> dict[str, Any]: ...


R = TypeVar("R", bound=Result)
Shown = tuple[Sequence[str], Sequence[Sequence[str]]]  # columns and rows


def tell(
    ctx: typer.Context,
    result: R,
    *,
    page_of: Callable[[R, str], Report],
    tables: Sequence[tuple[Callable[[R], Shown], int]],
    summary: Callable[[R], Sequence[str]] = lambda _: (),
    html: Path | None,
    json: bool,
) -> None:
    """As a page, and as JSON or in tables, of which so many columns from the left hold words."""
    if html:
        write_page(html, page_of(result, command_line(ctx)))
    if json:
        terminal.say_json(result.document())
        return
    from recrawl.evaluate.report.table import titled

    for line in result.notes:
        terminal.note(line)
    for i, (table, n_words) in enumerate(tables):
        if i:
            terminal.say("")
        columns, rows = table(result)
        say_figures(titled(columns), rows, n_words)
    for line in summary(result):
        terminal.note(line)
