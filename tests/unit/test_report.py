"""Reports: drawings that say what was measured, on a page that needs nothing else."""

from __future__ import annotations

import doctest
import re
from itertools import pairwise
from math import inf, nan
from types import ModuleType
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.evaluate import ask
from recrawl.evaluate.report import axes, labels, plot, table
from recrawl.evaluate.report.figures import Finding, Lines, Point, Report, Scatter, Section, Series, Table
from recrawl.evaluate.report.page import page

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = "<script>alert('1')</script> & \"x\""


def drawn(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1))  # noqa: S314


def series(name: str, style: int = 0, *, y: list[float] | None = None) -> Series:
    return Series(name=name, style=style, x=[10.0, 20.0, 30.0], y=y or [0.1, 0.2, 0.3])


def point(name: str, x: float, y: float = 0.5) -> Point:
    return Point(name=name, style=0, x=x, y=y, low=y - 0.1, high=y + 0.1)


def curves(svg: str) -> list[str]:
    return [found.text or "" for found in drawn(svg).iterfind(f"{SVG}g[@class]/{SVG}title")]


@pytest.mark.parametrize("module", [ask, axes, labels, table])
def test_examples_in_the_code_are_true(module: ModuleType) -> None:
    tried = doctest.testmod(module)
    assert tried.attempted
    assert not tried.failed


def test_every_curve_is_there_with_its_name_at_its_end() -> None:
    names = [f"policy-{i}" for i in range(19)]
    svg = plot.lines(
        Lines(title="t", y_name="recall", series=[series(name, i) for i, name in enumerate(names)])
    )
    assert curves(svg) == names
    texts = [text for text in drawn(svg).iter(f"{SVG}text") if text.text in names]
    assert [text.text for text in texts] == names
    places = sorted(float(text.attrib["y"]) for text in texts)
    assert min(b - a for a, b in pairwise(places)) >= plot.SIZE  # no name on another
    assert places[0] > 0
    assert places[-1] < plot.HEIGHT


def test_lines_of_different_policies_differ_in_dashes_or_markers_too() -> None:
    looks = {(i % len(plot.DASHES), i % plot.N_SHAPES) for i in range(plot.N_COLOURS * 2)}
    assert len(looks) == plot.N_COLOURS * 2


def test_what_is_not_a_number_is_not_drawn() -> None:
    svg = plot.lines(
        Lines(title="t", y_name="y", series=[series("none", y=[nan] * 3), series("late", y=[nan, 0.5, 0.5])])
    )
    assert curves(svg) == ["late"]
    assert "nan" not in svg


def test_a_drawing_without_anything_in_it_is_still_a_drawing() -> None:
    assert "nothing to draw" in plot.lines(Lines(title="t", y_name="y", series=[]))
    assert drawn(plot.scatter(Scatter(title="t", x_name="x", y_name="y", points=[]))) is not None


def test_a_share_that_all_have_alike_is_drawn_between_none_and_all() -> None:
    points = [
        Point(name=name, style=0, x=x, y=1.0, low=nan, high=nan) for name, x in (("a", 2.0), ("b", 9.0))
    ]
    svg = plot.scatter(Scatter(title="t", x_name="x", y_name="freshness", points=points))
    ticks = {text.text for text in drawn(svg).iter(f"{SVG}text") if text.attrib.get("class") == "tick"}
    assert {"0", "1"} <= ticks
    assert not ticks & {"1.2", "1.5", "1.6"}


def test_points_far_apart_get_a_logarithmic_scale_and_near_ones_do_not() -> None:
    def places(*xs: float) -> list[float]:
        svg = plot.scatter(
            Scatter(title="t", x_name="x", y_name="y", points=[point(f"p{x:g}", x) for x in xs])
        )
        marks = [path.attrib["d"] for path in drawn(svg).iter(f"{SVG}path") if path.get("class") == "mark"]
        return [float(mark[1:].split(" ")[0]) for mark in marks]

    low, middle, high = places(100.0, 1_000.0, 10_000.0)
    assert middle - low == pytest.approx(high - middle, abs=0.2)
    low, middle, high = places(100.0, 200.0, 300.0)
    assert middle - low == pytest.approx(high - middle, abs=0.2)


@pytest.mark.parametrize("y", [nan, inf])
def test_a_point_without_a_place_is_left_out(y: float) -> None:
    svg = plot.scatter(
        Scatter(title="t", x_name="x", y_name="y", points=[point("there", 5.0), point("not", 6.0, y)])
    )
    assert "there" in svg
    assert "not:" not in svg


@given(st.lists(st.floats(0, 300), max_size=20), st.floats(1, 14))
def test_names_are_spread_in_order_and_within_their_room(wanted: list[float], step: float) -> None:
    placed = labels.spread(wanted, step, 0.0, 300.0)
    order = sorted(range(len(wanted)), key=lambda i: (wanted[i], i))
    for a, b in pairwise(order):
        assert placed[b] - placed[a] >= step - 1e-6
    assert all(-1e-6 <= at <= 300.0 + 1e-6 for at in placed)


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_round_figures_span_what_they_are_for(low: float, length: float) -> None:
    found = axes.steps(low, low + length)
    assert 2 <= len(found) <= 12
    near = length * 1e-6 + abs(low) * 1e-15  # a float cannot tell nearer ones apart
    assert found[0] <= low + near
    assert found[-1] >= low + length - near
    assert found == sorted(set(found))


@given(st.floats(1, 1e8), st.floats(1.5, 1e5))
def test_powers_span_what_they_are_for(low: float, times: float) -> None:
    found = axes.powers(low, low * times)
    assert found[0] <= low
    assert found[-1] >= low * times * (1 - 1e-9)


def report(text: str) -> Report:
    chart = Lines(title=text, y_name=text, series=[series(text)])
    cloud = Scatter(title=text, x_name=text, y_name=text, points=[point(text, 9.0)], limits=[series(text, 1)])
    return Report(
        title=text,
        lead=text,
        about=text,
        facts=[(text, text)],
        sections=[
            Section(
                title=text,
                blocks=[
                    text,
                    Table(caption=text, columns=[text, text], rows=[[text, text]]),
                    Finding(claim=text, holds=None, sentence=text),
                    (chart, cloud),
                ],
            )
        ],
        command=text,
    )


def test_nothing_that_a_corpus_brings_can_act_on_the_page() -> None:
    made = page(report(HOSTILE))
    assert "<script" not in made
    assert "&lt;script&gt;" in made
    assert "default-src 'none'" in made


def test_the_page_loads_nothing() -> None:
    made = page(report("plain"))
    assert not re.search(r"(src|href)=\"(?!#)", made)
    assert "@import" not in made
    assert "url(" not in made


def test_tables_have_heads_and_drawings_have_names_for_listeners() -> None:
    made = page(report("plain"))
    assert '<th scope="col"' in made
    assert '<th scope="row"' in made
    assert '<caption class="unseen">plain</caption>' in made
    assert made.count('role="img" aria-label="plain"') == 2
    assert made.count("<desc>") == 2
