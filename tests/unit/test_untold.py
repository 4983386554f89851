"""Changes that no visit tells of: who may hide some, and how far a plan's intervals allow for them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.unit.batches import START_AT, batch_of

from recrawl.app.untold import Server, doubts_of, judged
from recrawl.evaluate.budgets.curve import Budgets
from recrawl.evaluate.budgets.offers import Offers
from recrawl.evaluate.budgets.outlook import even, outlook
from recrawl.evaluate.budgets.sureness import BURST, clumped
from recrawl.evaluate.budgets.untold import Doubts, Untold, Why
from recrawl.learn.forecasts import GammaForecasts
from recrawl.model import (
    DAY_S,
    HOUR_S,
    SILENCE,
    Changed,
    Completion,
    Mask,
    NewResource,
    Noise,
    Outcome,
    Plan,
    Standing,
    Telling,
    Visit,
)
from recrawl.remember.memory import MemoryStore
from recrawl.schedule.goals import Prompt
from recrawl.schedule.policies.index import Index

NO, YES = Changed.NO, Changed.YES
OK, SAME, GONE = Outcome.OK, Outcome.NOT_MODIFIED, Outcome.GONE
FIRST = (OK, Changed.UNKNOWN)


def visits_of(*told: tuple[Outcome, Changed]) -> list[Visit]:
    """A day apart, newest first."""
    made = [
        Visit(
            fetch_id=f"v{i}",
            resource_id=1,
            at=START_AT + i * DAY_S,
            since_at=START_AT + (i - 1) * DAY_S if i else np.nan,
            outcome=outcome,
            changed=changed,
        )
        for i, (outcome, changed) in enumerate(told)
    ]
    return made[::-1]


@pytest.mark.parametrize(
    ("told", "server"),
    [
        ([FIRST, (OK, NO), (OK, YES)], Server.NEVER_SAID),
        ([FIRST, (SAME, NO), (SAME, NO)], Server.SILENT),
        ([FIRST, (SAME, NO), (OK, YES)], Server.VOUCHED),
        (
            [FIRST, *[(SAME, NO)] * 8, (OK, NO)],
            Server.VOUCHED,
        ),  # the tenth is asked for as if for the first time
        ([FIRST, *[(SAME, NO)] * 8, (OK, YES)], Server.CAUGHT),
        ([FIRST, *[(SAME, NO)] * 8, (OK, YES), *[(SAME, NO)] * 9, (OK, NO)], Server.CAUGHT),
        ([FIRST, *[(SAME, NO)] * 8, (OK, YES), (OK, YES)], Server.VOUCHED),
        (
            [FIRST, (SAME, NO), (GONE, YES), (OK, YES), (SAME, NO)],
            Server.SILENT,
        ),  # nothing was held to ask with
    ],
)
def test_a_server_is_judged_by_what_it_said_when_something_had_changed(
    told: list[tuple[Outcome, Changed]], server: Server
) -> None:
    assert judged(Standing(n_informative=len(told)), visits_of(*told)) is server
    assert judged(Standing(n_informative=len(told)), visits_of(*told)[:16]) is server


def test_visits_that_failed_say_nothing_of_a_server() -> None:
    failed = (Outcome.HTTP_ERROR, Changed.UNKNOWN)
    told = [FIRST, (SAME, NO), failed, (SAME, NO)]
    assert judged(Standing(n_informative=3), visits_of(*told)) is Server.SILENT


def record(
    store: MemoryStore,
    url: str,
    told: list[tuple[Outcome, Changed]],
    noise: Noise = SILENCE,
    *,
    from_day: float = 0.0,
    tells: tuple[Telling, ...] = (),
) -> None:
    """Visits of a resource, one a day, through the store's own door; all of them tell the same of others."""
    store.add([NewResource(url=url, host=url)], START_AT)
    resource = store.find(url)
    assert resource is not None
    before, _ = store.standing(resource.id)
    for visit in reversed(visits_of(*told)):
        at = visit.at + from_day * DAY_S
        leases = store.claim(now=at, limit=10, lease_s=60.0)
        (lease,) = (one for one in leases if one.resource.id == resource.id)
        made = replace(visit, fetch_id=f"{url}{at}", resource_id=resource.id, at=at, since_at=before.since_at)
        before = replace(
            before,
            since_at=at,
            last_at=at,
            gap_s=DAY_S,
            due_at=at + DAY_S,
            n_informative=before.n_informative + 1,
            n_changes=before.n_changes + (visit.changed is YES),
            noise=noise,
        )
        plan = Plan(resource_id=resource.id, due_at=before.due_at)
        done = Completion(lease=lease, visit=made, standing=before, plan=plan, gate_at=at, tells=tells)
        assert store.complete([done]) == [True]


def test_a_sitemap_denounces_a_server_that_denies_what_it_told_of() -> None:
    store = MemoryStore()
    record(store, "http://liar/", [FIRST, (SAME, NO)])
    record(store, "http://honest/", [FIRST, (SAME, NO)])
    news = (Telling("http://liar/"), Telling("http://honest/"))
    record(store, "http://sitemap/", [FIRST], from_day=1.5, tells=news)
    record(store, "http://liar/", [(SAME, NO)], from_day=2.0)
    record(store, "http://honest/", [(OK, YES)], from_day=2.01)
    found = doubts_of(store, np.arange(1, 3))
    assert found.id.tolist() == [1]
    assert found.why.tolist() == [Why.DENOUNCED]
    assert (found.n_right, found.n_wrong, found.n_vouched) == (1, 0, 1)


