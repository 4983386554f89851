"""The posts of corpora: of generated threads, and of folders."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from recrawl.corpora.builtin import Builtin, builtin
from recrawl.corpora.making import make
from recrawl.corpora.opened import opened
from recrawl.corpora.posts import POSTS, Boards, boards
from recrawl.errors import BadInputError
from recrawl.model import DAY_S, HOUR_S
from recrawl.simulate.posts import said
from recrawl.simulate.processes import Clocked, Poisson, week_of
from recrawl.simulate.recipes import Talk


def quiet(_share: float, _what: str) -> None:
    pass


def small() -> Builtin:
    return builtin("threads", n_resources=100)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora") / "threads"
    make(small(), folder)
    return folder


def read(name: str | Path) -> Boards:
    return boards(opened(name), 20, 1_000, quiet)


def test_generated_threads_read_the_same_from_memory_and_from_a_folder(made: Path) -> None:
    here, there = boards(small(), 20, 1_000, quiet), read(made)
    for name in ("bounds", "at", "board", "author"):
        assert np.array_equal(getattr(here.threads, name), getattr(there.threads, name)), name
    assert here.threads.bags is not None
    assert there.threads.bags is not None
    assert np.array_equal(here.threads.bags.count, there.threads.bags.count)
    assert here.words == there.words
    assert here.n_spoken == here.threads.n > 10
    assert np.array_equal(here.every.at, there.every.at)
    assert here.every.n == 100


def test_only_threads_of_the_asked_size_are_taken_with_all_their_posts() -> None:
    found = boards(small(), 30, 60, quiet)
    n_posts = found.every.n_posts
    assert np.array_equal(found.threads.n_posts, n_posts[(n_posts >= 30) & (n_posts <= 60)])


def test_one_board_may_be_taken_alone(made: Path) -> None:
    alone = boards(opened(made), 20, 1_000, quiet, "h1.test").threads
    both = read(made).threads
    assert np.array_equal(alone.at, both.pick(np.flatnonzero(both.board == 1)).at)
    assert 0 < alone.n < both.n
    with pytest.raises(BadInputError, match=r"choose one of: h0\.test, h1\.test"):
        boards(opened(made), 20, 1_000, quiet, "h2.test")


def test_a_corpus_without_threads_of_that_size_says_what_it_has() -> None:
    with pytest.raises(BadInputError, match=r"has 5,000 to 6,000 posts \(it has 100 threads.*--posts"):
        boards(small(), 5_000, 6_000, quiet)


def test_words_and_authors_find_their_posts_by_their_moments(made: Path, tmp_path: Path) -> None:
    """Of two posts in one minute the order told is kept; who is missing has no author and no words."""
    folder = _written(made, tmp_path, at=[600, 660, 660, 900])
    _talk(
        folder,
        [
            {"at": 600, "user": "ann", "text": "hello world"},
            {"at": 660, "user": "bob", "text": "first"},
            {"at": 660, "user": "ann", "text": "second second"},
            {"at": 123, "user": "eve", "text": "nobody posted then"},
            "no post",
        ],
    )
    found = boards(opened(folder), 1, 10, quiet)
    assert found.threads.author.tolist() == [0, 1, 0, -1]
    bags = found.threads.bags
    assert bags is not None
    alone = [bags.pick(np.array([i])) for i in range(4)]
    said_words = [
        {found.words[word]: n for word, n in zip(one.word, one.count, strict=True)} for one in alone
    ]
    assert said_words == [{"hello": 1.0, "world": 1.0}, {"first": 1.0}, {"second": 2.0}, {}]
    assert found.n_spoken == 1


def test_without_a_file_of_posts_there_are_times_alone(made: Path, tmp_path: Path) -> None:
    found = boards(opened(_written(made, tmp_path, at=[600, 660])), 1, 10, quiet)
    assert found.threads.bags is None
    assert found.threads.author.tolist() == [-1, -1]
    assert found.threads.at.tolist() == [600.0, 660.0]


def test_a_torn_file_of_posts_is_named(made: Path, tmp_path: Path) -> None:
    folder = _written(made, tmp_path, at=[600, 660])
    (folder / POSTS).write_bytes((made / POSTS).read_bytes()[:4_000])
    with pytest.raises(BadInputError, match=POSTS):
        boards(opened(folder), 1, 10, quiet)


def test_a_corpus_that_was_looked_at_now_and_then_has_no_posts(made: Path, tmp_path: Path) -> None:
    folder = _written(made, tmp_path, at=[600, 660])
    about = json.loads((folder / "corpus.json").read_text())
    (folder / "corpus.json").write_text(json.dumps({**about, "observation": "visits"}))
    with pytest.raises(BadInputError, match="no times of posts"):
        boards(opened(folder), 1, 10, quiet)


def test_quick_answers_are_foreshadowed_by_words_that_ask() -> None:
    talk = Talk()
    gaps = np.tile([600.0, 5 * HOUR_S], 400)
    found = said(talk, np.concatenate([[0.0], np.cumsum(gaps)]), 3, 1)
    asks = np.array(
        [(found.word[i:j] < 12).any() for i, j in zip(found.bounds, found.bounds[1:], strict=False)]
    )
    assert asks[:-1][::2].mean() == pytest.approx(0.8, abs=0.06)
    assert asks[1:-1][::2].mean() == pytest.approx(0.15, abs=0.06)


def test_what_is_said_depends_on_seed_and_thread_alone_and_nobody_answers_himself() -> None:
    at = np.arange(50.0) * 600.0
    one, same, other = (said(Talk(), at, which, 1) for which in (3, 3, 4))
    assert one.texts(Talk()) == same.texts(Talk()) != other.texts(Talk())
    assert (np.diff(one.author) != 0).all()
    assert len(np.unique(one.author)) > 10
    assert len(one.texts(Talk())[0].split()) >= 5


def test_generated_threads_wake_and_sleep_and_come_in_bursts() -> None:
    threads = boards(builtin("threads", n_resources=400), 20, 1_000, quiet).threads
    hour = (threads.at / HOUR_S % 24).astype(np.int64)
    n_each = np.bincount(hour, minlength=24)
    assert 5 * n_each[1:4].mean() < n_each[16:22].mean()
    gap_s = threads.gap_s[~np.isnan(threads.gap_s)]
    assert np.median(gap_s) < 0.1 * gap_s.mean()


def test_a_clocked_process_keeps_its_mean_rate_and_is_busy_in_busy_hours() -> None:
    busy = week_of([0.1] * 12 + [1.9] * 12)
    law = Clocked(Poisson(24.0), busy)
    at = law.events(4 * DAY_S, 4 * DAY_S + 280 * DAY_S, np.random.default_rng(2))
    assert len(at) == pytest.approx(24 * 280, rel=0.05)
    morning = at % DAY_S < 12 * HOUR_S
    assert morning.mean() == pytest.approx(0.05, abs=0.01)
    assert (np.diff(at) >= 0).all()


def _written(made: Path, folder: Path, at: list[int]) -> Path:
    """A corpus with one thread."""
    import pyarrow as pa
    from pyarrow import parquet

    (folder / "corpus.json").write_bytes((made / "corpus.json").read_bytes())
    parquet.write_table(
        pa.table({"resource": [7], "host": ["b"], "url": ["u"]}), folder / "resources.parquet"
    )
    digests = [str(i) for i in range(len(at))]
    parquet.write_table(
        pa.table({"resource": [7] * len(at), "at": at, "digest": digests}), folder / "events.parquet"
    )
    return folder


def _talk(folder: Path, posts: list[object]) -> None:
    with gzip.open(folder / POSTS, "wt", encoding="utf-8") as out:
        out.write("no thread\n")
        out.write(json.dumps({"resource": 8, "posts": []}) + "\n")
        out.write(json.dumps({"resource": 7, "posts": posts}) + "\n")
