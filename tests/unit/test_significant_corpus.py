"""Corpora of which only significant changes count."""

from __future__ import annotations

import json
import lzma
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.corpora import ABOUT, corpus_folder
from typer.testing import CliRunner

from recrawl.cli.main import app
from recrawl.corpora import contents
from recrawl.corpora.digests import bits_of_texts
from recrawl.corpora.opened import opened
from recrawl.corpora.significant import NO_WORDS, NOT_SIGNIFICANT, SignificantCorpus, adding_up
from recrawl.detect.significance import significances
from recrawl.errors import BadInputError
from recrawl.model import DAY_S, Bags
from recrawl.simulate.traces import Traces

Version = dict[int, int]  # numbered words and how often each occurs
DAY = int(DAY_S)

OLD: Version = dict.fromkeys(range(10), 6)
NEW: Version = dict.fromkeys(range(20, 30), 6)
# One word of twenty is replaced each time: a little at a time, everything in the end.
DRIFT: list[Version] = [dict.fromkeys(range(i, i + 20), 3) for i in range(30)]


def written(folder: Path, pages: Sequence[Sequence[Version]], *, digests: bool = True) -> Path:
    """A corpus with the words of each page's versions, one a day."""
    events = [
        (page, DAY * (1 + i), f"{page}-{sorted(words.items())}" if digests else None)
        for page, versions in enumerate(pages)
        for i, words in enumerate(versions)
    ]
    corpus_folder(folder, events, about={**ABOUT, "start": DAY, "end": DAY * (1 + max(map(len, pages)))})
    rows = [
        (page, DAY * (1 + i), word, n)
        for page, versions in enumerate(pages)
        for i, words in enumerate(versions)
        for word, n in words.items()
    ]
    columns = dict(zip(("resource", "at", "term", "count"), zip(*rows, strict=True), strict=True))
    pq.write_table(pa.table(columns), folder / "terms.parquet", row_group_size=7)
    return folder


