"""What a budget means to one resource: all that are watched share it, and it may be too small for them."""

from __future__ import annotations

from math import inf, isnan
from pathlib import Path

import numpy as np
import pytest
from tests.unit.test_account import NOW, finding_of, opened

from recrawl.app.account import Account, account
from recrawl.app.basis import basis, budgets
from recrawl.app.build import House
from recrawl.app.policies import policy_of
from recrawl.cli.why import _fields
from recrawl.loop import Loop
from recrawl.model import DAY_S, HOUR_S, NewResource, Outcome, Scope, ScopeKind, Settings
from recrawl.registry import part

HOST = "many.example"


def urls(n: int) -> list[str]:
    return [f"http://{HOST}/{i}" for i in range(n)]


def begun(
    house: House,
    n: int,
    n_visits: int,
    said: Settings | None = None,
    *,
    per_day: float = 0.0,
    n_bytes: float = 0.0,
) -> Loop:
    """So many are watched, and of a few there is a first copy."""
    house.store.add([NewResource(url=url, host=HOST) for url in urls(n)], NOW)
    if said is not None:
        house.store.say(Scope(ScopeKind.HOST, HOST), said, NOW)
    chosen, rule = policy_of("index", "fresh", asked=False)
    loop = Loop(
        store=house.store,
        predictor=part("predictors", "rhythm")(),
        policy=chosen,
        rule=rule,
        per_day=per_day or None,
        bytes_per_day=n_bytes or None,
    )
    loop.start(NOW)
    for i, lease in enumerate(loop.due(NOW, n_visits)):
        loop.absorb([finding_of(lease, NOW + i, n_bytes=50_000)], NOW + i)
    loop.reprice(NOW + 60.0)
    return loop


def seen_first(house: House) -> Account:
    """Of those with a copy, the first."""
    here = (one for one, standing, _ in house.store.resources() if standing.n_informative)
    return account(house, next(here).url)


@pytest.mark.parametrize("limits", [(10.0, 0.0), (0.0, 500_000.0)])
def test_those_never_seen_share_the_budget(tmp_path: Path, limits: tuple[float, float]) -> None:
    with opened(tmp_path / "home", day=0.01) as house:
        begun(house, 60, 2, per_day=limits[0], n_bytes=limits[1])
        told = seen_first(house)
        never = account(house, urls(60)[-1])
        gaps_s = np.array([account(house, url).otherwise[0].gap_s for url in urls(60)[::6]])
    assert never.standing.n_informative == 0
    for one in (told, never):  # ten visits a day for sixty that are all alike as yet
        assert one.otherwise[0].n_asked == 60
        assert one.otherwise[0].gap_s == pytest.approx(6 * DAY_S, rel=0.3)
    assert (DAY_S / gaps_s).mean() * 60 == pytest.approx(10.0, rel=0.1)


def test_the_failing_take_no_more_than_their_retries(tmp_path: Path) -> None:
    with opened(tmp_path / "home", day=3.0) as house:
        loop = begun(house, 20, 10, per_day=10.0)
        alone = seen_first(house).otherwise[0]
        gone = next(one for one, standing, _ in house.store.resources() if not standing.n_informative)
        for i in range(4):
            at = NOW + (0.1 + 0.5 * i) * DAY_S
            (lease,) = house.store.claim(now=at, limit=1, lease_s=60.0, only=gone.id)
            loop.absorb([finding_of(lease, at, outcome=Outcome.NET_ERROR)], at)
        other, failing = seen_first(house), account(house, gone.url)
    assert (alone.n_asked, other.otherwise[0].n_asked, failing.otherwise[0].n_asked) == (20, 19, 20)
    # about a twentieth of the visits is no longer asked for, and less goes to retries
    assert other.otherwise[0].gap_s == pytest.approx(alone.gap_s, rel=0.1)


def test_a_budget_too_small_for_the_largest_gaps_is_said_to_be_so(tmp_path: Path) -> None:
    hourly = Settings(min_gap_s=HOUR_S, max_gap_s=HOUR_S)
    with opened(tmp_path / "home", day=0.01) as house:
        begun(house, 5, 5, hourly, per_day=10.0)
        told = seen_first(house)
    assert told.plan is not None
    assert (told.plan.price, told.plan.bound) == (inf, "max")
    assert told.sentence.endswith(
        "no visit is worth the price, but 1 hour is the largest gap allowed; the budget cannot keep it, "
        "and visits come late."
    )
    price = "none: the largest gaps alone ask for 120 visits a day, more than the budget has"
    assert dict(basis(told))["price"] == f"{price}; visits come about every 12 hours"
    assert budgets(told).startswith("in the long run a gap of 12 hours; with half of it 1 day")


def test_bytes_too_few_for_the_largest_gaps_make_visits_late_too(tmp_path: Path) -> None:
    hourly = Settings(min_gap_s=HOUR_S, max_gap_s=HOUR_S)
    with opened(tmp_path / "home", day=0.01) as house:
        begun(house, 5, 5, hourly, n_bytes=500_000.0)
        told = seen_first(house)
    assert "the budget cannot keep it" in told.sentence
    assert dict(basis(told))["price"].endswith("visits come about every 12 hours")


def test_where_one_gap_is_allowed_the_price_tells_which_way_it_would_go(tmp_path: Path) -> None:
    """Both ends of the bounds are the same gap, but not the same reason."""
    for gap_s, bound, word in ((HOUR_S, "max", "later"), (90 * DAY_S, "min", "sooner")):
        with opened(tmp_path / bound, day=0.01) as house:
            loop = begun(house, 20, 20, per_day=40.0)
            one = next(house.store.resources())[0]
            only = Settings(min_gap_s=gap_s, max_gap_s=gap_s)
            house.store.say(Scope(ScopeKind.RESOURCE, one.url), only, NOW)
            loop.reprice(NOW + 120.0)
            told = account(house, one.url)
        assert told.plan is not None
        assert 0.0 < told.plan.price < inf
        assert told.plan.bound == bound
        assert f"a visit would be worth it {word}, but" in told.sentence


def test_what_is_due_waits_for_the_budget_and_that_is_said(tmp_path: Path) -> None:
    with opened(tmp_path / "home", day=0.01) as house:
        loop = begun(house, 5, 5, per_day=40.0)
        assert isnan(seen_first(house).free_at)
        loop.purse.charge(20, NOW + 60.0)
        found = seen_first(house)
        assert found.free_at == pytest.approx(loop.purse.ready_at(found.now))
    assert found.free_at > found.now
    [told] = [text for name, text in _fields(found) if name == "next visit"]
    assert str(told).endswith(f"; the budget has no visit free until {found.row()['free_at']}")
