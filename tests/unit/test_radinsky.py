"""The experiment about content and kin, on small worlds of known making."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from recrawl.cli.main import app
from recrawl.corpora.builtin import builtin
from recrawl.corpora.making import make
from recrawl.corpora.native import Corpus
from recrawl.errors import BadInputError
from recrawl.evaluate.radinsky import paper
from recrawl.evaluate.radinsky.accuracy import LEARNERS, share_right, spread
from recrawl.evaluate.radinsky.ask import Ask
from recrawl.evaluate.radinsky.choosing import WAYS, chosen, share_true
from recrawl.evaluate.radinsky.experiment import cycles, evaluate, switching
from recrawl.evaluate.radinsky.paired import mean
from recrawl.evaluate.radinsky.results import Radinsky
from recrawl.evaluate.radinsky.steps import LINKS, Shown, shown
from recrawl.evaluate.report.page import page
from recrawl.evaluate.report.radinsky import page_of, summary, table
from recrawl.learn.experts import Task, foretold
from recrawl.learn.kin import Kin
from recrawl.model import DAY_S, HOUR_S, Bags

SMALL = Ask(
    n_pages=8,
    n_train=15,
    n_tests=10,
    k=4,
    n_steps=60,
    crawl_steps=12,
    n_draws=1,
    least_switching=0.2,
    n_cores=1,
)


def silent(_share: float, _what: str) -> None:
    pass


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty pages over ten weeks, on the disk."""
    to = tmp_path_factory.mktemp("kin") / "kin"
    make(builtin("kin", n_resources=30, years=0.2), to)
    return to


@pytest.fixture(scope="module")
def result(folder: Path) -> Radinsky:
    return evaluate("kin", Corpus(folder), SMALL, silent)


def test_a_corpus_on_the_disk_shows_what_the_generated_one_does(folder: Path) -> None:
    read, made = (
        shown(corpus, [DAY_S], 40, silent)[0]
        for corpus in (Corpus(folder), builtin("kin", n_resources=30, years=0.2))
    )
    assert read.at.shape == made.at.shape == (30, 40)
    for name in ("bounds", "word", "count"):
        assert (getattr(read.bags, name) == getattr(made.bags, name)).all()
    assert (read.at == made.at).all()
    assert read.family is not None
    assert made.family is not None
    assert (read.family == made.family).all()
    assert (read.steps("significant").changed == made.steps("significant").changed).all()
    assert read.links is None


def told(*rows: list[int], host: list[int] | None = None) -> Shown:
    """Pages that show these bags at each step: bag i is the word i alone, forty times; -1: not known."""
    at = np.array(rows)
    bags = Bags.of([{i: 40.0} for i in range(int(at.max()) + 1)])
    return Shown(
        bags=bags,
        at=at,
        host=np.array(host or [0] * len(rows)),
        links=None,
        family=None,
        step_s=DAY_S,
        n_all=len(rows),
    )


def test_a_change_lies_between_two_steps_at_which_a_page_is_known() -> None:
    steps = told([-1, 0, 1, 1, 2], [3, 3, 3, 4, -1]).steps("significant")
    assert steps.changed.astype(int).tolist() == [[0, 0, 1, 0, 1], [0, 0, 0, 1, 0]]


def test_a_small_change_counts_only_where_any_does() -> None:
    few = told([0, 1, 2])
    few = replace(few, bags=Bags.of([{0: 40.0}, {0: 40.0, 1: 1.0}, {2: 40.0}]))
    assert few.steps("any").changed.tolist() == [[False, True, True]]
    assert few.steps("significant").changed.tolist() == [[False, False, True]]


def test_pages_pass_that_switch_often_enough_and_are_known_long_enough() -> None:
    often, seldom, never, short = [0, 1, 1, 2, 2, 3, 3], [0, 1, 2, 3, 4, 5, 5], [0] * 7, [-1] * 4 + [0, 1, 1]
    steps = told(often, seldom, never, short).steps("any")
    assert switching(steps, 0.3, 3).tolist() == [0]
    assert switching(steps, 0.1, 3).tolist() == [0, 1]
    assert switching(steps, 0.3, 1).tolist() == [0, 3]


