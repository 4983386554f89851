"""Room on the disk. Below a floor nothing new is visited: what is kept already needs a little to be safe."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

AGAIN = 1.25  # times the floor: else it would be over and begin anew with every file that comes and goes


@dataclass(slots=True)
class Room:
    """The disk under a folder that is there. The floor is `min_free_bytes`, or `min_free_share` of the disk
    where that is less. Once below it, there must be a quarter more before there is room again."""

    folder: Path
    min_free_bytes: int
    min_free_share: float
    _lacks: bool = field(default=False, init=False)

    def lack(self) -> str:
        """What is wrong and what to do; empty while there is room."""
        disk = shutil.disk_usage(self.folder)
        floor = min(self.min_free_bytes, int(self.min_free_share * disk.total))
        wanted = int(AGAIN * floor) if self._lacks else floor
        self._lacks = disk.free < wanted
        if not self._lacks:
            return ""
        return (
            f"only {size(disk.free)} are free on the disk of {self.folder}, and {size(wanted)} should be; "
            "make room, or lower archiving.min_free_bytes"
        )


def size(n_bytes: int) -> str:
    """
    >>> size(3 * 2**30), size(5 * 2**19)
    ('3.0 GiB', '2.5 MiB')
    """
    return f"{n_bytes / 2**30:.1f} GiB" if n_bytes >= 2**30 else f"{n_bytes / 2**20:.1f} MiB"
