"""What is watched, and what holds for it."""

from __future__ import annotations

from dataclasses import fields
from math import isnan

from recrawl.checks.store.samples import (
    SILENT,
    T0,
    MakeStore,
    claimed,
    completion,
    effective,
    found,
    host_scope,
    lease_of,
    new,
    plans,
    resource_scope,
    same,
    store_with,
    tag_scope,
    visited,
)
from recrawl.errors import BadSettingError, NotWatchedError
from recrawl.model import GLOBAL, Effective, Kind, Outcome, Plan, Resource, Settings, Standing, settled

A, A2, B, C = "http://a.example/1", "http://a.example/2", "http://b.example/", "http://c.example/"
MUTE = Settings(paused=True)
HEARD = Settings(paused=False)


def check_what_is_added_is_found_and_due_at_once(make: MakeStore) -> None:
    with store_with(make) as store:
        said = Settings(kind=Kind.FILE, weight=2.5, max_gap_s=9_000.0, allow_private=True)
        assert store.add([new(A, "news", "daily", settings=said), new(B)], T0) == (2, 0)
        assert found(store, A) == Resource(
            id=1,
            url=A,
            host_id=found(store, A).host_id,
            host="a.example",
            added_at=T0,
            settings=said,
            effective=settled([said]),
            tags=("daily", "news"),
        )
        standing, plan = store.standing(found(store, B).id)
        assert same(standing, Standing(due_at=T0))
        assert same(plan, Plan(resource_id=2, due_at=T0, rule="first-look", planned_at=T0))
        assert store.find(C) is None


def check_what_is_known_is_counted_and_only_gains_tags(make: MakeStore) -> None:
    with store_with(make) as store:
        said = Settings(weight=3.0)
        store.add([new(A, "x", settings=said)], T0)
        again = [new(A, "y", settings=Settings(weight=9.0)), new(B), new(B, "z", settings=said)]
        assert store.add(again, T0 + 5.0) == (1, 2)
        assert found(store, A).tags == ("x", "y")
        assert found(store, A).settings == said
        assert found(store, A).added_at == T0
        assert found(store, B).tags == ("z",)
        assert found(store, B).settings == SILENT
        assert store.counts(T0)["resources"] == 2


def check_the_nearest_layer_wins_setting_by_setting(make: MakeStore) -> None:
    own = Settings(weight=1.5)
    tag_a = Settings(weight=2.0, min_gap_s=50.0)
    tag_b = Settings(weight=3.0, min_gap_s=60.0, max_gap_s=70.0)
    host = Settings(max_gap_s=80.0, kind=Kind.PAGE)
    wide = Settings(kind=Kind.FILE, allow_private=True, paused=True)
    with store_with(make, A2, C) as store:
        store.add([new(A, "b", "a", settings=own), new(B, "b")], T0)
        assert store.say(GLOBAL, wide, T0) == 4
        assert store.say(host_scope("a.example"), host, T0) == 2
        assert store.say(tag_scope("b"), tag_b, T0) == 2
        assert store.say(tag_scope("a"), tag_a, T0) == 1
        assert effective(store, A) == settled([own, tag_a, tag_b, host, wide])
        assert effective(store, A2) == settled([host, wide])
        assert effective(store, B) == settled([tag_b, wide])
        assert effective(store, C) == settled([wide])
        assert dict(store.said()) == {
            GLOBAL: wide,
            host_scope("a.example"): host,
            tag_scope("a"): tag_a,
            tag_scope("b"): tag_b,
            resource_scope(A): own,
        }
        asked = [resource_scope(A), tag_scope("a"), host_scope("c.example"), GLOBAL]
        assert list(store.said(asked)) == [(asked[0], own), (asked[1], tag_a), (GLOBAL, wide)]
        assert store.say(resource_scope(A), Settings(paused=False), T0) == 1
        assert found(store, A).settings == Settings(weight=1.5, paused=False)
        assert not effective(store, A).paused


