"""How long a report card takes, and whether it is right, on a store whose truth is known.

The store is made of Poisson worlds: each resource has a rate, is visited at gaps that the budget allows, and
every visit is recorded with what a forecast that knows the rate roughly would have said before it.

    small    1,000 resources and 50,000 visits: the card beside the truth, for a few seeds
    --large  100,000 resources and 5,000,000 visits over a year: seconds of the command, start and all

    --dense  the same five million visits within ten weeks: half a million of them in the last one
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from recrawl.evaluate.card.missed import CROWDED
from recrawl.evaluate.card.reading import read_card
from recrawl.model import DAY_S, Floats, Ints, NewResource, Settings
from recrawl.remember.sqlite.store import SqliteStore
from recrawl.terms import Terms

NOW = 1.8e9
EVIDENCE = 100.0  # changes that the forecast rests on: it knows the rate to a tenth
RULE = "index:fresh"
N_HOSTS = 5_000
_VISIT = (
    "INSERT INTO visit (fetch_id, resource_id, at, since_at, due_at, outcome, informative, status, changed, "
    "duration_s, n_bytes, evidence, p_changed, per_day) "
    "VALUES (?, ?, ?, ?, ?, 'ok', 1, 200, ?, 0.3, 1000, '', ?, ?)"
)
_RESOURCE = (
    "UPDATE resource SET since_at = ?, last_at = ?1, gap_s = ?2, plan_gap_s = ?2, due_at = ?1 + ?2, "
    "n_informative = ?3, p_changed = ?4, per_day = ?5, rule = ?6, planned_at = ?1 WHERE id = ?7"
)


@dataclass(frozen=True)
class Truth:
    n_missed: int  # within the last week, where the card says how many
    wait_s: float  # from the newest change to the visit that found it, the mean


def made(
    path: Path,
    n: int,
    n_visits: int,
    days: float,
    seed: int,
    *,
    now: float = NOW,
    host: str = "h{}.example",
    settings: Settings | None = None,
) -> Truth:
    """A store with so many resources and visits up to now, and what is true of its last week."""
    rng = np.random.default_rng(seed)
    believed = np.clip(np.exp(rng.normal(np.log(0.1), 1.0, n)), 1e-3, 2.0)
    rate_per_day = believed * rng.gamma(EVIDENCE, 1.0 / EVIDENCE, n)  # so the belief is right, and so far
    gap_days = 1.0 / np.sqrt(believed)
    gap_days *= (days / gap_days).sum() / n_visits
    with closing(SqliteStore(path)) as store:
        for start in range(0, n, 50_000):
            some = range(start, min(n, start + 50_000))
            store.add(
                (
                    NewResource(
                        url=f"http://{host.format(i % N_HOSTS)}/{i}",
                        host=host.format(i % N_HOSTS),
                        settings=settings or Settings(),
                    )
                    for i in some
                ),
                now - days * DAY_S,
            )
        store.note("terms", Terms(RULE, n_visits / days, 1.0, n_visits / days, now, None).written())
        connection = store._db._connection
        triggers = connection.execute(
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name IN ('visit', 'resource')"
        ).fetchall()
        for name, _ in triggers:  # rows are not added up: nobody verifies this store
            connection.execute(f"DROP TRIGGER {name}")
        truth = _filled(store, rng, rate_per_day, believed, gap_days, days, now)
        for _, sql in triggers:
            connection.execute(sql)
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return truth


def _filled(
    store: SqliteStore,
    rng: np.random.Generator,
    rate: Floats,
    believed: Floats,
    gap_days: Floats,
    days: float,
    now: float,
) -> Truth:
    n = len(rate)
    ids, at, since = _visits(rng, gap_days, days)
    gap = at - since
    n_changes = rng.poisson(rate[ids] * gap)
    shape = np.full(len(ids), EVIDENCE)
    p = 1.0 - (1.0 + believed[ids] * gap / shape) ** -shape
    order = np.argsort(at)
    seconds = [now - days * DAY_S + DAY_S * column[order] for column in (at, since)]
    columns = (ids[order] + 1, *seconds, (n_changes > 0)[order], p[order], believed[ids][order])
    connection = store._db._connection
    connection.execute("BEGIN IMMEDIATE")
    connection.executemany(
        _VISIT,
        (
            (f"{i:x}", key, at_, since_, at_, changed, p_, rate_)
            for i, (key, at_, since_, changed, p_, rate_) in enumerate(
                zip(*(column.tolist() for column in columns), strict=True)
            )
        ),
    )
    last = np.zeros(n)
    np.maximum.at(last, ids, at)
    n_each = np.bincount(ids, minlength=n)
    plan_p = 1.0 - (1.0 + believed * gap_days / EVIDENCE) ** -EVIDENCE
    figures = (now - days * DAY_S + DAY_S * last, gap_days * DAY_S, n_each, plan_p, believed)
    connection.executemany(
        _RESOURCE,
        (
            (*row, RULE, i + 1)
            for i, row in enumerate(zip(*(column.tolist() for column in figures), strict=True))
            if n_each[i]
        ),
    )
    connection.execute("UPDATE total SET n_visits = ?", (len(ids),))
    connection.execute("COMMIT")
    week = (at >= days - 7.0) & (n_changes > 0)
    # the newest of k changes at random moments of a gap lies gap / (k + 1) before its end
    sparse = week & (believed[ids] * gap <= CROWDED)
    return Truth(
        n_missed=int((n_changes[sparse] - 1).sum()),
        wait_s=float((gap[week] / (n_changes[week] + 1)).mean() * DAY_S),
    )


def _visits(rng: np.random.Generator, gap_days: Floats, days: float) -> tuple[Ints, Floats, Floats]:
    """Whose, when, and when the one before was, in days: gaps are up to a tenth off."""
    n_each = np.maximum(np.ceil(days / gap_days).astype(np.int64) + 1, 1)
    ids = np.repeat(np.arange(len(gap_days)), n_each)
    steps = gap_days[ids] * rng.uniform(0.9, 1.1, len(ids))
    starts = np.concatenate([[0], np.cumsum(n_each)[:-1]])
    steps[starts] *= rng.random(len(starts))
    total = np.cumsum(steps)
    at = total - np.repeat(total[starts] - steps[starts], n_each)
    since = at - steps
    kept = (at < days) & (since >= 0.0)
    kept[starts] = False  # the first has nothing to be compared with
    return ids[kept], at[kept], since[kept]


def small(seeds: int) -> None:
    print("1,000 resources, 50,000 visits in 350 days: the last week's card beside the truth")
    for seed in range(seeds):
        with tempfile.TemporaryDirectory() as folder:
            truth = made(Path(folder) / "recrawl.sqlite", 1_000, 50_000, 350.0, seed)
            with closing(SqliteStore(Path(folder) / "recrawl.sqlite")) as store:
                card = read_card(store, NOW, 7.0)
        assert card.missed is not None
        assert card.delay is not None
        assert card.calibration is not None
        print(
            f"  missed {truth.n_missed:4d}, said {card.missed.expected:6.1f} "
            f"[{card.missed.least:.1f} to {card.missed.most:.1f}]; delay {truth.wait_s / 3600:.2f} hours, "
            f"said {card.delay.mean_s / 3600:.2f}; forecasts {card.calibration.forecast:.3f}, "
            f"happened {card.calibration.happened:.3f}"
        )


def large(days: float, keep: Path | None) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = keep or Path(folder)
        home.mkdir(parents=True, exist_ok=True)
        path = home / "recrawl.sqlite"
        if not path.exists():
            begun = time.perf_counter()
            made(path, 100_000, 5_000_000, days, 1)
            print(f"  made in {time.perf_counter() - begun:.0f} s: {path.stat().st_size / 2**30:.2f} GiB")
        with closing(SqliteStore(path)) as store:
            begun, core = time.perf_counter(), time.process_time()
            card = read_card(store, NOW, 7.0)
            wall, core = time.perf_counter() - begun, time.process_time() - core
        print(
            f"  {card.n_visits:,} visits of the last week and {card.n_resources:,} resources: "
            f"{wall:.2f} s on the clock, {core:.2f} s of one core"
        )
        # the command itself, with its clock set to the end of what was made
        begun, core = time.perf_counter(), _children_s()
        script = "import sys; from recrawl.live.clock import WallClock; WallClock.now = lambda self: 1.8e9; "
        script += "from recrawl.cli.main import main; sys.argv = ['recrawl', *sys.argv[1:]]; main()"
        command = [sys.executable, "-c", script, "--home", str(home), "report", "--json"]
        shown = subprocess.run(command, capture_output=True, text=True, check=True)
        print(
            f"  `recrawl report --json`, start and all: {time.perf_counter() - begun:.2f} s on the clock, "
            f"{_children_s() - core:.2f} s of one core; {json.loads(shown.stdout)['visits']:,} visits"
        )


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--dense", action="store_true")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--keep", type=Path, help="make the large store there, or use the one that is there")
    said = parser.parse_args()
    if said.large or said.dense:
        print("100,000 resources, 5,000,000 visits")
        large(70.0 if said.dense else 365.0, said.keep)
    else:
        small(said.seeds)


if __name__ == "__main__":
    main()