def test_the_store_tells_whose_visits_may_not_tell() -> None:
    store = MemoryStore()
    early, late = (
        Noise(masks=(Mask(place="p", shape="{time}", at=START_AT + days * DAY_S, n_differed=3),))
        for days in (0.5, 4.5)
    )
    silent = [FIRST, *[(SAME, NO)] * 4]
    seen = [FIRST, (OK, YES), (OK, NO), (OK, YES), (OK, NO)]
    for url, told, noise in (
        ("http://a/", silent, SILENCE),
        ("http://b/", [*silent[:3], (OK, YES), (SAME, NO)], SILENCE),
        ("http://c/", [FIRST, *[(OK, NO)] * 4], SILENCE),
        ("http://d/", seen, SILENCE),
        ("http://e/", seen, early),
        ("http://f/", [*seen[:3], (OK, NO), (OK, NO)], late),
    ):
        record(store, url, told, noise)
    ids = np.arange(1, 7)
    found = doubts_of(store, ids)
    assert dict(zip(found.id.tolist(), found.why.tolist(), strict=True)) == {
        1: Why.DENIED,
        3: Why.QUIET,
        6: Why.MASKED,
    }
    assert (found.n_asked, found.n_vouched, found.n_shown) == (6, 1, 1)
    assert found.differed_per_s[-1] == pytest.approx(4 / (0.5 * DAY_S))
    assert found.document()["beta"]["denied"] == {"a": 1.0, "b": 10.0}


def believed(n: int, n_slow: int = 20) -> GammaForecasts:
    """The first ones seem never to change."""
    per_day = np.concatenate([np.full(n_slow, 0.02), np.geomspace(0.05, 5.0, n - n_slow)])
    return GammaForecasts(np.full(n, 8.0), 8.0 / per_day * DAY_S)


def doubts(why: list[Why], *, n_asked: int, n_vouched: int = 0, differed_per_s: float = 0.0) -> Doubts:
    return Doubts(
        id=np.arange(1, len(why) + 1),
        why=np.array(why, dtype=np.int64),
        differed_per_s=np.full(len(why), differed_per_s),
        n_asked=n_asked,
        n_vouched=n_vouched,
        n_shown=0,
        n_right=0,
        n_wrong=0,
    )


def test_intervals_reach_further_where_servers_may_lie_and_less_far_where_they_were_seen_to_be_right() -> (
    None
):
    offers = Offers(batch_of(60), believed(60), Index(Prompt()))
    found = {}
    for name, n_vouched in (("sure", None), ("vouched", 200), ("silent", 0)):
        budgets = Budgets(offers, within_s=HOUR_S)
        if n_vouched is not None:
            budgets.doubt(doubts([Why.DENIED] * 20, n_asked=60, n_vouched=n_vouched))
        found[name] = budgets.bought(60.0).measures
    for name in ("freshness", "delay_days_mean"):
        assert found["sure"][name].value == found["vouched"][name].value == found["silent"][name].value
    low, high = (
        [found[name]["freshness"].low for name in found],
        [found[name]["delay_days_mean"].high for name in found],
    )
    assert low[0] > low[1] > low[2] + 0.01
    assert high[0] < high[1] < high[2] - 0.1


def test_whoever_was_caught_changes_as_others_do_while_visits_stay_as_they_are() -> None:
    n = 10
    per_day = np.concatenate([[0.01], np.full(n - 1, 2.0)])
    known = GammaForecasts(np.full(n, 1e9), 1e9 / per_day * DAY_S)
    gaps = even(np.concatenate([[5 * DAY_S], np.full(n - 1, DAY_S)]))
    ends = Untold(doubts([Why.CAUGHT], n_asked=n), batch_of(n), known).ends(
        clumped(outlook(known, gaps, HOUR_S), BURST), gaps, HOUR_S, ("freshness", "delay_days_mean")
    )
    truth = GammaForecasts(np.full(n, 1e9), np.full(n, 1e9 * DAY_S / 2.0))
    real = outlook(truth, gaps, HOUR_S)
    for name, (low, high) in ends.items():
        assert low == pytest.approx(high)
        assert low == pytest.approx(real.value(name), rel=1e-6)


def test_what_is_masked_changes_at_least_as_often_as_it_differed() -> None:
    forecasts = believed(60)
    gaps = even(np.full(60, DAY_S))
    found = clumped(outlook(forecasts, gaps, HOUR_S), BURST)
    high = [
        Untold(
            doubts([Why.MASKED] * 5, n_asked=60, differed_per_s=often / DAY_S), batch_of(60), forecasts
        ).ends(found, gaps, HOUR_S, ("harmonic",))["harmonic"][1]
        for often in (0.5, 5.0)
    ]
    assert found.value("harmonic") < high[0] < high[1]


def test_a_source_that_is_mostly_right_convicts_a_server_that_denies_what_it_told_of() -> None:
    one = doubts([Why.DENOUNCED, Why.DENIED], n_asked=2)
    rng = np.random.default_rng(1)
    trusted = replace(one, n_right=98).drawn(2_000, rng).mean(axis=0)
    mistrusted = replace(one, n_wrong=98).drawn(2_000, rng).mean(axis=0)
    assert trusted[0] == pytest.approx(0.99, abs=0.005)
    assert mistrusted[0] == pytest.approx(0.01, abs=0.005)
    assert trusted[1] == pytest.approx(0.1, abs=0.01)


def test_chance_matters_less_the_more_resources_these_stand_for() -> None:
    forecasts, gaps = believed(60), even(np.full(60, DAY_S))
    found = clumped(outlook(forecasts, gaps, HOUR_S), BURST)
    few, many = (
        Untold(doubts([Why.DENIED] * 20, n_asked=60), batch_of(60), forecasts, times).ends(
            found, gaps, HOUR_S, ("harmonic",)
        )["harmonic"]
        for times in (1.0, 1_000.0)
    )
    assert few[1] - few[0] > 1.2 * (many[1] - many[0])
