"""The reference pages are what the code says."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from typer.main import get_command

from recrawl.app.config import rows
from recrawl.cli.main import app

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", ROOT / "scripts" / "reference.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", ["cli.md", "settings.md"])
def test_a_reference_page_is_what_the_code_says_now(reference: ModuleType, name: str) -> None:
    kept = (ROOT / "docs" / "reference" / name).read_text("utf-8")
    assert kept == reference.PAGES[name](), "out of date; run: python scripts/reference.py"


def test_neither_width_nor_colour_of_the_terminal_changes_the_pages(
    reference: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = [page() for page in reference.PAGES.values()]
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert [page() for page in reference.PAGES.values()] == before


def test_every_command_and_every_setting_has_its_place(reference: ModuleType) -> None:
    commands = (ROOT / "docs" / "reference" / "cli.md").read_text("utf-8")
    settings = (ROOT / "docs" / "reference" / "settings.md").read_text("utf-8")
    for name, _ in reference.named(get_command(app)):
        assert f"## recrawl {name}\n" in commands
    for name, _, variable, description in rows():
        assert f"`{name}`" in settings
        assert f"`{variable}`" in settings
        assert description in settings


def test_every_command_can_speak_json_and_has_an_example(reference: ModuleType) -> None:
    for name, command in reference.named(get_command(app)):
        is_group = hasattr(command, "commands")
        assert is_group or any("--json" in parameter.opts for parameter in command.params), name
        assert f"recrawl {name}" in (command.help or ""), name
