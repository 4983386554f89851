"""Fetching, beside Scrapy and changedetection.io: the same pages, from the same server, in the same run.

The server has one core and whoever is measured has the other. Figures are pages per second of processor time,
start-up left out, so that what else the machine does matters little; the ratios are what counts.

The peers live in environments of their own, outside the checkout, in the folder that RECRAWL_BENCH_PEERS
names or in ~/.cache/recrawl-bench. `python bench/fetching.py --install` makes them (it needs a package
index); without them their part is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "peers"
PEERS = Path(os.environ.get("RECRAWL_BENCH_PEERS") or Path.home() / ".cache" / "recrawl-bench")
PACKAGES = {"scrapy": ["scrapy", "warcio"], "changedetection": ["changedetection.io"]}
RECRAWL = str(Path(sys.executable).parent / "recrawl")
N_HOSTS, N_PAGES = 200, 25  # pages a host: one robots.txt for so many
N_CHECKS = 400
N_WATCHED = 100_000
TIMES = 3  # the best of so many
TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Spent:
    """What a process took."""

    cpu_s: float
    wall_s: float
    most_mb: float


def spent(command: Sequence[str], env: Mapping[str, str] | None = None) -> Spent:
    begun = time.perf_counter()
    process = subprocess.Popen(
        command,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **(env or {})},
        preexec_fn=lambda: pinned(0),
    )
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, f"{command[0]} ended with {process.returncode}"
    cpu_s = used.ru_utime + used.ru_stime
    return Spent(cpu_s, time.perf_counter() - begun, used.ru_maxrss / 1024)


def pinned(core: int) -> None:
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[core % len(cores)]})


@contextmanager
def origin() -> Iterator[str]:
    command = [sys.executable, str(HERE / "origin.py"), "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=lambda: pinned(1)) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.kill()


def asked(url: str, data: bytes | None = None, **headers: str) -> Any:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(url, data, named)  # noqa: S310
    for _ in range(300):  # it answers some time after it has written its settings
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
                return json.loads(answer.read())
        except urllib.error.URLError as problem:
            if not isinstance(problem.reason, ConnectionRefusedError):
                raise
            time.sleep(0.2)
    raise SystemExit("changedetection.io does not answer; install it anew with --install")


def pages_per_cpu_s(run: Sequence[str], urls: Path, none: Path, record: Path) -> float:
    """Of processor time, beyond what the same program takes for nothing."""
    best_s = min(spent([*run, str(urls), str(record)]).cpu_s for _ in range(TIMES))
    n_pages = sum(1 for _ in record.open())
    idle_s = min(spent([*run, str(none), str(record)]).cpu_s for _ in range(TIMES))
    return n_pages / (best_s - idle_s)


def whole_runs(folder: Path, urls: Path) -> float:
    """`recrawl run`: fetched, judged, archived with fsync, learned from and planned anew."""
    env = {"RECRAWL_FETCHING__MIN_DELAY": "0.001", "RECRAWL_SCHEDULE__BUDGET": "1000000000"}
    best_s, idle_s = [], []
    for n in range(TIMES):
        home = ["--home", str(folder / f"home{n}")]
        subprocess.run([RECRAWL, *home, "add", "--allow-private", str(urls)], check=True, capture_output=True)
        best_s.append(spent([RECRAWL, *home, "run", "--once"], env).cpu_s)
        idle_s.append(spent([RECRAWL, *home, "run", "--once"], env).cpu_s)
    return len(urls.read_text().split()) / (min(best_s) - min(idle_s))


def checks_per_cpu_s(port: str, folder: Path, urls: Sequence[str]) -> float:
    """changedetection.io: watches imported over its API, each checked once."""
    env = {
        "ALLOW_IANA_RESTRICTED_ADDRESSES": "true",
        "DISABLE_VERSION_CHECK": "true",
        "FETCH_WORKERS": "20",
        "LOGGER_LEVEL": "ERROR",
        "MINIMUM_SECONDS_RECHECK_TIME": "86400",
    }
    here = f"http://127.0.0.1:{int(port) + 1}"
    program = str(PEERS / "changedetection" / "bin" / "changedetection.io")
    with subprocess.Popen(
        [program, "-h", "127.0.0.1", "-p", here.rpartition(":")[2], "-d", str(folder), "-C"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | env,
        preexec_fn=lambda: pinned(0),
    ) as process:
        try:
            settings = _once_there(folder / "changedetection.json")
            key = settings["settings"]["application"]["api_access_token"]
            time.sleep(5.0)
            seen_before, cpu_before_s = n_seen(port), cpu_s_of(process.pid)
            asked(f"{here}/api/v1/import", "\n".join(urls).encode(), x_api_key=key, Content_Type="text/plain")
            while (n := n_seen(port) - seen_before) < len(urls):
                time.sleep(0.1)
                assert process.poll() is None
            time.sleep(1.0)  # the last ones are still being worked on
            return n / (cpu_s_of(process.pid) - cpu_before_s)
        finally:
            process.send_signal(signal.SIGKILL)


def _once_there(path: Path) -> Any:
    for _ in range(300):
        if path.exists() and path.stat().st_size:
            return json.loads(path.read_text("utf-8"))
        time.sleep(0.1)
    raise SystemExit("changedetection.io did not start; install it anew with --install")


def n_seen(port: str) -> int:
    return int(asked(f"http://127.0.0.1:{port}/-/seen")["n"])


def cpu_s_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("latin-1").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S


def memory_mb(folder: Path, port: str) -> float:
    """The most that `recrawl run` takes while it watches very many resources."""
    urls = folder / "many.txt"
    hosts = [f"127.{1 + n // 62_500}.{n // 250 % 250}.{n % 250 + 1}" for n in range(N_WATCHED // 20)]
    urls.write_text("\n".join(f"http://{host}:{port}/item/{n}" for host in hosts for n in range(20)))
    home = ["--home", str(folder / "many")]
    subprocess.run([RECRAWL, *home, "add", "--allow-private", str(urls)], check=True, capture_output=True)
    return spent([RECRAWL, *home, "run", "--for", "30s", "--budget", "100000000"]).most_mb


def install() -> None:
    for name, packages in PACKAGES.items():
        venv.create(PEERS / name, with_pip=True)
        pip = [str(PEERS / name / "bin" / "python"), "-m", "pip", "install", "-q", "-U", *packages]
        subprocess.run(pip, check=True)


def there(name: str) -> bool:
    if (PEERS / name / "bin" / "python").exists():
        return True
    print(f"{name} is not installed: left out (`python bench/fetching.py --install` installs it)")
    return False


def main() -> None:
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, origin() as port:
        base = Path(folder)
        listed = [
            f"http://127.0.{1 + host // 250}.{host % 250 + 1}:{port}/page/{n}"
            for host in range(N_HOSTS)
            for n in range(N_PAGES)
        ]
        urls, few, none, record = (base / name for name in ("urls", "few", "none", "record"))
        urls.write_text("\n".join(listed))
        few.write_text("\n".join(listed[:1000]))
        none.write_text("")
        ours = [sys.executable, str(HERE / "ours.py")]
        print(f"{len(listed):,} pages on {N_HOSTS} hosts; pages per second of one core")
        fetched = pages_per_cpu_s([*ours, "polite"], urls, none, record)
        print(f"recrawl, headers and digests    {fetched:7,.0f}")
        if there("scrapy"):
            spider = [str(PEERS / "scrapy" / "bin" / "python"), str(HERE / "spider.py")]
            theirs = pages_per_cpu_s(spider, urls, none, record)
            print(f"Scrapy, headers and digests     {theirs:7,.0f}   recrawl is {fetched / theirs:.1f} x")
        whole = whole_runs(base, urls)
        print(f"recrawl run, all that it does   {whole:7,.0f}")
        if there("scrapy"):
            theirs = pages_per_cpu_s([*spider, "--warc"], urls, none, record)
            print(f"Scrapy, the same WARC records   {theirs:7,.0f}   recrawl is {whole / theirs:.1f} x")
        if there("changedetection"):
            theirs = checks_per_cpu_s(port, base / "cd", listed[:: len(listed) // N_CHECKS][:N_CHECKS])
            print(f"changedetection.io, all         {theirs:7,.0f}   recrawl is {whole / theirs:.1f} x")
        command = [*ours, "cost", str(few), str(record)]
        said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        new, known = (float(word) - 1 for word in said.split())
        print(f"robots.txt and pacing cost {known:.1%} of a fetch once robots.txt is known,")
        print(f"{new:.1%} where it is asked for anew with every {N_PAGES} pages")
        print(f"`recrawl run` with {N_WATCHED:,} resources takes {memory_mb(base, port):.0f} MB at most")


if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--install", action="store_true", help="make the peers' environments")
    if words.parse_args().install:
        install()
    main()
