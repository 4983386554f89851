"""What may still be spent, while visits are in the air."""

from __future__ import annotations

from math import nan

import pytest

from recrawl.costs import UNKNOWN
from recrawl.finding import Finding
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.loop import Loop
from recrawl.model import DAY_S, Lease, NewResource, Outcome, Visit
from recrawl.purse import Purse
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index
from recrawl.terms import noted_terms

START = 1.7e9


def loop_of(store: MemoryStore, n: int = 100) -> Loop:
    """So many hosts with one resource each, all due. Half a million bytes are saved up, and a visit is
    thought to weigh 50,000."""
    store.add([NewResource(url=f"http://h{i}/", host=f"h{i}") for i in range(n)], START)
    loop = Loop(
        store=store,
        predictor=GammaFilter(),
        policy=Index(Fresh()),
        rule="index:fresh",
        per_day=None,
        bytes_per_day=2_000_000.0,
    )
    loop.start(START)
    loop.reprice(START)
    return loop


def landed(lease: Lease, n_bytes: int) -> Finding:
    visit = Visit(
        fetch_id=lease.resource.url,
        resource_id=lease.resource.id,
        at=START + 1.0,
        since_at=nan,
        outcome=Outcome.OK,
        n_bytes=n_bytes,
    )
    return Finding(lease=lease, visit=visit, gate_at=START + 1.0)


def test_what_is_in_the_air_is_not_granted_the_same_bytes() -> None:
    store = MemoryStore()
    loop, other = loop_of(store), loop_of(store)
    leases = [*loop.due(START, 4), *loop.due(START, 4), *other.due(START, 4), *loop.due(START, 4)]
    assert len(leases) == 10
    assert other.due(START, 4) == []
    assert loop.purse.saved(START)[1] == 0.0
    assert loop.wake_at(START) > START
    # what comes down is charged for as it is
    loop.absorb([landed(leases[0], 1_000)], START)
    assert loop.purse.saved(START)[1] == 49_000.0
    loop.absorb([landed(leases[1], 150_000)], START)
    assert loop.purse.saved(START)[1] == -51_000.0
    # and what does not, not at all
    loop.release(leases[2:4], START, START)
    assert loop.purse.saved(START)[1] == 49_000.0
    loop.lose(leases[4:5], START)
    assert loop.purse.saved(START)[1] == 49_000.0
    # what a process that died had in the air accrues again
    assert loop_of(store).purse.saved(START + DAY_S / 4)[1] == 500_000.0


def test_more_is_never_drawn_than_there_are_visits_and_bytes_for() -> None:
    loop = loop_of(MemoryStore())
    loop.purse.per_day = 1_000.0
    assert len(loop.due(START, 64)) == 10
    assert loop.purse.saved(START) == (240.0, 0.0)  # the visits that were too heavy are not paid for
    loop.purse.per_day = 12.0
    loop.store.note("allowance", f"2.0|{START}")
    loop.store.note("allowance-bytes", f"400000.0|{START}")
    assert len(loop.due(START, 64)) == 2
    assert loop.purse.saved(START) == (0.0, 300_000.0)


def test_time_without_a_visit_is_worth_what_the_budget_was_then() -> None:
    store = MemoryStore()
    small = Purse(store, 40.0, 400_000.0)
    assert small.drawn(100, START) == 10
    small.charge_bytes(100_000, START)
    later_at = START + 1_500.0
    rich = Purse(store, 10_000.0, 4e9)
    rich.begin(later_at)
    visits, n_bytes = rich.saved(later_at)
    assert visits == pytest.approx(40.0 * 1_500.0 / DAY_S)
    assert n_bytes == pytest.approx(400_000.0 * 1_500.0 / DAY_S)
    # from then on it accrues as the new one has it, whoever asks
    assert small.saved(later_at + 86.4)[0] == pytest.approx(min(10.0, visits + 10.0))
    assert rich.saved(later_at + 86.4)[0] == pytest.approx(visits + 10.0)
    assert rich.ready_at(later_at) == pytest.approx(later_at + (1.0 - visits) * 8.64)


@pytest.mark.parametrize("limits", [(400.0, None), (None, 4e5)], ids=["visits", "bytes"])
@pytest.mark.parametrize("ahead_s", [30.0, 300.0])
def test_clocks_that_differ_accrue_no_time_twice(
    limits: tuple[float | None, float | None], ahead_s: float
) -> None:
    """Two machines take turns, one of which is ahead."""
    store = MemoryStore()
    ahead, behind = Purse(store, *limits), Purse(store, *limits)
    ahead.mean_bytes = behind.mean_bytes = 1_000.0
    n_drawn = 0
    for turn in range(24 * 60):
        now = START + 60.0 * turn
        for purse, at in ((ahead, now + ahead_s), (behind, now)):
            assert (purse.ready_at(at) <= at) == (purse.n_free(at) > 0)
            n = purse.drawn(1, at)
            n_drawn += n
            purse.charge(1, at)  # which is given back
            purse.charge(-1, at)
            purse.charge_bytes(1, at)
            purse.charge_bytes(-1, at)
            purse.begin(at)  # as whoever finds nothing free does now and then
    assert 500 - 2 <= n_drawn <= 500 + 2  # a day's, and what could be saved up


