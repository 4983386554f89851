"""Writes the reference pages from the code: the commands from the parser, the settings from their fields.

python scripts/reference.py            write them
python scripts/reference.py --check    say whether they are up to date; exit code 1 if not
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from enum import Enum
from inspect import cleandoc
from pathlib import Path
from typing import Any

from typer.main import get_command

from recrawl.app.config import FILE_NAME, Config, rows
from recrawl.cli.main import app

FOLDER = Path(__file__).parent.parent / "docs" / "reference"
_NOTICE = "<!-- Made by scripts/reference.py from the code; change it there. -->"


def commands() -> str:
    """The page about the commands."""
    top = get_command(app)
    parts = [
        _NOTICE,
        "# Commands",
        *_about(top),
        "Every command also has `--help`.",
        *_table("Options", top),
    ]
    for name, command in named(top):
        usage = " ".join(["recrawl", name, "[OPTIONS]", *(_shown(p) for p in _arguments(command))])
        parts += [f"## recrawl {name}", f"```text\n{usage}\n```", *_about(command)]
        parts += _table("Arguments", command, arguments=True) + _table("Options", command)
    return "\n\n".join([*parts, f"{top.epilog}"]) + "\n"


def named(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Every command by its whole name, those of a group after the group."""
    for name, command in sorted(group.commands.items()):
        yield f"{before}{name}", command
        if hasattr(command, "commands"):
            yield from named(command, f"{before}{name} ")


def settings() -> str:
    """The page about the settings."""
    parts = [
        _NOTICE,
        "# Settings",
        f"Settings are in `{FILE_NAME}` in the home folder, by section. An environment variable wins over "
        "the file. Lengths of time are in seconds, or written as `90s`, `15m`, `6h`, `2d` or `4w`; budgets "
        "are in visits a day, or written as `2000/day`, `50/h` or `2GB/day`. `recrawl config` shows what "
        "holds and why.",
    ]
    for section, field in Config.model_fields.items():
        kind: Any = field.annotation
        parts += [f"## {section}", cleandoc(kind.__doc__ or "")]
        lines = ["| setting | default | environment variable | meaning |", "|---|---|---|---|"]
        lines += [
            f"| `{name}` | {f'`{value}`' if value else 'none'} | `{variable}` | {about} |"
            for name, value, variable, about in rows()
            if name.startswith(f"{section}.")
        ]
        parts.append("\n".join(lines))
    return "\n\n".join(parts) + "\n"


PAGES = {"cli.md": commands, "settings.md": settings}


def _about(command: Any) -> Iterator[str]:
    """Its help, paragraph by paragraph; what must keep its lines is set as code."""
    for paragraph in cleandoc(command.help or "").split("\n\n"):
        if not paragraph.startswith("\b"):
            yield " ".join(paragraph.split())
            continue
        first, *lines = paragraph.removeprefix("\b\n").splitlines()
        yield first
        yield "```console\n" + "\n".join(f"$ {line.strip()}" for line in lines) + "\n```"


def _arguments(command: Any) -> list[Any]:
    return [p for p in command.params if p.param_type_name == "argument"]


def _table(head: str, command: Any, arguments: bool = False) -> list[str]:
    shown = [
        p
        for p in command.params
        if (p.param_type_name == "argument") is arguments and p.help and not getattr(p, "hidden", False)
    ]
    shown = [p for p in shown if p.name not in ("install_completion", "show_completion", "help")]
    if not shown:
        return []
    lines = [f"| {head.lower()} | meaning |", "|---|---|"]
    lines += [f"| `{_cell(_shown(p))}` | {_cell(_meaning(p))} |" for p in shown]
    return ["\n".join(lines)]


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _shown(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        name = str(parameter.metavar or "|".join(_choices(parameter)) or parameter.name.upper())
        return f"{name if parameter.required else f'[{name}]'}{'' if parameter.nargs == 1 else '...'}"
    names = "/".join([*parameter.opts, *parameter.secondary_opts])
    if parameter.is_flag:
        return names
    return f"{names} {parameter.metavar or '|'.join(_choices(parameter))}".strip()


def _choices(parameter: Any) -> list[str]:
    kind = parameter.type_descriptor.annotation
    return [member.value for member in kind] if isinstance(kind, type) and issubclass(kind, Enum) else []


def _meaning(parameter: Any) -> str:
    default = parameter.default
    told = "" if default in (None, False, ()) or callable(default) else f" Default: `{default}`."
    return f"{parameter.help}{told}"


def main() -> int:
    stale = [
        name for name, page in PAGES.items()
        if not (FOLDER / name).exists() or (FOLDER / name).read_text("utf-8") != page()
    ]  # fmt: skip
    if "--check" in sys.argv:
        for name in stale:
            print(f"docs/reference/{name} is out of date; run: python scripts/reference.py")
        return bool(stale)
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in stale:
        (FOLDER / name).write_text(PAGES[name](), "utf-8")
        print(f"wrote docs/reference/{name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
