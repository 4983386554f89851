"""One resource as the store tells of it, what holds for it and who says so, and what can be done about it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.houses import DAY_AT, Past, seen

from recrawl.app.build import House, open_house
from recrawl.app.deeds import Wish, paused, removed, said
from recrawl.app.portrait import holdings, numbered, portrait, version_of, versions_of
from recrawl.errors import BadInputError, BadSettingError, NotWatchedError
from recrawl.live.virtual import VirtualClock
from recrawl.model import DAY_S, GLOBAL, Kind, Manner, Scope, ScopeKind, Settings

A = "https://a.example/page"


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with Past(tmp_path) as past:
        past.visits((seen(A, DAY_AT + day * DAY_S, b"<p>text %d" % day) for day in range(4)), "news", "law")
    with open_house(tmp_path, clock=VirtualClock(DAY_AT + 5 * DAY_S)) as found:
        yield found


def test_a_portrait_is_of_the_number_asked_for(house: House) -> None:
    found = portrait(house.store, 1)
    assert (found.resource.url, found.standing.since_at) == (A, DAY_AT + 3 * DAY_S)
    assert [version.seq for version in found.newest] == [4, 3]
    for absent in (2, 10**12):
        with pytest.raises(NotWatchedError):
            portrait(house.store, absent)


def test_each_setting_says_which_layer_it_comes_from(house: House) -> None:
    tag, host = Scope(ScopeKind.TAG, "law"), Scope(ScopeKind.HOST, "a.example")
    own = Scope(ScopeKind.RESOURCE, A)
    house.store.say(host, Settings(weight=2.0, kind=Kind.PAGE), DAY_AT)
    house.store.say(tag, Settings(weight=3.0, manner=Manner(ignore=("aside",))), DAY_AT)
    house.store.say(own, Settings(max_gap_s=2 * DAY_S), DAY_AT)
    found = holdings(house.store, numbered(house.store, 1)[0])
    assert (found["weight"].words, found["weight"].scope) == ("3.0", tag)
    assert (found["kind"].words, found["kind"].scope) == ("page", host)
    assert (found["max_gap_s"].words, found["max_gap_s"].scope) == ("2 days", own)
    assert (found["ignore"].words, found["ignore"].scope) == ("aside", tag)
    assert (found["main"].words, found["main"].scope) == ("no", None)
    assert found["min_gap_s"].scope == GLOBAL


def test_a_form_says_all_that_it_has_and_forgets_what_is_empty(house: House) -> None:
    said(
        house,
        1,
        Wish(weight="2.5", min_gap="2h", kind="page", ignore="aside\n .ad ", main="yes", tags="new, law"),
    )
    resource, _, _ = numbered(house.store, 1)
    assert resource.settings == Settings(
        weight=2.5, min_gap_s=7_200.0, kind=Kind.PAGE, manner=Manner(ignore=("aside", ".ad"), main=True)
    )
    assert resource.tags == ("law", "new")
    paused(house, 1, True)
    said(house, 1, Wish(max_gap="3 days", tags="law"))
    resource, _, _ = numbered(house.store, 1)
    assert resource.settings == Settings(max_gap_s=3 * DAY_S, paused=True)  # the form has no word on pauses
    assert resource.tags == ("law",)
    assert not paused(house, 1, False).effective.paused


def test_a_form_that_makes_no_sense_changes_nothing(house: House) -> None:
    for wrong in (
        Wish(weight="much"),
        Wish(main="perhaps"),
        Wish(weight="-1"),
        Wish(kind="cat"),
        Wish(ignore="p["),
    ):
        with pytest.raises((BadInputError, BadSettingError)):
            said(house, 1, wrong)
    assert numbered(house.store, 1)[0].settings == Settings()
    (idle,) = said(house, 1, Wish(ignore="$.price", kind="page", tags="law"))
    assert "chooses nothing there, since it is a page" in idle


def test_versions_come_in_pages_and_by_number(house: House) -> None:
    _, newest, older = versions_of(house.store, 1, limit=3)
    assert ([one.seq for one in newest], older) == ([4, 3, 2], True)
    _, rest, older = versions_of(house.store, 1, until_at=newest[-1].at, limit=3)
    assert ([one.seq for one in rest], older) == ([1], False)
    assert version_of(house.store, 1, 2)[1].at == DAY_AT + DAY_S
    with pytest.raises(NotWatchedError):
        version_of(house.store, 1, 5)


def test_what_is_removed_is_gone(house: House) -> None:
    assert removed(house, 1) == A
    with pytest.raises(NotWatchedError):
        numbered(house.store, 1)
