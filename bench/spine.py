"""The spine with 100,000 resources, beside what the machine can do at best.

Each figure is a ratio to a limit measured in the same run: adding against bare SQLite inserts of the same
URLs, commands against the same command on an empty home. Absolute seconds are shown too; they are this
machine's and nobody else's.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

N = 100_000
N_HOSTS = 5_000
RECRAWL = Path(sys.executable).parent / "recrawl"


def seconds(*command: object) -> float:
    begun = time.perf_counter()
    subprocess.run([str(part) for part in command], check=True, capture_output=True)
    return time.perf_counter() - begun


def bare_inserts(urls: list[str], path: Path) -> float:
    begun = time.perf_counter()
    base = sqlite3.connect(path)
    base.execute("PRAGMA journal_mode=WAL")
    base.execute("PRAGMA synchronous=FULL")
    base.execute("CREATE TABLE resources (id INTEGER PRIMARY KEY, url TEXT UNIQUE)")
    base.executemany("INSERT INTO resources (url) VALUES (?)", [(url,) for url in urls])
    base.commit()
    base.close()
    return time.perf_counter() - begun


def first_line(home: Path) -> float:
    """From starting `run` to the first visit it reports; the host is a closed port on loopback."""
    begun = time.perf_counter()
    with subprocess.Popen(
        [str(RECRAWL), "--home", str(home), "run", "--for", "20s", "--budget", "1000000", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        took = time.perf_counter() - begun
        process.terminate()
    return took


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = Path(folder)
        urls = [f"http://h{i % N_HOSTS}.localhost:9/item/{i}" for i in range(N)]
        (base / "urls.txt").write_text("\n".join(urls), encoding="utf-8")
        (base / "one.txt").write_text(urls[0], encoding="utf-8")
        full, small = base / "full", base / "small"
        bare_s = bare_inserts(urls, base / "bare.sqlite")
        add_s = seconds(RECRAWL, "--home", full, "add", "--allow-private", base / "urls.txt")
        small_s = seconds(RECRAWL, "--home", small, "add", "--allow-private", base / "one.txt")
        print(f"{N:,} resources on {N_HOSTS:,} hosts")
        print(f"add     {add_s:6.2f} s   {add_s / bare_s:5.1f} x bare inserts ({bare_s:.2f} s)")
        for command in ("status", "list"):
            many_s = min(seconds(RECRAWL, "--home", full, command) for _ in range(3))
            few_s = min(seconds(RECRAWL, "--home", small, command) for _ in range(3))
            print(f"{command:7} {many_s:6.2f} s   {many_s / few_s:5.1f} x with one resource ({few_s:.2f} s)")
        many_s, few_s = first_line(full), first_line(small)
        print(f"run     {many_s:6.2f} s   {many_s / few_s:5.1f} x with one resource ({few_s:.2f} s)")
        print(f"        (add with one resource takes {small_s:.2f} s)")


if __name__ == "__main__":
    main()
