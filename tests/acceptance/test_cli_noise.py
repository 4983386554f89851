"""What differs on every fetch: learned, listed, undone and taken back, as people do it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.acceptance.test_cli_terminal import Cli, seen

from recrawl.live.clock import WallClock
from recrawl.livingweb import Document, LivingWeb, Noise, Script, serving


@pytest.fixture
def counting() -> Iterator[LivingWeb]:
    """A page that counts its visitors."""
    page = Document(host="page.localhost", path="/", noise=Noise.COUNTER)
    with serving(Script((page,)), clock=WallClock()) as living:
        yield living


def test_noise_is_listed_undone_and_taken_back(cli: Cli, counting: LivingWeb) -> None:
    (url,) = counting.urls()
    assert "No noise is known" in cli("noise").stderr
    cli("add", url, "--allow-private")
    cli("visit", url)
    assert cli("visit", url).stdout.startswith("Not changed")
    (row,) = (json.loads(line) for line in cli("noise", "--json").stdout.splitlines())
    assert (row["url"], row["number"], row["state"]) == (url, 1, "on trial")
    assert "{number}" in row["shape"]
    assert cli("noise", url).stdout.rstrip("\n").split("\t") == [
        url, "1", "on trial", row["learned"], row["learned_at"], row["place"], row["shape"],
    ]  # fmt: skip
    for shown in (seen(cli, "noise"), seen(cli, "noise", url)):
        told = [" ".join(line.split()) for line in shown.splitlines()]
        learned = f"learned by {row['learned']}, {row['learned_at']}"
        assert told == [url, f"1 on trial {row['place']}", row["shape"], learned]
    cli("noise", url, "--undo", "1")
    assert cli("visit", url).stdout.startswith("Changed")
    assert cli("noise").stdout.split("\t")[2] == "undone"
    cli("noise", url, "--redo", "1")
    assert cli("visit", url).stdout.startswith("Not changed")
    assert "has no mask 2" in cli("noise", url, "--undo", "2", code=2).stderr
    assert "give its URL" in cli("noise", "--undo", "1", code=2).stderr
