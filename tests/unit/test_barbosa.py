from __future__ import annotations

import json
import lzma
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.corpora import corpus_folder
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from typer.testing import CliRunner

from recrawl.cli.main import app
from recrawl.corpora.builtin import builtin
from recrawl.corpora.firsts import PAGES, TEXTS, first_pages
from recrawl.corpora.making import make
from recrawl.corpora.native import Corpus
from recrawl.errors import BadInputError
from recrawl.evaluate.barbosa import paper
from recrawl.evaluate.barbosa.ask import Ask
from recrawl.evaluate.barbosa.daily import daily
from recrawl.evaluate.barbosa.experiment import evaluate
from recrawl.evaluate.barbosa.pages import looked_at, pages_of
from recrawl.evaluate.barbosa.regression import hunched
from recrawl.evaluate.barbosa.scheduling import ALIKE, KNOWING, WITH, WITHOUT, Terms, scheduled
from recrawl.evaluate.barbosa.stretches import nth_visit_at, stretch
from recrawl.evaluate.barbosa.tables import part, rate_classes
from recrawl.evaluate.report.barbosa import page_of, summary, table
from recrawl.evaluate.report.page import page
from recrawl.learn.groups import Classes, equal_classes
from recrawl.model import DAY_S, Priors
from recrawl.model.sight import column
from recrawl.simulate.traces import Traces, Visits


def of(*rows: list[float], host: list[int] | None = None) -> Traces:
    """Pages that change on these days."""
    at = np.array([day * DAY_S for days in rows for day in days])
    bounds = np.cumsum([0, *map(len, rows)])
    return Traces(
        born_at=np.full(len(rows), -DAY_S),
        bounds=bounds.astype(np.int64),
        at=at,
        digest=np.arange(1, len(at) + 1, dtype=np.uint64),
        first_digest=np.zeros(len(rows), dtype=np.uint64),
        host=np.array(host or range(len(rows)), dtype=np.int64),
        weight=np.ones(len(rows)),
    )


def visited(*rows: list[float]) -> Visits:
    return Visits(
        bounds=np.cumsum([0, *map(len, rows)]).astype(np.int64),
        at=np.array([day * DAY_S for days in rows for day in days]),
    )


def silent(_share: float, _what: str) -> None:
    pass


def test_a_daily_visit_sees_a_day_with_changes_however_many_they_are() -> None:
    seen = daily(of([0.2, 0.4, 1.0, 3.5], [], [5.0]), 0.0, 4)
    assert seen.changed.tolist() == [[True, False, False, True], [False] * 4, [False] * 4]
    assert seen.n_changed.tolist() == [2, 0, 0]
    assert seen.per_day[1] == 0.0
    assert seen.log_per_day[1] == pytest.approx(np.log(np.log(5 / 4.5)))  # half a change
    assert seen.histories(np.array([0, 2])).n_changed.tolist() == [2.0, 0.0]


def test_a_stretch_counts_what_lies_in_it_page_by_page() -> None:
    traces = of([1.0, 2.0, 6.0], [])
    visits = visited([3.0, 5.0, 8.0], [4.0])
    whole = stretch(traces, visits, np.zeros(2), np.array([10.0, 10.0]) * DAY_S, 0.0)
    assert (whole.stale_s / DAY_S).tolist() == [2.0 + 2.0, 0.0]  # from 1 to 3 and from 6 to 8
    assert whole.n_visits.tolist() == [3.0, 1.0]
    assert whole.n_wasted.tolist() == [1.0, 1.0]
    assert whole.n_changes.tolist() == [3.0, 0.0]
    assert whole.total(np.array([0, 1]), 2).recall == pytest.approx(2 / 3)
    cut = stretch(traces, visits, np.array([2.0, 0.0]) * DAY_S, np.array([7.0, 3.0]) * DAY_S, 0.0)
    assert (cut.stale_s / DAY_S).tolist() == [1.0 + 1.0, 0.0]
    assert cut.n_visits.tolist() == [2.0, 0.0]
    assert cut.n_changes.tolist() == [1.0, 0.0]  # at 6; that of 2 is where the stretch begins
    assert (nth_visit_at(visits, 2, 9 * DAY_S) / DAY_S).tolist() == [5.0, 9.0]


