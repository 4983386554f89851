"""Whatever the pages tell people to type can be typed: the real parser reads it, and nothing is run."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from recrawl.cli.main import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMANDS: Any = get_command(app)  # put together once: hundreds of lines are read by it
_BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
_VARIABLE = re.compile(r"[A-Z_]+=")
_END_OF_COMMAND = {"|", ">", ">>", "<", "&&", ";", "&"}


def typed(page: Path, program: str) -> Iterator[list[str]]:
    """The arguments of each call of a program in the page's console blocks."""
    for block in _BLOCK.findall(page.read_text("utf-8")):
        for line in re.sub(r"\\\n\s*", " ", block).splitlines():
            if not line.startswith("$ "):
                continue
            words = shlex.split(line[2:], comments=True)
            while words and _VARIABLE.match(words[0]):
                words.pop(0)
            if words[:1] == [program]:
                ends = (i for i, word in enumerate(words) if word in _END_OF_COMMAND)
                yield words[1 : next(ends, len(words))]


def parse(args: list[str]) -> None:
    """Read the arguments as the command line does, down to the command's own options."""
    context = COMMANDS.make_context("recrawl", list(args))
    name, command, rest = COMMANDS.resolve_command(context, [*context._protected_args, *context.args])
    inner: Any = command.make_context(name, rest, parent=context)
    if hasattr(command, "commands"):  # a group: down to its own commands
        name, command, rest = command.resolve_command(inner, [*inner._protected_args, *inner.args])
        command.make_context(name, rest, parent=inner)


CALLS = [(page.relative_to(ROOT), args) for page in PAGES for args in typed(page, "recrawl")]


@pytest.mark.parametrize(("page", "args"), CALLS, ids=lambda value: str(value)[:60])
def test_a_command_that_people_are_told_to_type_exists_with_its_options(page: Path, args: list[str]) -> None:
    if args not in (["--version"], ["--help"], []):  # these end the program while it reads them
        parse(args)


@pytest.mark.parametrize(
    "args",
    [["nonsense"], ["list", "--colour"], ["show"], ["access", "show"], ["access", "set", "--password"]],
)
def test_a_command_that_is_not_there_would_be_found_out(args: list[str]) -> None:
    with pytest.raises(Exception, match=r"(?i)no such|missing"):
        parse(args)


def test_every_make_target_that_people_are_told_to_type_exists() -> None:
    wanted = {args[0] for page in PAGES for args in typed(page, "make") if args}
    makefile = ROOT / "Makefile"
    text = makefile.read_text("utf-8") if makefile.exists() else ""
    assert wanted <= set(re.findall(r"^([a-z][\w-]*):", text, re.MULTILINE))