def check_the_default_smallest_gap_follows_a_largest_one(make: MakeStore) -> None:
    """What somebody said of a tag or a host does not: a server's owner may have asked for it."""

    def bounds(url: str) -> tuple[float, float]:
        holds = effective(store, url)
        return holds.min_gap_s, holds.max_gap_s

    short = Settings(max_gap_s=600.0)
    with store_with(make) as store:
        store.add([new(A, settings=short), new(A2, "t"), new(B, settings=short), new(C)], T0)
        assert bounds(A) == bounds(B) == (600.0, 600.0)
        store.say(GLOBAL, Settings(min_gap_s=7_200.0, max_gap_s=9_000.0), T0)
        assert bounds(A) == (600.0, 600.0)
        store.say(tag_scope("t"), short, T0)
        assert bounds(A2) == (600.0, 600.0)
        store.say(host_scope("a.example"), Settings(min_gap_s=800.0), T0)
        assert (bounds(A), bounds(A2)) == ((800.0, 800.0), (800.0, 800.0))
        store.say(resource_scope(A), Settings(min_gap_s=60.0), T0)
        store.say(resource_scope(C), Settings(min_gap_s=10_000.0), T0)
        assert (bounds(A), bounds(C)) == ((60.0, 600.0), (10_000.0, 10_000.0))


def check_every_setting_can_be_said_and_forgotten(make: MakeStore) -> None:
    said = Settings(
        kind=Kind.FILE, weight=0.0, min_gap_s=1.0, max_gap_s=9_000.0, paused=True, allow_private=False
    )
    with store_with(make, A) as store:
        for scope in (GLOBAL, host_scope("a.example"), resource_scope(A)):
            store.say(scope, said, T0)
            assert effective(store, A) == settled([said])
            for name in [field.name for field in fields(Settings)]:
                store.say(scope, SILENT, T0, forget=[name])
                assert getattr(effective(store, A), name) == getattr(Effective(), name)
            assert list(store.said()) == []
        assert store.say(GLOBAL, Settings(weight=4.0), T0, forget=["weight", "kind"]) == 1
        assert effective(store, A).weight == 4.0
        try:
            store.say(GLOBAL, Settings(weight=5.0), T0, forget=["wait"])
        except BadSettingError:
            assert effective(store, A).weight == 4.0
        else:
            raise AssertionError("a setting that does not exist cannot be forgotten")


def check_what_is_said_of_the_absent_holds_when_it_comes(make: MakeStore) -> None:
    with store_with(make) as store:
        assert store.say(tag_scope("later"), Settings(weight=7.0), T0) == 0
        assert store.say(host_scope("a.example"), Settings(min_gap_s=9.0), T0) == 0
        store.add([new(A, "later")], T0)
        assert effective(store, A) == settled([Settings(weight=7.0, min_gap_s=9.0)])
        try:
            store.say(resource_scope(B), Settings(weight=1.0), T0)
        except NotWatchedError:
            return
        raise AssertionError("nothing can be said of a resource that is not watched")


def check_tags_bring_and_take_what_was_said_of_them(make: MakeStore) -> None:
    with store_with(make, A, B) as store:
        store.say(tag_scope("quiet"), MUTE, T0)
        ids = [found(store, A).id, found(store, B).id, 12_345]
        store.tag(ids, ["quiet", "x"], [], T0)
        assert found(store, A).tags == ("quiet", "x")
        assert claimed(store, T0) == []
        store.tag(ids[:1], [], ["quiet", "never"], T0)
        assert found(store, A).tags == ("x",)
        assert claimed(store, T0) == [A]


def check_the_paused_are_neither_claimed_nor_in_the_batch(make: MakeStore) -> None:
    with store_with(make, A, A2, B) as store:
        store.say(host_scope("a.example"), MUTE, T0)
        store.say(resource_scope(A2), HEARD, T0)
        assert claimed(store, T0) == [A2, B]
        assert store.batch()[0].id.tolist() == [2, 3]
        assert store.counts(T0)["paused"] == 1
        store.say(GLOBAL, MUTE, T0)
        assert store.batch()[0].id.tolist() == [2]
        assert store.ready_at(T0 + 1e6) == T0 + 1e6
        store.say(resource_scope(A2), SILENT, T0, forget=["paused"])
        assert store.ready_at(T0) == float("inf")
        store.say(GLOBAL, HEARD, T0)
        assert claimed(store, T0 + 1e6) == [B]


