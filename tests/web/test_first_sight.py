"""What a newcomer meets first: a resource that was just added, and a list of several pages."""

from __future__ import annotations

import re
from pathlib import Path

from tests.houses import Past, seen
from tests.web import year as years
from tests.web.conftest import Served, serving


def test_one_that_was_just_added_fills_its_line_and_has_nothing_to_compare(tmp_path: Path) -> None:
    with Past(tmp_path / "home", years.NOW) as past:
        past.visit(seen("https://young.example/", years.NOW - 3_600.0, b"<p>first"))
    with serving(tmp_path / "home", years.NOW) as served, served.client() as client:
        page = client.get("/resources/1").text
    from_at, until_at = (float(at) for at in re.findall(r'data-(?:from|until)="(\d+)"', page)[:2])
    assert years.NOW - 4_000.0 < from_at < years.NOW - 3_600.0 < years.NOW <= until_at
    assert "There is nothing to compare it with yet." in page
    assert "Show what differs" not in page
    assert page.count(">Download</a>") == 1


def test_pages_that_are_left_out_are_seen_to_be(year: Served) -> None:
    with year.client() as client:
        for page, shown in ((1, "1 2 3 … 6"), (6, "1 … 4 5 6"), (3, "1 2 3 4 5 6")):
            nav = client.get("/resources", params={"page": page, "wait": True}).text.partition(
                '<nav class="pager"'
            )[2]
            assert " ".join(re.findall(r">([\d…]+)<", nav.partition("</nav>")[0])) == shown