def texts(folder: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    with lzma.open(folder / "texts.jsonl.xz", "wt") as out:
        out.writelines(json.dumps(row) + "\n" for row in rows)


def days(traces: Traces) -> list[list[int]]:
    """When each page changed, in days after its first version."""
    return [((traces.of(i) - traces.born_at[i]) / DAY).astype(int).tolist() for i in range(len(traces))]


def significant(folder: Path) -> SignificantCorpus:
    corpus = opened(folder, changes="significant")
    assert isinstance(corpus, SignificantCorpus)
    return corpus


def test_only_significant_changes_count_and_what_does_not_is_counted(tmp_path: Path) -> None:
    little = {**OLD, 0: 5}
    folder = written(tmp_path / "c", [[OLD, little, OLD, NEW, NEW | {20: 7}, OLD], [OLD], [NEW, little]])
    corpus = significant(folder)
    assert days(corpus.traces()) == [[3, 5], [], [1]]
    assert corpus.skipped == {NOT_SIGNIFICANT: 3}
    assert corpus.said() == ["Only significant changes count: 3 of 6 (50.0%)."]
    assert days(opened(folder).traces()) == [[1, 2, 3, 4, 5], [], [1]]


def test_what_is_too_little_at_a_time_adds_up(tmp_path: Path) -> None:
    bags = Bags.of([{word: float(n) for word, n in version.items()} for version in DRIFT])
    step = np.arange(len(DRIFT) - 1)
    lonely = significances(bags, step, step + 1).significant
    assert not lonely.any()
    against_first = significances(bags, 0 * step, step + 1).significant
    first = int(np.flatnonzero(against_first)[0]) + 1
    found = days(significant(written(tmp_path / "c", [DRIFT])).traces())[0]
    assert found[0] == first
    assert first > 1
    assert found[1] == 2 * first  # as far again from there


def test_adding_up_is_what_one_after_the_other_gives() -> None:
    rng = np.random.default_rng(3)
    counts = rng.poisson(rng.choice([0.3, 2.0, 6.0], (150, 12)) * rng.choice([0.5, 1.5], (150, 1)))
    bags = Bags.of([{w: float(n) for w, n in enumerate(row) if n} for row in counts.tolist()])
    owner = np.sort(rng.integers(0, 6, 400))
    rows = np.where(rng.random(400) < 0.1, -1, rng.integers(0, 150, 400))
    rows[owner == 4] = rows[owner == 4][0]  # one that never changes
    expected = []
    for one in range(6):
        base = -1
        for row in rows[owner == one].tolist():
            differs = False
            if row >= 0 and base >= 0:
                differs = bool(significances(bags, np.array([base]), np.array([row])).significant[0])
            expected.append(differs)
            base = row if differs or base < 0 else base
    assert 20 < sum(expected) < 300
    assert adding_up(bags, owner, rows).tolist() == expected


def test_it_is_the_same_piece_by_piece_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    pages: list[list[Version]] = [
        [{int(w): 4 for w in rng.choice(30, 8, replace=False)} for _ in range(rng.integers(1, 9))]
        for _ in range(25)
    ]
    pages[7] = [{}, OLD, {}, {}]  # an empty page has no row
    folder = written(tmp_path / "c", pages)
    whole = days(significant(folder).traces())
    assert whole[7] == [1, 2]
    monkeypatch.setattr(contents, "_N_WORDS", 60)
    monkeypatch.setattr("recrawl.corpora.arrow.N_BATCH", 10)
    corpus = significant(folder)
    for n in (1, 4, 4, 100):
        assert [one for traces in corpus.chunks(n) for one in days(traces)] == whole
        assert corpus.skipped[NOT_SIGNIFICANT] == sum(map(len, pages)) - 25 - sum(map(len, whole)) - 1


def test_texts_are_joined_by_their_digests_and_by_their_moments(tmp_path: Path) -> None:
    old, new = "the old text of a page " * 5, "some words that were never there " * 5
    events: list[tuple[int, int, str | None]] = [
        (3, DAY * i, digest) for i, digest in enumerate(["a", "b", "a", "c", "d"], 1)
    ]
    events += [(5, DAY * 1, None), (5, DAY * 2, None)]
    folder = corpus_folder(tmp_path / "c", events, about={**ABOUT, "end": DAY * 9})
    texts(
        folder,
        [
            {"resource": 3, "at": DAY, "digest": "a", "text": old},
            {"resource": 3, "at": 2 * DAY, "digest": "b", "text": new},
            {"resource": 3, "at": 4 * DAY, "digest": "c", "text": old + " 12:30"},
            {"resource": 5, "at": DAY, "digest": None, "text": old},
            {"resource": 5, "at": 2 * DAY, "text": new},
            {"resource": 9, "at": 2 * DAY, "text": "nobody listed it"},
        ],
    )
    corpus = significant(folder)
    assert days(corpus.traces()) == [[1, 2], [1]]
    assert corpus.skipped == {NOT_SIGNIFICANT: 1, NO_WORDS: 1}


def test_lines_that_came_and_went_say_as_much_as_whole_texts(tmp_path: Path) -> None:
    lines = [f"line {chr(97 + i) * 3} of some words" for i in range(12)]
    versions = [lines[:6], lines[:5], lines[5:], lines]
    events = [(0, DAY * (1 + i), str(i)) for i in range(4)]
    about = {**ABOUT, "end": DAY * 9}
    whole = corpus_folder(tmp_path / "whole", events, about=about)
    texts(
        whole,
        [
            {"resource": 0, "at": DAY * (1 + i), "digest": str(i), "text": "\n".join(version)}
            for i, version in enumerate(versions)
        ],
    )
    parts = corpus_folder(tmp_path / "parts", events, about=about)
    rows: list[dict[str, Any]] = [{"lines": versions[0]}]
    for before, after in pairwise(versions):
        rows.append(
            {
                "added": [line for line in after if line not in before],
                "removed": [line for line in before if line not in after],
            }
        )
    told = [{"resource": 0, "at": DAY * (1 + i), "digest": str(i), **row} for i, row in enumerate(rows)]
    texts(parts, [*told, {"resource": 1, "at": DAY, "added": ["another page"]}])
    read = [next(contents.contents(folder, np.array([0]))).bags for folder in (whole, parts)]
    for name in ("bounds", "word", "count"):
        assert np.array_equal(getattr(read[0], name), getattr(read[1], name))
    assert read[0].total.tolist() == [30, 25, 35, 60, 0]
    both = next(contents.contents(parts, np.array([0, 1]))).bags
    assert both.total.tolist() == [30, 25, 35, 60, 2, 0]  # the other page begins with nothing


def test_of_whole_texts_only_those_that_are_wanted_are_counted(tmp_path: Path) -> None:
    folder = corpus_folder(tmp_path / "c", [(0, DAY * (1 + i), str(i)) for i in range(4)])
    texts(
        folder,
        [{"resource": 0, "at": DAY * (1 + i), "digest": str(i), "text": "word " * (i + 1)} for i in range(4)],
    )
    named = contents.Wanted(np.array([0]), np.array([0]), bits_of_texts(["2"]))
    timed = contents.Wanted(np.array([0]), np.array([DAY]), bits_of_texts([None]))
    read = [next(contents.contents(folder, np.array([0]), one)).bags for one in (None, named, timed)]
    assert [bags.total.tolist() for bags in read] == [[1, 2, 3, 4, 0], [3, 0], [1, 0]]


def test_a_corpus_without_contents_says_what_is_missing(tmp_path: Path) -> None:
    folder = corpus_folder(tmp_path / "c", [(1, DAY, "a"), (1, 2 * DAY, "b")])
    with pytest.raises(BadInputError, match=r"keeps no contents.*terms\.parquet or texts\.jsonl\.xz"):
        opened(folder, changes="significant")
    with pytest.raises(BadInputError, match="recrawl corpus make news DIR"):
        opened("builtin:news", changes="significant")
    with pytest.raises(BadInputError, match=r"wiki has .* no contents.*\(.*news.*\).*make NAME DIR"):
        opened("builtin:wiki", changes="significant")
    with pytest.raises(BadInputError, match="choose any or significant"):
        opened(folder, changes="large")


def test_terms_out_of_order_are_refused_and_rows_that_say_nothing_left_out(tmp_path: Path) -> None:
    folder = written(tmp_path / "c", [[OLD, NEW], [OLD]])
    good = pq.read_table(folder / "terms.parquet")
    odd = pa.table(
        {
            "resource": pa.array([0, None, 0, 8], pa.int64()),
            "at": [DAY] * 4,
            "term": [99, 99, 98, 97],
            "count": [0, 5, -3, 5],
        }
    )
    first = good.slice(0, 3)
    pq.write_table(pa.concat_tables([odd.slice(0, 3), good, odd.slice(3)]), folder / "terms.parquet")
    assert days(significant(folder).traces()) == [[1], []]
    pq.write_table(pa.concat_tables([good, first]), folder / "terms.parquet")
    with pytest.raises(BadInputError, match="sort it by resource and at"):
        significant(folder).traces()


def asked(*words: str, code: int = 0) -> Any:
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    assert done.exit_code == code, done.output
    return json.loads(done.stdout) if code == 0 else done.stderr


def test_replays_and_experiments_count_what_they_are_told_to(tmp_path: Path) -> None:
    pages: list[list[Version]] = [
        [OLD if i % 14 < 7 else NEW for i in range(120)]
        if page % 2
        else [OLD | {0: 4 + i % 3} for i in range(120)]
        for page in range(8)
    ]
    folder = str(written(tmp_path / "c", pages))
    few = ("--corpus", folder, "--draws", "1", "--days", "60", "--json")
    simulated = ("simulate", "--policy", "week", *few)
    every, some = asked(*simulated), asked(*simulated, "--changes", "significant")
    assert (every["changes"], some["changes"]) == ("any", "significant")
    assert every["rows"][0]["changes"] == pytest.approx(4 * 60 + 4 * 60 // 7, abs=6)
    assert some["rows"][0]["changes"] == pytest.approx(4 * 60 // 7, abs=6)
    # Pages flip every seven days, each of four sixteen or seventeen times; the others hardly change each day.
    assert "Only significant changes count: 68 of 544 (12.5%)." in some["notes"]
    told = [
        asked("evaluate", *words, "--corpus", folder, "--draws", "1", "--changes", "significant", "--json")
        for words in (
            ("umbrich", "--years", "0.2"),
            ("peers", "--policy", "week", "--days", "60"),
            ("forecasts", "--days", "60", "--predictor", "gamma"),
        )
    ]
    for document in told:
        assert document["changes"] == "significant"
        assert "Only significant changes count: 68 of 544 (12.5%)." in document["notes"]
    assert "choose any or significant" in asked(*simulated[:-1], "--changes", "some", code=2)
