"""What resources said at given moments."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
from tests.corpora import corpus_folder

from recrawl.corpora.firsts import TEXTS
from recrawl.corpora.standing import standing


def found(folder: Path, rows: list[dict[str, Any]], moments: list[float]) -> list[dict[int, str]]:
    """By moment: what each resource said."""
    with lzma.open(folder / TEXTS, "wt", encoding="utf-8") as out:
        out.write("\n".join(map(json.dumps, rows)))
    said: list[dict[int, str]] = [{} for _ in moments]
    for one in standing(folder, np.array([1, 2, 5]), moments):
        for moment in one.moments:
            assert one.place not in said[moment]
            said[moment][one.place] = one.text
    return said


def test_a_text_that_came_back_is_kept_once_and_stands_whenever_it_did(tmp_path: Path) -> None:
    events = [(1, 100, "a"), (1, 200, "b"), (1, 300, "a"), (2, 250, "a"), (5, 100, "z")]
    folder = corpus_folder(tmp_path, events)
    rows = [
        {"resource": 1, "at": 100, "digest": "a", "text": "one"},
        {"resource": 1, "at": 200, "digest": "b", "text": "two"},
        {"resource": 2, "at": 250, "digest": "a", "text": "of another"},
        {"resource": 7, "at": 100, "digest": "a", "text": "of nobody"},
    ]
    assert found(folder, rows, [99, 100, 250, 299.5, 300]) == [
        {},
        {0: "one"},
        {0: "two", 1: "of another"},
        {0: "two", 1: "of another"},
        {0: "one", 1: "of another"},
    ]


def test_lines_that_came_and_went_make_the_text(tmp_path: Path) -> None:
    events = [(1, 100, "a"), (1, 200, "b"), (1, 300, "c"), (2, 100, "a")]
    folder = corpus_folder(tmp_path, events)
    rows: list[dict[str, Any]] = [
        {"resource": 1, "at": 100, "digest": "a", "lines": ["{", "x", "x", 7, "}"]},
        {"resource": 1, "at": 200, "digest": "b", "added": ["y"], "removed": ["x", "never there"]},
        {"resource": 1, "at": 300, "digest": "c", "added": None, "removed": ["x", "y"]},
        {"resource": 2, "at": 100, "digest": "a", "added": ["of a file whose first lines are lost"]},
    ]
    got = found(folder, rows, [150, 250, 350])
    assert [each[0] for each in got] == ["{\nx\nx\n}", "{\nx\n}\ny", "{\n}"]
    assert [each[1] for each in got] == ["of a file whose first lines are lost"] * 3


def test_a_version_without_digest_is_found_by_its_time(tmp_path: Path) -> None:
    folder = corpus_folder(tmp_path, [(1, 100, None), (1, 200, None)])
    rows = [{"resource": 1, "at": at, "text": f"at {at}"} for at in (100, 200, 300)]
    assert found(folder, rows, [150, 1_000]) == [{0: "at 100"}, {0: "at 200"}]


def test_without_events_or_texts_nothing_stood(tmp_path: Path) -> None:
    folder = corpus_folder(tmp_path, [])
    assert list(standing(folder, np.array([1]), [0.0])) == []
