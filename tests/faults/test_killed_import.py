"""Killed again and again in the middle of large bodies, an import loses nothing, and comes to its end."""

from __future__ import annotations

import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.faults.counts import n_times
from tests.foreign import answer, day, warc

from recrawl.app.build import open_house

N_KILLS = n_times(20, 3)
N_BODIES = 24
MIB = 2**20
RECRAWL = [sys.executable, "-m", "recrawl"]
URLS = ("http://a.example.org/data", "http://b.example.org/data")


def _recorded(home: Path) -> set[tuple[str, str]]:
    with open_house(home, reading=True) as house:
        return {
            (visit.fetch_id, version.digest)
            for resource, _, _ in house.store.resources()
            for visit, version in zip(
                list(house.store.visits(resource.id))[::-1], house.store.versions(resource.id), strict=True
            )
        }


def _archived(home: Path) -> int:
    return sum(file.stat().st_size for file in (home / "archive").glob("*.warc.gz"))


@pytest.mark.slow
@pytest.mark.timeout(120 + 30 * N_KILLS)
def test_an_import_that_is_killed_loses_nothing_and_importing_again_completes_it(tmp_path: Path) -> None:
    home, chance = tmp_path / "home", random.Random(3)
    bodies = [chance.randbytes(chance.randrange(MIB, 2 * MIB)) for _ in range(N_BODIES)]
    headers = (("Content-Type", "application/octet-stream"),)
    path = warc(
        tmp_path / "theirs.warc",
        *(answer(day(n), body, url=URLS[n % 2], headers=headers) for n, body in enumerate(bodies)),
    )
    env = {**os.environ, "RECRAWL_HOME": str(home), "RECRAWL_ARCHIVING__MAX_FILE_BYTES": str(8 * MIB)}
    command = [*RECRAWL, "import", str(path), "--add", "--match", "*"]
    recorded: set[tuple[str, str]] = set()
    n_killed = 0
    for _ in range(N_KILLS):
        process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        enough = _archived(home) + chance.randrange(1, 12 * MIB)
        while process.poll() is None and _archived(home) < enough:
            time.sleep(0.001)
        n_killed += process.poll() is None
        process.send_signal(signal.SIGKILL)
        process.wait()
        now_recorded = _recorded(home)
        assert recorded <= now_recorded
        recorded = now_recorded
        verified = subprocess.run([*RECRAWL, "verify"], env=env, capture_output=True, text=True, check=False)
        assert verified.returncode == 0, verified.stdout + verified.stderr
    assert n_killed
    subprocess.run(command, env=env, check=True, stdout=subprocess.DEVNULL)
    whole = _recorded(home)
    assert recorded <= whole
    wanted = sorted(f"sha256:{hashlib.sha256(body).hexdigest()}" for body in bodies)
    assert sorted(digest for _, digest in whole) == wanted
    for file in (home / "archive").glob("*.warc.gz"):
        subprocess.run(["gzip", "-t", file], check=True)
