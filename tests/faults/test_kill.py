"""Killed again and again in the middle of large bodies, a run loses nothing that it has acknowledged.

Small pages would show nothing: a kill hardly ever falls into their writing.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from recrawl.app.build import open_house

N_KILLS = int(os.environ.get("RECRAWL_FAULT_COUNT", "5"))
# A killed run leaves its hosts leased for minutes: each round must find others.
N_AT_ONCE = 4
N_HOSTS = 2 * N_AT_ONCE * N_KILLS + 8
MIB = 2**20


class Bodies(ThreadingHTTPServer):
    """Answers every request with other bytes, of a length that no other answer has."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.random = random.Random(7)
        self.lengths = iter(self.random.sample(range(MIB, 4 * MIB), 100_000))
        self.sent: dict[int, str] = {}

    def body(self) -> bytes:
        body = self.random.randbytes(next(self.lengths))
        self.sent[len(body)] = hashlib.sha256(body).hexdigest()
        return body


class _Handler(BaseHTTPRequestHandler):
    server: Bodies

    def do_GET(self) -> None:
        found = self.path != "/robots.txt"
        body = self.server.body() if found else b""
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/octet-stream")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            self.close_connection = True  # whoever asked was killed

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the library's name
        """Nothing is logged."""


@pytest.fixture
def bodies() -> Iterator[Bodies]:
    with Bodies() as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def _killed_run(env: dict[str, str], after_s: float) -> list[dict[str, Any]]:
    """The visits that a run acknowledged before it was killed, some time after its first."""
    process = subprocess.Popen(
        [sys.executable, "-m", "recrawl", "run", "--json", "--budget", "10000000/day"],
        env=env,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    told = [process.stdout.readline()]
    time.sleep(after_s)
    process.send_signal(signal.SIGKILL)
    rest, _ = process.communicate()
    told += rest.splitlines(keepends=True)
    return [json.loads(line) for line in told if line.endswith("\n")]


@pytest.mark.slow
@pytest.mark.timeout(120 + 30 * N_KILLS)
def test_no_acknowledged_version_is_lost_however_often_a_run_is_killed(
    bodies: Bodies, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    env = {
        **os.environ,
        "RECRAWL_HOME": str(home),
        "RECRAWL_FETCHING__MIN_DELAY": "0.01",
        "RECRAWL_FETCHING__CONCURRENCY": str(N_AT_ONCE),
        "RECRAWL_ARCHIVING__MAX_FILE_BYTES": str(8 * MIB),
    }
    urls = "".join(f"http://h{i}.localhost:{bodies.server_port}/\n" for i in range(N_HOSTS))
    recrawl = [sys.executable, "-m", "recrawl"]
    subprocess.run(
        [*recrawl, "add", "-", "--allow-private", "--min-gap", "1s"],
        env=env, input=urls, text=True, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    moments = random.Random(11)
    acknowledged = [visit for _ in range(N_KILLS) for visit in _killed_run(env, moments.uniform(0.0, 1.5))]
    assert len(acknowledged) >= N_KILLS

    verified = subprocess.run([*recrawl, "verify"], env=env, capture_output=True, text=True, check=False)
    assert verified.returncode == 0, verified.stdout + verified.stderr

    with open_house(home) as house:
        recorded: set[str] = set()
        kept: set[tuple[str, int]] = set()
        for resource, _, _ in house.store.resources():
            recorded |= {visit.fetch_id for visit in house.store.visits(resource.id)}
            for version in house.store.versions(resource.id):
                if not version.flag:
                    kept.add((resource.url, version.n_bytes))
                    body = house.archive.snapshot(version).body
                    assert hashlib.sha256(bytes(body)).hexdigest() == bodies.sent[version.n_bytes]
    for visit in acknowledged:
        assert visit["fetch_id"] in recorded
        if visit["outcome"] == "ok":  # every answer is other than the last, so each makes a version
            assert (visit["url"], visit["n_bytes"]) in kept

    files = sorted((home / "archive").glob("*.warc.gz"))
    assert len(files) >= N_KILLS
    n_responses = 0
    for file in files:
        subprocess.run(["gzip", "-t", file], check=True)
        with file.open("rb") as stream:
            for record in ArchiveIterator(stream, check_digests="raise"):
                record.content_stream().read()
                n_responses += record.rec_type == "response"
    assert n_responses >= len(kept)
