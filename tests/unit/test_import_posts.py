"""Posts as JSON lines, as a corpus of threads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.importers import T0, same, taken, taken_in_parts

from recrawl.corpora.importers.threads.posts import Posts
from recrawl.errors import BadInputError


def written(path: Path, *rows: object) -> Path:
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows))
    return path


def test_posts_become_threads_whatever_their_times_are_written_in(tmp_path: Path) -> None:
    path = written(
        tmp_path / "posts.jsonl",
        {"thread": "https://b.example/t/1", "at": "2020-09-13T14:26:40+02:00", "user": "ann", "text": "One"},
        {
            "thread": "https://b.example/t/1",
            "at": T0 + 60,
            "text": "Two",
            "title": "Late title",
            "board": "B",
        },
        {"thread": 17, "at": (T0 + 120) * 1000, "id": "x1", "title": "By number"},
        {"thread": "https://b.example/t/1", "at": T0 + 0.5, "text": "Two"},
        "",
    )
    found = taken(Posts(board="Usual"), path, tmp_path / "out", strict=True)
    assert [at - T0 for at, _ in found.events["https://b.example/t/1"]] == [0, 0, 60]
    assert found.events["17"] == [(T0 + 120, "x1")]
    assert found.facts["17"]["host"] == "Usual"
    assert found.threads["Late title"]["posts"][0] == {"at": T0, "user": "ann", "text": "One"}


def test_lines_that_are_no_posts_are_named(tmp_path: Path) -> None:
    path = written(
        tmp_path / "posts.jsonl",
        {"thread": "t", "at": T0},
        "{",
        [1],
        {"at": T0},
        {"thread": True, "at": T0},
        {"thread": "t", "at": True},
        {"thread": "t", "at": "soon"},
        {"thread": "t", "at": 9e99},
        {"thread": "t"},
        '{"thread": "t", "at": NaN}',
        {"thread": "x" * 5_000, "at": T0},
        {"thread": "\ud800", "at": T0},
        {"thread": "t", "at": T0 + 1, "text": "\ud800 torn", "title": "\ud800", "user": 5},
        "[" * 100_000,
    )
    found = taken(Posts(), path, tmp_path / "out")
    assert [at - T0 for at, _ in found.events["t"]] == [0, 1]
    assert set(found.events) == {"t"}
    assert sum(found.result.skipped.values()) == 12
    assert found.result.examples["no thread"] == ["posts.jsonl:4", "posts.jsonl:5"]
    with pytest.raises(BadInputError, match=r"posts\.jsonl:2: not JSON"):
        taken(Posts(), path, tmp_path / "strict", strict=True)


def test_an_import_that_was_cut_off_goes_on_with_the_next_line(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for n in range(8):
        rows = [{"thread": f"t{k % 3}", "at": T0 + 10 * n + k, "text": f"{n} {k}"} for k in range(6)]
        written(folder / f"{n}.jsonl", *rows, "broken")
    whole = taken(Posts(), folder, tmp_path / "whole")
    parts = taken_in_parts(Posts, folder, tmp_path / "parts", 4)
    assert parts.result.went_on
    same(whole, parts)
