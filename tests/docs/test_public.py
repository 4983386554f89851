"""The public names, and the facts that are written down twice."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import recrawl

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def test_the_public_names_are_sorted_and_there() -> None:
    assert list(recrawl.__all__) == sorted(recrawl.__all__)
    assert all(hasattr(recrawl, name) for name in recrawl.__all__)


def test_the_version_is_the_same_in_the_package_and_in_its_description() -> None:
    assert recrawl.__version__ == PROJECT["version"]


def test_the_readme_names_the_oldest_python_that_will_do() -> None:
    oldest = PROJECT["requires-python"].removeprefix(">=")
    assert f"Python {oldest}" in (ROOT / "README.md").read_text("utf-8")


def test_the_set_up_refuses_what_it_does_not_know() -> None:
    """It would else make an environment that the next call takes for a whole one."""
    done = subprocess.run([ROOT / "scripts" / "setup", "tests"], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "choose run, dev, browser or pywb" in done.stderr
