"""What resources teach each other: it outlives a worker, is shared by all, and comes out of the store."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from recrawl.checks.predictor import CHECKS, MakePredictor, check_what_two_counted_is_joined
from recrawl.finding import Finding
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.loop import Loop
from recrawl.lore import MOST_COUNTED, Lore
from recrawl.model import DAY_S, Changed, Floats, NewResource, Outcome, Visit
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index
from recrawl.schedule.policies.rules.policy import nutch

NOW = 1_700_000_000.0
N, N_HOSTS = 24, 3
KEY = "lore:Rhythm"


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
def test_the_rhythm_keeps_the_contract(check: Callable[[MakePredictor], None]) -> None:
    check(Rhythm)


class Hoarding(Rhythm):
    """Counts what it had counted before once more."""

    def joined(self, noted: Floats, since: Floats) -> Floats:
        return super().joined(noted, 0.0 * since)


class Unforgetting(Rhythm):
    def lessened(self, lore: Floats, share: float) -> Floats:
        return super().lessened(lore, max(share, 1.0))


@pytest.mark.parametrize("faulty", [Hoarding, Unforgetting])
def test_whoever_joins_lore_wrongly_does_not_keep_the_contract(faulty: type[Rhythm]) -> None:
    with pytest.raises(AssertionError):
        check_what_two_counted_is_joined(faulty)


def stored() -> MemoryStore:
    store = MemoryStore()
    hosts = [f"h{i % N_HOSTS}" for i in range(N)]
    store.add([NewResource(url=f"http://{host}/{i}", host=host) for i, host in enumerate(hosts)], NOW)
    return store


def worker(store: MemoryStore, predictor: Rhythm | None = None) -> Loop:
    made = predictor or Rhythm()
    loop = Loop(store=store, predictor=made, policy=Index(Fresh()), rule="index:fresh", per_day=100.0)
    loop.start(NOW)
    return loop


def rhythm(loop: Loop) -> Rhythm:
    assert isinstance(loop.predictor, Rhythm)
    return loop.predictor


def look(loop: Loop, days: range, only: Callable[[int], bool] = lambda _: True) -> float:
    """At everything once a day: all of a host change on the same days, of which there are few."""
    at = NOW
    for day in days:
        for i in filter(only, range(N)):
            at = NOW + day * DAY_S + 60.0 * i
            (lease,) = loop.store.claim(now=at, limit=1, lease_s=60.0, only=i + 1)
            first = np.isnan(lease.standing.since_at)
            changed = Changed((day + i % N_HOSTS) % 5 == 0)
            visit = Visit(
                fetch_id=f"{i}@{at}",
                resource_id=lease.resource.id,
                at=at,
                since_at=lease.standing.since_at,
                outcome=Outcome.OK,
                changed=Changed.UNKNOWN if first else changed,
            )
            loop.absorb([Finding(lease=lease, visit=visit, gate_at=at)], at)
    return at


def survival(loop: Loop, now: float) -> list[float]:
    batch, _ = loop.store.batch()
    days = np.array([0.5, 1.0, 3.0])[:, None] * np.full(N, DAY_S)
    return list(loop.predictor.forecast(batch, now).survival(days).ravel())


def test_whoever_comes_later_forecasts_as_the_one_that_learned() -> None:
    loop = worker(store := stored())
    at = look(loop, range(30))
    loop.reprice(at)
    later = worker(store)
    assert later.must_reprice(at)  # although the price is new
    later.reprice(at)
    assert not later.must_reprice(at)
    assert np.array_equal(rhythm(later).lore(), rhythm(loop).lore())
    known = survival(loop, at)
    assert survival(later, at) == pytest.approx(known, rel=0.1)
    # without the visits of the others it would be further off
    deaf = Rhythm()
    deaf.take_lore(rhythm(loop).lore())
    alone = worker(store, deaf)
    batch, memory = store.batch()
    alone._memories.recall(batch.id, memory)
    assert (
        np.abs(np.subtract(survival(alone, at), known)).mean()
        > 3.0 * np.abs(np.subtract(survival(later, at), known)).mean()
    )


def test_a_worker_alone_hears_nothing_twice() -> None:
    loop = worker(stored())
    for days in (range(6), range(6, 8)):
        at = look(loop, days)
        stirs = [one.tolist() for one in rhythm(loop).stirs]
        habits = [one.tolist() for one in rhythm(loop).habits]
        loop.reprice(at)
        assert [one.tolist() for one in rhythm(loop).stirs] == stirs
        assert [one.tolist() for one in rhythm(loop).habits] == habits
    assert (rhythm(loop).stirs.level[:N_HOSTS] >= 0).all()


def test_workers_on_one_store_share_what_each_counted_and_saw() -> None:
    store = stored()
    one, other = worker(store), worker(store)
    at = NOW
    for day in range(10):  # the last host is looked at by the other alone
        at = max(
            look(one, range(day, day + 1), lambda i: i % N_HOSTS < N_HOSTS - 1),
            look(other, range(day, day + 1), lambda i: i % N_HOSTS == N_HOSTS - 1),
        )
        if day == 4:
            assert rhythm(one)._slot.max() == 1
            one.reprice(at)
    counted = [rhythm(loop).lore().sum() for loop in (one, other)]
    one.reprice(at)
    other.reprice(at)
    one.reprice(at)
    assert rhythm(one).lore().sum() == pytest.approx(sum(counted))
    assert np.array_equal(rhythm(one).lore(), rhythm(other).lore())
    assert json.loads(store.note(KEY) or "") == rhythm(one).lore().tolist()
    # each has the other's hosts' clocks, in whatever order they came
    assert rhythm(one)._slot.max() == rhythm(other)._slot.max() == N_HOSTS - 1
    assert survival(one, at) == pytest.approx(survival(other, at), rel=0.15)


def test_what_was_counted_is_noted_when_a_run_ends() -> None:
    loop = worker(store := stored())
    look(loop, range(4))
    assert not np.any(json.loads(store.note(KEY) or "0"))
    loop.finish()
    later = worker(store)
    assert np.array_equal(rhythm(later).lore(), rhythm(loop).lore())
    noted = store.note(KEY)
    later.finish()
    assert store.note(KEY) == noted


def test_old_counts_make_room_for_new_ones() -> None:
    store, predictor = stored(), Rhythm()
    lore = Lore(store, predictor)
    lore.take_up()
    much = np.full_like(predictor.lore(), MOST_COUNTED)
    much[-1] = 3.0
    predictor.take_lore(much)
    lore.put()
    assert predictor.lore()[-1] == 3.0  # how often half was let go is no count
    assert MOST_COUNTED / 2 < predictor.lore().sum() < MOST_COUNTED
    assert json.loads(store.note(KEY) or "") == predictor.lore().tolist()


def test_a_calendar_that_lets_go_goes_on_counting_for_everybody() -> None:
    """Each of two workers has seen so many changes that half of them is let go; then each sees some more."""
    store = stored()
    sharers = [(predictor, Lore(store, predictor)) for predictor in (Rhythm(), Rhythm())]
    loud, quiet = (predictor.common.calendars for predictor, _ in sharers)
    loud.n[0], loud.x[0] = 100.0, 50.0
    for _ in range(2):
        for _, lore in sharers:
            lore.catch_up()
    assert quiet.n[0].tolist() == loud.n[0].tolist()
    for calendars, more in ((loud, 8.0), (quiet, 2.0)):
        calendars.n[0] = 0.5 * calendars.n[0] + more
        calendars.x[0] = 0.5 * calendars.x[0] + 1.0
        calendars.loss[0] -= 3.0  # moments that were known
        calendars.halved[0] += 1.0
    for _ in range(2):
        for _, lore in sharers:
            lore.catch_up()
    for calendars in (loud, quiet):
        assert calendars.n[0] == pytest.approx(100.0 / 2 + 8.0 + 2.0)  # both let go of the same half
        assert calendars.x[0] == pytest.approx(50.0 / 2 + 2.0)
        assert calendars.loss[0] == pytest.approx(-6.0)
        assert calendars.halved[0] == 1.0
    loud.n[0] = 0.5 * loud.n[0] + 4.0
    loud.halved[0] += 1.0
    quiet.n[0] += 6.0
    for _ in range(2):
        for _, lore in sharers:
            lore.catch_up()
    for calendars in (loud, quiet):
        assert calendars.n[0] == pytest.approx(60.0 / 2 + 4.0 + 6.0 / 2)  # what one let go of is let go
        assert calendars.halved[0] == 2.0
    fresh = Rhythm()
    Lore(store, fresh).take_up()
    assert fresh.lore().tolist() == sharers[0][0].lore().tolist()


def test_what_was_learned_anew_meanwhile_is_not_let_go_of_again() -> None:
    """All visits were learned anew while a worker ran on, and half of the counts was let go less often."""
    store, predictor = stored(), Rhythm()
    lore, calendars = Lore(store, predictor), predictor.common.calendars
    calendars.n[0], calendars.x[0], calendars.halved[0] = 100.0, 50.0, 5.0
    lore.catch_up()
    anew = Rhythm()
    anew.common.calendars.n[0], anew.common.calendars.x[0] = 80.0, 40.0
    anew.common.calendars.halved[0] = 3.0
    Lore(store, anew).put_anew()
    calendars.n[0] += 6.0
    lore.catch_up()
    assert calendars.n[0] == pytest.approx(86.0)
    assert calendars.x[0] == pytest.approx(40.0)
    assert calendars.halved[0] == 3.0
    Lore(store, anew).put_anew()
    calendars.n[0] = 0.5 * calendars.n[0] + 4.0
    calendars.x[0] *= 0.5
    calendars.halved[0] += 1.0
    lore.catch_up()
    assert calendars.n[0] == pytest.approx(80.0 / 2 + 4.0)  # nor less often than here since
    assert calendars.halved[0] == 4.0


def test_what_was_noted_before_calendars_told_how_often_they_let_go_is_taken_up() -> None:
    store = stored()
    loop = worker(store)
    look(loop, range(6))
    loop.finish()
    noted = json.loads(store.note(KEY) or "")
    store.note(KEY, json.dumps(noted[:-1]))
    fresh = Rhythm()
    Lore(store, fresh).take_up()
    assert fresh.lore().tolist() == noted


def test_what_the_gamma_filter_learned_is_taken_over_and_the_policy_keeps_its_own() -> None:
    store = stored()
    policy = nutch()
    before = Loop(store=store, predictor=GammaFilter(), policy=policy, rule="nutch", per_day=None)
    before.start(NOW)
    at = look(before, range(6))
    ids, groups = np.arange(1, N + 1), np.zeros(N, dtype=np.int64)
    assert isinstance(before.predictor, GammaFilter)
    known = before.predictor.state(ids, groups)
    again = nutch()
    loop = Loop(store=store, predictor=Rhythm(), policy=again, rule="nutch", per_day=None)
    loop.start(at)
    loop.reprice(at)
    taken_over = rhythm(loop).state(ids, groups)
    assert taken_over[0] / taken_over[1] == pytest.approx(known[0] / known[1], rel=0.02)
    assert np.array_equal(again.memory(ids), policy.memory(ids))
    assert (rhythm(loop).stirs.level[:N_HOSTS] >= 0).all()  # what is going on at the hosts is known too
    at = look(loop, range(6, 8))
    written = store.standing(1)[0].memory
    assert len(written) == 1 + Rhythm.width + 1 + again.width
    assert written[1:3] != tuple(one[0] for one in known)


def test_without_numba_everything_is_learned_the_same() -> None:
    """Plain Python in place of machine code: a small run, with one restart."""
    blocked = "import sys; sys.modules['numba'] = None; " + _RUN
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
        for code in (blocked, _RUN)
    ]
    plain, fast = (json.loads(run.stdout) for run in runs)
    assert (plain["numba"], fast["numba"]) == (False, True)
    assert plain["n_heard"] < fast["n_heard"]
    assert plain["due_at"] == fast["due_at"]


_RUN = f"""
import json
import sys
from recrawl.learn.predictors import rhythm
from tests.unit import test_lore as t
rhythm.N_PLAIN = 0
loop = t.worker(store := t.stored())
at = t.look(loop, range(5))
loop.finish()
loop = t.worker(store)
loop.reprice(at)
at = t.look(loop, range(5, 7))
loop.reprice(at)
due_at = [plan.due_at for _, _, plan in store.resources()]
assert len(due_at) == {N}
print(json.dumps({{"numba": "numba.core" in sys.modules, "n_heard": t.Rhythm().n_heard, "due_at": due_at}}))
"""
