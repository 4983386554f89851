"""Pasts that come in beside what is recorded already."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isnan
from pathlib import Path

import numpy as np
import pytest
from tests.foreign import T0, URL, answer, day, page, stamp, warc
from tests.imported import (
    ADD,
    MON,
    TUE,
    WED,
    bodies,
    resource,
    sound,
    taken,
    told,
    visits,
)
from tests.warcs import fetched

from recrawl.app import imports, pasts
from recrawl.app.build import House, open_house
from recrawl.app.pasts import Imported
from recrawl.detect.choose import detector_name
from recrawl.finding import seen_in
from recrawl.learn.predictors.gamma import GammaFilter
from recrawl.live.ground import Ground
from recrawl.model import DAY_S, Kind, NewResource, Request, Settings


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    home = tmp_path / "home"
    home.mkdir()
    # a predictor that learns each resource alone: what others taught would depend on when it came in
    (home / "recrawl.toml").write_text('[schedule]\npredictor = "gamma"\n')
    with open_house(home) as opened:
        yield opened


def test_earlier_answers_come_in_before_what_is_recorded_and_between_visits_none(
    house: House, tmp_path: Path
) -> None:
    taken(house, warc(tmp_path / "new.warc", answer(day(10), TUE), answer(day(12), WED)))
    old = warc(
        tmp_path / "old.warc",
        answer(day(0), MON),
        answer(day(5), MON),
        answer(day(11), MON),  # the visit of day 12 speaks of it
        answer(day(12), MON),
        answer(day(13), MON),
    )
    result = taken(house, old)
    assert told(house) == [
        (day(0), "ok", -1),
        (day(5), "ok", 0),
        (day(10), "ok", -1),
        (day(12), "ok", 1),
        (day(13), "ok", 1),
    ]
    assert +result.skipped == {pasts.COVERED: 2}
    assert bodies(house) == [MON, TUE, WED, MON]
    standing, _ = house.store.standing(resource(house).id)
    assert (standing.since_at, standing.n_informative, standing.n_changes) == (day(13), 5, 2)
    assert standing.bits == 0b011
    assert standing.version is not None
    assert standing.version.seq == 4
    sound(house)


def test_the_predictor_knows_what_it_would_had_it_seen_all_in_order(house: House, tmp_path: Path) -> None:
    taken(house, warc(tmp_path / "c.warc", *(answer(day(n), page(str(n))) for n in range(20, 25))))
    taken(house, warc(tmp_path / "a.warc", *(answer(day(n), MON) for n in range(9))))
    taken(house, warc(tmp_path / "b.warc", *(answer(day(n), page(str(n))) for n in range(10, 15))))
    found = resource(house)
    history = list(house.store.visits(found.id))
    assert len(history) == 19
    predictor = GammaFilter()
    predictor.learn(seen_in(history, {found.id: found.host_id}))
    standing, _ = house.store.standing(found.id)
    assert standing.memory[1:] == pytest.approx(predictor.memory(np.array([found.id]))[0])
    assert [isnan(visit.since_at) for visit in history[::-1]].count(
        True
    ) == 2  # the second file goes on from the first


def test_failures_alone_leave_the_past_open(house: House, tmp_path: Path) -> None:
    house.store.add([NewResource(url=URL, host="example.org")], T0)
    taken(house, warc(tmp_path / "new.warc", answer(day(9), b"", status="503 No")))
    taken(house, warc(tmp_path / "old.warc", answer(day(0), MON), answer(day(1), TUE)))
    standing, plan = house.store.standing(resource(house).id)
    assert (standing.since_at, standing.last_at, standing.n_failures) == (day(1), day(9), 1)
    assert standing.version is not None
    assert plan is not None
    assert plan.rule == "retry"
    sound(house)


def test_odd_dates_are_counted(house: House, tmp_path: Path) -> None:
    path = warc(
        tmp_path / "a.warc",
        answer(day(0), MON),
        answer(day(0), TUE),
        answer(house.clock.now() + DAY_S, TUE),
        answer(day(0), TUE).replace(b"2020-09-13T", b"2020-99-99T"),
    )
    result = taken(house, path)
    assert +result.skipped == {pasts.SAME_MOMENT: 1, pasts.FUTURE: 1, pasts.DAMAGED: 1}
    assert bodies(house) == [MON]


def test_what_somebody_is_at_is_left_and_comes_in_later(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(imports, "PAUSE_S", 0.0)
    path = warc(
        tmp_path / "a.warc",
        answer(day(0), MON),
        answer(day(1), MON),
        answer(day(0), TUE, url="http://b.org/"),
    )
    house.store.add([NewResource(url=URL, host="example.org")], T0)
    lease = house.store.claim(now=house.clock.now(), limit=1, lease_s=600.0)[0]
    result = taken(house, path)
    assert +result.skipped == {pasts.BUSY: 2}
    assert visits(house) == []
    assert len(visits(house, "http://b.org/")) == 1
    house.store.release([lease], T0)
    assert taken(house, path).adopted.n_visits == 2
    sound(house)


def test_a_long_past_is_recorded_in_parts_and_goes_on_where_it_was_broken_off(
    house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recrawl.live.adoption.N_TOGETHER", 4)
    taken(house, warc(tmp_path / "live.warc", answer(day(99), TUE)))
    path = warc(tmp_path / "a.warc.gz", *(answer(day(n), page(str(n))) for n in range(30)))
    halted = Imported()

    def halt(_: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(pasts, "TOLD_EVERY", 11)
    with pytest.raises(KeyboardInterrupt):
        imports.run(house, [path], ADD, halted, tell=halt)
    assert halted.adopted.n_visits == 8  # whole parts of four
    monkeypatch.undo()
    rest = taken(house, path)
    assert (rest.adopted.n_visits, rest.skipped[pasts.KNOWN]) == (22, 8)
    assert len(visits(house)) == 31
    assert bodies(house)[-1] == TUE
    sound(house)


def test_our_own_archive_adds_nothing_to_the_home_that_it_is_of(house: House, tmp_path: Path) -> None:
    house.store.add([NewResource(url=URL, host="example.org")], T0)
    loop = house.loop()
    ground = Ground(
        loop=loop, archive=house.archive, detectors=house.detectors, choose=detector_name, min_delay_s=0.0
    )
    for n, body in enumerate((MON, MON, TUE)):
        lease = loop.claim(resource(house).id, day(n))
        assert lease is not None
        fetch = fetched(body, url=URL, request=Request(url=URL), started_at=day(n), ended_at=day(n) + 9.5)
        ground.absorb([(lease, fetch, ground.judged(lease, fetch))], day(n))
    before = told(house)
    result = taken(house, house.home / "archive")
    assert +result.skipped == {pasts.COVERED: 3}
    assert told(house) == before


def discussed(*days: float) -> bytes:
    """A thread as Discourse tells it, with a post on each of these days."""
    posts = [
        {"id": n, "username": "ada", "created_at": f"{stamp(day(at))}", "cooked": f"<p>Words of {n}.</p>"}
        for n, at in enumerate(days)
    ]
    return json.dumps({"id": 7, "post_stream": {"posts": posts}}).encode()


def test_the_past_of_a_thread_is_told_once_whoever_looked_first(house: House, tmp_path: Path) -> None:
    """The first visit told of all posts before it. Who was there earlier tells of some of them."""
    said = [0.5, 1.5, 2.5, 6.5, 9.5, 11.5]
    url, told_as = "http://example.org/t/7.json", [("Content-Type", "application/json")]

    def seen_on(at: float) -> bytes:
        body = discussed(*(one for one in said if one < at))
        return answer(day(at), body, url=url, headers=told_as)

    new = NewResource(url=url, host="example.org", settings=Settings(kind=Kind.THREAD))
    house.store.add([new], T0)
    taken(house, warc(tmp_path / "new.warc", seen_on(10), seen_on(12)))
    taken(house, warc(tmp_path / "old.warc", seen_on(2), seen_on(3), seen_on(7)))
    taken(house, warc(tmp_path / "oldest.warc", seen_on(1)))
    found = house.store.find(url)
    assert found is not None
    told = list(reversed(list(house.store.visits(found.id))))
    assert [visit.at for visit in told] == [day(at) for at in (1, 2, 3, 7, 10, 12)]
    assert [visit.moments for visit in told] == [(day(at),) for at in said]
    (learned,) = house.store.told()
    assert learned.changed.sum() == 3  # those that lie between visits, and not before a first one
    assert (learned.at - learned.since_at).sum() <= 12 * DAY_S
