"""What counts of a resource, as it is said on the command line; and what `recrawl diff` makes of it."""

from __future__ import annotations

import fcntl
import json
import os
import struct
import subprocess
import sys
import termios
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import pytest

PAGE = (
    "<!doctype html><title>Shop</title><main><h1>Lamps</h1><p>A moon lamp costs 12 euros in this shop.</p>"
    "<p>It is sold until Sunday.</p></main><footer>Made at 10:15</footer>"
)
LATER = PAGE.replace("12 euros", "14 euros").replace("10:15", "11:59")


class Cli(Protocol):
    env: Mapping[str, str]

    def __call__(
        self, *args: str, code: int = 0, text: str | None = None, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]: ...
    def having(self, **env: str) -> Cli: ...


@pytest.fixture
def shop(cli: Cli, tmp_path: Path) -> tuple[Cli, str, Path]:
    """A page in a file, seen once."""
    (tmp_path / "web").mkdir()
    file = tmp_path / "web" / "shop.html"
    file.write_text(PAGE)
    local = cli.having(RECRAWL_FETCHING__ALLOW_FILES=str(tmp_path / "web"))
    local("visit", file.as_uri(), "--add")
    return local, file.as_uri(), file


def test_what_is_said_of_selectors_is_shown_and_taken_back(cli: Cli) -> None:
    url = "https://example.org/shop"
    cli("add", url, "--include", "main", "--include", "//h1", "--ignore", ".ad", "--main", "--keys", "id")
    row = json.loads(cli("list", "--json").stdout)
    assert (row["include"], row["ignore"], row["keys"]) == (["main", "//h1"], [".ad"], ["id"])
    assert (row["main"], row["mask"]) == (True, True)
    how = cli("list").stdout.rstrip("\n").split("\t")[-1]
    assert how == "only main and //h1, without .ad, rows by id, main content only"
    cli("set", url, "--no-mask", "--no-main", *("--clear", "include"), *("--clear", "keys"))
    assert "without .ad, nothing masked" in cli("list").stdout
    cli("set", "--host", "example.org", "--ignore", "$..at", "--ignore", "field:updated")
    assert "ignore $..at and field:updated" in cli("set", "--show").stdout
    cli("set", url, *("--clear", "ignore"), *("--clear", "mask"), *("--clear", "main"))
    assert json.loads(cli("list", "--json").stdout)["ignore"] == ["$..at", "field:updated"]


def test_a_selector_that_means_nothing_is_refused_when_it_is_said(cli: Cli) -> None:
    for words, remedy in [
        (["add", "https://example.org/", "--include", "p["], "`main > p.price`"),
        (["set", "--all", "--ignore", "//a/@href"], "choose the elements around it"),
        (["add", "https://example.org/", "--ignore", "$.["], ""),
        (["set", "--all", "--keys", " "], "give its name"),
    ]:
        refused = cli(*words, code=2).stderr
        assert remedy in refused
        assert len(refused.splitlines()) == 1
    assert "Nothing is watched" in cli("list").stderr


def test_a_selector_that_cannot_concern_what_a_resource_is_gets_a_remark(shop: tuple[Cli, str, Path]) -> None:
    cli, url, _ = shop
    remarks = cli(
        "set", url, "--include", "$.price", "--ignore", "footer", "--keys", "id"
    ).stderr.splitlines()
    assert remarks == [
        f"{url}: $.price chooses nothing there, since it is a page; write CSS or XPath.",
        f"{url}: --keys says nothing there, since it is a page; it is for tables.",
    ]
    assert cli("set", "--all", "--ignore", "$.price", "--ignore", "footer").stderr == ""
    data = ("add", "https://example.org/x", "--kind", "json")
    assert "chooses nothing there, since it is JSON" in cli(*data, "--ignore", "footer").stderr
    unknown = cli("add", "https://example.org/y", "--ignore", "footer", "--ignore", "$.at").stderr
    assert unknown == ""


def test_a_difference_is_of_what_counts_and_raw_shows_the_rest(shop: tuple[Cli, str, Path]) -> None:
    cli, url, file = shop
    cli("set", url, "--ignore", "footer")
    file.write_text(LATER)
    told = cli("visit", url).stdout
    assert "moon lamp costs [-12-] {+14+} euros in this" in told
    shown = cli("diff", url, code=1).stdout.splitlines()
    assert "-A moon lamp costs 12 euros in this shop." in shown
    assert not any("Made at" in line for line in shown)
    assert "+Made at 11:59" in cli("diff", url, "--raw", code=1).stdout.splitlines()
    words = cli("diff", url, "--words", code=1).stdout
    assert "A moon lamp costs [-12-] {+14+} euros in this shop." in words
    cli("set", url, "--ignore", "main")
    assert "Made at [-10:15-] {+11:59+}" in cli("diff", url, "--words", code=1).stdout
    cli("set", url, *("--ignore", "main"), *("--ignore", "footer"))
    assert (
        cli("diff", url).stdout == "The bytes differ, what counts does not; --raw compares all of the text.\n"
    )


def test_what_is_looked_for_and_gone_is_a_change(shop: tuple[Cli, str, Path]) -> None:
    cli, url, file = shop
    cli("set", url, "--include", "h1")
    file.write_text(LATER)
    assert "[-12-]" not in cli("visit", url).stdout
    file.write_text(LATER.replace("h1>", "h2>"))
    assert "what is looked for is gone: nothing matches h1" in cli("visit", url).stdout


def test_on_a_terminal_words_are_coloured_in_their_line(shop: tuple[Cli, str, Path]) -> None:
    cli, url, file = shop
    file.write_text(LATER)
    cli("visit", url)
    near, far = os.openpty()
    fcntl.ioctl(far, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    env = {key: value for key, value in cli.env.items() if key != "COLUMNS"} | {"TERM": "xterm-256color"}
    command = [sys.executable, "-m", "recrawl", "diff", url]
    process = subprocess.Popen(command, env=env, stdin=far, stdout=far, stderr=far)
    os.close(far)
    shown = b""
    try:
        while chunk := os.read(near, 4096):
            shown += chunk
    except OSError:  # the other end has closed
        pass
    finally:
        os.close(near)
    assert process.wait(60) == 1
    assert b"costs \x1b[9;31m12\x1b[0m \x1b[1;32m14\x1b[0m euros" in shown
