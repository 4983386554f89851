"""Who is kin of whom."""

from __future__ import annotations

import numpy as np

from recrawl.checks.store.samples import MakeStore, store_with
from recrawl.contracts import Store
from recrawl.model import KinTable

A, B, C = "http://a.example/", "http://b.example/", "http://c.example/"


def check_kin_are_kept_in_order(make: MakeStore) -> None:
    with store_with(make, A, B, C) as store:
        assert _pairs(store) == []
        store.note_kin(np.array([1, 2, 3]), _table((2, 1, 0.5), (1, 3, 0.25), (1, 2, 0.75)))
        assert _pairs(store) == [(1, 2, 0.75), (1, 3, 0.25), (2, 1, 0.5)]
        assert _pairs(store, 2, 3) == [(2, 1, 0.5)]


def check_a_new_table_takes_the_place_of_the_old_one_for_those_it_is_of(make: MakeStore) -> None:
    with store_with(make, A, B, C) as store:
        store.note_kin(np.array([1, 2]), _table((1, 2, 0.75), (2, 1, 0.5), (2, 3, 0.5)))
        store.note_kin(np.array([2, 3]), _table((2, 3, 0.125), (3, 1, 0.0625)))
        assert _pairs(store) == [(1, 2, 0.75), (2, 3, 0.125), (3, 1, 0.0625)]
        store.note_kin(np.array([1, 2, 3]), KinTable())
        assert _pairs(store) == []


def check_whoever_is_removed_is_nobodys_kin(make: MakeStore) -> None:
    with store_with(make, A, B, C) as store:
        store.note_kin(np.array([1, 2, 3]), _table((1, 2, 0.75), (2, 1, 0.5), (3, 1, 0.25)))
        store.remove([2])
        assert _pairs(store) == [(3, 1, 0.25)]
        store.note_kin(np.array([1, 3]), _table((1, 2, 0.75), (3, 1, 0.5), (9, 1, 0.5)))
        assert _pairs(store) == [(3, 1, 0.5)]


def _table(*pairs: tuple[int, int, float]) -> KinTable:
    ids, of, weight = zip(*pairs, strict=True)
    return KinTable(id=np.array(ids), of=np.array(of), weight=np.array(weight))


def _pairs(store: Store, *ids: int) -> list[tuple[int, int, float]]:
    table = store.kin(np.array(ids)) if ids else store.kin()
    return list(zip(table.id.tolist(), table.of.tolist(), table.weight.tolist(), strict=True))


KIN = [
    check_kin_are_kept_in_order,
    check_a_new_table_takes_the_place_of_the_old_one_for_those_it_is_of,
    check_whoever_is_removed_is_nobodys_kin,
]
