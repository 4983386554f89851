"""Drawings of one resource: its visits along time, and its forecast."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from xml.etree import ElementTree

import numpy as np
import pytest

from recrawl.app.account import Curve
from recrawl.app.quantity import instant
from recrawl.evaluate.report import labels
from recrawl.model import DAY_S, HOUR_S, Changed, Changes, Outcome, Visit
from recrawl.web.face.draw import curve as curves
from recrawl.web.face.draw import timeline
from recrawl.web.face.draw.timeline import Timeline, ticks

NOW = instant("2026-03-10")


def read(drawing: str) -> ElementTree.Element:
    return ElementTree.fromstring(drawing)  # noqa: S314 - it is our own


def visit(days: float, **said: object) -> Visit:
    at = NOW - days * DAY_S
    return Visit(fetch_id=str(at), resource_id=1, at=at, **said)  # type: ignore[arg-type]


def line(visits: list[Visit], days: float = 30.0) -> Timeline:
    return Timeline(
        visits=visits,
        changes=Changes.ANY,
        from_at=NOW - days * DAY_S,
        until_at=NOW + DAY_S,
        now=NOW,
        due_at=NOW + DAY_S / 2,
    )


EVERY = [
    visit(1, changed=Changed.YES, significant=True),
    visit(2, changed=Changed.YES, significant=False),
    visit(3, changed=Changed.YES, evidence='<script>alert("x")</script>'),
    visit(4, changed=Changed.NO),
    visit(5, changed=Changed.UNKNOWN),
    visit(6, outcome=Outcome.NET_ERROR, evidence="timed out"),
]


def test_every_kind_of_visit_has_a_shape_and_a_place_of_its_own() -> None:
    drawing = read(timeline.drawn(line(EVERY)))
    marks = [one for one in drawing if (one.get("class") or "").startswith("visit ")]
    kinds = [(one.get("class") or "").removeprefix("visit ") for one in marks]
    assert kinds == ["significant", "slight", "changed", "unchanged", "seen", "failed"]
    shapes = [(one.get("d") or "").partition("m")[2] for one in marks]
    assert len(set(shapes)) == 6
    assert {kind for kind, _ in timeline.LEGEND} == set(kinds)
    titles = ["".join(one.itertext()) for one in marks]
    assert '<script>alert("x")</script>' in titles[2]
    assert "Told nothing (net-error): timed out" in titles[5]
    assert "6 visits" in (drawing.get("aria-label") or "")
    assert "3 found a change, 1 told nothing" in (drawing.get("aria-label") or "")
    texts = ["".join(one.itertext()) for one in drawing if one.tag == "text"]
    assert {"now", "next visit", "changed", "not changed", "told nothing"} <= set(texts)


def test_visits_stand_where_their_time_is() -> None:
    drawing = read(timeline.drawn(line([visit(15.0), visit(0.0)])))
    old, new = (
        float((one.get("d") or "")[1:].partition(" ")[0])
        for one in drawing
        if "visit" in (one.get("class") or "")
    )
    share = (old - timeline.LEFT) / (timeline.WIDTH - timeline.RIGHT - timeline.LEFT)
    assert share == pytest.approx(15.0 / 31.0, abs=1e-3)
    assert new > old


@pytest.mark.parametrize("ahead_s", [60.0, 5 * DAY_S, -60.0, -5 * DAY_S])
def test_now_and_the_next_visit_are_named_without_overlap(ahead_s: float) -> None:
    drawing = read(timeline.drawn(replace(line([]), due_at=NOW + ahead_s, until_at=NOW + max(ahead_s, 0.0))))
    spans = []
    for one in drawing:
        if one.tag == "text" and one.text in ("now", "next visit"):
            x, wide = float(one.get("x") or "nan"), labels.width(one.text, 13.0)
            spans.append((x - wide, x) if one.get("text-anchor") == "end" else (x, x + wide))
    first, second = sorted(spans)
    assert first[1] < second[0]
    assert first[0] > 0.0
    assert second[1] < timeline.WIDTH


def test_what_is_planned_is_no_visit_of_the_time_that_is_told() -> None:
    assert timeline.words(line([visit(1.0)])).startswith(
        "1 visit from 2026-02-08T00:00:00Z to 2026-03-10T00:00:00Z:"
    )


def test_thousands_of_visits_stay_small() -> None:
    many = [visit(30.0 * i / 2_000, changed=Changed(i % 2)) for i in range(2_000)]
    drawing = timeline.drawn(line(many))
    assert len(drawing) < 60_000
    assert len([one for one in read(drawing) if "visit" in (one.get("class") or "")]) == 2


@pytest.mark.parametrize("days", [0.003, 0.1, 1.0, 3.0, 20.0, 60.0, 200.0, 500.0, 3_000.0, 30_000.0])
def test_an_axis_has_a_few_round_moments(days: float) -> None:
    found = ticks(NOW - days * DAY_S, NOW)
    assert 1 <= len(found) <= 10
    assert all(NOW - days * DAY_S <= at <= NOW for at, _ in found)
    assert all(at % 60.0 == 0.0 for at, _ in found)
    assert len({name for _, name in found}) == len(found)


def curve(due_s: float = 2 * DAY_S, now_s: float = DAY_S, since_at: float = NOW) -> Curve:
    t_s = np.linspace(0.0, 3 * DAY_S, 61)
    return Curve(
        t_s=t_s,
        p_changed=1.0 - np.exp(-t_s / DAY_S),
        since_at=since_at,
        now=since_at + now_s,
        due_at=since_at + due_s,
    )


def test_a_forecast_has_its_moments_marked_and_said() -> None:
    drawing = read(curves.drawn(curve()))
    texts = ["".join(one.itertext()) for one in drawing if one.tag == "text"]
    assert {"now", "next visit 2026-03-12T00:00:00Z", "last look 2026-03-10T00:00:00Z", "100 %"} <= set(texts)
    assert curves.words(curve()) == (
        "Likely to have changed since 2026-03-10T00:00:00Z: by now 63.2 %; by the next visit, "
        "2026-03-12T00:00:00Z 86.5 %; after 3 days 95.0 %."
    )
    assert sum(one.get("class") == "mark" for one in drawing) == 3


@pytest.mark.parametrize(
    ("days", "unit"), [(10.0, "days"), (1.0, "hours"), (0.01, "minutes"), (1e-4, "seconds")]
)
def test_a_forecast_is_told_in_a_unit_that_fits(days: float, unit: str) -> None:
    short = replace(curve(), t_s=curve().t_s * days / 3.0)
    texts = ["".join(one.itertext()) for one in read(curves.drawn(short)) if one.tag == "text"]
    assert f"{unit} since the last look" in texts
    assert not any(text.startswith("0.0") for text in texts)


def test_names_lie_on_the_lines_that_cross_them() -> None:
    drawing = list(read(curves.drawn(curve())))
    lines = [turn for turn, one in enumerate(drawing) if one.get("class") in ("mark", "line s1")]
    names = [
        turn for turn, one in enumerate(drawing) if "".join(one.itertext()).startswith(("last look", "next"))
    ]
    assert len(names) == 2
    assert max(lines) < min(names)


def test_what_is_later_than_the_curve_goes_is_not_read_off_its_end() -> None:
    late = curve(now_s=30 * DAY_S)
    assert "by now" not in curves.words(late)
    assert "now, later than this shows" in curves.drawn(late)


def test_before_the_first_look_there_is_no_moment_to_mark() -> None:
    never = curve(since_at=nan)
    assert "hours since the first look" in curves.drawn(never) or "days since the first look" in curves.drawn(
        never
    )
    assert curves.words(never).startswith("Likely to change within 3 days of the first look")
    hourly = Curve(
        t_s=np.linspace(0.0, 5 * HOUR_S, 5),
        p_changed=np.linspace(0.0, 0.5, 5),
        since_at=NOW,
        now=nan,
        due_at=nan,
    )
    assert "hours since the last look" in curves.drawn(hourly)
