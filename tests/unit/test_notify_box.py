"""What is sent when: gathered, held back, made one, tried again."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from recrawl.model import DAY_S, HOUR_S, Scope, ScopeKind
from recrawl.notify.box import (
    EMPTY,
    GIVE_UP_S,
    LONGEST_REST_S,
    MOST_WAITING,
    Box,
    box_for,
    box_of,
    box_row,
    delivered,
    failed,
    made_up,
    next_up,
    taken_in,
)
from recrawl.notify.hours import hours, minute
from recrawl.notify.news import News, What
from recrawl.notify.notice import Notice, On, wants

NOW = 1_780_000_000.0
ME = Notice(name="me")


def news(n: int, at: float = NOW, what: What = What.CHANGE) -> News:
    return News(what=what, key=f"k{n}", at=at, resource_id=n, url=f"http://a.example/{n}", host="a.example")


def heard(n: int, now: float = NOW, box: Box = EMPTY) -> Box:
    return taken_in(box, [news(i) for i in range(n)], now)


def test_each_piece_of_news_is_a_message_at_once() -> None:
    box = made_up(ME, heard(3), NOW)
    assert [[one.key for one in made.news] for made in box.sending] == [["k0"], ["k1"], ["k2"]]
    assert not box.waiting
    assert len({made.id for made in box.sending}) == 3
    first = next_up(ME, box, NOW)
    assert first == box.sending[0]
    assert next_up(ME, delivered(box, NOW), NOW) == box.sending[1]


def test_a_storm_becomes_one_message_and_the_hour_has_so_many_and_no_more() -> None:
    notice = replace(ME, per_hour=5)
    box = made_up(notice, heard(500), NOW)
    (message,) = box.sending
    assert len(message.news) == 500
    n_sent, now = 0, NOW
    box, sent_at = EMPTY, []
    for n in range(2_000):  # one every six seconds, for more than three hours
        now = NOW + 6.0 * n
        box = made_up(notice, taken_in(box, [news(n)], now), now)
        while (message_ := next_up(notice, box, now)) is not None:
            n_sent += len(message_.news)
            sent_at.append(now)
            box = delivered(box, now)
    assert all(sum(0.0 <= later - at < HOUR_S for later in sent_at) <= 5 for at in sent_at)
    assert len(sent_at) <= 20
    assert n_sent + len(box.waiting) == 2_000  # none is lost, none is told twice


def test_the_same_news_is_told_once() -> None:
    box = taken_in(heard(2), [news(1), news(1), news(7)], NOW)
    assert [one.key for one in box.waiting] == ["k0", "k1", "k7"]
    box = made_up(ME, box, NOW)
    assert taken_in(box, [news(1)], NOW) == box  # it is on its way


def test_what_has_no_room_is_counted() -> None:
    box = heard(MOST_WAITING + 30)
    assert (len(box.waiting), box.n_more) == (MOST_WAITING, 30)
    (message,) = made_up(ME, box, NOW).sending
    assert (len(message.news), message.n_more) == (MOST_WAITING, 30)


def test_quiet_hours_hold_back_and_then_all_comes() -> None:
    notice = replace(ME, quiet=hours("22:00-07:00"), zone="Europe/Vienna")
    zone = ZoneInfo("Europe/Vienna")
    evening = datetime(2026, 3, 28, 23, tzinfo=zone).timestamp()  # the clocks leap in this night
    morning = datetime(2026, 3, 29, 7, tzinfo=zone).timestamp()
    assert morning - evening == 7 * HOUR_S
    box = made_up(notice, heard(3, evening), evening)
    assert not box.sending
    assert not made_up(notice, box, morning - 1.0).sending
    assert len(made_up(notice, box, morning).sending) == 3
    # one that failed in the evening is not tried in the night
    late = made_up(notice, heard(1, evening - HOUR_S - 1.0), evening - HOUR_S - 1.0)
    late, _ = failed(late, "no", evening - HOUR_S - 1.0)
    assert late.retry_at < evening
    assert next_up(notice, late, evening) is None
    assert next_up(notice, late, morning) is not None


def test_what_is_gathered_is_one_message_when_its_time_has_come() -> None:
    hourly = replace(ME, every_s=6 * HOUR_S)
    box = heard(2)
    box = taken_in(box, [news(9)], NOW + 5 * HOUR_S)
    assert not made_up(hourly, box, NOW + 6 * HOUR_S - 1.0).sending
    (message,) = made_up(hourly, box, NOW + 6 * HOUR_S).sending
    assert len(message.news) == 3
    daily = replace(ME, daily=minute("8"), zone="Europe/Vienna")
    eight = datetime(2026, 10, 25, 8, tzinfo=ZoneInfo("Europe/Vienna")).timestamp()
    box = made_up(daily, heard(2, eight - 10.0), eight - 1.0)
    assert not box.sending
    assert len(made_up(daily, box, eight).sending) == 1
    assert not made_up(daily, heard(1, eight), eight + 20 * HOUR_S).sending  # for tomorrow's


def test_a_recipient_that_fails_is_tried_less_and_less_often_and_its_message_keeps_its_id() -> None:
    box = made_up(ME, heard(1), NOW)
    first = box.sending[0]
    now, rests = NOW, []
    while box.sending:
        message = next_up(ME, box, now)
        assert message == first
        box, given_up = failed(box, "it answered 500", now)
        assert given_up == (not box.sending)
        rests.append(box.retry_at - now)
        assert next_up(ME, box, box.retry_at - 1.0) is None
        now = box.retry_at
    assert rests == sorted(rests)
    assert (rests[0], rests[-1]) == (30.0, LONGEST_REST_S)
    assert GIVE_UP_S <= now - NOW <= GIVE_UP_S + 2 * LONGEST_REST_S
    assert len(rests) < 90
    asked, _ = failed(made_up(ME, heard(1), NOW), "it answered 429", NOW, rest_s=600.0)
    assert asked.retry_at == NOW + 600.0
    long, _ = failed(made_up(ME, heard(1), NOW), "it answered 429", NOW, rest_s=30 * DAY_S)
    assert long.retry_at == NOW + LONGEST_REST_S


def test_while_one_message_waits_others_gather_behind_it() -> None:
    box, _ = failed(made_up(ME, heard(1), NOW), "no", NOW)
    box = made_up(ME, taken_in(box, [news(5), news(6)], NOW + 1.0), NOW + 1.0)
    assert ([made.news[0].key for made in box.sending], len(box.waiting)) == (["k0"], 2)
    box = made_up(ME, delivered(box, NOW + 40.0), NOW + 40.0)
    assert [made.news[0].key for made in box.sending] == ["k5", "k6"]
    assert (box.n_failures, box.trouble) == (0, "")


def test_a_box_comes_back_as_it_was_kept() -> None:
    box = made_up(ME, heard(2), NOW)
    box, _ = failed(taken_in(box, [news(8), news(9, what=What.GONE)], NOW), "no", NOW)
    again = box_of(json.loads(json.dumps(box_row(box))))
    assert json.dumps(box_row(again)) == json.dumps(box_row(box))  # NaN is not itself
    assert next_up(ME, again, NOW + HOUR_S) is not None
    assert again.waiting[1].what is What.GONE


def test_another_notice_of_the_same_name_begins_with_nothing() -> None:
    box = replace(heard(2), added_at=1.0)
    assert box_for(replace(ME, added_at=1.0), {"me": box}) is box
    assert box_for(replace(ME, added_at=2.0), {"me": box}) == Box(added_at=2.0)


@pytest.mark.parametrize(
    ("scope", "told"),
    [
        (Scope(ScopeKind.GLOBAL), True),
        (Scope(ScopeKind.TAG, "shop"), True),
        (Scope(ScopeKind.TAG, "other"), False),
        (Scope(ScopeKind.HOST, "a.example"), True),
        (Scope(ScopeKind.HOST, "b.example"), False),
        (Scope(ScopeKind.RESOURCE, "http://a.example/1"), True),
        (Scope(ScopeKind.RESOURCE, "http://a.example/2"), False),
    ],
)
def test_a_notice_is_of_what_it_names(scope: Scope, told: bool) -> None:
    assert wants(replace(ME, scope=scope), news(1), {"shop"}) is told
    trouble = News(what=What.TROUBLE, key="t", at=NOW, words="the disk is full")
    assert wants(replace(ME, scope=scope, on=frozenset({On.TROUBLE})), trouble)
    host = News(what=What.HOST, key="h", at=NOW, host="a.example")
    on_hosts = replace(ME, scope=scope, on=frozenset({On.HOST}))
    assert wants(on_hosts, host, {"shop"}) is (told or scope.kind is ScopeKind.RESOURCE)


def test_a_notice_is_told_what_it_asked_for() -> None:
    def told(on: On, one: News) -> bool:
        return wants(replace(ME, on=frozenset({on})), one)

    slight, tested = replace(news(1), significant=False), replace(news(2), significant=True)
    untested, posts = news(3), replace(news(4), what=What.POSTS, significant=False)
    assert [told(On.CHANGE, one) for one in (slight, tested, untested, posts)] == [True] * 4
    assert [told(On.SIGNIFICANT, one) for one in (slight, tested, untested, posts)] == [
        False,
        True,
        True,
        False,
    ]
    assert [told(On.POSTS, one) for one in (slight, tested, untested, posts)] == [False, False, False, True]
    for what in (What.GONE, What.BACK, What.SILENT, What.HOST, What.TROUBLE):
        one = news(5, what=what)
        assert [on for on in On if told(on, one)] == [On(what.value)]
    old = news(6, at=NOW - 1.0)
    assert not wants(replace(ME, added_at=NOW), old)
    assert wants(replace(ME, added_at=NOW, on=frozenset({On.SILENT})), replace(old, what=What.SILENT))
