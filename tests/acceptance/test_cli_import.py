"""Somebody's WARC files, taken in from the command line."""

from __future__ import annotations

import json
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.conftest import Cli
from tests.foreign import URL, answer, day, page, warc

from recrawl.livingweb import LivingWeb

MON, TUE = page("Monday"), page("Tuesday")


def lines(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_an_import_is_told_and_the_past_is_there_for_every_command(cli: Cli, tmp_path: Path) -> None:
    good = [answer(day(0), MON), answer(day(1), MON), answer(day(2), TUE)]
    path = warc(tmp_path / "old.warc.gz", *good, answer(day(0), MON, url="http://example.org/other"))
    none = cli("import", str(path), "--json")
    assert json.loads(none.stdout)["skipped"] == {"not watched": 4}
    done = cli("import", str(tmp_path), "--add", "--match", URL, "--tag", "old")
    assert done.stdout.splitlines() == [
        "Imported 3 visits (first copies: 1, changes: 1, unchanged: 1, failures: 0), 2 versions.",
        "Added 1 resource.",
        "Skipped 1: not watched.",
    ]
    rows = lines(cli("history", URL, "--json").stdout)
    assert [row["changed"] for row in rows] == [True, False, None]
    assert "Tuesday" in cli("show", URL).stdout
    assert "Monday" in cli("show", URL, "--at", "v1").stdout
    assert "{+Tuesday+}" in cli("diff", URL, "--words", code=1).stdout
    assert "1 change seen in" in cli("why", URL).stdout
    assert [row["tags"] for row in lines(cli("list", "--json").stdout)] == [["old"]]
    assert json.loads(cli("verify", "--json").stdout)["problems"] == []
    again = json.loads(cli("import", str(path), "--json").stdout)
    assert (again["imported"], again["skipped"]) == (0, {"recorded already": 3, "not watched": 1})


def test_what_cannot_be_imported_is_said_with_its_remedy(cli: Cli, tmp_path: Path) -> None:
    path = warc(tmp_path / "old.warc", answer(day(0), MON), answer(day(1), TUE)[:-30])
    assert "is not there" in cli("import", str(tmp_path / "no.warc"), code=2).stderr
    (tmp_path / "empty").mkdir()
    assert "no WARC or WACZ files in" in cli("import", str(tmp_path / "empty"), code=2).stderr
    (tmp_path / "notes.txt").write_text("No WARC file.")
    assert "it is no WARC file" in cli("import", str(tmp_path / "notes.txt"), code=2).stderr
    assert "--add" in cli("import", str(path), "--tag", "x", code=2).stderr
    assert "leave --strict out" in cli("import", str(path), "--add", "--strict", code=2).stderr
    assert "--add watches" in cli("import", str(path)).stderr
    done = cli("import", str(path), "--add")
    assert "Skipped 1: damaged." in done.stdout
    assert f"{path}, byte {len(answer(day(0), MON))}: " in done.stderr
    assert "--add watches" not in cli("import", str(path)).stderr


def test_the_next_visit_is_judged_against_what_was_imported(
    cli: Cli, web: LivingWeb, urls: list[str], tmp_path: Path
) -> None:
    path = warc(tmp_path / "old.warc", answer(day(0), MON, url=urls[0]))
    cli("import", str(path), "--add", "--allow-private")
    (visit,) = lines(cli("run", "--once", "--json").stdout)
    assert (visit["url"], visit["changed"]) == (urls[0], True)
    assert visit["since_at"] == "2020-09-13T12:26:40Z"


@pytest.mark.slow
def test_after_ctrl_c_the_same_command_goes_on(cli: Cli, tmp_path: Path) -> None:
    n, headers = 1_500, (("Content-Type", "application/octet-stream"),)
    records = [answer(day(i / 4), b"%d" % (i // 2), headers=headers) for i in range(n)]
    path = warc(tmp_path / "old.warc", *records)
    command = ("import", str(path), "--add", "--match", "*", "--json")
    process = cli.started(*command)
    store = cli.home / "recrawl.sqlite"
    limit = time.monotonic() + 60.0
    while process.poll() is None and time.monotonic() < limit and not _n_visits(store):
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    told, talk = process.communicate(timeout=60)
    assert process.returncode == 130, talk
    assert "the same command goes on" in talk
    first = json.loads(told)["imported"]
    assert 0 < first < n
    assert first == _n_visits(store)
    rest = json.loads(cli(*command).stdout)
    assert (rest["imported"], rest["skipped"]) == (n - first, {"recorded already": first})
    assert json.loads(cli("verify", "--json").stdout) == {"versions": n // 2, "problems": [], "mended": []}


def _n_visits(store: Path) -> int:
    if not store.exists():
        return 0
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        try:
            return int(connection.execute("SELECT count(*) FROM visit").fetchone()[0])
        except sqlite3.OperationalError:
            return 0  # being made
