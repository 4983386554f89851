"""Where only significant changes count, all that learns and plans goes by them, live and replayed alike."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from pathlib import Path

import numpy as np
import pytest
from tests.foreign import answer, day, warc
from tests.imported import taken, visits
from tests.unit.test_relearning import opened
from tests.unit.test_words import TEXT

from recrawl.app.build import House
from recrawl.app.policies import policy_of
from recrawl.app.relearning import relearn
from recrawl.app.silence import _since_change
from recrawl.app.words import kept
from recrawl.finding import Chain, Finding, seen, seen_in, stepped
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.learn.predictors.rhythm import Rhythm
from recrawl.loop import Loop
from recrawl.model import (
    DAY_S,
    GLOBAL,
    Changed,
    Changes,
    Effective,
    Lease,
    NewResource,
    Resource,
    Settings,
    Standing,
    Version,
    Visit,
)
from recrawl.remember.bags import MOST_BAGS

NOW = 1_700_000_000.0
N = 5


def finding(
    changed: Changed, significant: bool | None, changes: Changes, before: Standing | None = None
) -> Finding:
    resource = Resource(
        id=3, url="http://a.example/", host_id=1, host="a.example", added_at=0.0,
        effective=Effective(changes=changes),
    )  # fmt: skip
    standing = before or Standing(since_at=50.0, n_informative=4, n_changes=2, bits=3)
    lease = Lease(resource=resource, standing=standing, token=1, claimed_at=60.0, until_at=99.0)
    visit = Visit(
        fetch_id="f",
        resource_id=3,
        at=70.0,
        since_at=standing.since_at,
        changed=changed,
        significant=significant,
    )
    return Finding(lease=lease, visit=visit, gate_at=71.0)


@pytest.mark.parametrize(
    ("changed", "significant", "changes", "counts"),
    [
        (Changed.YES, True, Changes.SIGNIFICANT, 1),
        (Changed.YES, False, Changes.SIGNIFICANT, 0),
        (Changed.YES, None, Changes.SIGNIFICANT, 1),
        (Changed.YES, False, Changes.ANY, 1),
        (Changed.NO, None, Changes.SIGNIFICANT, 0),
    ],
)
def test_a_slight_change_is_none_where_only_significant_ones_count(
    changed: Changed, significant: bool | None, changes: Changes, counts: int
) -> None:
    found = finding(changed, significant, changes)
    assert seen([found]).changed.tolist() == [counts]
    after = stepped(found)
    assert (after.n_changes, after.n_informative) == (2 + counts, 5)
    assert after.bits == 6 + counts


def test_a_past_that_comes_in_late_is_counted_so_too() -> None:
    first = finding(Changed.YES, False, Changes.SIGNIFICANT, Standing(since_at=10.0))
    told = seen_in([first.visit], {3: 1}, changes={3: Changes.SIGNIFICANT})
    assert told.changed.tolist() == [0]
    present = Standing(since_at=90.0, last_at=90.0, n_informative=6, n_changes=2)
    adopted = Chain(findings=(first,), present=present, told=told).adopted()
    assert (adopted.n_informative, adopted.n_changes, adopted.bits) == (7, 2, 0)


def lived(house: House, predictor: GammaFilter | Rhythm, n_days: int) -> Loop:
    """A loop that looks at everything every day; most of what changes changes slightly."""
    rng = np.random.default_rng(9)
    house.store.add([NewResource(url=f"http://h{i}.example/", host=f"h{i}.example") for i in range(N)], NOW)
    policy, rule = policy_of("index", "fresh", asked=False)
    loop = Loop(store=house.store, predictor=predictor, policy=policy, rule=rule, per_day=None)
    loop.start(NOW)
    for turn in range(n_days):
        at = NOW + turn * DAY_S
        leases = [house.store.claim(now=at, limit=1, lease_s=60.0, only=i + 1)[0] for i in range(N)]
        found = [_found(lease, at, rng) for lease in leases]
        loop.absorb(found, at)
    return loop


def _found(lease: Lease, at: float, rng: np.random.Generator) -> Finding:
    first = np.isnan(lease.standing.since_at)
    changed = Changed(bool(rng.random() < 0.8))
    significant = [None, True, False, False][int(rng.integers(4))] if changed is Changed.YES else None
    visit = Visit(
        fetch_id=f"{lease.resource.id}@{at}",
        resource_id=lease.resource.id,
        at=at,
        since_at=lease.standing.since_at,
        changed=Changed.UNKNOWN if first else changed,
        significant=None if first else significant,
    )
    return Finding(lease=lease, visit=visit, gate_at=at)


def known(house: House) -> list[tuple[object, ...]]:
    return [(one.memory, one.n_changes, one.bits) for _, one, _ in house.store.resources()]


@pytest.mark.parametrize("name", ["gamma", "rhythm"])
def test_what_was_learned_live_is_what_is_learned_anew(tmp_path: Path, name: str) -> None:
    def predictor() -> GammaFilter | Rhythm:
        return GammaFilter() if name == "gamma" else Rhythm()

    with opened(tmp_path / "some", name) as some, opened(tmp_path / "any", name) as every:
        some.store.say(GLOBAL, Settings(changes=Changes.SIGNIFICANT), NOW)
        lived(some, predictor(), 9)
        lived(every, predictor(), 9)
        learned, all_learned = known(some), known(every)
        assert [row[1] for row in learned] != [row[1] for row in all_learned]
        relearn(some)
        assert repr(known(some)) == repr(learned)
        some.store.say(GLOBAL, Settings(changes=Changes.ANY), NOW)
        relearn(some)
        # what was slight counts now, as if it always had
        assert repr(known(some)) == repr(all_learned)


def test_a_silence_goes_back_to_the_last_change_that_counts(tmp_path: Path) -> None:
    with opened(tmp_path / "home") as house:
        house.store.say(GLOBAL, Settings(changes=Changes.SIGNIFICANT), NOW)
        lived(house, GammaFilter(), 12)
        for resource, _, _ in house.store.resources():
            read = list(_since_change(house.store, resource))
            assert read[-1].counted(Changes.SIGNIFICANT) is Changed.YES
            assert all(visit.counted(Changes.SIGNIFICANT) is not Changed.YES for visit in read[:-1])


def test_versions_read_anew_are_those_that_would_have_been_kept() -> None:
    base = Version(resource_id=1, seq=0, at=nan, digest="")
    versions = [replace(base, seq=i, at=100.0 + i) for i in range(300)]
    slight = {version.at for version in versions[5:]}
    left = kept(versions, slight)
    assert len(left) == MOST_BAGS
    assert versions[4] in left  # the last that is no slight change
    assert left[-30:] == versions[-30:]


def test_an_imported_past_is_held_against_what_counted_then(tmp_path: Path) -> None:
    words, pages = TEXT.split(), []
    for i in range(len(words) + 1):
        shown = [f"other{chr(97 + place % 26)}" for place in range(i)] + words[i:]
        pages.append(f"<title>Farm</title><p>{' '.join(shown)}</p>".encode())
    early = warc(tmp_path / "a.warc", *(answer(day(i), body) for i, body in enumerate(pages[:9])))
    late = warc(tmp_path / "b.warc", *(answer(day(i), body) for i, body in enumerate(pages) if i >= 9))
    with opened(tmp_path / "home") as house:
        taken(house, early)
        taken(house, late)
        found = visits(house)
        ((_, at, _),) = house.store.bags()
        assert at.tolist() == [visit.at for visit in found]
        significant = [visit.significant for visit in found]
        assert significant[:2] == [None, False]
        assert 1 <= significant.count(True) <= 3, "little by little, over both files"
        base = house.store.base(1)
        assert base is not None
        assert base.at == max(visit.at for visit in found if visit.significant is not False)
