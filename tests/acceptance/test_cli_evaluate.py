"""Rules beside ours, and forecasts judged, from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.acceptance.test_cli_simulate import QUICK, folder, run

__all__ = ["folder"]


def test_peers_print_a_row_for_each_rule_and_say_who_is_better(folder: Path) -> None:
    done = run("evaluate", "peers", "--corpus", str(folder), "--policy", "week,nutch", "--years", "1", *QUICK)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == ["week", "nutch"]
    assert all(len(row) == 11 for row in rows)
    assert "of 2 rules at as many visits" in done.stderr
    assert "Beside the floor, in the mean over these budgets:" in done.stderr


def test_peers_give_the_json_that_is_promised_and_a_page(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    words = ("evaluate", "peers", "--corpus", str(folder), "--goal", "prompt", "--days", "300", *QUICK)
    done = run(*words, "--policy", "week,gold", "--html", str(path), "--json")
    document = json.loads(done.stdout)
    assert (document["corpus"], document["goal"]) == (str(folder), "prompt")
    assert document["days"] == pytest.approx(300.0)
    for row in document["rows"]:
        assert {"rule", "visits", "recall", "freshness", "delay_days_mean", "ours"} <= set(row)
        assert row["ours"]["visits"] == pytest.approx(row["visits"], rel=0.01)
    page = path.read_text("utf-8")
    assert f"recrawl evaluate peers --corpus {folder} --goal prompt --policy week,gold" in page
    assert "<svg" in page
    assert "floor" in page
    assert "the first to each resource comes at the same time for all and is left out there" in page


def test_forecasts_are_scored_and_drawn(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    words = ("evaluate", "forecasts", "--corpus", str(folder), "--predictor", "gamma", "--years", "1", *QUICK)
    rows = [line.split("\t") for line in run(*words).stdout.splitlines()]
    assert [row[:3] for row in rows] == [
        [schedule, part, "gamma"] for schedule in ("week", "index") for part in ("all", "late")
    ]
    document = json.loads(run(*words, "--html", str(path), "--json").stdout)
    for row in document["rows"]:
        assert 0.0 < row["brier"]["value"] < 0.25
        assert sum(one["n"] for one in row["reliability"]) == row["visits"]
    assert path.read_text("utf-8").count("<svg") == 4


def test_what_cannot_be_compared_is_answered_with_what_can(folder: Path) -> None:
    wrong = run("evaluate", "peers", "--corpus", str(folder), "--policy", "index", code=2)
    assert "There is no rule called 'index'; choose some of: fix, dyn" in wrong.stderr
    wrong = run("evaluate", "peers", "--corpus", str(folder), "--goal", "fame", code=2)
    assert "choose one of: fresh" in wrong.stderr
    wrong = run("evaluate", "peers", "--corpus", str(folder), "--days", "3", "--years", "1", code=2)
    assert "--days and --years" in wrong.stderr
    wrong = run("evaluate", "forecasts", "--corpus", str(folder), "--predictor", "oracle", code=2)
    assert "no predictor called 'oracle'" in wrong.stderr
    wrong = run("evaluate", "forecasts", "--corpus", str(folder), "--predictor", ",", code=2)
    assert "No predictor is named" in wrong.stderr


@pytest.mark.parametrize("length", [("--days", "inf"), ("--years", "1e307"), ("--years", "nan")])
@pytest.mark.parametrize(
    "command", [("simulate",), *(("evaluate", one) for one in ("peers", "forecasts", "umbrich"))]
)
def test_a_length_that_is_none_is_refused_before_the_work(
    folder: Path, command: tuple[str, ...], length: tuple[str, str]
) -> None:
    if command[-1] == "umbrich" and length[0] == "--days":
        length = ("--years", "inf")
    wrong = run(*command, "--corpus", str(folder), *length, "--json", *QUICK, code=2)
    assert "ask for one such as --years 3" in " ".join(wrong.stderr.split())


def test_help_of_both_teaches_with_examples() -> None:
    for name in ("peers", "forecasts"):
        assert "--corpus builtin:wiki" in run("evaluate", name, "--help").stdout
