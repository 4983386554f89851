"""Files that commands write and read: a place that will not do is told before the work is done."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Protocol

import pytest

URL = "https://a.example/"
WRITERS = [
    (["why", URL, "--svg"], ".svg"),
    (["plan", "--svg"], ".svg"),
    (["plan", "--html"], ".html"),
    (["report", "--svg"], ".svg"),
    (["report", "--html"], ".html"),
    (["backtest", "--html"], ".html"),
    (["export", "visits"], ".csv"),
]


class Cli(Protocol):
    home: Path

    def __call__(self, *args: str, code: int = 0) -> subprocess.CompletedProcess[str]: ...


@pytest.mark.parametrize(("words", "ending"), WRITERS, ids=[" ".join(words) for words, _ in WRITERS])
def test_a_place_where_nothing_can_be_written_is_told(
    cli: Cli, tmp_path: Path, words: list[str], ending: str
) -> None:
    cli("add", URL)
    (tmp_path / "file").write_text("x")
    told = cli(*words, str(tmp_path / f"no/x{ending}"), code=2).stderr
    assert f"{tmp_path / 'no'} is not there; name a file in a folder that is there." in told
    told = cli(*words, str(tmp_path / f"file/x{ending}"), code=2).stderr
    assert f"{tmp_path / 'file'} is no folder;" in told
    told = cli(*words, str(tmp_path), code=2).stderr
    assert f"is a folder; name a file in it, such as {tmp_path / f'recrawl{ending}'}." in told


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_place_that_is_another_ones_is_told(cli: Cli, tmp_path: Path) -> None:
    cli("add", URL)
    tmp_path.chmod(0o500)
    try:
        assert "you may not write there" in cli("why", URL, "--svg", str(tmp_path / "x.svg"), code=2).stderr
    finally:
        tmp_path.chmod(0o700)


def test_no_file_is_anything_but_what_its_name_says(cli: Cli, tmp_path: Path) -> None:
    cli("add", URL)
    told = cli("why", URL, "--svg", str(tmp_path / "x.png"), code=2).stderr
    assert f"this is SVG; name it {tmp_path / 'x.svg'}." in told
    assert f"name it {tmp_path / 'x.html'}." in cli("plan", "--html", str(tmp_path / "x.pdf"), code=2).stderr
    told = cli("export", "visits", str(tmp_path / "x.xlsx"), code=2).stderr
    assert "Rows are not written as .xlsx; end the name in one of .csv, .json, .jsonl, .parquet" in told
    assert not list(tmp_path.glob("x.*"))
    cli("export", "visits", str(tmp_path / "x.dat"), "--format", "csv")  # whoever says so means it
    cli("export", "visits", str(tmp_path / "x"))
    cli("why", URL, "--svg", str(tmp_path / "x.SVG"))
    assert (tmp_path / "x").read_text() == (tmp_path / "x.dat").read_text() != ""


def test_what_cannot_be_restored_is_told_before_where_to(cli: Cli, tmp_path: Path) -> None:
    cli("add", URL)
    told = cli("restore", str(tmp_path / "typo"), code=2).stderr
    assert "typo is not there; name the folder or the .tar file that `recrawl backup` wrote." in told
    assert "holds no backup, since it has no manifest.json;" in cli("restore", str(tmp_path), code=2).stderr
    cli("backup", str(tmp_path / "kept"))
    told = cli("restore", str(tmp_path / "kept"), code=2).stderr
    assert f"{cli.home}, where it would go, is not empty;" in told
    assert f"`recrawl restore {tmp_path / 'kept'} --home NEW`" in told
    cli("restore", str(tmp_path / "kept"), "--home", str(tmp_path / "new"))  # as it was told