def test_days_and_weeks_come_round_in_whole_steps_alone() -> None:
    assert cycles(DAY_S) == (7,)
    assert cycles(2 * HOUR_S) == (12, 84)
    assert cycles(7 * DAY_S) == ()
    assert cycles(5 * HOUR_S) == ()


def test_kin_are_chosen_by_nothing_that_comes_after_the_training_window() -> None:
    seen = shown(builtin("kin", n_resources=30, years=0.2), [DAY_S], 60, silent)[0]
    later = seen.at.copy()
    later[:, 31:] = np.random.default_rng(1).permutation(later[:, 31:])
    for way, kin in chosen(seen, 30, 5, 300).items():
        other = chosen(replace(seen, at=later), 30, 5, 300)[way]
        if way == "graph":
            assert kin is other is None
        else:
            assert kin is not None
            assert other is not None
            assert (kin.of == other.of).all()
            assert (kin.of >= 0).any()


def test_true_kin_are_counted_among_the_nearest_alone() -> None:
    family = np.array([0, 0, 0, 3, 4])
    kin = Kin(np.array([[1, 2, 3], [3, 2, 0], [4, 3, 0], [0, 1, 2], [-1, -1, -1]]), np.ones((5, 3)))
    assert share_true(kin, family).tolist() == [1.0, 0.5, 0.0]  # the last two have none


def test_accuracy_is_that_of_outcomes_that_are_known() -> None:
    steps = told([0, 1, 1, 2, 2], [0, 0, 0, 0, -1]).steps("any")
    task = Task(steps=steps, pages=np.array([0, 1]), n_train=1)
    at = np.arange(1, 4)
    assert share_right(task, np.array([[False, True, True], [True, False, False]]), at).tolist() == [
        pytest.approx(2 / 3),
        0.5,
    ]
    assert spread(10, 20, 3).tolist() == [10, 15, 20]
    assert spread(10, 12, 60).tolist() == [10, 11, 12]


def test_kin_that_lead_by_a_day_foretell_more_than_a_page_itself() -> None:
    seen = shown(builtin("kin", n_resources=60, years=0.3), [DAY_S], 100, silent)[0]
    steps = seen.steps("significant")
    kept = switching(steps, 0.3, 60)
    seen, steps = seen.pick(kept, steps)
    task = Task(steps=steps, pages=np.arange(len(kept))[::2], n_train=40)
    kin = chosen(seen, task.first, 10, 1_000)
    assert seen.family is not None
    for way in ("cross_correlation", "dtw"):
        one = kin[way]
        assert one is not None
        assert share_true(one, seen.family).mean() > 0.85
    at = spread(task.first, steps.n_steps - 2, 12)
    right = {
        key: share_right(
            task, foretold(LEARNERS[key], replace(task, kin=kin["cross_correlation"]), at).yes, at
        )
        for key in ("1d", "2d", "3d")
    }
    assert mean(right["2d"] - right["1d"]).above
    assert right["3d"].mean() > right["2d"].mean() + 0.02


def test_the_document_has_the_papers_tables_with_its_figures_beside(result: Radinsky) -> None:
    document = json.loads(json.dumps(result.document()))
    assert document["corpus"] == "kin"
    assert (document["pages"], document["steps"]) == (8, 60)
    assert [*document["table1"]] == ["1d", "2d", "3d", "ours"]
    assert [*document["table2"]] == ["union", "boosting", "bagging", "experts"]
    assert [*document["table3"]] == [*WAYS]
    assert document["table3"]["graph"] is None
    assert (
        document["table3"]["cross_correlation"] == document["table1"]["3d"] == document["table2"]["experts"]
    )
    assert all(0.0 <= figure <= 100.0 for figure in document["table1"].values())
    assert [row["day"] for row in document["figure8"]] == [10, 12]
    assert [*document["figure8"][0]] == ["day", "1d", "2d", "3d", "ours"]
    assert [*document["figure8_index"][0]] == ["day", "1d", "2d", "3d", "ours", "turns"]
    assert document["paper"]["table1"] == dict(paper.TABLE_1)
    assert document["filter"]["kept"] <= document["filter"]["pages"] == 30
    assert {(one["one"], one["other"]) for one in document["tests"]} >= {("3d", "2d"), ("2d", "1d")}
    assert [row["train"] for row in document["figure6"]] == [20, 30, 40]
    assert [row["experts"] for row in document["figure7"]] == [1, 2, 5, 10, 20, 30, 40]


