"""The `recrawl` command."""

from __future__ import annotations

from traceback import format_exception
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from recrawl import __version__
from recrawl.cli import access, corpus, history, moves, options, settings, upkeep, versions, visits, watchlist
from recrawl.cli.backtest import backtest
from recrawl.cli.backup import backup, restore
from recrawl.cli.capacity import capacity
from recrawl.cli.classes import classes
from recrawl.cli.collect import collect
from recrawl.cli.erase import erase, prune
from recrawl.cli.evaluate import app as evaluate
from recrawl.cli.export import export
from recrawl.cli.imports import import_
from recrawl.cli.listing import list_
from recrawl.cli.making import make
from recrawl.cli.noise import noise
from recrawl.cli.notify import app as notify
from recrawl.cli.plan import plan
from recrawl.cli.relearn import relearn
from recrawl.cli.replay import replay
from recrawl.cli.report import report
from recrawl.cli.serve import serve, tokens_app
from recrawl.cli.silent import silent
from recrawl.cli.simulate import simulate
from recrawl.cli.terminal import note
from recrawl.cli.train import train
from recrawl.cli.why import why
from recrawl.errors import BadInputError, RecrawlError
from recrawl.plugin import named

BAD_INPUT = 2
TROUBLE = 3


class _Commands(TyperGroup):
    """Turns our errors into a line on standard error and an exit code."""

    def invoke(self, ctx: Any) -> Any:  # the context's class is the library's own
        try:
            with named():
                return super().invoke(ctx)
        except BrokenPipeError:
            raise  # whoever read it has had enough; that is no trouble
        except (RecrawlError, OSError, UnicodeEncodeError) as problem:
            if ctx.params.get("traceback"):
                note("".join(format_exception(problem)))
            note(_words(problem))
            raise typer.Exit(BAD_INPUT if isinstance(problem, BadInputError) else TROUBLE) from None


def _words(problem: Exception) -> str:
    if isinstance(problem, OSError):
        where = f" ({problem.filename})" if problem.filename else ""
        return f"{problem.strerror or problem}{where}; make room or choose another place."
    if isinstance(problem, UnicodeEncodeError):
        remedy = "set PYTHONIOENCODING=utf-8, or use --json."
        return f"The terminal cannot show this in {problem.encoding}; {remedy}"
    return str(problem)


app = typer.Typer(
    name="recrawl",
    cls=_Commands,
    invoke_without_command=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 done; 1 no, or something found; 2 bad input; 3 trouble with store or archive.",
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"recrawl {__version__}")
        raise typer.Exit


@app.callback()
def recrawl(
    ctx: typer.Context,
    home: options.Home = None,  # noqa: ARG001  # the commands look for it
    traceback: Annotated[  # noqa: ARG001  # whoever tells of errors looks for it
        bool, typer.Option("--traceback", help="Where something goes wrong, show all that led there.")
    ] = False,
    version: Annotated[  # noqa: ARG001  # its callback does it all
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and end.")
    ] = False,
) -> None:
    """Decides when to look again: visits web resources under a budget, judges what changed, keeps every
    version, and can say why it will look next when it will.

    \b
    Begin with:
      recrawl add https://example.org/
      recrawl run --for 10m
      recrawl status

    Data goes to standard output, talk to standard error. --home may stand before or after the command.
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


for command in (
    *(watchlist.add, list_, watchlist.remove, settings.set_, settings.pause, settings.resume),
    moves.moved,
    noise,
    *(visits.run, visits.visit, collect, history.history, why, silent),
    *(versions.show, versions.diff, export, versions.verify),
    import_,
    *(erase, prune, backup, restore, relearn),
    *(train, classes),
    replay,
    serve,
    report,
    simulate,
    capacity,
    *(plan, backtest),
    *(upkeep.status, upkeep.doctor, upkeep.config, upkeep.demo, upkeep.livingweb),
):
    app.command(command.__name__.rstrip("_"), cls=options.Command)(command)
app.add_typer(access.app, name="access")
app.add_typer(notify, name="notify")
app.add_typer(tokens_app, name="token")
app.add_typer(evaluate, name="evaluate")
corpus.app.command("make", cls=options.Command)(make)
app.add_typer(corpus.app, name="corpus")


def main() -> None:
    app(prog_name="recrawl")
