"""Rules beside ours at equal visits, on a small generated corpus."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import nan

import numpy as np
import pytest
from tests.unit.histories import history, looks

from recrawl.corpora.builtin import Builtin, builtin
from recrawl.errors import BadInputError
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.bidding import bid
from recrawl.evaluate.contenders import contender
from recrawl.evaluate.gains import Gain, gain, mean_gain
from recrawl.evaluate.intervals import Draws, by_host
from recrawl.evaluate.matches import Peers
from recrawl.evaluate.measures import Measured, measure
from recrawl.evaluate.peers import _begun, _begun_like, evaluate
from recrawl.evaluate.protocol import FIRST_GAP_S, whole
from recrawl.model import DAY_S

RULES = ("week", "gold", "nutch", "changedetection")
ASK = Ask(policies=RULES, days=365.0, n_draws=2, seed=3)


def quiet(share: float, what: str) -> None:
    assert 0.0 <= share <= 1.0 + 1e-9
    assert what


@cache
def corpus() -> Builtin:
    return builtin("wiki", n_resources=60, years=3)


@cache
def compared(goal: str = "fresh", n_at_once: int = 50_000) -> Peers:
    return evaluate("c", corpus(), replace(ASK, goal=goal, n_at_once=n_at_once), quiet)


@pytest.mark.parametrize("goal", ["fresh", "prompt"])
def test_ours_and_the_floor_make_as_many_visits_as_each_rule(goal: str) -> None:
    result = compared(goal)
    assert [row.rule for row in result.rows] == list(RULES)
    for row in result.rows:
        assert row.ours.visits == pytest.approx(row.theirs.visits, rel=0.01)
        assert row.floor.visits == pytest.approx(row.theirs.visits, rel=0.01)
    assert not result.notes


def test_who_wins_goes_by_what_the_goal_is_about() -> None:
    for goal, name, sign in (("fresh", "freshness", 1), ("prompt", "delay_days_mean", -1)):
        for row in compared(goal).rows:
            lead = sign * (getattr(row.ours, name) - getattr(row.theirs, name))
            assert row.lead == pytest.approx(lead, abs=1e-9)
            if not row.forced:
                assert row.winner == ("ours" if lead > 0 else "rule")
    week = compared("prompt").rows[0]
    assert week.winner == "ours"  # even gaps are far from prompt
    assert week.sure


def test_where_the_gaps_leave_no_choice_it_is_even() -> None:
    daily = compared().rows[RULES.index("changedetection")]
    assert daily.forced
    assert daily.winner == "even"
    assert daily.ours == daily.theirs  # to the letter: the same first visits, and then every day


def test_nothing_is_above_what_is_possible() -> None:
    for row in compared().rows:
        assert row.ours.freshness <= row.limits["freshness"] + 0.02  # which is of one draw, not of all
        assert row.theirs.recall <= row.limits["recall"] + 0.05


def test_the_document_has_what_is_promised() -> None:
    document = compared().document()
    assert (document["corpus"], document["goal"]) == ("c", "fresh")
    for row in document["rows"]:
        for figures in (row, row["ours"], row["floor"]):
            assert {"visits", "recall", "freshness", "delay_days_mean", "harmonic"} <= set(figures)
        found = row["difference"]["freshness"]
        assert found["value"] == pytest.approx(row["ours"]["freshness"] - row["freshness"], abs=1e-9)
        assert found["low"] <= found["value"] <= found["high"]
    assert set(document["gains_over_floor"]) == {"freshness", "delay_days_mean", "recall", "harmonic"}


def test_what_does_not_fit_is_sampled_and_that_is_said() -> None:
    result = compared("fresh", 20)
    assert result.rows[0].theirs.resources <= 20
    assert "20 of 60 resources are compared: an even sample of them." in result.notes


def test_gaps_so_short_that_looking_never_ended_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recrawl.evaluate.peers.MOST_VISITS", 20_000)
    result = evaluate("c", corpus(), replace(ASK, policies=("changedetection",), min_gap_s=60.0), quiet)
    assert any("would make more than" in note for note in result.notes)
    assert result.rows[0].theirs.visits <= 20_100


def test_first_visits_are_the_rules_own() -> None:
    begun = _begun_like(looks([[102.0, 104.0], []]), whole(2, 100.0, 110.0))
    assert begun.first_gap_s.tolist() == [2.0, 11.0]


def test_who_knows_the_future_does_not_tell_by_looking_first() -> None:
    window = replace(whole(2, 100.0, 110.0), first_gap_s=np.array([0.25, 0.5]) * FIRST_GAP_S)
    gold = contender("gold", goal="fresh", predictor="rhythm", min_gap_s=1.0, max_gap_s=10.0)
    # four visits of two in ten: every five in the mean, whoever has got them
    begun = _begun(gold, looks([[101.0, 102.0, 103.0, 104.0], []]), window)
    assert begun.first_gap_s.tolist() == [1.25, 2.5]
    nobody_looked = _begun(gold, looks([[], []]), window)
    assert nobody_looked.first_gap_s.tolist() == [11.0, 11.0]


def test_who_made_more_visits_has_won_nothing() -> None:
    won = next(row for row in compared("fresh").rows if row.winner == "ours")
    for n_visits, winner in ((won.theirs.visits, "ours"), (int(1.02 * won.theirs.visits), "even")):
        assert replace(won, ours=replace(won.ours, visits=n_visits)).winner == winner
    lost = replace(
        won,
        ours=won.theirs,
        theirs=won.ours,
        differences={
            name: replace(found, value=-found.value, low=-found.high, high=-found.low)
            for name, found in won.differences.items()
        },
    )
    assert replace(lost, ours=replace(lost.ours, visits=2 * lost.theirs.visits)).winner == "rule"


def test_a_goal_that_nobody_can_measure_is_refused() -> None:
    with pytest.raises(BadInputError, match="Nobody knows how 'fame' is measured"):
        evaluate("c", corpus(), replace(ASK, goal="fame"), quiet)


def measured(visits: list[float]) -> Measured:
    """Of two resources with a change on day 5 of 10, each on a host of its own."""
    days = [day * DAY_S for day in visits]
    return measure(history([[5 * DAY_S]] * 2), looks([days] * 2), whole(2, 0.0, 10 * DAY_S))


def test_a_gain_is_the_share_of_what_the_other_leaves_to_do() -> None:
    soon, late, never = (by_host([measured(days)] * 3) for days in ([6.0], [9.0], []))
    assert gain([(soon, late)], "freshness").value == pytest.approx(1 - 1.0 / 4.0)
    assert gain([(soon, late)], "delay_days_mean").value == pytest.approx(1 - 1.0 / 4.0)
    assert gain([(soon, late)], "recall").value == pytest.approx(0.0)
    both = gain([(soon, late), (late, late)], "freshness")
    assert both.value == pytest.approx(0.75 / 2)
    # all alike: whatever is drawn, the gain is the same
    assert both.interval().low == pytest.approx(both.interval().high)
    assert mean_gain([both, gain([(late, late)], "freshness")]).value == pytest.approx(0.75 / 4)
    assert np.isnan(gain([(soon, never)], "recall").value)  # nothing to lift


def test_a_part_that_caught_only_what_changed_before_it_tells_nothing_of_recall() -> None:
    plain = measured([6.0])
    before = replace(plain, n_changes=np.zeros(2, dtype=np.int64))
    draws = Draws([plain, before], [plain.host] * 2)
    found = gain([(draws, draws)], "recall")
    assert found.value == 0.0
    drawn = found.replicates[~np.isnan(found.replicates)]
    assert drawn.tolist() == [0.0] * len(drawn)


def test_a_gain_over_few_hosts_is_unsure() -> None:
    one = measured([6.0]).pick(np.array([0]))
    alone = gain([(Draws([one], [one.host]), Draws([one], [one.host]))], "freshness")
    assert alone.value == 0.0
    assert np.isnan(alone.interval().low)
    with pytest.raises(BadInputError, match="one corpus at least"):
        mean_gain([])
    assert np.isnan(mean_gain([alone]).interval().low)


def test_a_gain_that_is_not_known_counts_for_nothing() -> None:
    drawn = np.linspace(0.1, 0.3, 5)
    sure, unsure = Gain(0.2, drawn, 3, 2), Gain(0.4, np.full(5, nan), 1, 2)
    unknown = Gain(nan, np.full(5, nan), 3, 2)
    assert mean_gain([sure, unknown]).value == 0.2
    both = mean_gain([sure, unsure, unknown])
    assert both.value == pytest.approx(0.3)
    assert both.replicates.tolist() == pytest.approx(((drawn + 0.4) / 2).tolist())
    with pytest.raises(BadInputError, match="one corpus at least"):
        mean_gain([unknown])


def test_draws_that_tell_nothing_make_no_mean_surer() -> None:
    drawn = np.linspace(0.0, 0.2, 101)
    some = np.where(np.arange(101) % 2, drawn, nan)
    one = Gain(0.1, some, 5, 3)
    assert mean_gain([one]).interval() == one.interval()
    assert mean_gain([one, Gain(0.1, drawn, 5, 3)]).replicates.tolist() == pytest.approx(drawn.tolist())


def test_runs_that_are_known_are_not_made_again() -> None:
    asked: list[float] = []

    def run(price: float) -> range:
        asked.append(price)
        return range(round(1e6 / (1.0 + price) ** 0.7))

    known: dict[float, range] = {}
    first = bid(run, 5000, 1.0, 0.005, known)
    n = len(asked)
    assert bid(run, 5001, 1.0, 0.005, known) == first
    assert len(asked) == n
    price, found = bid(run, 4500, nan, 0.005, known)  # whose guess is not needed any more
    assert len(found) == pytest.approx(4500, rel=0.005)
    assert price > first[0]
    assert len(asked) - n <= 4
