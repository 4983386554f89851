"""Replays of small generated corpora: the same in one piece and in many, and at the visits asked for."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.unit.histories import history, looks

from recrawl.corpora.builtin import Builtin, builtin
from recrawl.errors import BadInputError, UnknownPartError
from recrawl.evaluate.ask import Ask, named
from recrawl.evaluate.bands import ALL, BANDS
from recrawl.evaluate.contenders import NAMES, contender
from recrawl.evaluate.findings import STRATEGIES
from recrawl.evaluate.intervals import interval
from recrawl.evaluate.measures import measure
from recrawl.evaluate.pieces import uneven
from recrawl.evaluate.protocol import whole, windows
from recrawl.evaluate.simulation import Simulation, simulate
from recrawl.evaluate.sums import Sums, draws_of
from recrawl.evaluate.umbrich import Umbrich, evaluate
from recrawl.model import DAY_S

N = 90
ASK = Ask(policies=("week", "fix", "uniform", "index"), days=365.0, n_draws=2, seed=3)
KEYS = {
    *("policy", "visits", "recall", "precision", "freshness", "age_days", "harmonic"),
    *("delay_days_mean", "delay_days_p50", "delay_days_p95", "intervals", "limits"),
}


def quiet(share: float, what: str) -> None:
    assert 0.0 <= share <= 1.0 + 1e-9
    assert what


@cache
def corpus() -> Builtin:
    return builtin("wiki", n_resources=N, years=3)


@cache
def simulated(ask: Ask = ASK) -> Simulation:
    return simulate("c", corpus(), ask, quiet)


@cache
def umbrich(ask: Ask = ASK) -> Umbrich:
    return evaluate("c", corpus(), replace(ask, policies=STRATEGIES), quiet)


def figures(result: Simulation) -> dict[str, dict[str, object]]:
    return {row.policy: row.score.document() for row in result.rows}


def test_a_rule_scores_what_measuring_its_visits_by_hand_gives() -> None:
    about, traces = corpus().about, corpus().traces()
    span = (about.start_at, about.end_at)
    scores = []
    for window in windows(traces, days=ASK.days, n_draws=ASK.n_draws, seed=ASK.seed, span=span):
        own = traces.pick(window.rows)
        visits = contender("fix", min_gap_s=DAY_S, max_gap_s=180 * DAY_S).visits(own, window)
        scores.append(measure(own, visits, window).total())
    (row,) = [row for row in simulated().rows if row.policy == "fix"]
    for name in ("recall", "precision", "freshness", "age_days", "freshness_weighted", "delay_days_p95"):
        mean = np.mean([getattr(score, name) for score in scores])
        assert getattr(row.score, name) == pytest.approx(mean, rel=1e-12), name
    assert row.intervals["recall"].low < row.score.recall < row.intervals["recall"].high


def test_sums_of_parts_give_the_score_of_the_whole_weights_included() -> None:
    rng = np.random.default_rng(8)
    traces = history(
        [np.sort(rng.uniform(0, 90, 6)).tolist() for _ in range(30)], weight=rng.uniform(0.5, 9, 30).tolist()
    )
    made = looks([np.sort(rng.uniform(0, 90, 9)).tolist() for _ in range(30)])
    window = whole(30, 0.0, 90.0)
    measured = measure(traces, made, window, n_bins=36)
    parts = [
        Sums.of(
            measure(
                traces.pick(rows), looks([made.of(i).tolist() for i in rows.tolist()]), window, n_bins=36
            ),
            rows % 4,
            4,
        )
        for rows in (np.arange(13), np.arange(13, 30))
    ]
    score, total = parts[0].plus(parts[1]).score().document(), measured.total().document()
    assert score.pop("bytes") is total.pop("bytes") is None
    assert score == pytest.approx(total, rel=1e-12)
    assert score["recall_weighted"] != pytest.approx(score["recall"], rel=1e-6)
    drawn = draws_of([parts[0].plus(parts[1])])
    assert interval(drawn, "recall").value == pytest.approx(score["recall"])
    assert interval(drawn, "recall").n_groups == 4


def test_a_corpus_in_pieces_is_measured_as_if_it_were_whole() -> None:
    one, parts = figures(simulated()), figures(simulated(replace(ASK, n_at_once=25)))
    for rule in ("week", "fix"):
        assert parts[rule].keys() == one[rule].keys()
        assert [name for name, value in one[rule].items() if value is None] == ["bytes"]
        for name, value in one[rule].items():
            assert parts[rule][name] == (None if value is None else pytest.approx(value, rel=1e-12))
    for priced in ("uniform", "index"):  # whose price comes from a sample
        assert parts[priced]["recall"] == pytest.approx(one[priced]["recall"], rel=0.1)


@pytest.mark.parametrize("n_at_once", [10_000, 25])
def test_policies_with_a_price_make_the_visits_of_the_first_rule(n_at_once: int) -> None:
    result = simulated(replace(ASK, n_at_once=n_at_once))
    visits = {row.policy: row.score.visits for row in result.rows}
    for priced in ("uniform", "index"):
        assert visits[priced] == pytest.approx(visits["week"], rel=0.01)
    assert "With as many visits as week makes: uniform, index." in result.notes
    assert any("of 90 resources" in note for note in result.notes) == (n_at_once == 25)


def test_a_budget_or_one_visit_a_week_says_how_many_visits_there_are() -> None:
    paid = simulated(replace(ASK, policies=("uniform",), budget_per_day=7.0))
    assert paid.rows[0].score.visits == pytest.approx(7.0 * paid.days, rel=0.01)
    weekly = simulated(replace(ASK, policies=("index",)))
    (row,) = weekly.rows
    assert row.score.visits == pytest.approx(row.score.resources * weekly.days / 7.0, rel=0.01)
    assert "one visit a week" in weekly.notes[0]


def test_visits_that_the_gap_bounds_do_not_allow_are_said() -> None:
    result = simulated(replace(ASK, policies=("uniform",), budget_per_day=1_000.0))
    (row,) = result.rows
    assert row.score.visits == pytest.approx(row.score.resources * 365, rel=0.02)  # one a day each
    assert any(note.startswith("uniform made") and "not 365,000" in note for note in result.notes)


def test_the_seed_decides_everything_and_the_number_of_cores_nothing() -> None:
    once, again = simulated(replace(ASK, n_cores=1)), simulated(replace(ASK, n_cores=3))
    assert once.document() == again.document() == simulated().document()
    other = simulated(replace(ASK, seed=4))
    assert figures(other)["fix"]["recall"] != figures(once)["fix"]["recall"]


def test_no_policy_passes_the_limits() -> None:
    for row in simulated().rows:
        best = row.limits.omniscient
        assert row.score.recall <= best["recall"] <= 1.0
        assert row.score.freshness <= best["freshness"] <= 1.0
        assert row.score.wait_days_mean >= best["wait_days_mean"]
        assert row.limits.known_rates["freshness"] <= best["freshness"]


def test_rows_have_the_keys_that_programs_read() -> None:
    document = json.loads(json.dumps(simulated().document(), allow_nan=False))
    assert document["corpus"] == "c"
    assert [row["policy"] for row in document["rows"]] == list(ASK.policies)
    for row in document["rows"]:
        assert row.keys() >= KEYS
        assert row["limits"]["omniscient"].keys() >= {"recall", "freshness", "age_days"}
        assert row["intervals"]["recall"]["low"] <= row["recall"] <= row["intervals"]["recall"]["high"]


def test_curves_end_where_the_totals_are() -> None:
    result = simulated()
    document = json.loads(json.dumps(result.document(), allow_nan=False))
    for curve, row in zip(document["curves"], document["rows"], strict=True):
        assert curve["policy"] == row["policy"]
        assert curve["days"][-1] == pytest.approx(365.0)
        assert curve["recall"][-1] == pytest.approx(row["recall"], rel=0.02)
        assert sum(curve["observed"]) == pytest.approx(row["observed"], abs=1.0)
        assert np.mean(curve["freshness"]) == pytest.approx(row["freshness"], rel=0.01)


def test_bytes_are_counted_where_every_size_is_known_in_one_piece_or_in_many() -> None:
    rng = np.random.default_rng(2)
    changes = [np.sort(rng.uniform(0, 300, 5)).tolist() for _ in range(12)]
    traces = replace(history(changes), size_bytes=np.arange(1.0, 13.0))
    made = looks([np.sort(rng.uniform(0, 300, i + 1)).tolist() for i in range(12)])
    window = whole(12, 0.0, 300.0)
    parts = [
        Sums.of(
            measure(traces.pick(rows), looks([made.of(i).tolist() for i in rows.tolist()]), window),
            rows % 3,
            3,
        )
        for rows in (np.arange(5), np.arange(5, 12))
    ]
    assert parts[0].plus(parts[1]).score().bytes == sum((i + 1) * (i + 1) for i in range(12))
    unknown = replace(traces, size_bytes=np.append(np.ones(11), np.nan))
    assert np.isnan(Sums.of(measure(unknown, made, window), np.zeros(12, dtype=np.int64), 1).score().bytes)


def test_a_ranking_wants_all_resources_at_once() -> None:
    with pytest.raises(BadInputError, match="leave --rank out"):
        simulate("c", corpus(), replace(ASK, rank=5, n_at_once=25), quiet)


def test_all_resources_are_the_bands_together() -> None:
    result = umbrich()
    names = [band.name for band in BANDS]
    assert result.bands == [ALL, *(name for name in names if name in result.bands)]
    for policy in STRATEGIES:
        (everyone,) = [row.score for row in result.of(ALL) if row.policy == policy]
        parts = [row.score for row in result.rows if row.policy == policy and row.band != ALL]
        for name in ("resources", "changes", "visits", "observed"):
            # the mean of each is rounded
            assert sum(getattr(part, name) for part in parts) == pytest.approx(
                getattr(everyone, name), abs=len(parts)
            )
    (week,) = [row.score for row in simulated().rows if row.policy == "week"]
    (same,) = [row.score for row in result.of(ALL) if row.policy == "week"]
    assert same.recall == pytest.approx(week.recall, rel=1e-12)


def test_the_experiment_is_the_same_in_pieces_and_on_any_number_of_cores() -> None:
    alone = umbrich(replace(ASK, n_cores=1))
    assert umbrich().document() == alone.document()
    parts = umbrich(replace(ASK, n_at_once=25))
    for row, one in zip(alone.rows, parts.rows, strict=True):
        assert (row.band, row.policy) == (one.band, one.policy)
        assert one.score.recall == pytest.approx(row.score.recall, rel=1e-12, nan_ok=True)


def test_the_experiments_document_has_rows_curves_and_findings() -> None:
    document = json.loads(json.dumps(umbrich().document(), allow_nan=False))
    assert document.keys() >= {"corpus", "years", "rows", "curves", "findings", "notes"}
    assert document["years"] == pytest.approx(1.0)
    first = document["rows"][0]
    expected = ["band", "policy", "resources", "changes", "visits", "observed", "recall", "precision"]
    assert list(first)[:9] == [*expected, "freshness"]
    assert (first["band"], first["policy"]) == ("all", "fix")
    assert len(document["curves"]) == len(document["rows"])
    for curve, row in zip(document["curves"], document["rows"], strict=True):
        assert curve["days"][-1] == pytest.approx(365.0)
        if row["band"] == "all":
            assert curve["recall"][-1] == pytest.approx(row["recall"], rel=0.02)
            assert sum(curve["visits"]) == pytest.approx(row["visits"], abs=1.0)
    assert len(document["findings"]) == 8
    assert {finding["holds"] for finding in document["findings"]} <= {True, False, None}


def test_a_window_longer_than_the_history_is_shortened_and_that_is_said() -> None:
    result = umbrich(replace(ASK, days=9 * 365.0))
    assert result.days == pytest.approx(0.9 * corpus().about.days)
    assert any("The corpus spans" in note for note in result.notes)


def test_windows_that_hold_very_different_numbers_of_resources_are_told_of() -> None:
    assert uneven(np.array([80, 100])) == []
    assert uneven(np.array([193, 676]))[0].startswith("The windows hold from 193 to 676 resources")
    assert not any("The windows hold" in note for note in simulated().notes)


def test_gaps_are_no_shorter_than_what_a_corpus_can_tell_apart() -> None:
    result = simulate(
        "n", builtin("news", n_resources=20), replace(ASK, policies=("fix",), min_gap_s=60.0), quiet
    )
    assert result.ask.min_gap_s == result.about.resolution_s == 7_200.0
    assert "never shorter" in result.notes[0]


def test_a_corpus_whose_resources_are_all_too_young_says_so() -> None:
    young = builtin("wiki", n_resources=5, years=3)
    about = replace(young.about, start_at=young.about.start_at - 1e9)
    late = Builtin(about, young.world)
    with pytest.raises(BadInputError, match=r"No resource of wiki had a version .* fewer --days"):
        evaluate("y", late, replace(ASK, policies=STRATEGIES, days=20_000.0), quiet)
    with pytest.raises(BadInputError, match="No resource of wiki"):
        simulate("y", late, replace(ASK, days=20_000.0), quiet)


def test_an_unknown_policy_is_answered_with_those_there_are() -> None:
    with pytest.raises(UnknownPartError, match=r"'fox'.*fix, dyn, window.*changedetection"):
        named("fix,fox")
    with pytest.raises(BadInputError, match="No policy"):
        named(" , ")
    assert named("all") == NAMES
    assert named("State-1,fix,fix") == ("state-1", "fix")
