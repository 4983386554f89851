"""Somebody else's package of parts, as an installer leaves it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from recrawl import plugin, registry

PAGE = Path(__file__).parents[1] / "docs/howto/write-a-plug-in.md"


def page_code(word: str) -> str:
    """The one block of Python on the page about plug-ins that has this word."""
    blocks: list[str] = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    (found,) = [one for one in blocks if word in one]
    return found


def package(folder: Path, code: str, offers: Mapping[str, Mapping[str, str]]) -> Path:
    """`my-package` in this folder: its code, and what it offers, by group and name."""
    about = folder / "my_package-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-package\nVersion: 1.0\n", "utf-8")
    lines = [
        line
        for group, parts in offers.items()
        for line in (
            f"[recrawl.{group}]",
            *(f"{name} = my_package:{kind}" for name, kind in parts.items()),
        )
    ]
    (about / "entry_points.txt").write_text("\n".join(lines) + "\n", "utf-8")
    (folder / "my_package.py").write_text(code, "utf-8")
    return folder


@contextmanager
def installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """In this process too."""
    monkeypatch.syspath_prepend(folder)
    registry._offered.cache_clear()
    yield
    sys.modules.pop("my_package", None)
    plugin._given.clear()
    registry._offered.cache_clear()
