"""Which versions may go: by number, by age, thinned out; never the first, the newest or a tombstone."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.app.config import Archiving
from recrawl.app.pruning import rule_of
from recrawl.app.spelling import stretches
from recrawl.model import DAY_S, Version
from recrawl.remember.retention import Retention, dispensable

T0 = 1_700_000_000.0 - 1_700_000_000.0 % (30 * DAY_S)


def kept(*days: float, gone: tuple[int, ...] = (), flagged: tuple[int, ...] = ()) -> list[Version]:
    return [
        Version(
            resource_id=1,
            seq=seq,
            at=T0 + day * DAY_S,
            digest="d",
            file="f",
            gone=seq in gone,
            flag="length" if seq in flagged else "",
        )
        for seq, day in enumerate(days, 1)
    ]


def goes(versions: list[Version], rule: Retention, day: float) -> list[int]:
    return [version.seq for version in dispensable(versions, rule, T0 + day * DAY_S)]


def test_without_a_rule_everything_stays() -> None:
    assert not Retention()
    assert goes(kept(0, 1, 2, 3), Retention(), 9_999) == []


def test_the_oldest_go_beyond_a_number_but_for_the_first() -> None:
    assert goes(kept(0, 1, 2, 3, 4), Retention(n_most=3), 5) == [2, 3]
    assert goes(kept(0, 1, 2, 3, 4), Retention(n_most=1), 5) == [
        2,
        3,
        4,
    ]  # first and newest stay all the same


def test_a_tombstone_stays_whatever_the_rule_says() -> None:
    versions = kept(0, 1, 2, 3, 4, gone=(3,))
    assert goes(versions, Retention(n_most=1, keep_s=DAY_S), 1_000) == [2, 4]
    assert 3 not in goes(versions, Retention(thin=((DAY_S, 100 * DAY_S),)), 1_000)


def test_evidence_goes_before_versions_do() -> None:
    assert goes(kept(0, 1, 2, 3, 4, flagged=(2, 4)), Retention(n_most=3), 5) == [2, 4]
    assert goes(kept(0, 1, 2, 3, 4, flagged=(4,)), Retention(n_most=3), 5) == [2, 4]


def test_the_time_counts_from_when_a_version_was_replaced() -> None:
    versions = kept(0, 10, 20, 100)
    rule = Retention(keep_s=30 * DAY_S)
    assert goes(versions, rule, 45) == []  # version 2 was the newest until day 20
    assert goes(versions, rule, 51) == [2]
    assert goes(versions, rule, 129) == [2]
    assert goes(versions, rule, 131) == [2, 3]


def test_thinning_keeps_the_last_of_each_stretch() -> None:
    versions = kept(0, 1.1, 1.2, 1.9, 2.5, 60)
    assert goes(versions, Retention(thin=((30 * DAY_S, DAY_S),)), 61) == [2, 3]
    # the widest stretch that its age asks for
    rule = Retention(thin=((30 * DAY_S, DAY_S), (300 * DAY_S, 30 * DAY_S)))
    assert goes(versions, rule, 400) == [2, 3, 4]


@given(
    days=st.lists(st.floats(0, 1_000), max_size=12).map(sorted),
    flagged=st.sets(st.integers(1, 12)),
    n_most=st.integers(0, 5),
    keep_days=st.one_of(st.just(inf), st.floats(0, 1_000)),
    every_days=st.floats(0.1, 400),
)
def test_first_and_newest_stay_and_letting_go_twice_is_letting_go_once(
    days: list[float], flagged: set[int], n_most: int, keep_days: float, every_days: float
) -> None:
    versions = kept(*days, flagged=tuple(flagged))
    rule = Retention(n_most=n_most, keep_s=keep_days * DAY_S, thin=((10 * DAY_S, every_days * DAY_S),))
    gone = set(goes(versions, rule, 1_000))
    history = [version.seq for version in versions if not version.flag]
    assert gone.isdisjoint(history[:1] + history[-1:])
    left = [version for version in versions if version.seq not in gone]
    if keep_days == inf:  # an older one may now have been replaced longer ago
        assert goes(left, rule, 1_000) == []


def test_the_rule_is_written_in_the_settings() -> None:
    said = Archiving(keep_versions=7, keep_for="2d", thin_out="30d: 1d, 365d: 30d")  # type: ignore[call-arg, arg-type]
    assert rule_of(said) == Retention(
        n_most=7, keep_s=2 * DAY_S, thin=((30 * DAY_S, DAY_S), (365 * DAY_S, 30 * DAY_S))
    )
    assert not rule_of(Archiving())  # type: ignore[call-arg]


@pytest.mark.parametrize("said", ["30d", "30d:", "30d: 1d: 2d", "a: b", "0d: 1d", "30d: 0s"])
def test_what_is_no_thinning_is_refused(said: str) -> None:
    with pytest.raises(ValueError, match="write it as"):
        stretches(said)
