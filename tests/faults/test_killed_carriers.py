"""Processes killed while they carry archive files to the shelf: every version stays readable throughout."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

from tests.faults.counts import n_times
from tests.houses import DAY_AT, Past, seen

from recrawl.app.beside import carried
from recrawl.model import Version
from recrawl.remember.sqlite import SqliteStore
from recrawl.remember.warc import WarcArchive

CARRIER = """
import sys
from pathlib import Path
from recrawl.remember.carrier import Carrier
from recrawl.remember.sqlite import SqliteStore
home, shelf = sys.argv[1:]
store = SqliteStore(Path(home) / "recrawl.sqlite")
carrier = Carrier(
    Path(home) / "archive",
    shelf=shelf,
    committed=store.files,
    carried=store.carried,
    carry=store.carry,
    finished=lambda *_: True,
)
print("ready", flush=True)
for name in carrier.round():
    print(name, flush=True)
"""


def made(home: Path, first: int, n: int) -> list[Version]:
    """Versions in a file each."""
    versions = []
    for number in range(first, first + n):
        with Past(home, DAY_AT + number) as past:
            body = random.Random(number).randbytes(300_000)
            versions.append(past.visit(seen(f"http://h{number}.example/", DAY_AT + number, body)))
    return versions


def started(home: Path, shelf: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", CARRIER, str(home), f"file://{shelf}"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_killed_carriers_lose_nothing_and_the_last_one_completes(tmp_path: Path) -> None:
    home, shelf = tmp_path / "home", tmp_path / "shelf"
    shelf.mkdir()
    versions: list[Version] = []
    chance = random.Random(6)
    store = home / "recrawl.sqlite"

    def archive() -> WarcArchive:
        return WarcArchive(home / "archive", now=lambda: DAY_AT, carried=lambda: carried(store))

    for _ in range(n_times(60, 5)):
        versions += made(home, len(versions), 3)
        with started(home, shelf) as process:
            assert process.stdout is not None
            for _ in range(chance.randint(1, 3)):  # that it is ready, and the names of files that went
                process.stdout.readline()
            try:
                process.wait(chance.uniform(0.0, 0.05))  # about as long as a file takes
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
        with closing(SqliteStore(store)) as kept:
            assert archive().recover(kept.files) == []
        assert not list(archive().verify(versions))
    with started(home, shelf) as process:
        process.communicate()
    assert process.returncode == 0
    assert not list((home / "archive").glob("*.warc.gz"))
    assert len(list(shelf.glob("*.warc.gz"))) == len(versions)
    assert not list(archive().verify(versions))
