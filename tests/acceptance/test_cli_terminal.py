"""What a person sees: the command line on a real (pseudo) terminal, eighty columns wide."""

from __future__ import annotations

import fcntl
import json
import os
import re
import struct
import subprocess
import termios
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Protocol

import pytest
from tests.commands import COMMAND, Forked

from recrawl.livingweb import LivingWeb

_STYLE = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Cli(Protocol):
    home: Path
    env: Mapping[str, str]

    def __call__(
        self, *args: str, code: int = 0, text: str | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]: ...


def seen(cli: Cli, *args: str, out: IO[str] | None = None, columns: int = 80) -> str:
    """What a terminal shows of a command; `out` takes its standard output instead."""
    near, far = os.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {key: value for key, value in cli.env.items() if key != "COLUMNS"} | {"TERM": "xterm"}
    process = Forked([*COMMAND, *args], env=env, stdin=far, stdout=out or far, stderr=far)
    os.close(far)
    shown = b""
    try:
        while chunk := os.read(near, 4096):
            shown += chunk
    except OSError:  # the other end has closed
        pass
    finally:
        os.close(near)
    assert process.wait(60) == 0, shown
    return _STYLE.sub("", shown.decode()).replace("\r\n", "\n")


def test_lines_of_data_go_to_their_file_while_a_person_watches(
    cli: Cli, urls: list[str], tmp_path: Path
) -> None:
    cli("add", *urls, "--allow-private")
    with (tmp_path / "out").open("w") as out:
        shown = seen(cli, "run", "--once", "--json", out=out)
    rows = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    assert sorted(row["url"] for row in rows) == sorted(urls)
    assert "visits" in shown
    assert '"url"' not in shown


def test_a_list_fits_eighty_columns_with_nothing_cut(cli: Cli, web: LivingWeb, urls: list[str]) -> None:
    long = "https://a-rather-long-name.example.org/with/a/path/that/does/not/fit/into/any/column?x=1"
    cli("add", *urls, "--allow-private", "--min-gap", "1s")
    cli("add", long, "--insecure", "--user-agent", "example-bot/1.0", "--render", "--max-bytes", "2000")
    cli("run", "--once", env={"RECRAWL_FETCHING__TOTAL_TIMEOUT": "2s"})
    web.touch(urls[0])
    cli("visit", urls[0])
    shown = seen(cli, "list")
    assert all(len(line) <= 80 for line in shown.splitlines())
    assert "…" not in shown
    together = re.sub(r"\s+", "", shown)
    assert "insecure:certificatenotverified" in together
    first = next(line for line in shown.splitlines() if line.startswith(urls[0][:20]))
    assert re.search(r"\bin [\d.]+ (s|min|h|d)\b", first)
    assert re.search(r"\b1/2\b", first)
    assert re.search(r"[\d.]+ s ago", first)
    # a program still gets whole instants
    assert re.search(r"\t\d{4}-\d\d-\d\dT[\d:]+Z\t", cli("list").stdout)


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_settings_are_shown_whole_however_narrow_the_terminal(cli: Cli, columns: int) -> None:
    shown = seen(cli, "config", columns=columns)
    assert "gaps.max_gap = 180 days (default)" in shown
    assert "RECRAWL_FETCHING__MAX_DECODED_BYTES" in shown


def test_progress_is_told_to_a_person_and_only_there(cli: Cli, tmp_path: Path) -> None:
    text = "".join(f"https://h{i % 10}.example/{i}\n" for i in range(3000))
    cli("add", "-", text=text)
    with (tmp_path / "out").open("w") as out:
        assert "Exporting …" in seen(cli, "export", "resources", out=out)
    assert len((tmp_path / "out").read_text().splitlines()) == 3001
    assert "Removing …" in seen(cli, "remove", "--host", "h1.example", "--yes")
    quiet = cli("remove", "--host", "h2.example", "--yes")
    assert quiet.stderr == ""


def test_the_help_names_arguments_as_people_type_them(cli: Cli) -> None:
    for command in ("add", "pause", "export", "show", "why", "moved"):
        shown = cli(command, "--help").stdout
        assert "[[" not in shown
        assert "list[" not in shown
        assert "<str>" not in shown
    assert "Usage: recrawl pause [OPTIONS] [URL]..." in cli("pause", "--help").stdout


def test_one_is_singular(cli: Cli, urls: list[str]) -> None:
    cli("add", urls[0], "--allow-private", "--min-gap", "1d")
    told = cli("run", "--once").stderr
    assert "1 visit (first copies: 1), 0 changes, 0 failures" in told
    assert "Watched: 1." in told
    status = cli("status").stdout
    assert "1 on 1 host, 0 paused" in status
    assert "in 1 file," in status
    assert "at which about 1 visit a day is worth making" in status
    assert "a change in 0 of 1 visit that told something" in cli("why", urls[0]).stdout
    assert cli("verify").stderr == "1 version read, 0 problems found.\n"


def test_status_tells_the_terms_of_the_last_run_and_a_budget_that_is_too_small(
    cli: Cli, urls: list[str]
) -> None:
    cli("add", *urls, "--allow-private", "--max-gap", "1h")
    assert "price       not found yet" in cli("status").stdout
    cli("run", "--once", "--budget", "10/day", "--goal", "capture")
    status = cli("status").stdout
    assert "budget      10 visits a day" in status
    assert "rule        index:capture" in status
    assert "price       none: the largest gaps alone ask for 72 visits a day" in status
    row = json.loads(cli("status", "--json").stdout)
    assert (row["price"], row["budget_per_day"]) == (None, 10.0)


def test_trouble_with_a_name_is_one_clear_sentence(cli: Cli) -> None:
    told = cli("visit", "--add", "http://nosuch.invalid/", code=1).stdout
    assert told == "Told nothing (net-error): dns: no address was found for the name nosuch.invalid\n"


def test_a_version_is_shown_by_its_number_and_a_year_is_a_year(cli: Cli, urls: list[str]) -> None:
    cli("visit", urls[0], "--add", "--allow-private")
    assert "<html" in cli("show", urls[0], "--at", "v1").stdout
    assert "no copy as early as 2001" in cli("show", urls[0], "--at", "2001", code=1).stderr
    assert (
        "There is no version v2001; the newest are: v1."
        in cli("show", urls[0], "--at", "v2001", code=2).stderr
    )
    assert "written as v3" in cli("diff", urls[0], "--from", "1", code=2).stderr


def test_what_is_no_list_of_urls_is_refused_in_a_line(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\n" * 100)
    for word, told in [
        (str(tmp_path / "picture.png"), "no text"),
        (str(tmp_path), "is a folder"),
        ("/proc/1/mem/x", "cannot be read"),
        ("x" * 300, "cannot be read"),
        ("example.org/news", "did you mean https://example.org/news?"),
        ("localhost:8765", "did you mean http://localhost:8765?"),
        ("urls.txt", "'urls.txt' is neither a file nor a URL with http:// or https:// before it; write out"),
    ]:
        refused = cli("add", word, code=2).stderr
        assert told in refused
        assert len(refused.splitlines()) == 1
