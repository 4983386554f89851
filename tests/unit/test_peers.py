"""Rules beside ours at equal visits, on a small generated corpus."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from math import nan

import numpy as np
import pytest
from tests.unit.histories import bustle, history, looks

from recrawl.corpora.builtin import Builtin, builtin
from recrawl.errors import BadInputError
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.bidding import bid
from recrawl.evaluate.gains import Gain, gain, mean_gain
from recrawl.evaluate.intervals import Draws, by_host
from recrawl.evaluate.matches import Peers
from recrawl.evaluate.measures import Measured, measure
from recrawl.evaluate.peers import evaluate
from recrawl.evaluate.protocol import whole
from recrawl.evaluate.report.peers import summary
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
        assert row.first_visits == row.theirs.resources  # a week is enough for everybody's
        decided = row.theirs.visits - row.first_visits
        for made in (row.ours, row.floor):
            assert made.visits - row.first_visits == pytest.approx(decided, rel=0.01)
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
    assert daily.floor == daily.theirs  # to the letter: the same first visits, and then every day
    assert daily.ours == daily.theirs


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
    assert (document["draws"], document["limit_draws"]) == (2, 1)
    assert set(document["gains_over_floor"]) == {"freshness", "delay_days_mean", "recall", "harmonic"}


def test_what_does_not_fit_is_sampled_and_that_is_said() -> None:
    result = compared("fresh", 20)
    assert result.rows[0].theirs.resources <= 20
    assert "20 of 60 resources are compared: an even sample of them." in result.notes


def test_with_weights_everybody_counts_all_alike_and_that_is_said() -> None:
    heavy = np.where(np.arange(120) % 10 == 0, 1.0, 1000.0)  # those that never change
    ask = replace(ASK, policies=("fix",), days=60.0, n_draws=1)
    plain, weighed, heavier = (
        evaluate("c", bustle(weight), ask, quiet) for weight in (None, heavy.tolist(), [7.0] * 120)
    )
    for other in (weighed, heavier):
        assert [row.document() for row in other.rows] == [row.document() for row in plain.rows]
    assert weighed.notes == ["The corpus's weights are left out: all resources count alike, for everybody."]
    assert plain.notes == heavier.notes == []


def test_gaps_so_short_that_looking_never_ended_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recrawl.evaluate.pieces.MOST_VISITS", 20_000)
    result = evaluate("c", corpus(), replace(ASK, policies=("changedetection",), min_gap_s=60.0), quiet)
    assert any("would make more than" in note for note in result.notes)
    assert result.rows[0].theirs.visits <= 20_100


def test_beside_a_rule_that_knows_the_future_there_is_as_much_to_spend() -> None:
    """A few change all day and most never: `gold` looks at those twice a year, but first within the week."""
    row = evaluate("c", bustle(), replace(ASK, policies=("gold",), days=20.0, n_draws=1), quiet).rows[0]
    assert not row.forced
    assert row.theirs.visits > 1.5 * row.theirs.resources
    decided = row.theirs.visits - row.first_visits
    for made in (row.ours, row.floor):
        assert made.visits - row.first_visits == pytest.approx(decided, rel=0.01)
    assert row.limits["recall"] > row.theirs.recall


def test_who_made_more_visits_has_won_nothing() -> None:
    won = next(row for row in compared("fresh").rows if row.winner == "ours")
    for n_visits, winner in ((won.theirs.visits, "ours"), (int(1.02 * won.theirs.visits), "even")):
        assert replace(won, ours=replace(won.ours, visits=n_visits)).winner == winner
    # first visits are everybody's: half a hundredth more in all is twice too many of few that were decided on
    few = replace(won, first_visits=won.theirs.visits - 100)
    assert replace(few, ours=replace(won.ours, visits=won.theirs.visits + 2)).winner == "ours"
    assert replace(few, ours=replace(won.ours, visits=won.theirs.visits + 3)).winner == "even"
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


def test_the_summary_gives_no_reason_that_does_not_hold() -> None:
    result = compared()
    week, *_, daily = result.rows
    assert "it is even with changedetection, as the gap bounds leave no choice" in summary(result)[0]
    # better, and with more visits
    costly = replace(week, ours=replace(week.ours, visits=2 * week.theirs.visits))
    (told, _) = summary(replace(result, rows=[costly, daily]))
    assert told.endswith(
        "even with changedetection, as the gap bounds leave no choice; beside week neither has won."
    )
    (told, _) = summary(replace(result, rows=[costly]))
    assert told.endswith("beside 0 of 1 rules at as many visits; beside week neither has won.")


def test_of_a_gain_that_is_not_known_the_summary_says_nothing() -> None:
    unknown = Gain(nan, np.full(5, nan), 3, 2)
    result = compared()
    assert summary(result)[1].startswith("Beside the floor")
    assert len(summary(replace(result, gains={**result.gains, "freshness": unknown}))) == 1


def test_a_corpus_without_versions_is_refused_with_what_helps_then() -> None:
    empty = replace(bustle(), held=history([]), skipped={"a resource without any version": 3}, n_listed=3)
    with pytest.raises(BadInputError, match=r"No resource of bustle has a version.*recrawl corpus check"):
        evaluate("c", empty, ASK, quiet)
    late = replace(bustle(), held=history([[]] * 3, born_at=1e9))
    with pytest.raises(BadInputError, match="ask for fewer --days"):
        evaluate("c", late, ASK, quiet)


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
