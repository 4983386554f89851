"""News that no single visit tells: silences, hosts in trouble; and posts, and what came from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isnan
from pathlib import Path

import pytest

from recrawl.app.build import House, open_house
from recrawl.app.config import load
from recrawl.app.letters import letter
from recrawl.app.newsroom import Newsroom
from recrawl.app.outbox import State, keep, kept_state
from recrawl.app.policies import policy_of
from recrawl.checks.store.samples import completion, lease_of
from recrawl.finding import Chain, Finding, stepped
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.live.virtual import VirtualClock
from recrawl.loop import Loop
from recrawl.model import (
    DAY_S,
    HOUR_S,
    Changed,
    Kind,
    Lease,
    NewResource,
    Outcome,
    Scope,
    ScopeKind,
    Settings,
    Visit,
)
from recrawl.notify.box import EMPTY, Message, taken_in
from recrawl.notify.forms import Form, body
from recrawl.notify.news import News, What
from recrawl.notify.notice import Notice, On

NOW = 1_700_000_000.0
SILENT, LIVELY = "http://a.example/silent", "http://b.example/lively"
DAYS = 30


def lived(house: House) -> None:
    """Both changed every day; the first has not since the twelfth."""
    hosts = {SILENT: "a.example", LIVELY: "b.example"}
    house.store.add([NewResource(url=url, host=host, tags=(host[0],)) for url, host in hosts.items()], NOW)
    chosen, rule = policy_of("index", "fresh", asked=False)
    loop = Loop(store=house.store, predictor=Rhythm(), policy=chosen, rule=rule, per_day=4.0)
    loop.start(NOW)
    chains = []
    for resource, standing, _ in house.store.resources():
        findings, present = [], standing
        for day in range(DAYS):
            at = NOW + day * DAY_S + resource.id
            lease = Lease(resource=resource, standing=standing, token=0, claimed_at=at, until_at=at)
            changes = Changed(resource.url == LIVELY or day < 12)
            visit = Visit(
                fetch_id=f"{resource.id}@{at}",
                resource_id=resource.id,
                at=at,
                since_at=standing.since_at,
                changed=Changed.UNKNOWN if isnan(standing.since_at) else changes,
            )
            findings.append(Finding(lease=lease, visit=visit, gate_at=at))
            standing = stepped(findings[-1])
        chains.append(Chain(findings=tuple(findings), present=present))
    loop.adopt(chains, NOW + DAYS * DAY_S, fresh=Rhythm)
    loop.reprice(NOW + DAYS * DAY_S)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    home = tmp_path / "home"
    home.mkdir()
    with open_house(home, config=load(home), clock=VirtualClock(NOW + DAYS * DAY_S)) as opened:
        yield opened


def gathered(house: House, state: State, now: float, *notices: Notice) -> tuple[State, dict[str, list[News]]]:
    room = Newsroom(house, notices, now)
    state, more = room.gather(state)
    assert not more
    keep(house.store, state)
    return kept_state(house.store), room.heard  # as the next look finds it


def now_marked(house: House) -> State:
    return State(mark=house.store.recorded_since(None, 1)[1])


def test_a_silence_is_told_once_with_its_probability_and_again_only_after_a_change(house: House) -> None:
    lived(house)
    now = house.clock.now()
    ops = Notice(name="ops", on=frozenset({On.SILENT}), added_at=now - 60.0)
    elsewhere = replace(ops, name="elsewhere", scope=Scope(ScopeKind.TAG, "b"))
    state, heard = gathered(house, now_marked(house), now, ops, elsewhere)
    (news,) = heard["ops"]
    assert "elsewhere" not in heard
    assert (news.what, news.url) == (What.SILENT, SILENT)
    assert news.p < 0.01
    assert news.at - news.since_at == pytest.approx(18 * DAY_S)
    written = body(letter(house, ops, Message(id="i", news=(news,), made_at=now)), Form.TEXT)
    assert "No change for 18.0 days; so long a silence had a probability of" in written
    assert "its visits show nothing wrong" in written
    state, heard = gathered(house, state, now + 2 * HOUR_S, ops)
    assert heard == {}
    # whoever is told for the first time hears of it from then on, not of what was told before
    state, heard = gathered(house, replace(state, silent={}), now + 4 * HOUR_S, ops)
    assert [one.key for one in heard["ops"]] == [news.key]
    assert taken_in(taken_in(EMPTY, [news], now), heard["ops"], now).waiting == (news,)


def test_silences_are_looked_for_once_an_hour_and_only_where_somebody_asks(house: House) -> None:
    lived(house)
    now, ops = house.clock.now(), Notice(name="ops", on=frozenset({On.SILENT}))
    state, _ = gathered(house, now_marked(house), now, Notice(name="me"))
    assert state.silent_at < now
    state, heard = gathered(house, state, now, ops)
    assert state.silent_at == now
    assert heard
    state, heard = gathered(house, replace(state, silent={}), now + HOUR_S - 1.0, ops)
    assert (state.silent_at, heard) == (now, {})


def test_a_host_in_trouble_is_told_when_it_begins_and_when_it_is_over(house: House) -> None:
    urls = ["http://a.example/1", "http://b.example/1"]
    house.store.add([NewResource(url=url, host=url[7:16], tags=(url[7],)) for url in urls], NOW)
    now = house.clock.now()
    ops = Notice(name="ops", on=frozenset({On.HOST}))
    of_a, of_b = (replace(ops, name=tag, scope=Scope(ScopeKind.TAG, tag)) for tag in "ab")
    state, heard = gathered(house, now_marked(house), now, ops)
    assert heard == {}
    for n in range(1, 4):
        at = now + 100.0 * n
        failed = completion(lease_of(house.store, urls[0], at), at, outcome=Outcome.NET_ERROR)
        house.store.complete([replace(failed, n_host_failures=n)])
        state, heard = gathered(house, state, at, ops, of_a, of_b)
        assert set(heard) == ({"ops", "a"} if n == 3 else set())
    (news,) = heard["ops"]
    assert (news.what, news.host) == (What.HOST, "a.example")
    state, heard = gathered(house, state, now + 500.0, ops)
    assert heard == {}
    house.store.complete([completion(lease_of(house.store, urls[0], now + 600.0), now + 600.0)])
    state, heard = gathered(house, state, now + 600.0, ops)
    (news,) = heard["ops"]
    assert (news.host, news.words) == ("a.example", "It answers again.")


def test_new_posts_are_their_own_news_and_what_was_made_elsewhere_before_is_none(house: House) -> None:
    url = "http://a.example/thread"
    thread = Settings(kind=Kind.THREAD)
    house.store.add([NewResource(url=url, host="a.example", settings=thread)], NOW)
    now = house.clock.now()
    posts = Notice(name="posts", on=frozenset({On.POSTS}), added_at=now)
    state = now_marked(house)
    for at in (now - DAY_S, now + 100.0):  # the first is recorded now, of a time before anybody asked
        done = completion(lease_of(house.store, url, now + 1.0), at, gate_s=-DAY_S)
        house.store.complete([replace(done, visit=replace(done.visit, changed=Changed.YES))])
    _, heard = gathered(house, state, now + 200.0, posts, replace(posts, name="me", on=frozenset({On.GONE})))
    assert [(one.what, one.at) for one in heard["posts"]] == [(What.POSTS, now + 100.0)]
    assert "me" not in heard
