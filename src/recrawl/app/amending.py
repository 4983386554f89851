"""Changing one setting in recrawl.toml: everything else in it, comments too, stays as it was written."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

from recrawl.app import config as configuration
from recrawl.app import private
from recrawl.app.quantity import Budget, budget
from recrawl.errors import BadSettingError

_SECTION = re.compile(r"[ \t]*\[[ \t]*([A-Za-z0-9_-]+)[ \t]*\][ \t]*(?:#.*)?")
_OTHER = re.compile(r"[ \t]*\[")


def set_budget(home: Path, said: str) -> Budget:
    """What runs keep to from now on, unless they were told another; the file is checked before it is kept."""
    wanted = budget(said)
    amend(home, "schedule", "budget", str(wanted))
    return wanted


def amend(home: Path, section: str, name: str, value: str) -> None:
    path = home / configuration.FILE_NAME
    with private.writing(path):
        text = path.read_text("utf-8") if path.exists() else ""
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        amended = amended_text(text, section, name, value)
        _check(path, amended, section, name, value)
        private.write(path, amended)
        path.chmod(mode)  # a settings file is no secret


def amended_text(text: str, section: str, name: str, value: str) -> str:
    """The text with this setting in it.

    >>> print(amended_text("[schedule]\\nbudget = '5/day' # few\\n", "schedule", "budget", "9/day"))
    [schedule]
    budget = "9/day"
    <BLANKLINE>
    """
    line = f"{name} = {json.dumps(value, ensure_ascii=False)}"
    lines = text.splitlines()
    start = next(
        (i for i, one in enumerate(lines) if (m := _SECTION.fullmatch(one)) and m[1] == section), None
    )
    if start is None:
        return "\n".join([*lines, *([""] if lines else []), f"[{section}]", line, ""])
    end = next((i for i in range(start + 1, len(lines)) if _OTHER.match(lines[i])), len(lines))
    said = re.compile(rf"[ \t]*{re.escape(name)}[ \t]*=.*")
    for i in range(start + 1, end):
        if said.fullmatch(lines[i]):
            lines[i] = line
            break
    else:
        lines.insert(start + 1, line)
    return "\n".join([*lines, ""])


def _check(path: Path, text: str, section: str, name: str, value: str) -> None:
    try:
        said = tomllib.loads(text)
        fits = said[section][name] == value
    except (tomllib.TOMLDecodeError, KeyError, TypeError):
        fits = False
    if not fits:
        raise BadSettingError(
            f"{path} is written in a way that cannot be changed from here; write {name} = "
            f"{json.dumps(value)} under [{section}] in it by hand."
        )
