"""Replaying histories from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.corpora import ABOUT, corpus_folder
from typer.testing import CliRunner, Result

from recrawl.cli.main import app
from recrawl.model import DAY_S

QUICK = ("--draws", "2", "--seed", "5")


def run(*words: str, code: int = 0) -> Result:
    done = CliRunner().invoke(app, words, catch_exceptions=False, prog_name="recrawl")
    assert done.exit_code == code, done.output
    return done


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Forty resources of ten hosts over two years, each with its own period; the last one changes once."""
    rows = [
        (i, int(at * DAY_S) + 60 * i, f"{i}-{at}")
        for i in range(40)
        for at in (range(0, 730, 2 + 3 * i) if i < 39 else (0, 300))
    ]
    about = {**ABOUT, "name": "periods", "end": int(730 * DAY_S)}
    hosts = {
        "resource": list(range(40)),
        "url": [f"https://h{i % 10}.org/{i}" for i in range(40)],
        "host": [f"h{i % 10}.org" for i in range(40)],
    }
    return corpus_folder(tmp_path / "periods", rows, about=about, resources=hosts)


def test_simulate_prints_a_row_for_each_policy_and_says_how_visits_were_allowed(folder: Path) -> None:
    done = run("simulate", "--corpus", str(folder), "--policy", "week,index", *QUICK)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == ["week", "index"]
    assert all(len(row) == 10 for row in rows)
    assert "With as many visits as week makes: index." in done.stderr


def test_simulate_gives_json_and_the_same_again(folder: Path) -> None:
    words = ("simulate", "--corpus", str(folder), "--policy", "fix,uniform", "--days", "300", *QUICK)
    document = json.loads(run(*words, "--json", "--budget", "20/day", "--goal", "capture").stdout)
    assert document == json.loads(run(*words, "--json", "--budget", "20/day", "--goal", "capture").stdout)
    assert document["corpus"] == str(folder)
    assert document["days"] == pytest.approx(300.0)
    assert (document["goal"], document["budget_per_day"]) == ("capture", 20.0)
    fix, uniform = document["rows"]
    assert (fix["policy"], uniform["policy"]) == ("fix", "uniform")
    # to each of the 40 in turn, so that one visit more is 40 more
    assert uniform["visits"] == pytest.approx(6_000, abs=60)


def test_the_experiment_prints_its_table_and_what_it_found(folder: Path) -> None:
    done = run("evaluate", "umbrich", "--corpus", str(folder), "--years", "1", *QUICK)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [row[1] for row in rows[:7]] == ["fix", "dyn", "window", "state-1", "state-2", "gold", "week"]
    assert {row[0] for row in rows[:7]} == {"all"}
    found = [
        line for line in done.stderr.splitlines() if line.startswith(("holds:", "does not hold:", "open:"))
    ]
    assert len(found) == 8


def test_the_experiment_writes_a_page_that_tells_how_to_make_it_again(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    words = ("evaluate", "umbrich", "--corpus", str(folder), "--years", "3", *QUICK)
    done = run(*words, "--html", str(path), "--json")
    document = json.loads(done.stdout)
    assert document["years"] < document["years_asked"] == 3.0
    page = path.read_text("utf-8")
    assert f"recrawl evaluate umbrich --corpus {folder} --years 3.0" in page
    assert "windows have 657" in page.partition("All resources</h2>")[0]  # nine tenths of 730 days
    for finding in document["findings"]:
        assert finding["claim"] in page
    assert page.count("<svg") == 2 * len({row["band"] for row in document["rows"]}) + 2


def test_what_cannot_be_done_is_answered_with_what_can(folder: Path, tmp_path: Path) -> None:
    wrong = run("simulate", "--corpus", str(folder), "--policy", "weak", code=2)
    assert "There is no policy called 'weak'; choose some of: fix, dyn, window" in wrong.stderr
    wrong = run("simulate", "--corpus", "builtin:wikis", code=2)
    assert "choose one of: builtin:wiki, builtin:news" in wrong.stderr
    wrong = run("evaluate", "umbrich", "--corpus", str(tmp_path / "nowhere"), code=2)
    assert "is not there; a corpus is a folder with" in wrong.stderr
    assert "builtin:wiki" in wrong.stderr
    wrong = run("simulate", "--corpus", str(folder), "--days", "3", "--years", "1", code=2)
    assert "--days and --years" in wrong.stderr
    wrong = run("simulate", "--corpus", str(folder), "--min-gap", "9d", "--max-gap", "1d", code=2)
    assert "--min-gap 9d is longer than --max-gap 1d" in wrong.stderr
    wrong = run("simulate", "--corpus", str(folder), "--goal", "fast", code=2)
    assert "no goal called 'fast'" in wrong.stderr
    wrong = run("simulate", "--corpus", str(folder), "--policy", "index", "--predictor", "oracle", code=2)
    assert "no predictor called 'oracle'" in wrong.stderr
    for words in (("--goal", "fast"), ("--predictor", "oracle")):  # wrong, also where no policy looks at it
        wrong = run("simulate", "--corpus", str(folder), "--policy", "week", *words, code=2)
        assert f"called '{words[1]}'; choose one of:" in wrong.stderr
    wrong = run("simulate", "--corpus", str(folder), "--draws", "100000000", code=2)  # would take all memory
    assert "'--draws'" in wrong.stderr
    wrong = run("simulate", "--corpus", str(folder), "--budget", "0", code=2)
    assert "With a budget of 0 visits nobody looks; give more" in wrong.stderr
    wrong = run("simulate", "--corpus", str(folder), "--html", str(tmp_path / "no" / "a.html"), code=2)
    assert "name a file in a folder that is there" in wrong.stderr
    wrong = run("simulate", "--corpus", str(folder), "--days", "0", code=2)
    assert "A window of 0 days holds nothing" in wrong.stderr


def test_what_no_policy_here_looks_at_is_said(folder: Path) -> None:
    done = run(
        *("simulate", "--corpus", str(folder), "--policy", "week", "--budget", "5/day", "--goal", "capture"),
        *QUICK,
    )
    assert "A budget is for uniform, round-robin, proportional, index" in done.stderr
    assert "The goal capture is for index" in done.stderr
    done = run("simulate", "--corpus", str(folder), "--policy", "index", "--budget", "5/day", *QUICK)
    assert "do not look at it" not in done.stderr


def test_visits_can_be_ranked_day_by_day(folder: Path, tmp_path: Path) -> None:
    words = ("simulate", "--corpus", str(folder), "--policy", "week,index", "--days", "200", *QUICK)
    path = tmp_path / "ranked.html"
    rows = run(*words, "--rank", "3", "--html", str(path)).stdout.splitlines()
    assert all(len(row.split("\t")) == 12 for row in rows)
    assert "NDCG@3" in path.read_text("utf-8")
    document = json.loads(run(*words, "--rank", "3", "--json").stdout)
    assert document["rank"] == 3
    for row in document["rows"]:
        assert 0.0 < row["change_rate"] <= 1.0
        assert 0.0 < row["ndcg"] <= 1.0
    (week,) = [row for row in document["rows"] if row["policy"] == "week"]
    assert week["change_rate"] == pytest.approx(week["precision"], rel=0.1)  # a few visits every day
    assert json.loads(run(*words, "--json").stdout)["rows"][0]["ndcg"] is None


def test_help_teaches_with_examples() -> None:
    for words in (("simulate", "--help"), ("evaluate", "--help"), ("evaluate", "umbrich", "--help")):
        assert "--corpus builtin:wiki" in run(*words).stdout
