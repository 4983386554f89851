"""What the README shows of outputs is what comes out, but for the figures."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

README = (Path(__file__).parents[2] / "README.md").read_text("utf-8")
_MASKS = [
    (r"https?://\S+?(?=:? |$)", "URL"),
    (r"\d{4}-\d\d-\d\dT[\d:]+Z", "TIME"),
    (r"\d[\d,.]*(e-?\d+)?", "N"),
    (r"N (day|hour|minute|second)s?\b", "SPAN"),
    (r"\b(change|visit|resource|host)s?\b", r"\1"),
    (r"one in SPAN|N a day(?= expected|, look)|no change", "RATE"),
    (r"getting a first copy of everything|URL: RATE, look again in SPAN", "LEARNED"),
    (r"\((now|in SPAN)\)", "(AWAY)"),
    (r"TIME (not changed|changed|seen): .*", "TIME VERDICT: EVIDENCE"),
    (r"; a source has told of a change since", ""),
    (r"; (then a visit is worth|a visit would be worth|it changes faster) .*", "; WHY"),
    (r"^rate .*", "rate RATES"),
    (r"^prior .* as is", "prior RATE as is"),
    (r"; its host can serve no more", ""),
    (r", moved to URL", ""),
    (r"\s+", " "),
]

# lines of `why`, where there is something to say
NOT_ALWAYS = ("group ", "calendar ", "told ", "silence ", "it showed")


def shape(line: str) -> str:
    for pattern, word in _MASKS:
        line = re.sub(pattern, word, line)
    return line.strip()


def shown(command: str) -> list[str]:
    """The shapes of the lines that stand below a command in the README."""
    block = re.search(
        rf"^```console\n\$ {re.escape(command)}[^\n]*\n(.*?)^```", README, re.MULTILINE | re.DOTALL
    )
    assert block is not None, command
    return [shape(line) for line in block[1].splitlines() if line != "…"]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo") / "home"


def typed(home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    env = {key: value for key, value in os.environ.items() if not key.startswith("RECRAWL_")}
    command = [sys.executable, "-m", "recrawl", "--home", str(home), *args]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=True, timeout=120)


@pytest.fixture(scope="module")
def demo(home: Path) -> subprocess.CompletedProcess[str]:
    return typed(home, "demo", "--for", "5s")


def test_the_demo_prints_what_the_readme_shows(demo: subprocess.CompletedProcess[str]) -> None:
    told = {shape(line) for line in demo.stderr.splitlines()}
    table = [shape(line) for line in demo.stdout.splitlines()]
    lines = shown("make demo")
    assert [line for line in lines if line not in told] == table
    assert len(table) == 9


def test_why_prints_what_the_readme_shows(demo: subprocess.CompletedProcess[str], home: Path) -> None:
    found = re.search(r" why (\S+)", demo.stderr)
    assert found is not None
    # It may be one whose last visit failed, or that was never seen to change: then another shows it all.
    others = (json.loads(line)["url"] for line in typed(home, "list", "--json").stdout.splitlines())
    whole = re.compile(r"(?sm) seen in .*^last visit +\S+ (not changed|changed|seen): .*^habit .*^budget ")
    texts = (typed(home, "why", url).stdout for url in (found[1], *others))
    out = next(text for text in texts if whole.search(text))
    told = [shape(line) for line in out.splitlines()], shown("recrawl why")
    here, there = ([line for line in lines if not line.startswith(NOT_ALWAYS)] for lines in told)
    assert here == there


def test_a_figure_may_differ_and_a_word_may_not() -> None:
    assert shape("gap         20.3 hours") == shape("gap  1 day")
    assert shape("how         as usual") != shape("how         private addresses allowed")
    assert shape("next visit  2026-02-04T06:12:59Z") != shape("next visit  2026-02-04T06:12:59Z (now)")
