"""Gaps that are said of a tag or a host, held against all that they reach."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from recrawl.app.sources import Candidate
from recrawl.app.watchlist import Added, Choice, add, say
from recrawl.contracts import Store
from recrawl.errors import ConflictError
from recrawl.model import DAY_S, GLOBAL, HOUR_S, NewResource, Settings
from recrawl.remember.memory import MemoryStore
from recrawl.remember.sqlite import SqliteStore

NOW = 1e9
MINUTE_S = 60.0
A, B = "https://a.example/", "https://b.example/"
TAG, HOST = Choice(tag="slow"), Choice(host="a.example")


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    store: Store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "store.sqlite")
    store.say(GLOBAL, Settings(weight=1.0, min_gap_s=HOUR_S, max_gap_s=180 * DAY_S), NOW)
    store.add([NewResource(url=A, host="a.example", tags=("slow",))], NOW)
    store.add([NewResource(url=B, host="b.example", tags=("slow",))], NOW)
    yield store
    store.close()


def only(url: str) -> Choice:
    return Choice(urls=(url,))


def gaps(store: Store, url: str) -> tuple[float, float]:
    found = store.find(url)
    assert found is not None
    return found.effective.min_gap_s, found.effective.max_gap_s


@pytest.mark.parametrize(("wider", "named"), [(TAG, "tag slow"), (HOST, "host a.example")])
def test_a_smallest_gap_above_the_largest_of_a_resource_is_refused(
    store: Store, wider: Choice, named: str
) -> None:
    say(store, only(A), Settings(max_gap_s=30 * MINUTE_S), NOW)
    with pytest.raises(ConflictError) as refused:
        say(store, wider, Settings(min_gap_s=7 * DAY_S), NOW)
    told = str(refused.value)
    assert told.startswith(f"{A}: the smallest gap of its {named} would be 7 days")
    assert f"recrawl set {A} --min-gap" in told
    assert "--clear max-gap" in told
    assert list(store.said(wider.scopes())) == []
    say(store, only(A), Settings(min_gap_s=5 * MINUTE_S), NOW)  # as it was told
    say(store, wider, Settings(min_gap_s=7 * DAY_S), NOW)
    assert gaps(store, A) == (300.0, 1800.0)


def test_a_largest_gap_of_a_tag_below_the_smallest_of_a_host_is_refused(store: Store) -> None:
    say(store, HOST, Settings(min_gap_s=3 * HOUR_S), NOW)
    with pytest.raises(ConflictError, match=f"{A}: the smallest gap of its host a.example is 3 hours"):
        say(store, TAG, Settings(max_gap_s=2 * HOUR_S), NOW)
    say(store, TAG, Settings(max_gap_s=2 * HOUR_S, min_gap_s=HOUR_S), NOW)  # as it was told
    assert gaps(store, A) == gaps(store, B) == (3_600.0, 7_200.0)


def test_of_two_tags_the_first_by_name_is_the_nearer(store: Store) -> None:
    say(store, only(A), Settings(), NOW, add_tags=("often",))
    say(store, Choice(tag="often"), Settings(max_gap_s=2 * HOUR_S), NOW)
    with pytest.raises(ConflictError, match="largest of its tag often, 2 hours, would") as refused:
        say(store, TAG, Settings(min_gap_s=DAY_S), NOW)
    assert "recrawl set --tag often --min-gap" in str(refused.value)


def test_a_nearer_smallest_gap_wins_over_a_wider_largest_one(store: Store) -> None:
    say(store, only(A), Settings(min_gap_s=DAY_S), NOW)
    say(store, TAG, Settings(max_gap_s=2 * HOUR_S), NOW)
    assert gaps(store, A) == (DAY_S, DAY_S)
    assert gaps(store, B) == (HOUR_S, 2 * HOUR_S)


def test_what_is_taken_back_uncovers_no_gap_that_overrules(store: Store) -> None:
    say(store, only(A), Settings(min_gap_s=5 * MINUTE_S, max_gap_s=30 * MINUTE_S), NOW)
    say(store, TAG, Settings(min_gap_s=MINUTE_S), NOW)
    say(store, HOST, Settings(min_gap_s=DAY_S), NOW)
    say(store, only(A), Settings(), NOW, forget=("min_gap_s",))
    with pytest.raises(ConflictError, match=r"its host a\.example would be 1 day"):
        say(store, TAG, Settings(), NOW, forget=("min_gap_s",))
    with pytest.raises(ConflictError, match=r"its host a\.example would be 1 day"):
        say(store, only(A), Settings(), NOW, drop_tags=("slow",))
    say(store, only(A), Settings(), NOW, forget=("max_gap_s",), drop_tags=("slow",))
    assert gaps(store, A) == (DAY_S, 180 * DAY_S)


def test_a_tag_that_would_overrule_is_not_given(store: Store) -> None:
    say(store, Choice(tag="rare"), Settings(min_gap_s=7 * DAY_S), NOW)
    say(store, only(A), Settings(max_gap_s=HOUR_S), NOW)
    with pytest.raises(ConflictError, match="its tag rare would be 7 days"):
        say(store, only(A), Settings(weight=5.0), NOW, add_tags=("rare",))
    found = store.find(A)
    assert found is not None
    assert (found.tags, found.effective.weight) == (("slow",), 1.0)  # none of it was done
    say(store, only(A), Settings(min_gap_s=HOUR_S), NOW, add_tags=("rare",))
    assert gaps(store, A) == (HOUR_S, HOUR_S)


def test_what_was_so_before_does_not_stand_in_the_way(store: Store) -> None:
    store.say(TAG.scopes()[0], Settings(min_gap_s=DAY_S), NOW)  # as an older recrawl let it be
    store.say(only(A).scopes()[0], Settings(max_gap_s=HOUR_S), NOW)
    say(store, TAG, Settings(max_gap_s=9 * DAY_S), NOW)
    say(store, TAG, Settings(min_gap_s=2 * DAY_S), NOW)  # it means as little as before
    assert gaps(store, A) == (2 * DAY_S, 2 * DAY_S)
    say(store, TAG, Settings(min_gap_s=HOUR_S), NOW)
    with pytest.raises(ConflictError, match="its tag slow would be 2 days"):
        say(store, TAG, Settings(min_gap_s=2 * DAY_S), NOW)


def test_what_is_added_again_gets_no_tag_that_would_overrule(store: Store) -> None:
    say(store, Choice(tag="rare"), Settings(min_gap_s=7 * DAY_S), NOW)
    say(store, only(A), Settings(max_gap_s=HOUR_S), NOW)
    result = Added()
    nothing = Settings()

    async def given() -> AsyncIterator[Candidate]:
        for url in (A, B):
            yield Candidate(url, "", by_hand=True)

    asyncio.run(add(store, given(), result, settings=nothing, tags=("rare",), now=NOW))
    (refused,) = result.refused
    assert (refused.text, result.n_known) == (A, 1)
    assert refused.reason.startswith("the smallest gap of its tag rare would be 7 days")
    tags = [store.find(url) for url in (A, B)]
    assert ["rare" in found.tags for found in tags if found is not None] == [False, True]
