from __future__ import annotations

import json
import lzma
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from recrawl.cli.main import app
from recrawl.corpora.builtin import BUILTIN, builtin
from recrawl.corpora.making import make
from recrawl.corpora.native import Corpus
from recrawl.corpora.opened import opened
from recrawl.errors import BadInputError
from recrawl.evaluate.bands import BANDS, mean_interval_s
from recrawl.model import DAY_S, HOUR_S
from recrawl.model.columns import Bits
from recrawl.simulate.traces import Traces

ALL = ["wiki", "news", "data", "policies", "threads", "pages", "kin", "mix"]


def test_these_corpora_are_built_in() -> None:
    assert list(BUILTIN) == ALL
    assert opened("builtin:data").about == builtin("data").about


@pytest.mark.parametrize("name", ALL)
def test_each_is_sound_and_says_what_it_is(name: str) -> None:
    corpus = builtin(name)
    traces, about = corpus.traces(), corpus.about
    assert len(traces) == len(corpus) >= 150
    assert len(traces.at) > 10_000
    assert about.name == name
    assert about.observation == "every-change"
    assert np.all((traces.born_at >= about.start_at) & (traces.born_at <= about.end_at))
    assert np.all((traces.at > about.start_at) & (traces.at <= about.end_at))
    assert np.all(traces.at == np.rint(traces.at))  # the format knows whole seconds
    inner = np.diff(np.repeat(np.arange(len(traces)), traces.n_changes)) == 0
    assert np.min(np.diff(traces.at)[inner]) >= (1 if name == "mix" else about.resolution_s)
    assert np.all(traces.digest[1:][inner] != traces.digest[:-1][inner])
    assert not corpus.skipped


def test_the_wiki_has_resources_in_every_band_of_the_experiment_under_any_seed() -> None:
    for seed in (1, 2, 3):
        corpus = builtin("wiki", seed=seed)
        interval_s = mean_interval_s(corpus.traces(), corpus.about.end_at)
        sizes = {band.name: len(band.rows(interval_s)) for band in BANDS}
        assert sum(sizes.values()) == 500
        assert all(n >= 15 for name, n in sizes.items() if name != "< 2 d"), sizes
        assert corpus.about.days > 6 * 365


