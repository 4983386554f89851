"""Rules as policies: the contract they keep, and how the loop remembers for them."""

from __future__ import annotations

from importlib.metadata import entry_points
from math import inf
from pathlib import Path

import numpy as np
import pytest
from tests.foreign import answer, day, page, warc
from tests.imported import resource, taken

from recrawl.app.build import open_house
from recrawl.app.config import load
from recrawl.checks import policy as policy_checks
from recrawl.checks.predictor import sample_batch
from recrawl.contracts import Learner, Policy, Store
from recrawl.errors import BadSettingError
from recrawl.finding import Finding, seen_in
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.loop import Loop
from recrawl.model import DAY_S, Changed, Floats, Ints, NewResource, Outcome, Visit
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.classes import CLASSED
from recrawl.schedule.policies.index import Index
from recrawl.schedule.policies.proportional import Proportional
from recrawl.schedule.policies.round_robin import RoundRobin
from recrawl.schedule.policies.rules.named import RULES, rule_named
from recrawl.schedule.policies.rules.policy import Ruled, heritrix, nutch

NOW = 1.7e9
POLICIES = [name for name in entry_points(group="recrawl.policies").names if name != "index"]


def made(name: str) -> Policy:
    found: Policy = next(iter(entry_points(group="recrawl.policies", name=name))).load()()
    return found


@pytest.mark.parametrize("name", sorted(POLICIES))
def test_every_policy_by_name_keeps_the_contract(name: str) -> None:
    assert made(name).name == name
    for check in policy_checks.CHECKS:
        check(lambda: made(name), GammaFilter())


def test_every_rule_but_the_one_that_knows_the_future_can_be_chosen() -> None:
    assert {*RULES} - {*POLICIES} == {"gold"}
    assert {*POLICIES} - {*RULES} - {*CLASSED} == {"uniform", "round-robin", "proportional"}
    assert {*CLASSED} <= {*POLICIES}


def test_a_rule_without_room_between_its_bounds_is_refused() -> None:
    with pytest.raises(BadSettingError, match="choose others"):
        rule_named("fix").bounded(2 * DAY_S, DAY_S)


def loop_of(policy: Policy, store: Store | None = None) -> Loop:
    if store is None:
        store = MemoryStore()
        store.add([NewResource(url=f"http://h{i}/", host=f"h{i}") for i in range(3)], NOW)
    loop = Loop(store=store, predictor=GammaFilter(), policy=policy, rule=policy.name, per_day=None)
    loop.start(NOW)
    return loop


def visit(loop: Loop, at: float, changed: Changed = Changed.NO, outcome: Outcome = Outcome.OK) -> float:
    """The gap planned after a visit to the first resource."""
    lease = loop.claim(1, at)
    assert lease is not None
    first = not np.isfinite(lease.standing.since_at)
    done = Visit(
        fetch_id=str(at),
        resource_id=1,
        at=at,
        since_at=lease.standing.since_at,
        outcome=outcome,
        changed=Changed.UNKNOWN if first else changed,
    )
    return loop.absorb([Finding(lease=lease, visit=done, gate_at=at)], at)[0].plan.gap_s


def test_a_rule_decides_at_visits_and_repricing_decides_nothing() -> None:
    loop = loop_of(heritrix())
    assert visit(loop, NOW) == DAY_S
    assert visit(loop, NOW + DAY_S) == 1.5 * DAY_S
    for hour in range(3):
        loop.reprice(NOW + DAY_S + hour * 3_600.0)
    assert loop.store.standing(1)[0].due_at == NOW + 2.5 * DAY_S
    assert visit(loop, NOW + 2 * DAY_S, Changed.YES) == pytest.approx(DAY_S)


def test_a_visit_that_tells_nothing_is_no_step() -> None:
    loop = loop_of(heritrix())
    visit(loop, NOW)
    assert visit(loop, NOW + DAY_S, Changed.UNKNOWN, Outcome.NET_ERROR) == DAY_S / 8
    assert visit(loop, NOW + 2 * DAY_S, Changed.UNKNOWN) == DAY_S
    assert visit(loop, NOW + 3 * DAY_S) == 1.5 * DAY_S


def test_a_restart_goes_on_where_the_rule_was() -> None:
    loop, gaps = loop_of(nutch()), []
    whole = loop_of(nutch())
    for n in range(5):
        at = NOW + n * 9 * DAY_S
        gaps.append((visit(loop, at), visit(whole, at)))
        loop = loop_of(nutch(), loop.store)
    assert all(one == other for one, other in gaps)
    assert gaps[1] != gaps[0]


