"""What the commands that replay histories share."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import terminal

if TYPE_CHECKING:
    from recrawl.evaluate.report.figures import Report

CorpusName = Annotated[
    str, typer.Option("--corpus", metavar="CORPUS", help="A folder with a corpus, or builtin:NAME.")
]
Policies = Annotated[
    str,
    typer.Option(
        "--policy", metavar="A,B,…", help="Which to replay, with commas between them; `all` adds all."
    ),
]
MinGap = Annotated[
    str, typer.Option("--min-gap", metavar="SPAN", help="No policy looks again sooner, such as 6h.")
]
MaxGap = Annotated[
    str, typer.Option("--max-gap", metavar="SPAN", help="Every policy has looked again by then, such as 26w.")
]
Draws = Annotated[
    int,
    typer.Option(
        "--draws",
        metavar="N",
        min=1,
        max=10_000,
        help="How many random windows and phases; fewer are faster, less sure.",
    ),
]
Days = Annotated[
    float | None, typer.Option("--days", metavar="N", help="How long to replay.", show_default=False)
]
Years = Annotated[
    float | None,
    typer.Option("--years", metavar="N", help="The same in years of 365 days.", show_default=False),
]
Changes = Annotated[
    str,
    typer.Option(
        "--changes",
        metavar="WHICH",
        help="What counts as a change: any, or significant (of words; the corpus must keep contents).",
    ),
]
Goal = Annotated[
    str, typer.Option("--goal", metavar="GOAL", help="fresh, fresh-harmonic, capture or prompt.")
]
Predictor = Annotated[
    str | None,
    typer.Option(
        "--predictor", metavar="NAME", help="What `index` forecasts with; else rhythm.", show_default=False
    ),
]
Seed = Annotated[
    int,
    typer.Option("--seed", metavar="N", min=0, help="Of the random choices: the same one, the same result."),
]
Cores = Annotated[
    int | None,
    typer.Option("--cores", metavar="N", min=1, help="How many to use; else all.", show_default=False),
]
Html = Annotated[
    Path | None,
    typer.Option(
        "--html",
        metavar="FILE",
        help="Write a report there: one page that needs no network.",
        show_default=False,
    ),
]


def say_figures(columns: Sequence[str], rows: Sequence[Sequence[str]], n_words: int) -> None:
    """A table of figures: flush right, but for the first `n_words` columns, and never broken."""
    if not sys.stdout.isatty():
        terminal.say_table(columns, rows)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for i, name in enumerate(columns):
        table.add_column(name, justify="left" if i < n_words else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(Text(terminal.printable(cell)) for cell in row))
    Console().print(table, crop=False, no_wrap=True)


def gaps(min_gap: str, max_gap: str) -> tuple[float, float]:
    from recrawl.app.quantity import seconds
    from recrawl.errors import BadSettingError

    min_gap_s, max_gap_s = seconds(min_gap), seconds(max_gap)
    if min_gap_s <= 0.0:
        raise BadSettingError("A gap must be longer than nothing; write it as 30m, 6h or 2d.")
    if min_gap_s > max_gap_s:
        raise BadSettingError(f"--min-gap {min_gap} is longer than --max-gap {max_gap}; give both.")
    return min_gap_s, max_gap_s


def window_days(days: float | None, years: float | None, usual_years: float) -> float:
    from recrawl.errors import BadInputError

    if days is not None and years is not None:
        raise BadInputError("--days and --years say the same twice; give one of them.")
    found = days if days is not None else 365.0 * (usual_years if years is None else years)
    if not isfinite(found):  # no corpus is so long, and JSON has no word for it
        raise BadInputError(
            f"A window needs a length, and {found:g} days are none; ask for one such as --years 3."
        )
    return found


@contextmanager
def progressing(text: str) -> Iterator[Callable[[float, str], None]]:
    """A bar on a terminal; it is told the share that is done, and what is being done."""
    with terminal.working(f"{text} …") as more:
        yield lambda share, what: more(f"{text} {_bar(share)} {what}")


def short(corpus: str) -> str:
    """A corpus's name where there is little room."""
    return Path(corpus).name or corpus


def _bar(share: float, width: int = 20) -> str:
    full = round(width * min(max(share, 0.0), 1.0))
    return f"{'━' * full}{'╌' * (width - full)} {share:4.0%}"


def write_page(path: Path, report: Report) -> None:
    from recrawl.evaluate.report.page import page

    path.write_text(page(report), encoding="utf-8")
    terminal.note(f"The report is in {path}.")


def command_line(ctx: typer.Context) -> str:
    """What was typed, so that it can be typed again."""
    words = ctx.command_path.split()
    for option in ctx.command.params:
        said = ctx.get_parameter_source(option.name or "")
        if said is not None and said.name == "COMMANDLINE":
            value = ctx.params[option.name or ""]
            words += [option.opts[0]] if isinstance(value, bool) else [option.opts[0], str(value)]
    return shlex.join(words)