def test_sites_are_held_out_whole() -> None:
    site = np.repeat(np.arange(12), 10)
    split = part("site", site, 3)
    assert not set(site[split.test]) & set(site[split.train])
    assert len(split.test) == 40
    apart = part("resource", site, 3)
    assert set(site[apart.test]) & set(site[apart.train])
    assert sorted([*apart.test, *apart.train]) == list(range(120))


def test_classes_are_visited_daily_at_most_and_in_rising_intervals() -> None:
    found = Classes(
        np.array([0.2, 0.7, 20.0, np.inf]) * DAY_S, np.array([3.0, 1.0, 0.01]), np.ones(4, np.int64)
    )
    rows = rate_classes(found, (3, 2, 2, 1))
    days = [row.interval_s / DAY_S for row in rows]
    assert days[0] == 1.0
    assert days[1] == pytest.approx(1.0, rel=0.01)
    assert np.all(np.diff(days) > 0.0)
    assert np.isfinite(days[3])
    assert [row.window for row in rows] == [3, 2, 2, 1]


def test_right_hunches_take_away_staleness_at_equal_visits() -> None:
    rng = np.random.default_rng(1)
    per_day = np.repeat([1.0, 1 / 100], 60)
    traces = of(*[np.sort(rng.random(rng.poisson(200 * r)) * 200).tolist() for r in per_day])
    priors = Priors(shape=0.4, scale_s=2 * DAY_S, hunched=Priors(shape=5.0, scale_s=5 * DAY_S))
    terms = Terms(start_at=0.0, end_at=200 * DAY_S, min_gap_s=DAY_S, max_gap_s=90 * DAY_S, gap_s=4 * DAY_S)
    alone = (np.arange(120), 120)
    made = scheduled(traces, priors, per_day, terms, alone)
    wrong = scheduled(traces, priors, per_day[::-1].copy(), terms, alone)
    for one in (made.first, made.later, wrong.first):
        assert one[WITH].n_visits == pytest.approx(one[WITHOUT].n_visits, rel=0.02)
    assert made.first[WITH].stale < 0.97 * made.first[WITHOUT].stale
    assert made.first[WITH].stale == pytest.approx(made.first[KNOWING].stale, rel=0.05)
    assert wrong.first[WITH].stale > made.first[WITHOUT].stale
    assert [one[WITHOUT].n_pages for one in made.upto] == [120] * 10


def test_a_site_that_is_known_tells_of_its_new_pages() -> None:
    """Half of the pages are of a site that changes daily, half of one that hardly changes."""
    rng = np.random.default_rng(2)
    per_day = np.repeat([1.0, 1 / 100], 60)
    traces = of(*[np.sort(rng.random(rng.poisson(200 * r)) * 200).tolist() for r in per_day])
    traces = replace(traces, host=np.repeat([0, 1], 60))
    priors = Priors(
        shape=0.4,
        scale_s=2 * DAY_S,
        group=np.array([1, 2]),
        shapes=np.full(2, 5.0),
        scales_s=5.0 * DAY_S / per_day[[0, 60]],
    )
    terms = Terms(start_at=0.0, end_at=200 * DAY_S, min_gap_s=DAY_S, max_gap_s=90 * DAY_S, gap_s=4 * DAY_S)
    made = scheduled(traces, priors, np.full(120, np.nan), terms, (np.arange(120), 120))
    assert made.first[ALIKE].n_visits == pytest.approx(made.first[WITH].n_visits, rel=0.02)
    assert made.first[WITH].stale == made.first[WITHOUT].stale < made.first[ALIKE].stale
    assert made.first[WITH].n_wasted < 0.95 * made.first[ALIKE].n_wasted


def test_looks_of_the_generated_pages_explain_sixty_percent_of_the_rates() -> None:
    corpus = builtin("pages")
    pages = pages_of(corpus, silent)
    assert pages.per_day is not None
    assert {"links", "emails", "last_modified", "text_bytes", "images", "depth", "level"} < set(pages.known)
    looks = np.log1p(pages.values[:, [column(name) for name in pages.known]])
    looks = np.column_stack([looks, np.ones(len(looks))])
    rate = np.log(pages.per_day)
    guess = looks @ np.linalg.lstsq(looks, rate, rcond=None)[0]
    assert 1 - np.var(rate - guess) / np.var(rate) == pytest.approx(0.6, abs=0.04)
    per_day = daily(pages.traces, corpus.about.start_at, 100).per_day
    found = equal_classes(per_day, 4)  # of the kinds that there are
    assert found.interval_s[:2] / DAY_S == pytest.approx([0.7, 3.0], rel=0.3)
    assert found.n.min() > 0.5 * len(per_day) / 4


