"""Commands about corpora: histories of changes to replay."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recrawl.cli import options, terminal
from recrawl.cli.terminal import n_of

if TYPE_CHECKING:
    from recrawl.corpora.checking import Finding
    from recrawl.corpora.run import Imported

app = typer.Typer(invoke_without_command=True)
_GIVEN = "recrawl.importer"  # where the options of an importer wait until the command runs

Name = Annotated[str, typer.Argument(metavar="CORPUS", help="A folder with a corpus, or builtin:NAME.")]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder with a corpus.")]


class _Import(options.Command):
    """Knows the options of the importer that is chosen, and shows them in its help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        from recrawl.app.corpora import split_options

        kind = next((word for word in args if not word.startswith("-")), None)
        if kind is not None:
            given, args = split_options(kind, args)
            ctx.meta[_GIVEN] = (kind, given)
        left: list[str] = super().parse_args(ctx, args)
        return left

    def get_help(self, ctx: Any) -> str:
        from recrawl.app.corpora import importer_options

        text = super().get_help(ctx)
        kind, _ = ctx.meta.get(_GIVEN, ("", {}))
        declared = importer_options(kind) if kind else ()
        if not declared:
            return text
        names = [f"--{one.name}{_METAVARS.get(one.type, '')}" for one in declared]
        width = max(map(len, names))
        lines = [f"  {name:<{width}}  {one.help}" for name, one in zip(names, declared, strict=True)]
        return "\n".join([text, "", f"Options of {kind}:", *lines])


_METAVARS = {
    "word": " WORD",
    "words": " WORD ...",
    "count": " N",
    "number": " NUMBER",
    "moment": " MOMENT",
    "span": " SPAN",
}


@app.callback()
def corpus(ctx: typer.Context) -> None:
    """Corpora: histories of changes that policies can be replayed over.

    \b
    Begin with:
      recrawl corpus list
      recrawl corpus show builtin:wiki
      recrawl corpus import git ~/src/project corpora/project
    """
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