def test_another_policy_starts_anew_and_the_predictor_keeps_what_it_knows() -> None:
    loop = loop_of(heritrix())
    for n in range(4):
        visit(loop, NOW + n * DAY_S, Changed.YES)
    learned = loop.predictor.memory(np.array([1])).tolist()
    for policy in (Ruled(RULES["week"]), Index(Fresh()), heritrix()):
        loop = loop_of(policy, loop.store)
        loop.reprice(NOW + 4 * DAY_S)
        assert loop.predictor.memory(np.array([1])).tolist() == learned
    assert loop.store.standing(1)[0].due_at == pytest.approx(NOW + (3 + 1.5**-3) * DAY_S)
    other = loop_of(Ruled(RULES["fix"]), loop.store)
    assert visit(other, NOW + 4 * DAY_S) == 7 * DAY_S  # not what heritrix left
    learned = other.predictor.memory(np.array([1])).tolist()
    back = loop_of(heritrix(), loop.store)
    back.reprice(NOW + 5 * DAY_S)
    assert back.predictor.memory(np.array([1])).tolist() == learned
    assert back.store.standing(1)[0].due_at == NOW + 5 * DAY_S  # a day, as for one never seen


def test_a_predictor_that_grew_is_not_given_the_rows_of_its_former_self() -> None:
    class GammaFilter2(GammaFilter):
        width = 4

        def memory(self, ids: Ints) -> Floats:
            return np.column_stack([super().memory(ids), np.full(len(ids), 0.123)])

        def recall(self, ids: Ints, rows: Floats) -> None:
            self._reach(int(ids.max(initial=0)))
            self._rows[ids] = rows[:, :3]

    GammaFilter2.__qualname__ = "GammaFilter"
    loop = loop_of(Index(Fresh()))
    loop = Loop(store=loop.store, predictor=GammaFilter2(), policy=Index(Fresh()), rule="index", per_day=None)
    visit(loop, NOW)
    visit(loop, NOW + DAY_S, Changed.YES)
    old = loop_of(Index(Fresh()), loop.store)
    old.reprice(NOW + DAY_S)
    assert old.predictor.memory(np.array([1])).tolist() == GammaFilter().memory(np.array([1])).tolist()


def test_a_past_that_comes_in_late_is_learned_by_the_rule_in_its_order(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "recrawl.toml").write_text('[schedule]\npolicy = "window"\n')
    with open_house(home, config=load(home)) as house:
        taken(house, warc(tmp_path / "c.warc", *(answer(day(n), page(str(n))) for n in range(20, 25))))
        taken(house, warc(tmp_path / "a.warc", *(answer(day(n), page("same")) for n in range(9))))
        found = resource(house)
        policy = Ruled(RULES["window"])
        policy.learn(seen_in(house.store.visits(found.id), {found.id: found.host_id}))
        wanted = policy.memory(np.array([found.id]))[0]
        assert wanted[1] == 10.0
        standing, plan = house.store.standing(found.id)
        assert standing.memory[-3:] == tuple(wanted)
        assert plan is not None
        assert (plan.rule, plan.gap_s) == ("window", wanted[0])


def test_round_robin_spreads_its_first_round_and_then_goes_in_step() -> None:
    store = MemoryStore()
    store.add([NewResource(url=f"http://h{i}/", host=f"h{i}") for i in range(50)], NOW)
    batch, _ = store.batch()
    policy, forecasts = RoundRobin(), GammaFilter().forecast(batch, NOW)
    first_s = np.sort(policy.quote(batch, forecasts).gaps(10 * DAY_S))
    # fifty within ten days, and nowhere a hole of half a day
    assert np.diff([0.0, *first_s, 10 * DAY_S]).max() < 0.5 * DAY_S
    again = sample_batch(20)
    later_s = policy.quote(again, forecasts).gaps(10 * DAY_S)
    assert set(later_s[again.n_informative > 1]) == {10 * DAY_S}


def test_proportional_gaps_go_with_one_over_the_rate() -> None:
    predictor = GammaFilter()
    batch = sample_batch(4)
    predictor.recall(batch.id, np.array([[a, 20.0 * DAY_S, 0.0] for a in (0.5, 1.0, 2.0, 4.0)]))
    gaps = Proportional().quote(batch, predictor.forecast(batch, NOW)).gaps(1.0)
    assert gaps / DAY_S == pytest.approx([40.0, 20.0, 10.0, 5.0], rel=1e-6)
    assert Proportional().quote(batch, predictor.forecast(batch, NOW)).gaps(inf) == pytest.approx(
        batch.max_gap_s
    )


def test_a_priced_policy_remembers_nothing() -> None:
    assert not isinstance(Index(Fresh()), Learner)
    assert isinstance(nutch(), Learner)
