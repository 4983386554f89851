"""Replaying histories: how long the archiver's experiment takes, how fast visits are made, how much memory.

    python bench/simulate.py             1,000 articles, seven strategies; and the fast path on one core
    python bench/simulate.py --large     a million resources with a hundred million changes, too: minutes

Cold is a machine where nothing was compiled yet. Memory is the most that the process ever held.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from math import inf
from pathlib import Path

from recrawl.corpora.builtin import builtin
from recrawl.corpora.making import make
from recrawl.evaluate.contenders import contender
from recrawl.evaluate.protocol import windows
from recrawl.model import DAY_S

EXPERIMENT_S = 30.0
VISITS_PER_S = 5e6
MEMORY_BYTES = 4e9
N_ARTICLES, N_REVISIONS, ARTICLE_YEARS = 1_000, 230_000, 12.0
N_MANY, N_EVENTS, MANY_YEARS = 1_000_000, 100_000_000, 5.6


@dataclass(frozen=True, slots=True)
class Ran:
    wall_s: float
    cpu_s: float
    most_bytes: float
    document: dict[str, object]


def ran(*words: str, cache: Path) -> Ran:
    """`recrawl` in a process of its own."""
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "recrawl", *words, "--json"],
        stdout=subprocess.PIPE,
        env={**os.environ, "NUMBA_CACHE_DIR": str(cache)},
    )
    assert process.stdout is not None
    said = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, said
    return Ran(
        time.perf_counter() - begun,
        used.ru_utime + used.ru_stime,
        used.ru_maxrss * 1024.0,
        json.loads(said),
    )


def kept(fine: bool) -> str:
    return "kept" if fine else "MISSED"


def experiment(folder: Path) -> bool:
    corpus = folder / "articles"
    made = make(builtin("wiki", n_resources=N_ARTICLES, years=ARTICLE_YEARS), corpus)
    assert made["events"] >= N_REVISIONS, made
    print(
        f"evaluate umbrich: {made['resources']:,} articles, {made['events']:,} revisions, 3 years, 20 draws"
    )
    fine = True
    for name in ("cold", "warm"):
        one = ran("evaluate", "umbrich", "--corpus", str(corpus), cache=folder / "cache")
        fine &= one.wall_s <= EXPERIMENT_S
        print(
            f"  {name}  {one.wall_s:5.1f} s ({one.cpu_s:.1f} s of a core), {one.most_bytes / 1e6:,.0f} MB   "
            f"{EXPERIMENT_S:g} s: {kept(one.wall_s <= EXPERIMENT_S)}"
        )
    return fine


def fast_path() -> bool:
    """Visits a second of `fix`, on one core."""
    corpus = builtin("wiki", n_resources=20_000)
    traces, about = corpus.traces(), corpus.about
    span = (about.start_at, about.end_at)
    (window,) = windows(traces, days=1_095.0, n_draws=1, seed=1, span=span)
    some, fix = traces.pick(window.rows), contender("fix", min_gap_s=DAY_S, max_gap_s=180 * DAY_S)
    fix.visits(some, window)  # compiles
    best, n_visits = inf, 0
    for _ in range(5):
        begun = time.process_time()
        n_visits = len(fix.visits(some, window))
        best = min(best, time.process_time() - begun)
    rate = n_visits / best
    print(
        f"fix, one core: {n_visits:,} visits in {best * 1e3:.0f} ms, {rate / 1e6:.1f} million a second, "
        f"{rate / VISITS_PER_S:.1f} x the {VISITS_PER_S / 1e6:g} million wanted: {kept(rate >= VISITS_PER_S)}"
    )
    return rate >= VISITS_PER_S


def large(folder: Path) -> bool:
    corpus = folder / "many"
    begun = time.perf_counter()
    made = make(builtin("wiki", n_resources=N_MANY, years=MANY_YEARS), corpus)
    assert made["events"] >= N_EVENTS, made
    took = time.perf_counter() - begun
    print(f"simulate: {made['resources']:,} resources, {made['events']:,} versions (made in {took:.0f} s)")
    one = ran(
        *("simulate", "--corpus", str(corpus), "--policy", "week,fix,uniform,index"),
        *("--years", "3", "--draws", "1"),
        cache=folder / "cache",
    )
    fine = one.most_bytes <= MEMORY_BYTES
    print(
        f"  {one.wall_s:.0f} s ({one.cpu_s:.0f} s of a core), {one.most_bytes / 1e9:.2f} GB   "
        f"{MEMORY_BYTES / 1e9:g} GB: {kept(fine)}"
    )
    rows = one.document["rows"]
    assert isinstance(rows, list)
    for row in rows:
        print(f"  {row['policy']:8}{row['visits']:14,} visits  recall {row['recall']:.3f}")
        if row["visits_asked"]:
            fine &= abs(row["visits"] / row["visits_asked"] - 1.0) <= 0.01
    return fine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--large", action="store_true", help="the million resources, too")
    parser.add_argument("--folder", type=Path, help="where corpora are made; they are removed again")
    said = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=said.folder) as folder:
        fine = experiment(Path(folder)) & fast_path()
        if said.large:
            fine &= large(Path(folder))
    sys.exit(not fine)


if __name__ == "__main__":
    main()