def test_a_made_corpus_has_the_features_of_the_one_it_was_made_of(tmp_path: Path) -> None:
    some = builtin("pages", n_resources=64, years=0.1)
    make(some, tmp_path / "pages")
    read = pages_of(Corpus(tmp_path / "pages"), silent)
    assert read.known == pages_of(some, silent).known
    np.testing.assert_array_equal(read.values, pages_of(some, silent).values)


def test_first_pages_are_read_where_a_corpus_kept_them(tmp_path: Path) -> None:
    make(builtin("policies", n_resources=9, years=0.2), tmp_path / "some")
    rows = [
        {
            "resource": 3,
            "at": 1_514_764_800,
            "html": "<html><body><a href='/x'>x</a> 12 May 2017</body></html>",
        },
        {"resource": 3, "at": 1_514_764_900, "html": "<p>a second look"},
        {"resource": "3", "at": 1, "html": ""},
        {"resource": 4, "at": None, "html": "<p>"},
        {"resource": 999, "at": 1, "html": "<p>of nobody"},
    ]
    with lzma.open(tmp_path / "some" / PAGES, "wt", encoding="utf-8") as out:
        out.write("\n".join([*map(json.dumps, rows), "not JSON", "[]"]))
    assert [(one.resource, one.html[:6]) for one in first_pages(tmp_path / "some")] == [
        (3, "<html>"),
        (999, "<p>of "),
    ]
    pages = pages_of(Corpus(tmp_path / "some"), silent)
    assert pages.values[3, column("html")] == 1.0
    assert pages.values[3, column("newest_days")] == pytest.approx(234.0)
    assert np.isnan(pages.values[4, column("html")])
    assert "1 first pages" in pages.notes[0]


def test_without_first_pages_it_is_what_was_said_when_one_began_to_look(tmp_path: Path) -> None:
    events = [(1, 100, "a"), (1, 200, "b"), (2, 100, "c"), (3, 300, "d")]
    folder = corpus_folder(tmp_path / "some", events)
    said = {"a": "one two", "b": "one two three me@b.example", "c": "3 May 1999, lately", "d": "late"}
    rows = [{"resource": n, "at": at, "digest": digest, "text": said[digest]} for n, at, digest in events]
    with lzma.open(folder / TEXTS, "wt", encoding="utf-8") as out:
        out.write("\n".join(map(json.dumps, rows)))
    corpus = Corpus(folder)
    bare = pages_of(corpus, silent)
    assert "words" not in bare.known
    pages = looked_at(bare, corpus, [150.0, 250.0], silent)
    words = [pages.seen_at(at)[:, column("words")] for at in (150.0, 250.0, 999.0)]
    np.testing.assert_array_equal(words, [[2.0, 4.0, np.nan], [4.0, 4.0, np.nan], [np.nan] * 3])
    assert pages.seen_at(250.0)[0, column("emails")] == 1.0
    assert np.isfinite(pages.seen_at(150.0)[:, column("url_length")]).all()
    assert {"words", "emails", "dates"} <= {*pages.known}
    assert "what 2 resources said" in pages.notes[0]


def test_hunches_for_new_pages_are_of_what_they_show_now_and_errors_of_what_they_showed_then() -> None:
    """A page that lists its changes by date shows its past: it must not foretell the days it tells of."""
    rng = np.random.default_rng(5)
    n = 240
    per_day = np.exp(rng.uniform(-4.0, -0.5, n))
    days = [np.flatnonzero(rng.random(100) < one).astype(float).tolist() for one in per_day]
    traces = of(*days)
    seen = daily(traces, 0.0, 100)
    split = part("resource", traces.host, 1)
    then, now = np.log(per_day)[:, None], np.zeros((n, 1))
    found = hunched(then, now, traces.host, seen, split, None)
    assert found.error < 0.6 * found.error_of_mean
    assert np.ptp(found.per_day) == 0.0
    told = hunched(then, then, traces.host, seen, split, found.size)
    assert told.error == found.error
    assert np.corrcoef(np.log(told.per_day), np.log(per_day[split.test]))[0, 1] > 0.8


