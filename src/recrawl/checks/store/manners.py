"""How resources are looked at, said layer by layer."""

from __future__ import annotations

from dataclasses import fields

from recrawl.checks.store.samples import (
    LEASE_S,
    SILENT,
    T0,
    MakeStore,
    effective,
    found,
    host_scope,
    new,
    resource_scope,
    store_with,
    tag_scope,
)
from recrawl.errors import BadSettingError
from recrawl.model import GLOBAL, Manner, Settings, settled

A, A2, B = "http://a.example/1", "http://a.example/2", "http://b.example/"
ALL = Manner(
    render=True,
    insecure=False,
    max_bytes=1 << 30,
    page_rows=500,
    user_agent='"Ada" (ü)\\',
    include=("main", "//p[1]"),
    ignore=("$.a['b']",),
    keys=("id", "a, b"),
    main=False,
    mask=True,
)


def check_a_manner_comes_back_as_it_was_said(make: MakeStore) -> None:
    with store_with(make) as store:
        store.add([new(A, settings=Settings(manner=ALL)), new(B, settings=Settings(manner=Manner()))], T0)
        assert found(store, A).settings.manner == effective(store, A).manner == ALL
        assert (found(store, B).settings.manner, effective(store, B).manner) == (None, Manner())
        leases = store.claim(now=T0, limit=5, lease_s=LEASE_S)
        assert [lease.resource.effective.manner for lease in leases] == [ALL, Manner()]
        assert list(store.said()) == [(resource_scope(A), Settings(manner=ALL))]


def check_the_nearest_manner_wins_field_by_field(make: MakeStore) -> None:
    own = Settings(manner=Manner(insecure=False))
    tag_a = Settings(weight=2.0)  # says nothing of manners
    tag_b = Settings(manner=Manner(render=True, user_agent="b"))
    tag_c = Settings(manner=Manner(render=False, user_agent="c", page_rows=3))
    host = Settings(manner=Manner(insecure=True, page_rows=4, max_bytes=5))
    wide = Settings(manner=Manner(render=False, insecure=True, max_bytes=6, page_rows=7, user_agent="w"))
    with store_with(make, A2, B) as store:
        store.add([new(A, "c", "a", "b", settings=own)], T0)
        for scope, said in (
            (GLOBAL, wide),
            (host_scope("a.example"), host),
            (tag_scope("c"), tag_c),
            (tag_scope("b"), tag_b),
            (tag_scope("a"), tag_a),
        ):
            store.say(scope, said, T0)
        assert effective(store, A) == settled([own, tag_a, tag_b, tag_c, host, wide])
        assert effective(store, A).manner == Manner(
            render=True, insecure=False, max_bytes=5, page_rows=3, user_agent="b"
        )
        assert effective(store, A2) == settled([host, wide])
        assert effective(store, B) == settled([wide])
        store.tag([found(store, A).id], [], ["b"], T0)
        assert effective(store, A) == settled([own, tag_a, tag_c, host, wide])


def check_what_a_manner_says_can_be_forgotten_by_its_names(make: MakeStore) -> None:
    names = [field.name for field in fields(Manner)]
    with store_with(make, A) as store:
        for scope in (GLOBAL, host_scope("a.example"), resource_scope(A)):
            store.say(scope, Settings(weight=2.0, manner=ALL), T0)
            for i, name in enumerate(names):
                store.say(scope, SILENT, T0, forget=[name])
                left = {other: getattr(ALL, other) for other in names[i + 1 :]}
                assert effective(store, A).manner == Manner(**left)
            assert list(store.said()) == [(scope, Settings(weight=2.0))]
            store.say(scope, Settings(manner=Manner(render=True)), T0)
            store.say(scope, Settings(manner=Manner(page_rows=2)), T0, forget=["manner", "weight"])
            assert list(store.said()) == [(scope, Settings(manner=Manner(page_rows=2)))]
            store.say(scope, SILENT, T0, forget=["manner"])
            assert list(store.said()) == []
        try:
            store.say(GLOBAL, Settings(weight=5.0), T0, forget=["colour"])
        except BadSettingError:
            assert list(store.said()) == []
        else:
            raise AssertionError("what no manner has cannot be forgotten")


MANNERS = [
    check_a_manner_comes_back_as_it_was_said,
    check_the_nearest_manner_wins_field_by_field,
    check_what_a_manner_says_can_be_forgotten_by_its_names,
]
