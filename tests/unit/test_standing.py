"""What resources said at given moments."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.corpora import corpus_folder

from recrawl.corpora.firsts import TEXTS
from recrawl.corpora.standing import standing
from recrawl.errors import BadInputError


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
    assert got[0][0] == "{\nx\nx\n}"
    assert got[1][0].startswith("{\n")  # where a line came is not known; what begins it is
    assert sorted(got[1][0].split("\n")) == ["x", "y", "{", "}"]
    assert got[2][0] == "{\n}"
    assert [each[1] for each in got] == ["of a file whose first lines are lost"] * 3


def test_a_version_without_digest_is_found_by_its_time(tmp_path: Path) -> None:
    folder = corpus_folder(tmp_path, [(1, 100, None), (1, 200, None)])
    rows = [{"resource": 1, "at": at, "text": f"at {at}"} for at in (100, 200, 300)]
    assert found(folder, rows, [150, 1_000]) == [{0: "at 100"}, {0: "at 200"}]


def test_without_events_or_texts_nothing_stood(tmp_path: Path) -> None:
    folder = corpus_folder(tmp_path, [])
    assert list(standing(folder, np.array([1]), [0.0])) == []


def test_what_was_not_kept_did_not_say_nothing(tmp_path: Path) -> None:
    folder = corpus_folder(tmp_path, [(1, 100, "a"), (2, 100, "b")])
    rows: list[dict[str, Any]] = [
        {"resource": 1, "at": 100, "digest": "a", "text": None},
        {"resource": 1, "at": 100, "digest": "a", "text": "there it is"},
        {"resource": 2, "at": 100, "digest": "b"},
    ]
    assert found(folder, rows, [150]) == [{0: "there it is"}]


def test_lines_may_come_to_a_whole_text(tmp_path: Path) -> None:
    folder = corpus_folder(tmp_path, [(1, 100, "a"), (1, 200, "b")])
    rows: list[dict[str, Any]] = [
        {"resource": 1, "at": 100, "digest": "a", "text": "first"},
        {"resource": 1, "at": 200, "digest": "b", "added": ["second"]},
    ]
    assert found(folder, rows, [250]) == [{0: "first\nsecond"}]


def test_texts_in_disorder_are_refused(tmp_path: Path) -> None:
    folder = corpus_folder(tmp_path, [(1, 100, "a"), (2, 100, "b")])
    rows = [{"resource": n, "at": 100, "digest": "a", "text": "x"} for n in (2, 1)]
    with pytest.raises(BadInputError, match="sort it by resource"):
        found(folder, rows, [150])


def test_a_digest_with_half_a_character_is_none(tmp_path: Path) -> None:
    folder = corpus_folder(tmp_path, [(1, 100, None)])
    with lzma.open(folder / TEXTS, "wt", encoding="utf-8") as out:
        out.write('{"resource": 1, "at": 100, "digest": "\\ud800", "text": "x"}')
    assert [one.text for one in standing(folder, np.array([1]), [150.0])] == ["x"]
