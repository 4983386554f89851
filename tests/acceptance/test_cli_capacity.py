"""`recrawl capacity`: what it answers, and what it says where nothing is known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from recrawl.app.build import STORE_FILE
from recrawl.checks.store.samples import T0, completion, lease_of, new
from recrawl.cli.main import app
from recrawl.remember.sqlite import SqliteStore

SLOW = [f"http://slow.example/{i}" for i in range(10)]
QUICK = [f"http://quick.example/{i}" for i in range(4)]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything was visited twice, one after the other: 1 s each, 30 s apart at one host and 2 s at the
    other."""
    folder = tmp_path_factory.mktemp("home")
    store = SqliteStore(folder / STORE_FILE)
    store.add([new(url, "tagged") if url in QUICK else new(url) for url in (*SLOW, *QUICK)], T0)
    for urls, rest_s in ((SLOW, 30.0), (QUICK, 2.0)):
        at = T0
        for url in (*urls, *urls):
            at += 1.0
            done = completion(lease_of(store, url, at - 1.0), at, gap_s=1.0, gate_s=rest_s)
            visit = replace(done.visit, duration_s=1.0, due_at=T0 if at < T0 + 60.0 else at - 31.0)
            assert store.complete([replace(done, visit=visit)]) == [True]
            at += rest_s
    store.close()
    return folder


def typed(home: Path, *words: str, code: int = 0) -> Result:
    done = CliRunner().invoke(app, ["capacity", "--home", str(home), *words])
    assert done.exit_code == code, (done.output, done.exception)
    return done


def answer(home: Path, *words: str) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(typed(home, *words, "--json").stdout)
    return row


def test_how_long_a_round_takes_and_which_host_decides(home: Path) -> None:
    row = answer(home, "--all", "--within", "1h")
    # robots.txt and ten pages are eleven fetches and ten rests
    assert row["seconds"] == pytest.approx(11 * 1.0 + 10 * 30.0)
    assert row["low_s"] <= row["seconds"] <= row["high_s"]
    assert (row["urls"], row["hosts"], row["hosts_known"], row["guessed"]) == (14, 2, 2, False)
    assert (row["workers_needed"], row["urls_within"]) == (1, 14)
    assert row["slowest"][0] | {"seconds": 0, "alone_s": 0} == {
        "host": "slow.example",
        "urls": 10,
        "seconds": 0,
        "alone_s": 0,
        "rest_s": 30.0,
        "known": True,
    }
    assert row["advice"][0].startswith("slow.example decides: 10 URLs one after the other")


def test_what_cannot_end_in_time_is_said_with_how_much_can(home: Path) -> None:
    row = answer(home, "--all", "--within", "100s")
    assert row["workers_needed"] is None
    assert row["urls_within"] == 4 + 3, "robots.txt, then one page every 31 seconds"
    shown = typed(home, "--all", "--within", "100s").stdout
    assert "impossible; 7 URLs with 64" in shown
    assert "no number of workers is enough: 7 of 14 URLs fit" in shown


def test_some_of_them_and_urls_that_nobody_watches(home: Path, tmp_path: Path) -> None:
    assert answer(home, "--tag", "tagged")["urls"] == 4
    assert answer(home, "--host", "slow.example")["urls"] == 10
    listed = tmp_path / "urls.txt"
    listed.write_text("\n".join([*QUICK, "https://new.example/"]))
    row = answer(home, "--file", str(listed))
    assert (row["urls"], row["hosts"], row["hosts_known"]) == (5, 2, 1)
    assert "1 of 2 hosts were never visited" in row["advice"][-1]


def test_the_papers_way_leaves_delays_out_that_are_longer_than_a_download(home: Path) -> None:
    row = answer(home, "--all", "--method", "paper")
    assert (row["seconds"], row["threads_per_domain"], row["bins"]) == (pytest.approx(10.0), 1, 2)
    assert "several times at once" in typed(home, "--all", "--method", "paper").stderr


def test_where_nothing_was_ever_visited_it_is_called_a_guess(tmp_path: Path) -> None:
    shown = typed(tmp_path, "https://a.example/", "https://b.example/").stdout
    assert "(a guess)" in shown
    assert "nothing was ever visited: all of this is a guess" in shown
    assert answer(tmp_path, "https://a.example/")["guessed"] is True


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--all"], "There is nothing to visit"),
        ([], "Say which resources are meant"),
        (["https://a.example/", "--method", "magic"], "choose ours or paper"),
        (["https://a.example/", "--within", "0s"], "cannot end within no time"),
        (["https://a.example/", "--tag", "x"], "in one way"),
        (["--file", "/nowhere/urls.txt"], "neither a file nor a URL"),
        (["file:///tmp/x"], "waits for no host"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_a_remedy(
    words: list[str], said: str, tmp_path: Path
) -> None:
    assert said in typed(tmp_path, *words, code=2).stderr