def test_a_clock_that_is_set_back_far_accrues_at_once() -> None:
    store = MemoryStore()
    purse = Purse(store, 400.0, None)
    purse.charge(100, START + 10 * DAY_S)  # all that was saved
    purse.begin(START, back=True)
    assert purse.n_free(START) == 0
    assert purse.drawn(8, START + DAY_S / 8) == 8


def test_a_smaller_budget_keeps_no_more_than_it_could_save() -> None:
    store = MemoryStore()
    Purse(store, 10_000.0, None).charge(1, START)
    assert Purse(store, 40.0, None).n_free(START) == 10
    store.note("allowance", f"7.0|{START}")  # as it was noted before the rate was
    assert Purse(store, 40.0, None).saved(START + DAY_S / 40.0)[0] == pytest.approx(8.0)


def test_a_loop_with_another_budget_takes_over_what_was_saved() -> None:
    store = MemoryStore()
    store.add([NewResource(url=f"http://h{i}/", host=f"h{i}") for i in range(50)], START)
    made = 0
    for per_day, at in ((40.0, START), (10_000.0, START + 1_500.0)):
        loop = Loop(
            store=store, predictor=GammaFilter(), policy=Index(Fresh()), rule="index:fresh", per_day=per_day
        )
        loop.start(at)
        loop.reprice(at)
        made += len(loop.due(at, 100))
        assert made == 10
    assert len(loop.due(at + 86.4, 100)) == 10


def test_another_kind_of_limit_holds_as_if_the_loop_had_begun_with_it() -> None:
    store = MemoryStore()
    loop = loop_of(store)
    loop.absorb([landed(lease, 20_000) for lease in loop.due(START, 10)], START)
    loop.rebudget(12.0, None)
    loop.reprice(START)
    assert len(loop.due(START, 64)) == 3
    loop.rebudget(None, 4_000_000.0)
    later_at = START + DAY_S / 20.0
    assert loop.must_reprice(later_at)
    loop.reprice(later_at)
    assert loop.purse.mean_bytes == 20_000.0  # as the store has kept it
    saved = 300_000.0 + 2_000_000.0 / 20.0  # until now it was worth what the limit was then
    assert loop.purse.saved(later_at)[1] == pytest.approx(saved)
    assert len(loop.due(later_at, 64)) == int(saved / 20_000)


def test_before_anything_is_watched_a_visit_has_a_weight_too() -> None:
    store = MemoryStore()
    loop_of(store, 0)
    loop = loop_of(store, 0)  # on the terms of the one before
    store.add([NewResource(url=f"http://h{i}/", host=f"h{i}") for i in range(100)], START + 5.0)
    assert not loop.must_reprice(START + 5.0)  # not so soon
    assert len(loop.due(START + 5.0, 64)) == 10
    terms = noted_terms(store)
    assert terms is not None
    assert terms.mean_bytes == UNKNOWN


def plain(store: MemoryStore, per_day: float) -> Loop:
    loop = Loop(
        store=store, predictor=GammaFilter(), policy=Index(Fresh()), rule="index:fresh", per_day=per_day
    )
    loop.start(START)
    loop.reprice(START)
    return loop


def test_what_a_worker_with_the_limit_of_before_notes_last_does_not_hold() -> None:
    store = MemoryStore()
    store.add([NewResource(url=f"http://h{i}/", host=f"h{i}") for i in range(10)], START)
    plain(store, 10.0).due(START, 2)
    loop = plain(store, 1_000.0)
    Purse(store, 10.0, None).charge(1, START + 1.0)  # a visit of before has come down
    assert loop.due(START + 2.0, 64) == []
    ready_at = loop.wake_at(START + 2.0)
    assert ready_at < START + 2.0 + 2 * 86.4
    assert len(loop.due(ready_at, 64)) == 1


def test_workers_with_different_limits_note_them_now_and_then() -> None:
    class Counting(MemoryStore):
        n_exchanged = 0

        def exchange(self, key: str, expected: str | None, value: str) -> bool:
            self.n_exchanged += 1
            return super().exchange(key, expected, value)

    store = Counting()
    store.add([NewResource(url=f"http://h{i}/", host=f"h{i}") for i in range(1_000)], START)
    workers = [plain(store, per_day) for per_day in (100.0, 1_000.0)]
    store.n_exchanged = n_visits = 0
    hours = 6
    for turn in range(hours * 1_800):
        for loop in workers:
            n_visits += len(loop.due(START + 2.0 * turn, 64))
    assert 100.0 * hours / 24.0 < n_visits <= 1_000.0 * hours / 24.0 + 250.0
    assert store.n_exchanged <= 3 * n_visits + 2 * 60 * hours
