"""Commands that take versions out again."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from recrawl.cli import options, terminal
from recrawl.cli.terminal import n_of

if TYPE_CHECKING:
    from recrawl.app.build import House
    from recrawl.app.pruning import Pruned
    from recrawl.model import Version
    from recrawl.remember.retention import Retention


def erase(
    url: Annotated[str, typer.Argument(metavar="URL", help="Watched, or once watched.")],
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why; it is kept and shown.", show_default=False)
    ] = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Take all contents of a resource out for good.

    Out of the WARC files, their index, what was cut off after crashes, the shelf and the store, where every
    version becomes a tombstone without content. When and why stays, and so do the times of the visits. The
    resource is paused: only `recrawl resume` brings it back. Another resource that brought the very same
    content keeps its own copy, and is named. Backups and exports that were made before are not touched.

    It may be done while `recrawl run` goes on. One that was interrupted is finished by doing it again, or
    by the next run.

    \b
    Example:
      recrawl erase https://example.org/letter --reason "asked for by its author, 2026-03-01"
    """
    from recrawl.app import erasure
    from recrawl.app.quantity import iso
    from recrawl.app.rows import erasure_row
    from recrawl.errors import BadInputError

    with options.opened(home, new=False) as house:
        known = erasure.known_as(house, url)
        if not yes:
            if not sys.stdin.isatty():
                raise BadInputError("Nobody is there to be asked; say --yes to erase it for good.")
            which = known if house.store.find(known) else f"{known} (which is not watched)"
            typer.confirm(f"Erase all that is kept of {which}, for good?", abort=True, err=True)
        with terminal.working(f"Erasing {known} …") as tell:
            done = erasure.erase(house, known, why=reason, tell=tell)
    if json:
        terminal.say_json(erasure_row(done))
        return
    terminal.say(
        f"Erased {n_of(done.n_versions, 'version')} of {done.url}: {n_of(done.n_records, 'record')}, "
        f"{n_of(done.n_bytes, 'byte')}, {iso(done.at)}."
    )
    for other in done.shared:
        terminal.note(f"The same content is kept for {other}; erase that too if it must go everywhere.")


def prune(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show, by resource, how many versions would go.")
    ] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Let go of old versions, as the settings say.

    By archiving.keep_versions, keep_for and thin_out; without any of them, all versions are kept for ever. A
    resource's first version, its newest and its tombstones always stay, and so do all its visits. Evidence
    (copies that were cut short or could not be read) goes first. What other records refer to is kept.

    `recrawl run` does the same once a day, for files of which a tenth or more may go.

    \b
    Examples:
      recrawl prune --dry-run
      RECRAWL_ARCHIVING__THIN_OUT="30d: 1d, 365d: 30d" recrawl prune
    """
    from recrawl.app.pruning import Pruned, due, rule_of

    with options.opened(home, reading=dry_run, new=False) as house:
        rule, now = rule_of(house.config.archiving), house.clock.now()
        if not rule:
            terminal.note(
                "All versions are kept: no rule is set. Set archiving.keep_versions, keep_for or thin_out in "
                f"{house.home / 'recrawl.toml'}."
            )
        if dry_run:
            _shown(house, due(house.store, rule, now) if rule else iter(()), json)
            return
        done = _pruned(house, rule) if house.kept else Pruned()  # nothing is made to look into
    freed = done.freed
    row = {
        "versions": freed.n_versions,
        "records": freed.n_records,
        "bytes": freed.n_bytes,
        "files": freed.n_files,
        "left": done.n_due - freed.n_versions,
    }
    if json:
        terminal.say_json(row)
        return
    terminal.say(
        f"Let go of {n_of(freed.n_versions, 'version')}: {n_of(freed.n_bytes, 'byte')} freed, "
        f"{n_of(freed.n_files, 'file')} written anew."
    )
    if row["left"]:
        terminal.note(
            f"{n_of(row['left'], 'version')} more may go, but lie in files that are being written, or that "
            "cannot be read; prune again later."
        )


def _pruned(house: House, rule: Retention) -> Pruned:
    from recrawl.app.build import ARCHIVE_FOLDER
    from recrawl.app.patience import patient
    from recrawl.app.pruning import Pruner

    with terminal.working("Pruning …") as tell:
        _ = house.archive  # what a crash left is mended before
        return Pruner(
            store=house.store,
            folder=house.home / ARCHIVE_FOLDER,
            now=house.clock.now,
            waiting=patient(60.0, lambda: tell("Waiting for others that use the archive …")),
            tell=tell,
        ).prune(rule)


def _shown(house: House, found: Iterator[tuple[int, int, list[Version]]], json: bool) -> None:
    from recrawl.app.watchlist import url_of

    rows, n_versions, n_bytes = [], 0, 0
    for resource_id, n_kept, goes in found:
        n_versions += len(goes)
        n_bytes += sum(version.length for version in goes)
        row = {"url": url_of(house.store, resource_id), "versions": n_kept, "goes": len(goes)}
        if json:
            rows.append(row)
        else:
            terminal.say(f"{row['url']}\t{row['goes']} of {row['versions']}")
    if json:
        terminal.say_json({"versions": n_versions, "bytes": n_bytes, "resources": rows})
    else:
        terminal.note(
            f"{n_of(n_versions, 'version')} would go, which take about {n_of(n_bytes, 'byte')}; nothing was "
            "done."
        )
