"""Choosing a forecast: what is measured is split, chosen on one part and tried on the other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import pairwise
from math import nan
from xml.etree import ElementTree

import numpy as np
import pytest
from tests.unit.histories import bustle, history, looks

from recrawl.corpora.about import About
from recrawl.corpora.builtin import Builtin
from recrawl.corpora.half import Half
from recrawl.errors import BadInputError, UnknownPartError
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.candidates import ALONE, CANDIDATES, GAMMA, TRIED, WHOLE, Candidate, without
from recrawl.evaluate.choices import (
    BY_CORPUS,
    BY_GROUP,
    OVER_TIME,
    TOGETHER,
    WAYS,
    brought,
    chosen,
    less,
    score,
    verdict,
    verdicts,
    ways,
)
from recrawl.evaluate.contenders import contender
from recrawl.evaluate.folds import (
    ALL,
    FIRST,
    FOLD_A,
    FOLD_B,
    SECOND,
    SPLITS,
    after,
    in_fold_a,
    measured_in,
    mixed,
)
from recrawl.evaluate.gains import Gain
from recrawl.evaluate.measures import measure
from recrawl.evaluate.pieces import pieces
from recrawl.evaluate.protocol import whole
from recrawl.evaluate.report import labels
from recrawl.evaluate.report.bars import SIZE, bars
from recrawl.evaluate.report.choosing import documents, drawing, elsewhere, markdown, plain, tables
from recrawl.evaluate.trials import Trial, trial_of, tried
from recrawl.model import DAY_S
from recrawl.simulate.processes import Bursty, Poisson
from recrawl.simulate.recipes import Ingredient, Recipe, Shared
from recrawl.simulate.worlds import Quarter, World

SVG = "{http://www.w3.org/2000/svg}"
START_AT = 1.7e9
GOALS = ("fresh", "prompt", "capture")


def quiet(share: float, what: str) -> None:
    assert 0.0 <= share <= 1.0 + 1e-9
    assert what


def test_folds_have_groups_whole_and_everybody_is_in_one() -> None:
    group = np.random.default_rng(1).integers(40, size=500)
    in_a = in_fold_a(group)
    assert not set(group[in_a]) & set(group[~in_a])
    assert 200 < in_a.sum() < 300
    assert in_fold_a(group[::-1])[::-1].tolist() == in_a.tolist()  # whatever the order


def test_splits_add_up_to_all() -> None:
    rng = np.random.default_rng(2)
    changes = [sorted(100.0 * rng.random(n)) for n in rng.integers(0, 12, size=30)]
    visits = looks([sorted(100.0 * rng.random(n)) for n in rng.integers(0, 9, size=30)])
    in_a = in_fold_a(np.arange(30) // 3)
    parts = measured_in(history(changes), visits, whole(30, 0.0, 100.0), in_a)
    for name in ("n_visits", "n_changes", "n_observed", "n_reached", "fresh_s", "delay_s", "window_s"):
        total = getattr(parts[ALL], name).sum()
        for a, b in ((FOLD_A, FOLD_B), (FIRST, SECOND)):
            both = getattr(parts[a], name).sum() + getattr(parts[b], name).sum()
            assert both == pytest.approx(total)
            assert getattr(parts[a], name).sum() < total


def test_in_the_second_half_copies_are_as_the_first_has_left_them() -> None:
    # changes on days 1, 4 and 8 of 10; visits on days 2, 7 and 9
    traces, visits = history([[1.0, 4.0, 8.0]]), looks([[2.0, 7.0, 9.0]])
    parts = measured_in(traces, visits, whole(1, 0.0, 10.0), np.array([True]))
    first, second = parts[FIRST], parts[SECOND]
    assert (first.n_visits[0], first.n_changes[0], first.n_observed[0]) == (1, 2, 1)
    assert first.fresh_s[0] == pytest.approx(3.0)  # days 0 to 1 and 2 to 4
    assert (second.n_visits[0], second.n_changes[0], second.n_observed[0]) == (2, 1, 2)
    assert second.fresh_s[0] == pytest.approx(2.0)  # days 7 to 8 and 9 to 10: stale from the start
    assert second.delay_s[0] == pytest.approx(3.0 + 1.0)
    assert second.window_s[0] == pytest.approx(5.0)


def test_what_rounding_leaves_of_nothing_is_nothing() -> None:
    measured = measure(history([[0.1, 0.4]]), looks([[0.3, 0.7]]), whole(1, 0.0, 1.0))
    more = replace(measured, delay_s=measured.delay_s * (1.0 + 1e-15))
    assert after(more, measured).delay_s[0] == 0.0


def test_between_two_runs_everything_is_in_proportion() -> None:
    traces, window = history([[5.0]]), whole(1, 0.0, 10.0)
    few, many = measure(traces, looks([[9.0]]), window), measure(traces, looks([[1.0, 6.0, 7.0]]), window)
    found = mixed(few, many, 0.25)
    assert found.n_visits[0] == pytest.approx(1.5)
    assert found.fresh_s[0] == pytest.approx(0.75 * 6.0 + 0.25 * 9.0)
    assert found.window_s[0] == pytest.approx(10.0)


def trial(corpus: str, goal: str, gains: Mapping[str, Mapping[str, float]]) -> Trial:
    """Of those candidates; the others gain nothing."""
    rng = np.random.default_rng(len(corpus))
    noise = 0.001 * rng.standard_normal(50)

    def of(value: float) -> Gain:
        return Gain(value, value + noise, 20, 2)

    return Trial(
        corpus=corpus,
        goal=goal,
        title=corpus,
        days=100.0,
        n_resources=10,
        n_draws=2,
        n_visits=1000,
        grouped_by="host",
        gains={
            one.name: {split: of(gains.get(one.name, {}).get(split, 0.0)) for split in SPLITS}
            for one in CANDIDATES
        },
        visits={one.name: dict.fromkeys(SPLITS, 1.0) for one in CANDIDATES},
        notes=[],
    )


def test_a_choice_is_tried_on_the_other_fold_and_never_looks_at_it() -> None:
    seen = {WHOLE: {FOLD_A: 0.10, FOLD_B: 0.08}, without("scouts"): {FOLD_A: 0.12, FOLD_B: 0.03}}
    trials = [trial("one", "fresh", seen)]
    there, back = ways(trials)[BY_GROUP]
    found = verdict("there", [there], "fresh")
    assert found.chosen == [without("scouts")]
    assert found.seen.value == pytest.approx(0.12)
    assert found.held_out.value == pytest.approx(0.03)
    assert found.optimism.value == pytest.approx(0.09)
    assert found.whole.value == pytest.approx(0.08)
    assert verdict("back", [back], "fresh").chosen == [WHOLE]
    both = verdict("both", [there, back], "fresh")
    assert both.n_whole == 1
    assert both.held_out.value == pytest.approx((0.03 + 0.10) / 2)
    seen[WHOLE][FOLD_B] = 9.0
    other = verdict("there", [ways([trial("one", "fresh", seen)])[BY_GROUP][0]], "fresh")
    assert (other.chosen, other.seen.value, other.same) == (found.chosen, found.seen.value, found.same)
    assert other.whole.value == pytest.approx(9.0)


def test_over_time_the_first_half_chooses_for_the_second() -> None:
    (one,) = ways([trial("one", "fresh", {WHOLE: {FIRST: 0.1, SECOND: 0.2}, GAMMA: {SECOND: 0.9}})])[
        OVER_TIME
    ]
    found = verdict("later", [one], "fresh")
    assert found.chosen == [WHOLE]
    assert found.held_out.value == pytest.approx(0.2)


def test_the_corpus_that_is_left_out_has_no_say() -> None:
    trials = [
        trial("a", "fresh", {WHOLE: {ALL: 0.1}}),
        trial("bb", "fresh", {WHOLE: {ALL: 0.2}}),
        trial("ccc", "fresh", {WHOLE: {ALL: -0.3}, GAMMA: {ALL: 0.5}}),
    ]
    found = [verdict("one", [one], "fresh") for one in ways(trials)[BY_CORPUS]]
    assert [one.chosen[0] for one in found] == [GAMMA, GAMMA, WHOLE]
    assert [one.held_out.value for one in found] == pytest.approx([0.0, 0.0, -0.3])


def test_together_each_goal_counts_by_what_is_wanted_of_it_and_of_equals_the_plainer_is_taken() -> None:
    trials = [
        trial("a", "fresh", {WHOLE: {ALL: 0.10}, GAMMA: {ALL: 0.13}}),
        trial("a", "capture", {WHOLE: {ALL: 0.05}, GAMMA: {ALL: 0.02}}),
    ]
    assert score(trials, TOGETHER, WHOLE, ALL).value == pytest.approx(1.0)
    assert score(trials, TOGETHER, GAMMA, ALL).value == pytest.approx(0.85)
    assert chosen(trials, TOGETHER, ALL)[0] == WHOLE
    assert chosen(trials, "fresh", ALL)[0] == GAMMA
    assert chosen([trial("a", "fresh", {})], "fresh", ALL)[0] == GAMMA


def test_where_one_gain_is_not_known_the_trial_counts_for_nobody() -> None:
    unknown = trial("bb", "fresh", {WHOLE: {ALL: 0.9}, GAMMA: {ALL: nan}})
    assert score([trial("a", "fresh", {WHOLE: {ALL: 0.1}}), unknown], "fresh", WHOLE, ALL).value == 0.1


def world(law: Bursty | Poisson, shared: Shared | None = None) -> Builtin:
    end_at = START_AT + 150 * DAY_S
    recipe = Recipe(
        ingredients=(Ingredient(law=law),), start_at=START_AT, end_at=end_at, per_host=10, shared=shared
    )
    about = About(name="w", kind="page", observation="every-change", start_at=START_AT, end_at=end_at)
    return Builtin(about, World([Quarter(recipe, 160)], seed=1))


@cache
def tried_on(which: str) -> Trial:
    some = (GAMMA, WHOLE, without("habits"), without("stirs"))
    ask = Ask(policies=("dyn",), days=120.0, min_gap_s=DAY_S / 4, max_gap_s=60 * DAY_S, n_draws=1)
    bursts = world(Bursty(per_day=0.5, branching=0.9, decay_s=DAY_S))
    weekly = world(Poisson(0.01), Shared(per_day=1 / 7, share=0.9, within_s=600.0))
    corpus, goal = {"bursts": (bursts, "capture"), "weekly": (weekly, "fresh")}[which]
    (found,) = tried(which, corpus, ask, (goal,), quiet, [one for one in CANDIDATES if one.name in some])
    return found


@pytest.mark.parametrize(
    ("which", "part", "other"), [("bursts", "habits", "stirs"), ("weekly", "stirs", "habits")]
)
def test_a_part_brings_something_where_there_is_something_for_it(which: str, part: str, other: str) -> None:
    gains = tried_on(which).gains
    for split in (ALL, FOLD_A, FOLD_B):
        brings = less(gains[WHOLE][split], gains[without(part)][split]).value
        assert brings > 0.03
        assert brings > less(gains[WHOLE][split], gains[without(other)][split]).value + 0.03
    assert gains[WHOLE][ALL].value > gains[GAMMA][ALL].value


def test_everybody_has_as_many_visits_as_the_floor_in_every_split() -> None:
    found = tried_on("bursts")
    assert {split for of in found.visits.values() for split in of} == set(SPLITS)
    for of in found.visits.values():
        assert list(of.values()) == pytest.approx([1.0] * len(SPLITS), abs=0.002)
    assert found.notes == []
    assert found.grouped_by == "host"


def test_where_the_gaps_leave_no_choice_there_is_no_trial() -> None:
    ask = Ask(policies=("changedetection",), days=30.0, min_gap_s=DAY_S, max_gap_s=DAY_S, n_draws=1)
    assert tried("w", world(Poisson(0.1)), ask, ("fresh",), quiet, [Candidate(GAMMA, "gamma")]) == []


def test_with_weights_everybody_counts_all_alike_and_that_is_said() -> None:
    ask = Ask(policies=("fix",), days=60.0, max_gap_s=60 * DAY_S, n_draws=1)
    heavy = np.where(np.arange(120) % 10 == 0, 1.0, 1000.0)  # those that never change
    plain, weighed = (
        tried("w", bustle(weight), ask, ("fresh",), quiet, [Candidate(GAMMA, "gamma")])[0]
        for weight in (None, heavy.tolist())
    )
    assert weighed.gains[GAMMA][ALL].value == plain.gains[GAMMA][ALL].value
    assert weighed.notes == [
        "The corpus's weights are left out: all resources count alike, for everybody.",
        *plain.notes,
    ]


def test_what_is_written_down_is_all_there_is() -> None:
    trials = [trial(name, goal, {WHOLE: {ALL: 0.1}}) for name in ("a", "bb") for goal in GOALS]
    document = json.loads(json.dumps(documents(trials)))
    again = [trial_of(one) for one in document["trials"]]
    assert list(map(plain, tables(again))) == list(map(plain, tables(trials)))
    assert len(document["choices"]) == len(verdicts(trials)) == 5 * 4
    stirs = next(one for one in document["parts"] if one["part"] == "stirs" and one["goal"] == "prompt")
    assert stirs["by_corpus"]["bb"]["value"] == pytest.approx(0.1)


def test_tables_are_written_for_pages_and_bars_are_drawn_for_all_parts() -> None:
    trials = [trial(name, goal, {WHOLE: {ALL: 0.1}}) for name in ("a", "bb") for goal in GOALS]
    for table in tables(trials):
        rows = [line for line in markdown(table).splitlines() if line.startswith("|")]
        assert len(rows) == 2 + len(table.rows)
        assert {row.count(" | ") for row in rows} == {len(table.columns) - 1}
    svg = ElementTree.fromstring(bars(drawing(trials)))  # noqa: S314
    drawn = [found.text or "" for found in svg.iterfind(f"{SVG}g[@class='bar']/{SVG}title")]
    assert len(drawn) == len(GOALS) * (len(TRIED) + len(ALONE))
    assert any(told.startswith("habits: staleness cut +10.0") for told in drawn)
    names = [t for t in svg.iterfind(f"{SVG}text") if t.get("text-anchor") == "middle" and t.get("y")]
    for row in {t.get("y") for t in names}:
        set_ = [(float(t.get("x", "")), labels.width(t.text or "", SIZE)) for t in names if t.get("y") == row]
        # they do not run together
        assert all(x + wide / 2.0 <= y - next_ / 2.0 for (x, wide), (y, next_) in pairwise(sorted(set_)))
    means = [one.mean.value for one in brought(trials, "fresh")]
    assert means == pytest.approx([0.1] * len(TRIED) + [0.0] * len(ALONE))


def test_a_goal_that_a_corpus_was_not_tried_with_is_told_of_the_others() -> None:
    trials = [trial(name, goal, {WHOLE: {ALL: 0.1}}) for name in ("a", "bb") for goal in GOALS[:2]]
    more = [*trials, trial("ccc", "fresh", {WHOLE: {ALL: 0.4}})]
    assert [one.mean.value for one in brought(more, "prompt")] == [
        one.mean.value for one in brought(trials, "prompt")
    ]
    assert brought(more, "fresh")[0].mean.value == pytest.approx(0.2)
    assert set(brought(more, "prompt")[0].by_corpus) == {"a", "bb"}
    made = {(one.how, one.goal): one for one in verdicts(more)}
    assert len(made[BY_CORPUS, "prompt"].chosen) == 2
    assert len(made[BY_CORPUS, "fresh"].chosen) == 3
    assert [one.how for one in verdicts(more)] == [how for how in WAYS for _ in range(3)]
    assert [row[0] for row in tables(more)[-1].rows] == ["a", "bb"]


def test_what_one_run_chooses_is_tried_on_another() -> None:
    earlier = [trial(name, "fresh", {WHOLE: {ALL: 0.2}, GAMMA: {ALL: 0.1}}) for name in ("a", "bb")]
    later = [trial(name, "fresh", {WHOLE: {ALL: 0.03}, GAMMA: {ALL: 0.3}}) for name in ("a", "ccc")]
    table = elsewhere(earlier, later)
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert row["chosen"] == WHOLE
    assert "+3.0" in str(row["held out"])
    with pytest.raises(BadInputError, match="No corpus is in both"):
        elsewhere(earlier, later[1:])


def test_a_half_of_the_time_has_windows_of_its_own() -> None:
    corpus = world(Poisson(0.1))
    middle_at = START_AT + 75 * DAY_S
    ask = Ask(policies=("fix",), days=40.0, n_draws=3, n_at_once=100)
    for which, start_at, end_at in (
        ("earlier", START_AT, middle_at),
        ("later", middle_at, middle_at + 75 * DAY_S),
    ):
        half = Half(corpus, which)
        found = [window for piece in pieces(half, ask) for window in piece.windows]
        assert len(found) == 2 * 3
        assert all(start_at <= one.start_at < one.end_at <= end_at for one in found)
        assert all(one.days == pytest.approx(40.0) for one in found)
        assert len(half) == len(half.traces()) == len(corpus)
        assert half.skipped == corpus.skipped


def test_parts_are_left_out_of_the_rhythm_alone() -> None:
    index = partial(contender, "index", min_gap_s=DAY_S, max_gap_s=60 * DAY_S)
    assert index(without=("stirs",)).without == ("stirs",)
    with pytest.raises(BadInputError, match="has no parts to leave out"):
        index(predictor="gamma", without=("stirs",))
    with pytest.raises(UnknownPartError, match="no part called 'soul'"):
        index(without=("soul",))


def test_gaps_so_short_that_looking_never_ended_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rule that halves its gap at every change would look every second once changes come by the dozen."""
    monkeypatch.setattr("recrawl.evaluate.pieces.MOST_VISITS", 20_000)
    corpus = world(Bursty(per_day=20.0, branching=0.9, decay_s=60.0))
    ask = Ask(policies=("storm-crawler",), days=30.0, min_gap_s=1.0, max_gap_s=30 * DAY_S, n_draws=1)
    (found,) = tried("w", corpus, ask, ("fresh",), quiet, [Candidate(GAMMA, "gamma")])
    assert any("would make more than" in note for note in found.notes)
    assert found.n_visits <= 20_000
