"""P3: http and https, with the port written out or not, are one host to be polite to.

Read from the log of an origin on ports 80 and 443 of a loopback address of its own.
"""

from __future__ import annotations

import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.faults.driver import driving

ADDRESS = "127.0.0.77"
CERTIFICATE = Path(__file__).parents[1] / "hostile" / "certificates" / "good.pem"
DELAY_S = 0.4
SETTINGS = {"FETCHING__MIN_DELAY": str(DELAY_S)}
SLOW_S = 0.1
TOLERANCE_S = 0.005
N_PAGES = 1
FORMS = ["http://{}/a{}", "http://{}:80/b{}", "https://{}/c{}", "https://{}:443/d{}", "HTTPS://{}/e{}"]

Log = list[tuple[float, float, str]]  # began, ended, what was asked for


class _Door(ThreadingHTTPServer):
    daemon_threads = True
    log: Log


class _Handler(BaseHTTPRequestHandler):
    server: _Door

    def do_GET(self) -> None:
        began = time.monotonic()
        time.sleep(SLOW_S)
        robots = self.path == "/robots.txt"
        self.send_response(404 if robots else 200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.server.log.append((began, time.monotonic(), f"{self.server.server_port}{self.path}"))
        self.wfile.write(b"ok")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the library's name
        """Nothing is logged."""


@contextmanager
def origin() -> Iterator[Log]:
    """One machine with two doors, and one log for both."""
    log: Log = []
    doors = []
    try:
        for port in (80, 443):
            doors.append(_Door((ADDRESS, port), _Handler))
            doors[-1].log = log
    except OSError as problem:
        for door in doors:
            door.server_close()
        pytest.skip(f"ports 80 and 443 of {ADDRESS} cannot be had: {problem.strerror}")
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(CERTIFICATE)
    doors[1].socket = tls.wrap_socket(doors[1].socket, server_side=True)
    threads = [Thread(target=door.serve_forever, kwargs={"poll_interval": 0.05}) for door in doors]
    for thread in threads:
        thread.start()
    try:
        yield log
    finally:
        for door, thread in zip(doors, threads, strict=True):
            door.shutdown()
            thread.join()
            door.server_close()


def too_early(log: Log) -> list[str]:
    """Requests that came while another was answered, or too soon after."""
    found, free_at = [], 0.0
    for began, ended, what in sorted(log):
        if began < free_at - TOLERANCE_S:
            found.append(f"{what} came {free_at - began:.3f} s too early")
        free_at = max(free_at, ended + DELAY_S)
    return found


@pytest.mark.slow
def test_both_schemes_and_every_way_to_write_a_port_share_one_delay(tmp_path: Path) -> None:
    urls = [form.format(ADDRESS, page) for page in range(N_PAGES) for form in FORMS]
    with origin() as log, driving(tmp_path / "home", SETTINGS) as driver:
        assert driver.run("add", *urls, "--allow-private", "--insecure").code == 0
        ended = driver.run("run", "--once", "--json", "--budget", "10000000/day")
        assert ended.code == 0, ended.err
    assert [visit["outcome"] for visit in ended.told] == ["ok"] * len(urls)
    assert {what.partition("/")[0] for _, _, what in log} == {"80", "443"}
    assert too_early(log) == []


@pytest.mark.slow
def test_the_check_catches_visitors_that_know_nothing_of_each_other(tmp_path: Path) -> None:
    """One for each scheme, each polite by itself."""
    urls = [form.format(ADDRESS, page) for page in range(N_PAGES) for form in FORMS]
    with origin() as log, driving(tmp_path / "home", SETTINGS) as driver:
        runs = []
        for scheme in ("http", "https"):
            home = tmp_path / scheme / "home"
            home.parent.mkdir()
            mine = [url for url in urls if url.lower().startswith(f"{scheme}:")]
            assert driver.run("add", *mine, "--allow-private", "--insecure", home=home).code == 0
            runs.append(driver.start("run", "--once", "--budget", "10000000/day", home=home))
        for run in runs:
            assert run.wait().code == 0
    assert too_early(log)
