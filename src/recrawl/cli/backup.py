"""Commands that carry everything away, and bring it back."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from recrawl.cli import options, terminal
from recrawl.cli.terminal import n_of


def backup(
    to: Annotated[Path, typer.Argument(metavar="DEST", help="A folder, or a new file ending in .tar.")],
    with_secrets: Annotated[
        bool,
        typer.Option(
            "--with-secrets", help="Also what `recrawl access` and `recrawl notify` keep, readable."
        ),
    ] = False,
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Copy store and archive, also while `recrawl run` goes on.

    The store as it is at one moment, every WARC file up to what that store knows of, and the settings file;
    secrets are left out unless --with-secrets is said. A folder is brought up to date: files that it has
    already are not copied again. What the archive let go of since (`prune`, `erase`) is removed from it.

    \b
    Examples:
      recrawl backup /mnt/backup/recrawl
      recrawl backup ~/recrawl-2026-03.tar
    """
    from recrawl.app.access import FILE_NAME as SECRETS_FILE
    from recrawl.app.backup import backup
    from recrawl.app.notices import FILE_NAME as NOTICES_FILE

    with options.opened(home, reading=True) as house, terminal.working("Backing up …") as tell:
        done = backup(house, to.expanduser(), with_secrets=with_secrets, tell=tell)
        private = (SECRETS_FILE, NOTICES_FILE)
        left_out = [] if with_secrets else [name for name in private if (house.home / name).exists()]
    if json:
        terminal.say_json(
            {
                "files": done.n_files,
                "bytes": done.n_bytes,
                "copied": done.n_copied,
                "copied_bytes": done.n_copied_bytes,
            }
        )
        return
    terminal.say(
        f"Backed up {n_of(done.n_files, 'file')}, {n_of(done.n_bytes, 'byte')}; "
        f"{done.n_copied:,} of them copied ({n_of(done.n_copied_bytes, 'byte')})."
    )
    if left_out:
        files = " and ".join(left_out)
        terminal.note(f"Secrets are not in it; keep {files} safe by other means, or say --with-secrets.")


def restore(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="A backup: its folder, or its .tar file.")],
    home: options.Home = None,
    json: options.Json = False,
) -> None:
    """Make a backup a home again, in a new or empty folder.

    Every file is compared with the backup's list of contents before anything takes its place; a backup with
    other names, links, lengths or contents than it lists is refused, and nothing is left behind.

    \b
    Example:
      recrawl restore /mnt/backup/recrawl --home ~/recrawl-again
    """
    from recrawl.app.config import default_home
    from recrawl.app.restore import restore

    place = (home or default_home()).expanduser()
    with terminal.working("Restoring …") as tell:
        done = restore(source.expanduser(), place, tell)
    if json:
        terminal.say_json(
            {
                "files": done.n_files,
                "bytes": done.n_bytes,
                "versions": done.n_versions,
                "made_at": done.made_at,
                "home": str(place),
            }
        )
        return
    terminal.say(
        f"Restored {n_of(done.n_files, 'file')}, {n_of(done.n_bytes, 'byte')}, with "
        f"{n_of(done.n_versions, 'version')}, as of {done.made_at}."
    )
    terminal.note(f"  recrawl --home {place} verify")
