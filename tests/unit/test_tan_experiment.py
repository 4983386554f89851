"""The experiment about threads, on a small generated board."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from recrawl.cli.main import app
from recrawl.corpora.builtin import builtin
from recrawl.corpora.making import make
from recrawl.errors import BadSettingError
from recrawl.evaluate.report.tan import page_of, table
from recrawl.evaluate.report.threads import findings
from recrawl.evaluate.tan import experiment
from recrawl.evaluate.tan.ask import Ask, asked
from recrawl.evaluate.tan.results import DIRECT, LIMIT, OURS, SQRT, Tan
from recrawl.learn.threads.board import Threads
from recrawl.learn.threads.fitting import by_board
from recrawl.learn.threads.hawkes import Hawkes
from recrawl.learn.threads.models import MODELS
from recrawl.model import Ints

KEYS = {
    "model", "mape", "pr_miss", "pr_fa", "pr_error", "p_miss_norm", "p_fa_norm", "p_error_norm",
    "t_score_min", "posts", "visits",
}  # fmt: skip


@pytest.fixture(scope="module")
def run() -> tuple[Tan, list[Threads]]:
    """Also what was learned from."""
    learned: list[Threads] = []

    def heard(threads: Threads) -> tuple[tuple[Hawkes, ...], Ints]:
        learned.append(threads)
        return by_board(threads)

    shares: list[float] = []
    ask = Ask(least=30, most=60, budgets=(0.5, 1.0))
    corpus = builtin("threads", n_resources=100)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(experiment, "by_board", heard)
        found = experiment.evaluate("board", corpus, ask, lambda share, _what: shares.append(share))
    assert shares == sorted(shares)
    assert 0.0 <= shares[0] < shares[-1] <= 1.0
    return found, learned


@pytest.fixture(scope="module")
def result(run: tuple[Tan, list[Threads]]) -> Tan:
    return run[0]


def test_every_model_of_the_paper_has_a_row_and_ours_stands_beside_it_with_as_many_visits(
    result: Tan,
) -> None:
    assert [row.model for row in result.own] == list(MODELS)
    for row in result.own:
        for model in (OURS, DIRECT, SQRT):
            other = result.beside(row, model)
            assert other is not None
            assert other.visits_per_post == pytest.approx(row.visits_per_post, rel=0.05)


def test_the_document_has_what_readers_were_promised(result: Tan) -> None:
    said = json.loads(json.dumps(result.document(), allow_nan=False))
    assert (said["corpus"], said["threads"]) == ("board", result.n_threads)
    assert all(set(row) >= KEYS for row in said["rows"])
    assert [row["model"] for row in said["rows"]] == [*MODELS, OURS, DIRECT, SQRT]  # each once
    assert all(row["mape"] > 0.0 for row in said["rows"])
    assert {(row["visits_per_post"], row["model"]) for row in said["equal_visits"]} == {
        (budget, model) for budget in (0.5, 1.0) for model in (OURS, DIRECT, SQRT, *MODELS, LIMIT)
    }
    assert said["paper"]["table"][0]["visits"] == 545.371
    sides = {(one["what"], one["one"], one["other"]) for one in said["tests"]}
    assert {("t_score_min", OURS, SQRT), ("pr_error", OURS, "svr"), ("p_error_norm", DIRECT, "sgd")} <= sides


def test_in_the_document_ours_has_as_many_visits_as_the_best_of_the_paper(result: Tan) -> None:
    """A fixed rate takes more visits than any model that predicts gaps, and is not among them."""
    said = result.document()
    rows = {row["model"]: row for row in said["rows"]}
    told = [rows[model] for model in MODELS if model != "fixed"]
    best = min(told, key=lambda row: row["t_score_min"])
    for model in (OURS, DIRECT, SQRT):
        assert rows[model]["beside"] == best["model"]
        assert rows[model]["visits"] == pytest.approx(best["visits"], rel=0.05)
        assert rows[model] in said["beside"]
    assert [(row["beside"], row["model"]) for row in said["beside"]] == [
        (model, other) for model in MODELS for other in (OURS, DIRECT, SQRT)
    ]
    assert all(rows[model]["beside"] is None for model in MODELS)


def test_ours_learns_from_the_first_part_of_each_thread_and_from_no_more(
    run: tuple[Tan, list[Threads]],
) -> None:
    result, (learned,) = run
    n_posts = learned.n_posts + result.posts
    assert np.array_equal(learned.n_posts, (result.ask.train * n_posts).astype(np.int64))


def test_all_models_get_equal_visits_and_nobody_is_below_the_limit(result: Tan) -> None:
    for budget in result.budgets:
        limit = result.level(budget, LIMIT)
        assert limit is not None
        for model in result.models:
            level = result.level(budget, model)
            assert level is not None
            if model != LIMIT or budget < 1.0:
                assert level.n_visits / result.posts.sum() == pytest.approx(budget, rel=0.05)
            assert level.delay_min.sum() >= limit.delay_min.sum()
            assert len(level.delay_min) == result.n_threads


def test_more_visits_bring_posts_sooner(result: Tan) -> None:
    for model in (OURS, SQRT, "fixed", "svr"):
        few, many = result.level(0.5, model), result.level(1.0, model)
        assert few is not None
        assert many is not None
        assert result.t_score_min(many).value < result.t_score_min(few).value


def test_a_report_has_a_picture_the_table_and_the_paper_s_own_figures(result: Tan) -> None:
    from recrawl.evaluate.report.page import page

    html = page(page_of(result, "recrawl evaluate tan"))
    assert html.count("<svg") == 2
    for said in ("545.4", "0.0456", "omniscient", "T-score against visits per post", "visits per post"):
        assert said in html
    columns, rows = table(result)
    assert len(columns) == len(rows[0])
    assert [row[0] for row in rows] == list(MODELS)
    assert columns[4:6] == ["PR_ERROR", "OURS"]
    beside = result.beside(result.own[0], OURS)
    assert beside is not None
    assert rows[0][5] == f"{beside.figure('pr_error'):.3f}"
    assert columns[8:10] == ["P_ERROR", "OURS"]
    assert len(findings(result)) == 7
    assert "nan" not in html.lower().replace("finance", "")


def test_without_words_the_models_that_need_none_are_measured(tmp_path: Path) -> None:
    """A folder whose posts were lost."""
    make(builtin("threads", n_resources=60), tmp_path / "board")
    (tmp_path / "board" / "posts.jsonl.gz").unlink()
    found = CliRunner().invoke(
        app,
        [
            "evaluate",
            "tan",
            "--corpus",
            str(tmp_path / "board"),
            "--posts",
            "30-50",
            "--budgets",
            "1",
            "--json",
        ],
    )
    assert found.exit_code == 0, found.output
    said = json.loads(found.stdout)
    names = {row["model"] for row in said["rows"]}
    assert {"window-mean", "svr", "sgd", OURS} <= names
    assert not any("words" in name for name in names)
    assert any("models are left out" in note for note in said["notes"])


def test_only_the_models_that_were_asked_for_are_measured_and_said_to_be_so() -> None:
    words = ["evaluate", "tan", "--corpus", "builtin:threads", "--posts", "300-400", "--budgets", "1"]
    found = CliRunner().invoke(app, [*words, "--models", "mean,fixed"])
    assert found.exit_code == 0, found.output
    assert "every model of the paper that was asked for" in found.stderr
    assert [line.split("\t")[0] for line in found.stdout.split("\n\n")[0].splitlines()] == [
        "fixed",
        "mean",
    ]
    for wrong in ("fixed", "mean,none"):
        with pytest.raises(BadSettingError, match="--models"):
            asked(posts="20-50", train=0.75, budgets="1", seed=1, models=wrong)


def test_models_that_need_words_cannot_be_had_without(tmp_path: Path) -> None:
    make(builtin("threads", n_resources=60), tmp_path / "board")
    (tmp_path / "board" / "posts.jsonl.gz").unlink()
    words = ["evaluate", "tan", "--corpus", str(tmp_path / "board"), "--posts", "30-50"]
    found = CliRunner().invoke(app, [*words, "--models", "svr-tf-idf"])
    assert found.exit_code == 2
    assert "--models mean" in found.stderr


@pytest.mark.parametrize(
    ("posts", "train", "budgets"),
    [
        ("100", 0.75, "1"),
        ("50-20", 0.75, "1"),
        ("20-50", 0.99, "1"),
        ("20-50", 0.75, "1,x"),
        ("20-50", 0.75, "0"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_remedy(posts: str, train: float, budgets: str) -> None:
    with pytest.raises(BadSettingError, match=r"write|choose"):
        asked(posts=posts, train=train, budgets=budgets, seed=1)


def test_a_corpus_without_such_threads_ends_with_what_to_do() -> None:
    found = CliRunner().invoke(app, ["evaluate", "tan", "--corpus", "builtin:kin", "--posts", "9000-9999"])
    assert found.exit_code == 2
    assert "--posts" in found.stderr


def test_figures_of_all_threads_are_counted_once(result: Tan) -> None:
    row = result.own[0]
    assert np.array_equal(row.figures.posts, result.posts)
    assert len(row.mape) == result.n_threads