def test_a_torn_file_of_first_pages_is_refused(tmp_path: Path) -> None:
    whole = lzma.compress(b'{"resource": 1, "at": 1, "html": "<p>"}\n' * 2_000)
    (tmp_path / PAGES).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadInputError, match="get the file again"):
        list(first_pages(tmp_path))


ASK = Ask(days=30, test_days=60.0, n_splits=2, n_cores=2)


def test_the_experiment_has_all_tables_by_page_and_by_site_and_the_first_visits() -> None:
    corpus = builtin("pages", n_resources=224)
    result = evaluate("builtin:pages", corpus, ASK, silent)
    said = json.loads(json.dumps(result.document(), allow_nan=False))
    assert len(said["groups"]) == 4
    assert sum(row["n"] for row in said["groups"]) == said["pages"] == 224
    ways = [(by, made) for by in ("resource", "site") for made in ("k-means", "equal")]
    for name, key, n in (("table1", "learner", 6), ("table3", "classifier", 3), ("table5", "approach", 8)):
        assert [(row["by"], row["classes"]) for row in said[name]] == [way for way in ways for _ in range(n)]
        assert all(0.0 <= row["error"] <= 100.0 for row in said[name])
        assert all(row[key] for row in said[name])
    learner = {row["learner"]: row for row in said["table1"]}
    assert learner["tree-pruned"]["paper"] == {"error": 10.7, "seconds": 1.63}
    assert learner["boosted"]["paper"] is None
    assert {row["approach"]: row["paper"] for row in said["table5"]} == dict(paper.TABLE_5)
    random = [row["error"] for row in said["table3"] if row["classifier"] == "random"]
    assert all(abs(error - 75.0) < 12.0 for error in random)
    assert [row["visit"] for row in said["first_visits"]] == [*range(1, 11), *range(1, 11)]
    for row in said["first_visits_in_all"]:
        assert row["with"]["visits"] == pytest.approx(row["without"]["visits"], rel=0.03)
        assert row["with"]["freshness"] == 1.0 - row["with"]["stale"]
    assert all(row["rmse"]["value"] < row["rmse_of_mean"]["value"] for row in said["log_rate"])
    assert all(0 <= row["heeded_in_splits"] <= ASK.n_splits for row in said["log_rate"])
    for row in said["table5"]:
        assert (row["lowest"] is True) <= (row["ahead"]["low"] > 0.0)
        assert 0.0 <= row["interval"]["low"] <= row["interval"]["high"] <= 100.0
    with threadpool_limits(limits=1):  # nor does it matter how many threads multiply matrices
        again = evaluate("builtin:pages", builtin("pages", n_resources=224), replace(ASK, n_cores=1), silent)
    assert json.dumps(again.document()["first_visits"]) == json.dumps(said["first_visits"])
    text = page(page_of(result, "recrawl evaluate barbosa --corpus builtin:pages"))
    assert text.count("<table>") >= 14
    assert "<td>14.95</td>" in text
    assert "first sight takes away" in summary(result)[-1]
    assert {row[0] for row in table(result)[1]} == {"1", "3", "5 same", "5 later"}


def test_a_corpus_of_which_nothing_is_known_or_that_is_too_small_is_refused(tmp_path: Path) -> None:
    few = CliRunner().invoke(app, ["evaluate", "barbosa", "--corpus", "builtin:nonsense"])
    assert few.exit_code == 2
    with pytest.raises(
        BadInputError, match="pages has 20 resources, and 60 are needed; give a larger corpus"
    ):
        evaluate("small", builtin("pages", n_resources=20), ASK, silent)


def test_hunches_are_learned_where_all_pages_are_of_one_site() -> None:
    rng = np.random.default_rng(1)
    look = rng.standard_normal((180, 2))
    per_day = np.minimum(0.1 * np.exp(1.5 * look[:, 0]), 3.0)
    seen = daily(of(*[np.sort(rng.random(rng.poisson(40 * r)) * 40).tolist() for r in per_day]), 0.0, 40)
    site = np.zeros(180, dtype=np.int64)
    found = hunched(look, look, site, seen, part("resource", site, 1), None)
    assert found.size.n_trees > 0
    assert found.error < 0.8 * found.error_of_mean
    assert found.priors.hunched is not None
    shuffled = hunched(rng.permutation(look), look, site, seen, part("resource", site, 1), None)
    assert shuffled.priors.hunched is None  # nobody heeds what says nothing
    if not shuffled.size.n_trees:
        assert shuffled.error == shuffled.error_of_mean
