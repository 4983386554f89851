"""When a resource counts as moved, and what happens when its address is changed."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from pathlib import Path

import pytest

from recrawl.app.access import Secrets
from recrawl.app.moves import applied, offers
from recrawl.checks.store.samples import T0, completion, lease_of, new
from recrawl.detect.exact import Exact
from recrawl.errors import BadInputError, NotWatchedError
from recrawl.finding import Finding, stepped
from recrawl.live.judgement import judged
from recrawl.model import (
    DAY_S,
    HOUR_S,
    Access,
    Fetch,
    Hop,
    Lease,
    Outcome,
    Request,
    Scope,
    ScopeKind,
    Settings,
    Snapshot,
    Standing,
    Visit,
)
from recrawl.remember.memory import MemoryStore

URL, NEW, OTHER = "http://a.example/old", "https://b.example/new", "https://c.example/"
DETECTORS = {"exact": Exact()}


def lease(standing: Standing | None = None) -> Lease:
    store = MemoryStore()
    store.add([new(URL)], T0)
    found = lease_of(store, URL, T0)
    return Lease(
        resource=found.resource, standing=standing or found.standing, token=1, claimed_at=T0, until_at=T0
    )


def moved_to(*statuses: int, outcome: Outcome = Outcome.OK, url: str = NEW) -> str | None:
    fetch = Fetch(
        request=Request(url=URL),
        outcome=outcome,
        url=url,
        started_at=T0,
        ended_at=T0,
        status=200,
        body=b"there",
        hops=tuple(Hop(url=URL, status=status, location=NEW) for status in statuses),
    )
    judgement = judged(
        lease(),
        fetch,
        fetch_id="f",
        detectors=DETECTORS,
        choose=lambda *_, **__: "exact",
        load=lambda version: Snapshot(body=version.digest.encode()),
    )
    return judgement.visit.moved_to


@pytest.mark.parametrize("statuses", [(301,), (308,), (301, 308, 301)])
def test_permanent_redirects_alone_say_where_it_lives(statuses: tuple[int, ...]) -> None:
    assert moved_to(*statuses) == NEW


@pytest.mark.parametrize("statuses", [(), (302,), (307,), (303,), (301, 302), (302, 301)])
def test_one_redirect_for_now_and_it_has_not_moved(statuses: tuple[int, ...]) -> None:
    assert moved_to(*statuses) is None


@pytest.mark.parametrize("outcome", [Outcome.GONE, Outcome.HTTP_ERROR, Outcome.TRUNCATED, Outcome.BLOCKED])
def test_where_nothing_usable_is_found_it_does_not_live(outcome: Outcome) -> None:
    assert moved_to(301, outcome=outcome) is None


def test_a_way_round_that_ends_where_it_began_is_no_move() -> None:
    assert moved_to(301, 301, url=URL) is None


def after(before: Standing, at: float, to: str | None, outcome: Outcome = Outcome.OK) -> Standing:
    visit = Visit(fetch_id=f"{at}", resource_id=1, at=at, outcome=outcome, moved_to=to)
    return stepped(Finding(lease=lease(before), visit=visit, gate_at=at))


def test_it_has_moved_once_two_visits_in_a_row_say_the_same() -> None:
    once = after(Standing(), T0, NEW)
    assert (once.moved_to, once.moved_since_at, once.has_moved) == (NEW, T0, False)
    failed = after(once, T0 + 1.0, None, Outcome.NET_ERROR)  # a failure says nothing, either way
    assert (failed.moved_to, failed.has_moved) == (NEW, False)
    twice = after(failed, T0 + 2.0, NEW)
    assert (twice.moved_since_at, twice.has_moved) == (T0, True)
    thrice = after(twice, T0 + 3.0, NEW)
    assert (thrice.moved_since_at, thrice.has_moved) == (T0, True)


def test_another_place_or_none_begins_anew() -> None:
    twice = after(after(Standing(), T0, NEW), T0 + 1.0, NEW)
    elsewhere = after(twice, T0 + 2.0, OTHER)
    assert (elsewhere.moved_to, elsewhere.moved_since_at, elsewhere.has_moved) == (OTHER, T0 + 2.0, False)
    at_home = after(twice, T0 + 2.0, None)
    assert at_home.moved_to is None
    assert isnan(at_home.moved_since_at)
    assert not at_home.has_moved


@pytest.fixture
def store() -> MemoryStore:
    """Two resources that moved to the same place, and one that did not."""
    store = MemoryStore()
    store.add([new(URL), new("http://a.example/older"), new(OTHER)], T0)
    for i, url in enumerate((URL, "http://a.example/older")):
        for at in (T0 + 100.0 * i + 10.0, T0 + 100.0 * i + 20.0):
            claimed = lease_of(store, url, at)
            done = completion(claimed, at)
            standing = after(claimed.standing, at, NEW)
            assert store.complete([replace(done, standing=standing)]) == [True]
    return store


def test_only_what_moved_is_offered(store: MemoryStore) -> None:
    assert [resource.url for resource, _ in offers(store)] == [URL, "http://a.example/older"]
    assert [resource.url for resource, _ in offers(store, ["HTTP://A.example/older"])] == [
        "http://a.example/older"
    ]
    with pytest.raises(BadInputError, match=r"has not moved; `recrawl moved` lists what has\.$"):
        list(offers(store, [URL, OTHER]))
    with pytest.raises(NotWatchedError):
        list(offers(store, ["http://nobody.example/"]))


def test_of_two_that_moved_to_one_place_the_second_stays_and_is_told_why(
    store: MemoryStore, tmp_path: Path
) -> None:
    secrets = Secrets(tmp_path / "secrets.json")
    own = Scope(ScopeKind.RESOURCE, URL)
    secrets.say([own], Access(bearer="x"))
    first, second = applied(store, secrets, offers(store), T0 + 300.0)
    assert (first.before, first.after, first.refused, first.left_secrets) == (URL, NEW, "", True)
    assert "is watched already; `recrawl remove` one of the two." in second.refused
    assert [resource.url for resource, _, _ in store.resources()] == [NEW, "http://a.example/older", OTHER]
    assert secrets.layers() == {}  # they were given for another host


def test_it_stays_where_its_largest_gap_counts(store: MemoryStore, tmp_path: Path) -> None:
    secrets = Secrets(tmp_path / "secrets.json")
    there = Scope(ScopeKind.HOST, "b.example")
    store.say(Scope(ScopeKind.RESOURCE, URL), Settings(max_gap_s=HOUR_S), T0)
    store.say(there, Settings(min_gap_s=DAY_S), T0)
    [stays] = applied(store, secrets, offers(store, [URL]), T0 + 300.0)
    assert "the smallest gap of its host b.example would be 1 day, so" in stays.refused
    store.say(Scope(ScopeKind.RESOURCE, URL), Settings(min_gap_s=HOUR_S), T0)  # as it was told
    [moves] = applied(store, secrets, offers(store, [URL]), T0 + 300.0)
    assert (moves.after, moves.refused) == (NEW, "")


def test_it_moves_where_its_largest_gap_counted_no_more_before(store: MemoryStore, tmp_path: Path) -> None:
    secrets = Secrets(tmp_path / "secrets.json")
    store.say(Scope(ScopeKind.RESOURCE, URL), Settings(max_gap_s=HOUR_S), T0)
    for host, min_gap_s in (("a.example", 2 * DAY_S), ("b.example", DAY_S)):
        store.say(Scope(ScopeKind.HOST, host), Settings(min_gap_s=min_gap_s), T0)
    [moves] = applied(store, secrets, offers(store, [URL]), T0 + 300.0)
    assert (moves.after, moves.refused) == (NEW, "")