def test_figures_are_the_same_for_the_same_seed(folder: Path, result: Radinsky) -> None:
    again = evaluate("kin", Corpus(folder), replace(SMALL, n_cores=2), silent)
    assert again.document() == result.document()


def test_the_report_has_all_tables_and_says_what_holds(result: Radinsky) -> None:
    written = page(page_of(result, "recrawl evaluate radinsky --corpus kin"))
    for part in ("Table 1", "Table 2", "Table 3", "Figure 6", "Figure 7", "By coin", "By index", "72.72"):
        assert part in written
    columns, rows = table(result)
    assert all(len(row) == len(columns) for row in rows)
    assert {row[0] for row in rows} == {"1", "2", "3", "fresh"}
    assert any("2D above 1D" in line for line in summary(result))


def test_links_make_kin_where_a_corpus_has_them(folder: Path, tmp_path: Path) -> None:
    linked = tmp_path / "linked"
    shutil.copytree(folder, linked)
    pq.write_table(pa.table({"resource": [0, 3, 99], "to": [1, 0, 1]}), linked / LINKS)
    seen = shown(Corpus(linked), [DAY_S], 40, silent)[0]
    some, steps = seen.pick(np.array([3, 0, 5]), seen.steps("any"))
    assert (some.at == steps.at).all()
    assert some.bags.total[some.at[0]].tolist() == seen.bags.total[seen.at[3]].tolist()
    kin = chosen(some, 20, 3, 100, ways=("graph",))["graph"]
    assert kin is not None
    assert kin.of.tolist() == [[1, -1, -1], [0, -1, -1], [-1, -1, -1]]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        ("contents", "keeps no contents"),
        ("one page", "Hardly a page"),
        ("no change", "Hardly a page"),
    ],
)
def test_what_cannot_be_foretold_is_refused_with_a_remedy(
    folder: Path, tmp_path: Path, spoil: str, says: str
) -> None:
    spoilt = tmp_path / "spoilt"
    shutil.copytree(folder, spoilt)
    if spoil == "contents":
        (spoilt / "terms.parquet").unlink()
        (spoilt / "texts.jsonl.xz").unlink()
    else:
        events = pq.read_table(spoilt / "events.parquet")
        number = events["resource"].to_numpy()
        kept = number == 0 if spoil == "one page" else np.diff(number, prepend=-1) > 0
        pq.write_table(events.filter(kept), spoilt / "events.parquet")
    found = CliRunner().invoke(app, ["evaluate", "radinsky", "--corpus", str(spoilt), "--json"])
    assert found.exit_code == 2
    assert says in found.output


def test_words_that_nobody_knows_are_refused() -> None:
    with pytest.raises(BadInputError, match="say nothing"):
        evaluate("wiki", builtin("wiki", n_resources=5), SMALL, silent)
    with pytest.raises(BadInputError, match="cannot be told apart"):
        evaluate("kin", builtin("kin", n_resources=5), replace(SMALL, changes="some"), silent)
    with pytest.raises(
        BadInputError, match=r"too few to learn from.*; give a longer corpus or a shorter --step"
    ):
        evaluate("kin", builtin("kin", n_resources=5, years=0.03), SMALL, silent)
    with pytest.raises(BadInputError, match=r"too few to learn from.*; give a larger --steps"):
        evaluate("kin", builtin("kin", n_resources=5, years=0.2), replace(SMALL, n_steps=12), silent)
    with pytest.raises(BadInputError, match=r"has 1 resource, .*; give a larger corpus"):
        evaluate("kin", builtin("kin", n_resources=1), SMALL, silent)


def test_no_remedy_names_what_was_asked_for() -> None:
    never = replace(SMALL, least_switching=1.0)
    for changes, helps in (("significant", True), ("any", False), ("auto", False)):
        with pytest.raises(BadInputError, match="Hardly a page") as refused:
            evaluate("kin", builtin("kin", n_resources=5, years=0.2), replace(never, changes=changes), silent)
        assert ("--changes any" in str(refused.value)) is helps
        assert "a lower --switching" in str(refused.value)