@app.command("import", cls=_Import)
def import_(
    ctx: typer.Context,
    kind: Annotated[str, typer.Argument(metavar="KIND", help="What it is: see `recrawl corpus list`.")],
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="A file, a folder or a URL.")],
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where the corpus is to be; must not be there yet.")
    ],
    strict: Annotated[
        bool,
        typer.Option("--strict", help="End at the first row that cannot be used, instead of skipping it."),
    ] = False,
    anew: Annotated[
        bool, typer.Option("--anew", help="Start over, instead of going on where an import was cut off.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Make a corpus of somebody's history of changes.

    Each KIND has options of its own: `recrawl corpus import KIND --help` shows them. Rows that cannot be used
    are skipped and counted; the report says why, and where the first of them are. The corpus is there when
    the import has ended, and not before; after Ctrl-C, or a kill, the same command goes on.

    \b
    Examples:
      recrawl corpus import git https://example.org/project.git corpora/project
      recrawl corpus import csv changes.csv.gz corpora/changes --strict
      recrawl corpus import mediawiki https://example.org/w/api.php corpora/articles --random 100
    """
    from recrawl.app.corpora import run_import

    _, given = ctx.meta[_GIVEN]
    try:
        with terminal.working("Reading …") as tell:
            result = run_import(kind, source, folder, given, strict=strict, anew=anew, tell=tell)
    except KeyboardInterrupt:
        terminal.note("Interrupted: the same command goes on from here; with --anew it starts over.")
        raise typer.Exit(options.INTERRUPTED) from None
    _report(result, json)


def _report(result: Imported, json: bool) -> None:
    about = result.about
    if json:
        skipped = [
            {"why": why, "rows": n, "examples": result.examples.get(why, [])}
            for why, n in result.skipped.most_common()
        ]
        terminal.say_json(
            {
                "folder": str(result.folder),
                "went_on": result.went_on,
                **{name: value for name, value in about.items() if name not in ("skipped", "left_out")},
                "skipped": skipped,
                "left_out": dict(result.left_out),
                "notes": list(result.notes),
            }
        )
        return
    if result.went_on:
        terminal.note("Went on with an import that was cut off.")
    visits = f", {n_of(about['visits'], 'visit')}" if "visits" in about else ""
    terminal.say(
        f"Imported {n_of(about['resources'], 'resource')} with {n_of(about['events'], 'version')}{visits} "
        f"into {result.folder}."
    )
    for why, n in result.left_out.most_common():
        terminal.say(f"Left out {n:,}: {why}.")
    for why, n in result.skipped.most_common():
        shown = result.examples.get(why, [])
        where = f" ({', '.join(shown)}{', …' if n > len(shown) else ''})" if shown else ""
        terminal.say(f"Skipped {n:,}: {why}{where}.")
    for text in result.notes:
        terminal.note(text)


@app.command("show", cls=options.Command)
def show(name: Name, json: options.Json = False) -> None:
    """Show what a corpus holds.

    Changes are counted as the simulator sees them: of several versions of one moment the last one stands, and
    a version that repeats the one before it is no change.

    \b
    Examples:
      recrawl corpus show corpora/project
      recrawl corpus show builtin:wiki --json
    """
    from recrawl.app.corpora import document, holding
    from recrawl.app.quantity import iso, short
    from recrawl.corpora.opened import opened

    with terminal.working("Reading …") as tell:
        found = opened(name)
        held = holding(found, lambda n: tell(f"Reading … {n_of(n, 'resource')}"))
    about = found.about
    if json:
        terminal.say_json({"corpus": name, **document(about, held)})
        return
    shares = ", ".join(f"{share} {n:,}" for share, n in held.changes.items())
    looked = "every change is known" if about.observation == "every-change" else "known where it was visited"
    median = "-" if held.median_interval_s != held.median_interval_s else short(held.median_interval_s)
    terminal.say_fields(
        [
            ("corpus", f"{about.name}: {about.title}" if about.title else about.name),
            ("kind", about.kind),
            ("observation", f"{about.observation} ({looked})"),
            ("span", f"{iso(about.start_at)} to {iso(about.end_at)} ({about.days:,.0f} days)"),
            ("resolution", short(about.resolution_s)),
            ("resources", f"{held.n_resources:,} on {n_of(held.n_hosts, 'host')}"),
            ("changes", f"{held.n_changes:,}; {n_of(held.n_unchanging, 'resource')} without any"),
            ("changes each", f"mean {held.mean_changes:,.1f}, {shares}"),
            ("interval", f"median {median} from a version to the next"),
            ("licence", about.licence or None),
            ("source", about.source or None),
        ]
    )
    for why, n in held.skipped.items():
        terminal.say(f"Skipped {n:,}: {why}.")


@app.command("check", cls=options.Command)
def check(
    folder: Folder,
    strict: Annotated[
        bool, typer.Option("--strict", help="End at the first fault, with its file and row.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Check that a corpus is what the format says.

    Faults are what the format forbids: whoever reads the corpus skips such rows. Remarks are allowed.
    The exit code is 1 if there are faults, and 2 if the corpus cannot be read at all.

    \b
    Examples:
      recrawl corpus check corpora/project
      recrawl corpus check corpora/project --strict
    """
    from recrawl.corpora.checking import check as checked

    with terminal.working("Checking …") as tell:
        result = checked(folder, strict=strict, told=lambda n: tell(f"Checking … {n_of(n, 'row')}"))
    if json:
        terminal.say_json(
            {
                "resources": result.n_resources,
                "events": result.n_events,
                "visits": result.n_visits,
                "faults": [_finding(found) for found in result.faults],
                "remarks": [_finding(found) for found in result.remarks],
            }
        )
    else:
        visits = f", {n_of(result.n_visits, 'visit')}" if result.about.observation == "visits" else ""
        terminal.say(f"{n_of(result.n_resources, 'resource')}, {n_of(result.n_events, 'version')}{visits}.")
        for kind, findings in (("Fault", result.faults), ("Remark", result.remarks)):
            for found in findings:
                rows = f"{n_of(found.n, 'row')}, first {found.row:,}" if found.row else f"{found.n:,}"
                terminal.say(f"{kind}: {found.file}: {found.why} ({rows}).")
        if not result.faults:
            terminal.say("No faults.")
    if result.faults:
        raise typer.Exit(1)


def _finding(found: Finding) -> dict[str, object]:
    return {"file": found.file, "why": found.why, "n": found.n, "row": found.row or None}


@app.command("list", cls=options.Command)
def list_(json: options.Json = False) -> None:
    """List the corpora that are built in, and what can be imported.

    \b
    Examples:
      recrawl corpus list
      recrawl corpus list --json
    """
    from recrawl import registry
    from recrawl.corpora.builtin import BUILTIN
    from recrawl.corpora.opened import PREFIX

    built_in = {f"{PREFIX}{name}": title for name, title in BUILTIN.items()}
    importers: dict[str, Any] = {
        name: registry.part("importers", name) for name in registry.names("importers")
    }
    if json:
        terminal.say_json(
            {
                "corpora": [{"name": name, "title": title} for name, title in built_in.items()],
                "importers": [
                    {
                        "name": name,
                        "summary": part.summary,
                        "options": [
                            {"name": f"--{one.name}", "type": one.type, "help": one.help}
                            for one in part.options
                        ],
                    }
                    for name, part in importers.items()
                ],
            }
        )
        return
    rows = [("corpus", name, title) for name, title in built_in.items()]
    rows += [("importer", name, part.summary) for name, part in importers.items()]
    terminal.say_table(("what", "name", "about"), rows)
