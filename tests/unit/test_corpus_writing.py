"""Corpora written from rows in any order, and read back."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.corpora import histories, plainly

from recrawl.corpora.checking import check
from recrawl.corpora.native import Corpus
from recrawl.corpora.writing import finishing, held
from recrawl.corpora.writing.journal import Journal
from recrawl.corpora.writing.writer import Writer, host_of
from recrawl.errors import BadInputError

Row = tuple[str, int, str | None]
ROWS = st.lists(
    st.tuples(
        st.sampled_from(["https://a.org/", "https://b.org/x", "data/c.csv", "https://d.org/ü"]),
        st.integers(0, 12),
        st.sampled_from(["x", "y", "", None]),
    ),
    min_size=1,
    max_size=60,
)


def page(folder: Path, **more: Any) -> Writer:
    return Writer(folder, kind="page", observation="every-change", **more)


@settings(max_examples=30, deadline=None)
@given(rows=ROWS, n_sorted=st.integers(1, 30), n_held=st.integers(1, 20), by_columns=st.booleans())
def test_what_is_written_in_any_order_is_read_as_the_same_histories(
    rows: list[Row], n_sorted: int, n_held: int, by_columns: bool
) -> None:
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as place:
        patch.setattr(finishing, "N_SORTED", n_sorted)
        patch.setattr(held, "N_HELD", n_held)
        folder = Path(place, "c")
        with page(folder) as writer:
            if by_columns:
                urls = sorted({url for url, _, _ in rows})
                writer.add_columns(
                    urls,
                    np.array([at for _, at, _ in rows]),
                    [digest for _, _, digest in rows],
                    which=[urls.index(url) for url, _, _ in rows],
                )
            else:
                for url, at, digest in rows:
                    writer.add(url, at + 0.7, digest)
            said = writer.finish()
        corpus = Corpus(folder, strict=True)
        assert histories(corpus.traces()) == plainly(rows)
        assert {url: one for chunk in corpus.chunks(1) for url, one in histories(chunk).items()} == plainly(
            rows
        )
        found = check(folder)
        assert not found.faults
        assert (said["resources"], said["events"]) == (found.n_resources, found.n_events)
        assert sum(said["skipped"].values()) == len(rows) - said["events"]
        assert [path.name for path in Path(place).iterdir()] == ["c"]


@pytest.mark.parametrize("shuffled", [True, False])
def test_no_more_than_a_bucket_is_ever_in_memory(tmp_path: Path, shuffled: bool) -> None:
    rng = np.random.default_rng(5)
    number = np.repeat(np.arange(300), 20).astype(np.int32)
    order = rng.permutation(len(number)) if shuffled else np.arange(len(number))
    at = np.tile(np.arange(20), 300)
    journal = Journal(tmp_path / "rows")
    for part in np.array_split(order, 70):
        journal.append(pa.table({"resource": number[part], "at": at[part], "n": part}))
    found = list(journal.in_order(300, 500))
    assert max(map(len, found)) <= 520
    assert len(found) == 12
    assert pa.concat_tables(found)["n"].to_pylist() == list(range(6000))
    assert [path.name for path in tmp_path.iterdir()] == ["rows"]


def test_of_one_moment_the_version_that_was_added_last_stands(tmp_path: Path) -> None:
    with page(tmp_path / "c") as writer:
        writer.add_columns(["u", "u"], [5, 5], ["a", "b"])
        writer.add("u", 5, "c")
        writer.add_columns(["u"], [5], ["d"])
        writer.finish()
    assert histories(Corpus(tmp_path / "c").traces()) == plainly([("u", 5, "d")])


def test_visits_are_kept_beside_the_changes_among_them(tmp_path: Path) -> None:
    with Writer(tmp_path / "c", kind="page", observation="visits", step_s=10) as writer:
        for at, digest in ((30, "b"), (10, "a"), (20, "a"), (20, "a"), (40, "b")):
            writer.add("https://a.org/", at, digest, status=200)
        for at, changed in ((10, True), (20, False), (30, True), (40, None)):
            writer.add("https://b.org/", at, None, changed=changed)
        said = writer.finish()
    assert (said["visits"], said["events"], said["start"], said["end"]) == (8, 5, 10, 40)
    visits = pq.read_table(tmp_path / "c" / "visits.parquet").to_pylist()
    assert [(row["at"], row["changed"]) for row in visits] == [
        *((10, True), (20, False), (30, True), (40, False)),
        *((10, True), (20, False), (30, True), (40, True)),
    ]
    events = pq.read_table(tmp_path / "c" / "events.parquet")
    assert events.column_names == ["resource", "at", "digest", "status"]
    assert events["at"].to_pylist() == [10, 30, 10, 30, 40]
    assert events["status"].to_pylist() == [200, 200, None, None, None]
    found = check(tmp_path / "c")
    assert (found.faults, found.remarks, found.about.step_s) == ([], [], 10.0)


def test_facts_posts_and_texts_lie_in_files_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finishing, "SORTED_BYTES", 100)
    monkeypatch.setattr(held, "HELD_BYTES", 10)
    with Writer(tmp_path / "c", kind="thread", observation="every-change", title="Threads") as writer:
        for n in (2, 0, 1):
            for at in (20, 10):
                writer.add(f"t/{n}", at, f"{n}-{at}", host="board", words=n if at == 10 else 0.5)
                writer.post(f"t/{n}", at, f"user {at}", f"Text of {n} at {at} \ud800")
                writer.text(f"t/{n}", at, "same", "t" * 20)
            writer.resource(f"t/{n}", title=f"Thread {n}", board="b", posts=n)
        writer.resource("t/unheard-of", title="Nothing here")
        said = writer.finish()
    assert said["skipped"] == {"a resource without any version": 1}
    listed = pq.read_table(tmp_path / "c" / "resources.parquet").to_pylist()
    assert [(row["path"], row["url"], row["host"], row["posts"]) for row in listed] == [
        ("t/2", None, "board", 2),
        ("t/0", None, "board", 0),
        ("t/1", None, "board", 1),
    ]
    with gzip.open(tmp_path / "c" / "posts.jsonl.gz", "rt") as lines:
        threads = [json.loads(line) for line in lines]
    assert [thread["resource"] for thread in threads] == [0, 1, 2]
    assert threads[0] == {
        "resource": 0,
        "board": "b",
        "title": "Thread 2",
        "posts": [{"at": at, "user": f"user {at}", "text": f"Text of 2 at {at} ?"} for at in (10, 20)],
    }
    with lzma.open(tmp_path / "c" / "texts.jsonl.xz", "rt") as lines:
        texts = [json.loads(line) for line in lines]
    assert [(text["resource"], text["at"]) for text in texts] == [(0, 10), (1, 10), (2, 10)]
    assert pq.read_table(tmp_path / "c" / "events.parquet")["words"].to_pylist() == [2, 0.5, 0, 0.5, 1, 0.5]


def test_rows_that_cannot_be_used_are_refused_one_by_one(tmp_path: Path) -> None:
    refused: list[tuple[str, str]] = []
    with page(tmp_path / "c", refuse=lambda where, why: refused.append((where, why))) as writer:
        writer.add("", 1, "a", where="f:1")
        writer.add("https://a.org/" + "x" * 10_000, 1, "a", where="f:2")
        writer.add("https://a.org/\ud800", 1, "a", where="f:3")
        writer.add("https://a.org/", float("nan"), "a", where="f:4")
        writer.add("https://a.org/", -1.0, "a", where="f:5")
        writer.add("https://a.org/", 1e15, "a", where="f:6")
        writer.add("https://a.org/", 7, "a\ud800", where="f:7")
        writer.add_columns(["", "https://b.org/"], [1.0, np.inf, 3.0], None, which=[0, 1, 1], where="f")
        said = writer.finish()
    assert [where for where, _ in refused] == [*(f"f:{n}" for n in range(1, 7)), "f [0]", "f [1]"]
    assert refused[1][1] == "a URL of more than 4,096 characters"
    assert (said["resources"], said["events"]) == (2, 2)
    with (
        page(tmp_path / "d") as writer,
        pytest.raises(BadInputError, match="This row cannot be used: no URL"),
    ):
        writer.add("", 1, "a")


def test_a_corpus_that_would_not_be_one_is_not_made(tmp_path: Path) -> None:
    with page(tmp_path / "none") as writer, pytest.raises(BadInputError, match="no versions to write"):
        writer.finish()
    with Writer(tmp_path / "kind", kind="stuff", observation="every-change") as writer:
        writer.add("u", 1, "a")
        with pytest.raises(BadInputError, match="'kind' is \"stuff\"; it must be one of"):
            writer.finish()
        writer.finish(kind="data")  # nothing is lost by the mistake
    with page(tmp_path / "types") as writer:
        writer.add("u", 1, "a", words=1)
        writer.add("u", 2, "b", words="one")
        with pytest.raises(BadInputError, match="Column 'words' holds two types"):
            writer.finish()
    with (
        page(tmp_path / "names") as writer,
        pytest.raises(BadInputError, match="cannot be called 'resource'"),
    ):
        writer.add_columns(["u"], [1], ["a"], resource=[1])
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "kind",
        "names.unfinished",
        "types.unfinished",
    ]


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://me:secret@Example.org:443/a", "example.org"),
        ("http://example.org:80", "example.org"),
        ("http://[::1]:8080/", "[::1]:8080"),
        ("http://[::80]/", "[::80]"),
        ("https://a.org?x@y", "a.org"),
        ("data/a.csv", ""),
    ],
)
def test_the_host_is_the_one_in_the_url(url: str, host: str) -> None:
    assert host_of(url) == host
