"""From a sight to a plan: models in the loop."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from math import inf

import numpy as np
import pytest

from recrawl.app.training import present, train
from recrawl.checks.store.samples import T0, new
from recrawl.errors import StoreError
from recrawl.finding import Finding, batch_of, seen, stepped
from recrawl.grounds import Grounds, noted_priors
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.priors import kept_apart
from recrawl.learn.sights.model import KEY, Trained
from recrawl.loop import Loop
from recrawl.model import (
    DAY_S,
    FEATURES,
    Changed,
    Hunch,
    Lease,
    Outcome,
    Priors,
    Sight,
    Visit,
    column,
)
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Fresh
from recrawl.schedule.policies.index import Index
from recrawl.schedule.reason import reason
from recrawl.sighted import N_ENOUGH, TOLD_KEY, Sighted, Study, at_once, hunches

PRIORS = Priors(shape=0.5, scale_s=10 * DAY_S, hunched=Priors(shape=2.0, scale_s=2.0 * DAY_S))


def test_a_finding_with_a_hunch_is_planned_and_kept_with_it() -> None:
    store = MemoryStore()
    store.add([new("http://a.example/"), new("http://b.example/")], T0)
    gamma = GammaFilter()
    gamma.ground(PRIORS)
    loop = Loop(
        store=store,
        predictor=gamma,
        policy=Index(Fresh()),
        rule="index:fresh",
        per_day=None,
        free_price=0.02 * DAY_S,
    )
    leases = sorted(store.claim(now=T0, limit=2, lease_s=60.0), key=lambda lease: lease.resource.id)
    findings = [looked(lease, T0) for lease in leases]
    findings[1] = replace(findings[1], hunch=Hunch(per_day=8.0, gap_s=10_800.0), model="m")
    slow, fast = loop.absorb(findings, T0)
    assert fast.plan.gap_s < 0.3 * slow.plan.gap_s
    assert fast.plan.per_day == pytest.approx(8.0, rel=0.01)
    assert store.standing(2)[0].hunch_per_day == 8.0
    batch, _ = store.batch()
    assert batch.hunch_gap_s[1] == 10_800.0
    after = [stepped(finding) for finding in findings]
    assert batch_of([finding.lease for finding in findings], after).hunch_per_day[1] == 8.0
    later = replace(findings[1].visit, since_at=T0 - 9.0, changed=Changed.NO)
    assert seen([replace(findings[1], visit=later)]).hunch_per_day.tolist() == [8.0]


def looked(
    lease: Lease, at: float, changed: Changed = Changed.UNKNOWN, sight: Sight | None = None
) -> Finding:
    visit = Visit(
        fetch_id=f"{lease.resource.id}@{at}",
        resource_id=lease.resource.id,
        at=at,
        since_at=lease.standing.since_at,
        outcome=Outcome.OK,
        changed=changed,
    )
    return Finding(lease=lease, visit=visit, gate_at=at, sight=sight)


def sight_of(resource_id: int, at: float, links: float, rng: np.random.Generator) -> Sight:
    values = rng.normal(size=len(FEATURES))
    values[column("links")] = links
    return Sight(resource_id=resource_id, at=at, values=tuple(values.tolist()))


N = 120


def looping(store: MemoryStore, study: Study = at_once) -> Loop:
    loop = Loop(
        store=store,
        predictor=GammaFilter(),
        policy=Index(Fresh()),
        rule="index:fresh",
        per_day=None,
        reprice_every_s=inf,
        fit_priors_every_s=DAY_S,
        train_every_s=DAY_S,
        study=study,
    )
    loop.start(T0)
    return loop


@pytest.fixture(scope="module")
def lived() -> Loop:
    """A house that has watched pages for two weeks: those with many links change often."""
    store, rng = MemoryStore(), np.random.default_rng(8)
    store.add([new(f"http://h{i % 12}.example/{i}") for i in range(N)], T0)
    loop = looping(store)
    for day in range(12):
        at = T0 + day * DAY_S
        for resource_id in range(1, N + 1):
            (lease,) = store.claim(now=at, limit=1, lease_s=60.0, only=resource_id)
            busy = resource_id % 2 == 0
            p = 0.8 if busy else 0.03
            changed = Changed.UNKNOWN if day == 0 else Changed(int(rng.random() < p))
            links = float(rng.integers(100, 200) if busy else rng.integers(0, 20))
            sight = sight_of(resource_id, at, links, rng) if day == 0 else None
            loop.absorb([looked(lease, at, changed, sight)], at)
    return loop


def test_who_is_cut_off_while_telling_hunches_tells_them_at_the_next_pricing(
    lived: Loop, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, now = deepcopy(lived), T0 + 12 * DAY_S
    store = loop.store

    def cut_off(*_: object) -> None:
        raise StoreError("The disk is full; make room.")

    monkeypatch.setattr(type(store), "hunches", cut_off)
    with pytest.raises(StoreError):
        loop.reprice(now)
    monkeypatch.undo()
    loop.reprice(now + 3_600.0)
    assert np.isfinite(store.batch()[0].hunch_per_day).all()
    priors = noted_priors(store)
    assert priors is not None
    assert priors.hunched is not None


def test_a_model_that_was_trained_by_hand_is_planned_with_at_the_next_pricing(lived: Loop) -> None:
    loop, now = deepcopy(lived), T0 + 12 * DAY_S
    store = loop.store
    Grounds(store, loop.predictor, DAY_S).renew(store.batch()[0], now)  # priors of the day, without hunches
    train(store, now=now)
    loop.reprice(now + 3_600.0)
    priors = noted_priors(store)
    assert priors is not None
    assert priors.hunched is not None


def test_nothing_is_learned_from_too_little() -> None:
    store = MemoryStore()
    store.add([new(f"http://a.example/{i}") for i in range(N_ENOUGH - 1)], T0)
    sighted = Sighted(store, DAY_S)
    batch = replace(store.batch()[0], n_informative=np.full(N_ENOUGH - 1, 9))
    assert not sighted.renew(batch, T0)
    assert store.note(KEY) is None


def test_a_model_is_trained_and_every_sight_becomes_a_hunch(lived: Loop) -> None:
    store, now = lived.store, T0 + 12 * DAY_S
    assert store.note(KEY) is None  # no pricing came since there was enough
    lived.reprice(now)
    model = present(store)
    assert store.note(TOLD_KEY) == model.name
    batch, _ = store.batch()
    busy = batch.id % 2 == 0
    assert np.isfinite(batch.hunch_per_day).all()
    assert np.median(batch.hunch_per_day[busy]) > 5.0 * np.median(batch.hunch_per_day[~busy])
    assert [name for name, _, _ in store.hunches_of(1)] == [model.name]
    priors = noted_priors(store)
    assert priors is not None
    assert priors.hunched is not None
    trained_on = int(model.report["resources"])
    assert trained_on == int((~kept_apart(batch.id)).sum())
    # a new page with many links is looked at again sooner than one with few
    rng, plans = np.random.default_rng(9), []
    store.add([new(f"http://new{i}.example/") for i in range(2)], now)
    for i, links in enumerate((150.0, 5.0)):
        (lease,) = store.claim(now=now, limit=1, lease_s=60.0, only=N + 1 + i)
        sight = sight_of(N + 1 + i, now, links, rng)
        plans += [done.plan for done in lived.absorb([looked(lease, now, sight=sight)], now)]
    assert plans[0].per_day > 3.0 * plans[1].per_day
    assert store.standing(N + 1)[0].hunch_per_day > 3.0 * store.standing(N + 2)[0].hunch_per_day
    # the same day nothing is trained anew
    lived.reprice(now + 3_600.0)
    assert present(store).name == model.name


def test_why_says_what_a_page_looks_like(lived: Loop) -> None:
    lived.reprice(T0 + 12 * DAY_S)
    standing, plan = lived.store.standing(2)
    assert plan is not None
    assert "looks like pages that change every" in reason(plan, replace(standing, n_informative=3))


def test_another_model_is_taken_up_and_one_that_cannot_be_read_is_none(lived: Loop) -> None:
    store, now = lived.store, T0 + 12.5 * DAY_S
    lived.reprice(now)
    model = present(store)
    store.note(KEY, replace(model, middle=model.middle + 1.0, trained_at=now).written())
    before = store.batch()[0].hunch_per_day
    lived.reprice(now)
    after = store.batch()[0].hunch_per_day
    inside = after < 0.99 * after.max()  # where no bound holds it
    assert inside.any()
    assert np.allclose(after[inside], np.e * before[inside])
    store.note(KEY, "{}")
    sighted = Sighted(store, DAY_S)
    sighted.take_up()
    assert sighted.ratio is None
    store.note(KEY, model.written())


def test_no_hunch_leaves_the_range_of_the_classes(lived: Loop) -> None:
    lived.reprice(T0 + 12 * DAY_S)
    (_, values), *_ = lived.store.sights()
    model = Trained.read(str(lived.store.note(KEY)))
    for off in (-20.0, 20.0):
        per_day, gap_s = hunches(replace(model, middle=model.middle + off), values)
        gaps_s = np.clip(model.classes.interval_s, 60.0, 400 * DAY_S)
        assert (per_day >= 0.99 * DAY_S / gaps_s.max() / 3.0).all()
        assert (per_day <= 1.01 * DAY_S / gaps_s.min() * 3.0).all()
        assert (gap_s <= 400 * DAY_S).all()