def test_news_are_quick_and_sleep_at_night_and_on_sundays() -> None:
    corpus = builtin("news")
    traces = corpus.traces()
    local_at = traces.at[np.repeat(traces.host % 4 == 0, traces.n_changes)]  # hosts on UTC
    hours = np.bincount((local_at / HOUR_S % 24 // 2).astype(np.int64), minlength=12)
    days = np.bincount(((local_at - corpus.about.start_at) // DAY_S % 7).astype(np.int64), minlength=7)
    assert hours[[1, 2]].max() * 3 < hours[4:9].min()
    assert days[5:].max() < days[:5].min()
    assert np.median(traces.n_changes) / corpus.about.days > 2


def test_data_files_change_in_batches_and_some_are_kept_up_no_more() -> None:
    corpus = builtin("data")
    traces = corpus.traces()
    row = np.repeat(np.arange(len(traces)), traces.n_changes)
    together = np.unique(np.stack([traces.host[row], traces.at // 900]), axis=1, return_counts=True)[1]
    assert np.count_nonzero(together >= 5) > 100
    last_at = np.array([traces.of(i)[-1] for i in range(len(traces)) if traces.n_changes[i]])
    assert np.count_nonzero(last_at < corpus.about.end_at - 365 * DAY_S) > 50


def test_policies_are_slow_and_some_flap_or_are_noisy() -> None:
    corpus = builtin("policies")
    traces = corpus.traces()
    novel = np.array([len(np.unique(_own(traces, i))) for i in range(len(traces))])
    busy = traces.n_changes > 20
    assert np.count_nonzero(busy & (novel < traces.n_changes / 3)) > 10
    assert np.count_nonzero(traces.n_changes > 0.95 * corpus.about.days) > 5
    assert np.median(traces.n_changes) < 30


def test_threads_have_most_of_their_posts_early() -> None:
    traces = builtin("threads").traces()
    age_s = traces.at - np.repeat(traces.born_at, traces.n_changes)
    gap_s = np.diff(traces.at)[np.diff(np.repeat(np.arange(len(traces)), traces.n_changes)) == 0]
    assert np.median(age_s) < 30 * DAY_S
    assert np.median(gap_s) < 2 * HOUR_S
    assert np.mean(gap_s) > DAY_S


def test_a_corpus_can_be_of_another_size_length_and_seed() -> None:
    corpus = builtin("mix", seed=9, n_resources=37, years=0.5)
    assert len(corpus) == len(corpus.traces()) == 37
    assert corpus.about.days == pytest.approx(365.25 / 2, abs=0.3)
    chunks = list(corpus.chunks(10))
    assert [len(chunk) for chunk in chunks] == [10, 10, 10, 7]
    assert np.array_equal(np.concatenate([chunk.digest for chunk in chunks]), corpus.traces().digest)
    assert not np.array_equal(
        builtin("mix", seed=8, n_resources=37, years=0.5).traces().at, corpus.traces().at
    )
    assert len(builtin("wiki", n_resources=1).traces()) == 1


@pytest.mark.parametrize(
    ("name", "more", "said"),
    [
        ("wikis", {}, "builtin:wiki"),
        ("wiki", {"n_resources": 0}, "at least 1"),
        ("wiki", {"years": 0.0}, "more than 0"),
        ("wiki", {"seed": -1}, "at least 0"),
    ],
)
def test_what_cannot_be_made_is_refused_with_a_remedy(name: str, more: dict[str, int], said: str) -> None:
    with pytest.raises(BadInputError, match=said):
        builtin(name, **more)


@pytest.mark.parametrize("name", ["wiki", "policies"])
def test_a_made_folder_reads_back_as_the_corpus_itself(name: str, tmp_path: Path) -> None:
    corpus = builtin(name, n_resources=60, years=2.0)
    steps: list[tuple[int, int]] = []
    said = make(corpus, tmp_path / "made", progress=lambda done, total: steps.append((done, total)))
    read = Corpus(tmp_path / "made", strict=True)
    there, here = read.traces(), corpus.traces()
    for column in ("born_at", "bounds", "at", "host", "weight"):
        assert np.array_equal(getattr(there, column), getattr(here, column)), column
    assert list(there.url) == list(here.url)
    pairs = set(zip(there.digest.tolist(), here.digest.tolist(), strict=True))
    assert len(pairs) == len(set(there.digest.tolist())) == len(set(here.digest.tolist()))
    assert not read.skipped
    assert (read.about.start_at, read.about.end_at) == (corpus.about.start_at, corpus.about.end_at)
    assert said["events"] == len(here.at) + 60
    assert steps[-1] == (60, 60)
    with pytest.raises(BadInputError, match="is there already"):
        make(corpus, tmp_path / "made")


def test_a_made_folder_holds_features_truth_texts_and_word_counts(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    make(builtin("policies", n_resources=40, years=1.0), tmp_path / "made")
    resources = parquet.read_table(tmp_path / "made" / "resources.parquet").to_pydict()
    assert {"depth", "links", "bytes", "words", "per_day", "ingredient", "follows"} <= set(resources)
    events = parquet.read_table(tmp_path / "made" / "events.parquet").to_pylist()
    terms = parquet.read_table(tmp_path / "made" / "terms.parquet").to_pylist()
    with lzma.open(tmp_path / "made" / "texts.jsonl.xz", "rt") as lines:
        texts = {(line["resource"], line["digest"]): line["text"] for line in map(json.loads, lines)}
    words: dict[tuple[int, int], int] = {}
    for row in terms:
        key = (row["resource"], row["at"])
        words[key] = words.get(key, 0) + row["count"]
    assert set(words) == {(event["resource"], event["at"]) for event in events}
    assert set(words.values()) == {150}
    seen: set[tuple[int, str]] = set()
    for event in events:
        key_of = (event["resource"], event["digest"])
        assert event["seen_before"] == (key_of in seen)
        seen.add(key_of)
        assert len(texts[key_of].split()) == 150
    assert set(texts) == seen
    assert any(event["noise"] for event in events)
    assert any(event["seen_before"] for event in events)


def _own(traces: Traces, i: int) -> Bits:
    return traces.digest[traces.bounds[i] : traces.bounds[i + 1]]


def test_the_command_makes_a_folder_that_the_other_commands_can_read(tmp_path: Path) -> None:
    made = CliRunner().invoke(
        app,
        [
            "corpus",
            "make",
            "wiki",
            str(tmp_path / "w"),
            "--resources",
            "20",
            "--years",
            "1",
            "--seed",
            "3",
            "--json",
        ],
    )
    assert made.exit_code == 0, made.output
    said = json.loads(made.stdout)
    assert (said["resources"], said["source"]) == (20, "generated: builtin:wiki, seed 3")
    assert len(opened(tmp_path / "w").traces().at) == said["events"] - 20
    again = CliRunner().invoke(app, ["corpus", "make", "wiki", str(tmp_path / "w")])
    assert again.exit_code == 2
    assert "is there already" in again.stderr
