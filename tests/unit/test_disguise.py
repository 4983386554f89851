"""Walls, challenges and pages of nothing are told from the resource; whatever only looks like them is not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.disguises import POSITIVES, REPORT, Case, page, sorry
from tests.unit.harmless import NEGATIVES

from recrawl.detect.disguise import disguise
from recrawl.livingweb.content.walls import WALLS
from recrawl.model import Snapshot

_POSITIVES = [(likeness, case) for likeness, cases in POSITIVES.items() for case in cases]


def told(case: Case, *, first: bool = False, status: int | None = 200) -> str:
    return disguise(
        fetch_url=case.came or case.url,
        requested_url=case.url,
        hops=case.hops,
        status=status,
        headers=case.headers,
        snapshot=case.snapshot,
        before=None if first else case.earlier,
    )


@pytest.mark.parametrize(("likeness", "case"), _POSITIVES, ids=lambda item: getattr(item, "about", item))
def test_what_is_not_the_resource_is_told(likeness: str, case: Case) -> None:
    assert told(case) == likeness
    assert told(case, first=True) == (likeness if case.first else "")


@pytest.mark.parametrize("case", NEGATIVES, ids=lambda case: case.about)
def test_what_is_the_resource_is_left_alone(case: Case) -> None:
    assert told(case) == ""


def test_the_tables_are_large_enough_to_mean_something() -> None:
    assert len(_POSITIVES) >= 30
    assert len(NEGATIVES) >= 60


@pytest.mark.parametrize("likeness", list(WALLS))
def test_the_walls_of_the_living_web_are_told(likeness: str) -> None:
    assert told(Case("wall", WALLS[likeness])) == likeness  # type: ignore[index]


@pytest.mark.parametrize(("likeness", "case"), _POSITIVES, ids=lambda item: getattr(item, "about", item))
def test_what_a_resource_always_was_it_is(likeness: str, case: Case) -> None:
    if not (case.headers or case.came):
        assert told(Case("always", case.body + "<!-- other bytes -->", before=case.body)) == ""


def test_other_statuses_speak_for_themselves() -> None:
    assert told(Case("gone", sorry("404 Not Found", "404 Not Found")), status=404) == ""
    assert told(Case("partial", sorry("404 Not Found", "404 Not Found")), status=203) == "soft-404"


def test_data_that_become_a_page_which_shows_any_sign_are_doubted() -> None:
    data = Snapshot(body=b'{"a": 1}', media_type="application/json")
    for case, likeness in (
        (sorry("Page not found", "404"), "soft-404"),
        (page("Just a moment", "x"), "challenge"),
        (page("Prices", "They are in this table now."), ""),
    ):
        shown = Snapshot(body=case.encode(), media_type="text/html")
        found = disguise(
            fetch_url="https://a.example/x",
            requested_url="https://a.example/x",
            hops=(),
            status=200,
            headers=(),
            snapshot=shown,
            before=data,
        )
        assert found == likeness


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=400), st.text(max_size=80))
def test_any_bytes_under_any_address_are_judged(body: bytes, address: str) -> None:
    case = Case("any", "", url=address, came=address + "/")
    found = disguise(
        fetch_url=case.came,
        requested_url=case.url,
        hops=case.hops,
        status=200,
        headers=(("x", address),),
        snapshot=Snapshot(body=body, media_type="text/html"),
        before=Snapshot(body=REPORT.encode(), media_type="text/html"),
    )
    assert found in ("", "soft-404", "login", "challenge", "consent", "empty")


@pytest.mark.slow
def test_a_document_that_cannot_be_parsed_is_no_disguise() -> None:
    bomb = "<p>" + "".join(f"<b {i:x}>" for i in range(9_000)) + "</p>" + "<p>x" * 9_000
    assert told(Case("bomb", bomb)) == ""
