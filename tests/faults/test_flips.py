"""F6: a bit flips on the disk, in the archive or in the store. `recrawl verify` finds it, and what it changed
is never handed out as good."""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from tests.faults.bodies import Bodies, answering
from tests.faults.counts import n_times
from tests.faults.driver import Driver, driving

from recrawl.app.build import ARCHIVE_FOLDER, STORE_FILE, open_house
from recrawl.errors import RecrawlError

N_ARCHIVE_FLIPS = n_times(200, 12)
N_STORE_FLIPS = n_times(20, 6)
Verify = Callable[[Path], bool]  # whether it finds anything


@contextmanager
def kept(tmp_path: Path) -> Iterator[tuple[Driver, Bodies, Path]]:
    """A home with a few versions of a few resources."""
    home = tmp_path / "home"
    settings = {"FETCHING__MIN_DELAY": "0.01", "FETCHING__CONCURRENCY": "4"}
    with answering() as bodies, driving(home, settings) as driver:
        urls = bodies.urls(0, 8)[1::2]  # small ones
        added = driver.run("add", *urls, "--allow-private", "--min-gap", "0.1s", "--tag", "some")
        assert added.code == 0, added.err
        run = driver.start("run", "--budget", "10000000/day", "--json")
        run.until(n_lines=24)
        assert run.kill().code < 0
        assert driver.run("verify").code == 0  # what the kill left torn is cut
        with closing(sqlite3.connect(home / STORE_FILE)) as store:  # all of it into the one file
            store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        yield driver, bodies, home


def flip(path: Path, bit: int) -> None:
    with path.open("r+b") as stream:
        stream.seek(bit // 8)
        (byte,) = stream.read(1)
        stream.seek(bit // 8)
        stream.write(bytes([byte ^ 1 << bit % 8]))


def verified(driver: Driver) -> Verify:
    """By the command."""

    def found(home: Path) -> bool:
        ended = driver.run("verify", "--json", home=home)
        assert ended.code in (0, 1, 2, 3), ended.err
        assert "Traceback" not in ended.err
        assert ended.code != 1 or json.loads(ended.out)["problems"]
        return ended.code != 0

    return found


def copy_of(home: Path, number: int) -> Path:
    to = home.parent / str(number) / "home"
    shutil.copytree(home, to)
    return to


# -- in the archive ------------------------------------------------------------------------------------------


def missed_in_archive(home: Path, sent: dict[int, str], verify: Verify, n_flips: int) -> int:
    """How many flips the check passes over although they change what others read."""
    files = sorted((home / ARCHIVE_FOLDER).glob("*.warc.gz"))
    dice = random.Random(6)
    n_missed = 0
    for number in range(n_flips):
        (file,) = dice.choices(files, [file.stat().st_size for file in files])
        copy = copy_of(home, number)
        victim = copy / ARCHIVE_FOLDER / file.name
        flip(victim, dice.randrange(8 * file.stat().st_size))
        if not verify(copy):
            n_missed += not same_content(file, victim)
        with open_house(copy, reading=True) as house:
            for version in house.store.versions():
                try:
                    body = bytes(house.archive.snapshot(version).body)
                except RecrawlError:
                    continue
                assert hashlib.sha256(body).hexdigest() == sent[version.n_bytes]
        shutil.rmtree(copy.parent)
    return n_missed


def same_content(file: Path, other: Path) -> bool:
    try:
        return gzip.decompress(file.read_bytes()) == gzip.decompress(other.read_bytes())
    except (OSError, EOFError, zlib.error):
        return False


def lengths_only(home: Path) -> bool:
    """A check that is satisfied when files are as long as they should be."""
    with open_house(home, reading=True) as house:
        files = house.store.files().items()
        return any((home / ARCHIVE_FOLDER / name).stat().st_size != length for name, length in files)


@pytest.mark.slow
@pytest.mark.timeout(120 + 3 * N_ARCHIVE_FLIPS)
def test_every_bit_that_flips_in_the_archive_is_found_and_never_handed_out(tmp_path: Path) -> None:
    with kept(tmp_path) as (driver, bodies, home):
        assert missed_in_archive(home, bodies.sent, verified(driver), N_ARCHIVE_FLIPS) == 0
        assert missed_in_archive(home, bodies.sent, lengths_only, 5) > 0  # as the count can tell


# -- in the store --------------------------------------------------------------------------------------------


def history(home: Path) -> str:
    """All that is handed out of what happened and of what is watched."""
    with open_house(home, reading=True) as house:
        told: list[object] = [dict(house.store.files()), list(house.store.said())]
        for resource, standing, _ in house.store.resources():
            told += [resource, standing.since_at, standing.n_informative, standing.version]
            told += [list(house.store.visits(resource.id)), list(house.store.versions(resource.id))]
    return repr(told)


def handed_out(home: Path) -> str:
    """The same; what cannot be read any more is not what it was."""
    try:
        return history(home)
    except RecrawlError as problem:
        return str(problem)


def spots(store: Path, home: Path) -> list[int]:
    """Places in the file where something that was recorded is written, as text."""
    with open_house(home, reading=True) as house:
        visits = [visit for found, _, _ in house.store.resources() for visit in house.store.visits(found.id)]
        words = [text for visit in visits for text in (visit.fetch_id, visit.evidence) if text]
        words += [version.digest for version in house.store.versions()]
    data = store.read_bytes()
    return [data.index(word.encode()) + len(word) // 2 for word in words]


def missed_in_store(home: Path, verify: Verify, n_flips: int) -> int:
    """How many flips the check passes over although they change what is handed out. Half fall anywhere in the
    file, and half into what was recorded."""
    before = history(home)
    dice = random.Random(66)
    n_bytes, recorded = (home / STORE_FILE).stat().st_size, spots(home / STORE_FILE, home)
    n_missed = 0
    for number in range(n_flips):
        copy = copy_of(home, number)
        place = dice.choice(recorded) if number % 2 else dice.randrange(n_bytes)
        flip(copy / STORE_FILE, 8 * place + dice.randrange(8))
        if not verify(copy):
            n_missed += handed_out(copy) != before
        shutil.rmtree(copy.parent)
    return n_missed


def by_structure_only(home: Path) -> bool:
    """A check that is satisfied when SQLite can find its way."""
    try:
        with closing(sqlite3.connect(home / STORE_FILE)) as store:
            return store.execute("PRAGMA integrity_check").fetchall() != [("ok",)]
    except sqlite3.DatabaseError:
        return True


@pytest.mark.slow
@pytest.mark.timeout(120 + 3 * N_STORE_FLIPS)
def test_every_bit_that_flips_in_the_store_is_found(tmp_path: Path) -> None:
    with kept(tmp_path) as (driver, _, home):
        assert missed_in_store(home, verified(driver), N_STORE_FLIPS) == 0
        assert missed_in_store(home, by_structure_only, 6) > 0  # as the count can tell
