"""Corpora from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.corpora import ABOUT, corpus_folder
from typer.testing import CliRunner, Result

from recrawl.cli.main import app

TABLE = """url,time,digest
https://a.org/,2020-01-01,x
https://a.org/,2020-01-03,y
https://b.org/,2020-01-02,x
https://a.org/,never,z
https://a.org/,2020-01-07,z
"""


def run(*words: str, code: int = 0) -> Result:
    done = CliRunner().invoke(app, words, catch_exceptions=False, prog_name="recrawl")
    assert done.exit_code == code, done.output
    return done


def test_a_corpus_that_was_cut_off_while_it_was_made_says_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cut(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("recrawl.corpora.making._written", cut)
    folder = tmp_path / "made"
    told = run("corpus", "make", "wiki", str(folder), "--resources", "3", code=130).stderr
    assert f"the same command starts over; until then {folder}.unfinished stays" in told
    monkeypatch.undo()
    run("corpus", "make", "wiki", str(folder), "--resources", "3")
    assert not Path(f"{folder}.unfinished").exists()


def test_what_is_no_corpus_cannot_be_checked_and_the_answer_says_what_to_do(tmp_path: Path) -> None:
    nowhere = run("corpus", "check", str(tmp_path / "nowhere"), code=2).stderr
    assert "is not there; a corpus is a folder with corpus.json" in nowhere
    assert "has no corpus.json" in run("corpus", "check", str(tmp_path), code=2).stderr
    assert "`recrawl corpus make wiki DIR`" in run("corpus", "check", "builtin:wiki", code=2).stderr


def test_a_table_becomes_a_corpus_that_can_be_shown_and_checked(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TABLE)
    folder = tmp_path / "c"
    refused = run("corpus", "import", "csv", str(tmp_path / "t.csv"), str(folder), "--strict", code=2)
    assert "t.csv:5: the time cannot be read; mend it, or leave --strict out" in refused.stderr
    assert not folder.exists()
    done = run("corpus", "import", "csv", "--until", "2020-01-07", str(tmp_path / "t.csv"), str(folder))
    assert done.stdout.splitlines()[0] == f"Imported 2 resources with 3 versions into {folder}."
    assert "Skipped 1: the time cannot be read (t.csv:5)." in done.stdout
    assert "Left out 1:" in done.stdout
    shown = run("corpus", "show", str(folder)).stdout
    assert "resources     2 on 2 hosts" in shown
    assert "changes       1; 1 resource without any" in shown
    assert "interval      median 2 d from a version to the next" in shown
    held = json.loads(run("corpus", "show", str(folder), "--json").stdout)
    assert (held["resources"], held["changes"], held["never_changed"]) == (2, 1, 1)
    assert abs(held["median_interval_days"] - 2) < 0.02
    assert list(held["changes_each"].values()) == [0.5, 0, 0, 0, 0, 0, 1]
    assert run("corpus", "check", str(folder)).stdout == "2 resources, 3 versions.\nNo faults.\n"
    again = run("corpus", "import", "csv", str(tmp_path / "t.csv"), str(folder), "--anew", code=2)
    assert "is there already; choose another folder" in again.stderr


def test_faults_are_counted_or_named_by_row(tmp_path: Path) -> None:
    folder = corpus_folder(
        tmp_path / "c", [(0, 5, "a"), (0, -5, "b"), (0, 99, "b"), (0, 99, "c")], about={**ABOUT, "end": 50}
    )
    found = run("corpus", "check", str(folder), code=1).stdout.splitlines()
    assert found == [
        "1 resource, 3 versions.",
        "Fault: events.parquet: a time before 1970 or after 9999 (1 row, first 2).",
        "Remark: events.parquet: a time outside start and end (2 rows, first 3).",
        "Remark: events.parquet: another version of the same moment follows (1 row, first 4).",
    ]
    told = json.loads(run("corpus", "check", str(folder), "--json", code=1).stdout)
    assert told["faults"] == [
        {"file": "events.parquet", "why": "a time before 1970 or after 9999", "n": 1, "row": 2}
    ]
    assert (
        "events.parquet, row 2: a time before"
        in run("corpus", "check", str(folder), "--strict", code=2).stderr
    )
    (folder / "events.parquet").unlink()
    assert "events.parquet is missing" in run("corpus", "show", str(folder), code=2).stderr


def test_what_there_is_can_be_listed_and_each_importer_tells_its_options() -> None:
    listed = json.loads(run("corpus", "list", "--json").stdout)
    assert {"name": "builtin:wiki"}.items() <= listed["corpora"][0].items()
    importers = {one["name"]: one for one in listed["importers"]}
    assert set(importers) >= {"cdx", "csv", "git", "mbox", "mediawiki", "mediawiki-dump", "store", "warc"}
    assert "--since" in [option["name"] for option in importers["csv"]["options"]]
    helped = run("corpus", "import", "csv", "--help").stdout
    assert "Options of csv:" in helped
    assert "--since MOMENT" in helped
    assert "Options of" not in run("corpus", "import", "--help").stdout


def test_wrong_words_are_answered_with_the_remedy(tmp_path: Path) -> None:
    there = str(tmp_path / "c")
    assert "choose one of: cdx, csv" in run("corpus", "import", "nonsense", "a", there, code=2).stderr
    assert "is not a moment" in run("corpus", "import", "csv", "a", there, "--since", "x", code=2).stderr
    assert "expected one argument" in run("corpus", "import", "csv", "a", there, "--since", code=2).stderr
    assert "No such option" in run("corpus", "import", "csv", "a", there, "--nonsense", code=2).stderr
    assert "is not there; give a file" in run("corpus", "import", "csv", "nowhere", there, code=2).stderr
    assert "Built in are: builtin:" in run("corpus", "show", there, code=2).stderr
    assert list(tmp_path.glob("c*")) == []
