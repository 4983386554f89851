"""How well the house is: what it weighs, how good its estimates were, what a person should see to."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recrawl.app.capacity import capacity
from recrawl.app.doctor import Check, doctor
from recrawl.app.ledger import Sized, past, round_row
from recrawl.app.rows import Row
from recrawl.app.watchlist import Choice
from recrawl.errors import BadInputError

if TYPE_CHECKING:
    from recrawl.app.build import House

N_ROUNDS = 30  # the newest


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """Bytes on the disk, and what lies elsewhere."""

    store: int
    archive: int  # all files, wherever they lie
    n_files: int
    n_carried: int
    free: int
    disk: int

    def row(self) -> Row:
        return {
            "store_bytes": self.store,
            "archive_bytes": self.archive,
            "archive_files": self.n_files,
            "archive_carried": self.n_carried,
            "free_bytes": self.free,
            "disk_bytes": self.disk,
        }


def sizes(house: House) -> Sizes:
    from recrawl.app.build import STORE_FILE

    files = house.store.files()
    disk = shutil.disk_usage(house.home) if house.home.exists() else None
    paths = [house.home / f"{STORE_FILE}{end}" for end in ("", "-wal")]
    return Sizes(
        store=sum(path.stat().st_size for path in paths if path.exists()),
        archive=sum(files.values()),
        n_files=len(files),
        n_carried=len(house.store.carried()),
        free=0 if disk is None else disk.free,
        disk=0 if disk is None else disk.total,
    )


def checks(house: House) -> list[Check]:
    """Everything that can be looked at in a moment."""
    return list(doctor(house.home, house.clock.now(), quick=True))


def check_row(check: Check) -> Row:
    return {"name": check.name, "ok": check.ok, "finding": check.finding}


def rounds(house: House) -> Sequence[Sized]:
    """The newest first."""
    return past(house.store)[: -N_ROUNDS - 1 : -1]


def round_rows(house: House) -> list[Row]:
    return [round_row(one) for one in rounds(house)]


def whole_round(house: House) -> Row | None:
    """How long one visit to everything would take; None where there is nothing to visit."""
    try:
        return capacity(house, choice=Choice(everything=True))
    except BadInputError:
        return None
