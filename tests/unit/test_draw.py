"""Drawings: sound XML, everything escaped, the same in figures, and nothing that a page's policy forbids."""

from __future__ import annotations

import re
from math import nan
from xml.etree import ElementTree

import numpy as np
from defusedxml.ElementTree import fromstring
from markupsafe import Markup

from recrawl.evaluate.calibration import reliability
from recrawl.model import DAY_S, Due
from recrawl.schedule.reason import percent
from recrawl.web.face.draw.hour import N_LANES, N_LISTED, hour
from recrawl.web.face.draw.lines import Line, lines, moments
from recrawl.web.face.draw.scatter import scatter
from recrawl.web.face.pages.overview import share

T0 = 1_700_000_000.0
BAD = "<script>alert(1)</script>\"'&"


def sound(drawn: Markup) -> ElementTree.Element:
    """As it would be read in a page; nothing in it is a style or a script."""
    assert "style=" not in drawn
    assert "<script" not in drawn
    return fromstring(f"<div>{drawn}</div>")


def texts(tree: ElementTree.Element, tag: str) -> list[str]:
    return ["".join(one.itertext()) for one in tree.iter(tag)]


def due(n: int, *, hosts: int, from_at: float = T0) -> list[Due]:
    return [
        Due(
            resource_id=i + 1,
            url=f"http://h{i % hosts}.example/{i}",
            host=f"h{i % hosts}.example",
            at=from_at + 3_600.0 * i / n,
        )
        for i in range(n)
    ]


def test_lines_are_told_apart_without_colour_and_given_as_a_table() -> None:
    at = [T0 + i * DAY_S for i in range(5)]
    drawn = lines(
        [Line(BAD, [0.1, 0.2, nan, 0.4, 0.5]), Line("uniform", [0.3] * 5)],
        at,
        title="Freshness",
        written=lambda y: f"{y:.0%}",
    )
    tree = sound(drawn)
    curves = [one for one in tree.iter("path") if one.get("class") == "line"]
    assert {one.get("stroke-dasharray") for one in curves} == {None, "7 4"}
    assert [one.get("d", "").count("M") for one in curves if "L" in one.get("d", "")] == [2, 1]  # a gap
    cells = texts(tree, "td")
    assert cells == ["10%", "30%", "20%", "30%", "–", "30%", "40%", "30%", "50%", "30%"]
    assert BAD in texts(tree, "th")[1]


def test_lines_without_figures_say_so() -> None:
    for y, at in (([nan, nan], [T0, T0 + 1.0]), ([1.0], [T0])):
        drawn = lines([Line("a", y)], at, title="Delay", written=str)
        assert sound(drawn).findtext("p") == "Delay: nothing to draw yet."


def test_figures_on_the_axis_of_a_share_are_told_apart() -> None:
    at = [T0 + i * DAY_S for i in range(3)]
    tree = sound(
        lines(
            [Line("a", [0.8061, 0.8063, 0.8068])],
            at,
            title="x",
            written=percent,
            marked=share,
            least=None,
            units=(0.01,),
        )
    )
    names = [text for text in texts(tree, "text") if "%" in text]
    assert len(names) == len(set(names)) > 2
    assert texts(tree, "td") == ["80.6 %", "80.6 %", "80.7 %"]  # as all shares on pages


def test_moments_on_an_axis_are_round_and_few() -> None:
    for span_s in (600.0, 3_600.0, DAY_S, 14 * DAY_S, 400 * DAY_S, 9_000 * DAY_S):
        found = moments(T0, T0 + span_s)
        assert 1 <= len(found) <= 8
        assert all(T0 <= at <= T0 + span_s for at in found)
    assert all(at % DAY_S == 0.0 for at in moments(T0, T0 + 14 * DAY_S))


def test_the_hour_has_a_lane_for_each_host_with_most_and_one_for_the_rest() -> None:
    tree = sound(hour(due(240, hosts=24), T0, T0 + 3_600.0))
    (svg,) = tree.iter("svg")
    assert svg.get("aria-label", "").startswith("240 planned visits: 10 h0.example")
    assert "at other hosts" in svg.get("aria-label", "")
    names = [text for text in texts(svg, "text") if "." in text or text == "other hosts"]
    assert len(names) == N_LANES
    shown = [int(re.findall(r": (\d+) visits?", text)[0]) for text in texts(svg, "rect")]
    assert sum(shown) == 240
    assert len(texts(tree, "td")) == 3 * N_LISTED


def test_the_hour_with_hostile_names_and_an_empty_one() -> None:
    bad = [Due(resource_id=1, url=f"http://x/{BAD}", host=BAD, at=T0)]
    tree = sound(hour(bad, T0, T0 + 3_600.0))
    assert BAD in "".join(tree.itertext())
    links = [one.get("href", "") for one in tree.iter("a")]
    assert links[0].startswith("/hosts/%3Cscript")
    assert sound(hour([], T0, T0 + 3_600.0)).findtext("p") == "Nothing is planned for this time."


def test_a_visit_at_the_very_end_is_in_the_last_part() -> None:
    late = [Due(resource_id=1, url="http://x/", host="x", at=np.nextafter(T0 + 3_600.0, 0.0))]
    assert len(list(sound(hour(late, T0, T0 + 3_600.0)).iter("rect"))) == 1


def test_forecasts_against_what_happened() -> None:
    p = np.repeat([0.15, 0.85], 50)
    changed = np.concatenate([np.arange(50) < 10, np.arange(50) < 40])
    tree = sound(scatter(reliability(p, changed)))
    assert len(list(tree.iter("circle"))) == 2
    assert texts(tree, "td")[:3] == ["50", "15.0 %", "20.0 %"]
    low, high = (float(one.get("cy", "0")) for one in tree.iter("circle"))
    assert high < low  # upwards on the page