def check_plans_move_inside_new_gap_bounds(make: MakeStore) -> None:
    with store_with(make, A, B, C) as store:
        visited(store, A, T0, gap_s=7_200.0)
        visited(store, B, T0, gap_s=7_200.0)
        store.replan(plans({1: T0 + 7_200.0, 2: T0 + 7_200.0}, gap_s=7_200.0))
        store.say(resource_scope(A), Settings(min_gap_s=10_000.0), T0 + 5.0)
        store.say(resource_scope(B), Settings(max_gap_s=5_000.0), T0 + 5.0)
        store.say(resource_scope(C), Settings(min_gap_s=10_000.0), T0 + 5.0)
        for url, gap_s, bound in ((A, 10_000.0, "min"), (B, 5_000.0, "max")):
            standing, plan = store.standing(found(store, url).id)
            assert plan is not None
            assert (plan.due_at, plan.gap_s, plan.bound) == (T0 + gap_s, gap_s, bound)
            assert isnan(plan.p_changed)  # what was forecast was for another gap
            assert plan.planned_at == T0 + 5.0
            assert (standing.due_at, standing.gap_s) == (T0 + gap_s, gap_s)
        assert claimed(store, T0 + 5.0) == [C]  # a first look waits for nothing
        assert store.ready_at(T0 + 1_000.0) == T0 + 1_000.0  # when the lease of C has run out
        assert claimed(store, T0 + 5_000.0) == [C, B]


def check_a_retry_is_not_moved_by_gap_bounds(make: MakeStore) -> None:
    """It waits for the host to recover, not for the gap to pass."""
    with store_with(make, A) as store:
        visited(store, A, T0)
        at = T0 + 7_200.0
        failed = completion(lease_of(store, A, at), at, gap_s=60.0, outcome=Outcome.NET_ERROR)
        store.complete([failed])
        store.say(resource_scope(A), Settings(max_gap_s=4_000.0), at)
        assert store.standing(1)[0].due_at == at + 60.0


def check_resources_are_listed_in_order_and_by_filter(make: MakeStore) -> None:
    with store_with(make) as store:
        urls = [f"http://{'ab'[i % 2]}.example/{i}" for i in range(30)]
        store.add([new(url, *(["third"] if i % 3 == 0 else [])) for i, url in enumerate(urls)], T0)

        def listed(**filters: object) -> list[str]:
            return [resource.url for resource, _, _ in store.resources(**filters)]  # type: ignore[arg-type]

        assert listed() == urls
        assert listed(limit=4, after=10) == urls[10:14]
        assert listed(limit=0) == []
        assert listed(host="b.example", limit=3) == urls[1:7:2]
        assert listed(tag="third", after=1) == urls[3::3]
        assert listed(tag="third", host="b.example") == urls[3::6]
        assert listed(text="example/2") == [urls[2], *urls[20:30]]
        assert listed(text="/1", tag="third", limit=1) == [urls[12]]
        assert listed(host="c.example") == listed(tag="none") == listed(text="%") == []
        first = next(store.resources())
        assert same(first, (found(store, urls[0]), *store.standing(1)))


def check_what_is_removed_leaves_nothing_behind(make: MakeStore) -> None:
    with store_with(make, A, A2, B) as store:
        store.tag([1], ["x"], [], T0)
        store.say(resource_scope(A), Settings(weight=2.0), T0)
        visited(store, A, T0)
        assert store.remove([1, 1, 99]) == 1
        assert store.find(A) is None
        assert list(store.visits(1)) == []
        assert list(store.said()) == []
        assert list(store.resources(tag="x")) == []
        assert store.batch()[0].id.tolist() == [2, 3]
        counts = store.counts(T0)
        assert (counts["resources"], counts["hosts"], counts["visits"]) == (2, 2, 0)
        assert store.n_visits_since(T0) == 0
        try:
            store.standing(1)
        except NotWatchedError:
            pass
        else:
            raise AssertionError("a removed resource has no standing")
        store.add([new(A)], T0)
        assert found(store, A).id == 4  # a number is never used twice
        assert found(store, A).settings == SILENT
        assert claimed(store, T0) == [B]  # the gate of A's host outlives it
        assert claimed(store, T0 + 1.0) == [A2]


WATCHING = [
    check_what_is_added_is_found_and_due_at_once,
    check_what_is_known_is_counted_and_only_gains_tags,
    check_the_nearest_layer_wins_setting_by_setting,
    check_every_setting_can_be_said_and_forgotten,
    check_what_is_said_of_the_absent_holds_when_it_comes,
    check_tags_bring_and_take_what_was_said_of_them,
    check_the_paused_are_neither_claimed_nor_in_the_batch,
    check_plans_move_inside_new_gap_bounds,
    check_a_retry_is_not_moved_by_gap_bounds,
    check_resources_are_listed_in_order_and_by_filter,
    check_what_is_removed_leaves_nothing_behind,
]
