from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import numpy as np

from recrawl.model import Looked
from recrawl.web.face.draw.strip import strip, words


def looked(changed: list[int], informative: list[bool] | None = None) -> Looked:
    n = len(changed)
    nothing = np.full(n, np.nan)
    return Looked(
        id=np.ones(n, np.int64),
        since_at=nothing,
        at=np.arange(n, dtype=np.float64) * 10.0,
        due_at=nothing,
        informative=np.array([True] * n if informative is None else informative, np.bool_),
        changed=np.array(changed, np.int8),
        event_at=nothing,
        p_changed=nothing,
        per_day=nothing,
    )


def paths(svg: str) -> dict[str, str]:
    root = ET.fromstring(svg)  # noqa: S314 - our own
    return {path.attrib["class"]: path.attrib["d"] for path in root.iter("path")}


def test_each_outcome_has_a_shape_at_its_time() -> None:
    drawn = paths(strip(looked([-1, 1, 0, -1], [True, True, True, False]), 0.0, 30.0, width=62, height=18))
    assert drawn["unchanged"] == "M1 17v-6M41 17v-6"  # the first look told no change either
    assert drawn["changed"] == "M21 17V1"
    assert drawn["failed"].startswith("M58 6l6 6")


def test_what_falls_together_is_drawn_once_and_a_list_of_fifty_stays_small() -> None:
    many = looked([1, 0] * 5_000)
    svg = strip(many, 0.0, 1e5)
    assert len(re.findall("M", paths(svg)["changed"])) <= 2 * 180
    assert len(strip(looked([1, 0, 0, 0] * 16), 0.0, 640.0)) < 1_500


def test_it_is_said_in_words_too() -> None:
    assert words(looked([])) == "No visits of late."
    assert words(looked([0])) == "1 visit of late, none found a change."
    told = strip(looked([1, 1, -1], [True, True, False]), 0.0, 30.0)
    assert "<title>3 visits of late, 2 found a change, 1 failed.</title>" in told


def test_no_time_at_all_is_no_trouble() -> None:
    assert "NaN" not in strip(looked([1]), 5.0, 5.0)
