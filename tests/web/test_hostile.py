"""What hostile pages say stays text: sixty payloads, in every place a page of ours may show them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from defusedxml.ElementTree import fromstring
from tests.web import payloads
from tests.web.chromium import Visitor, chromium, entered, needs_browser
from tests.web.conftest import Served, serving
from tests.web.payloads import PAYLOADS

FOUND = "() => [...document.querySelectorAll('[data-hit], base')].map(found => found.outerHTML)"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home: Path = tmp_path_factory.mktemp("hostile") / "home"
    payloads.made(home)
    with serving(home, payloads.NOW) as served:
        yield served


@pytest.fixture(scope="module")
def visitor(hostile: Served) -> Iterator[Visitor]:
    with chromium() as browser, entered(browser, hostile) as one:
        one.page.add_init_script("window.hits = []; window.hit = n => window.hits.push(n);")
        yield one


def unharmed(visitor: Visitor, path: str) -> None:
    visitor.go(path)
    page: Any = visitor.page
    assert page.evaluate("() => window.hits") == [], path
    assert page.evaluate(FOUND) == [], path
    assert "60481729" not in page.content(), path  # 7777 * 7777: nobody's template is rendered
    assert not [said for said in visitor.complaints if "Content Security" in said or "dialog" in said], path
    hrefs = page.evaluate("() => [...document.links].map(link => link.protocol)")
    assert set(hrefs) <= {"http:", "https:"}, path


@needs_browser
@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/resources",
        "/changes",
        "/hosts",
        "/health",
        "/plan",
        "/notices",
        "/add",
        "/api",
        "/no-such-page",
    ],
)
def test_pages_show_it_as_text(visitor: Visitor, path: str) -> None:
    unharmed(visitor, path)


@needs_browser
@pytest.mark.parametrize("first", range(0, 60, 12))
def test_a_resource_with_its_versions_shows_it_as_text(visitor: Visitor, first: int) -> None:
    for i in range(first, first + 12):
        unharmed(visitor, f"/resources/{i + 1}")
        unharmed(visitor, f"/resources/{i + 1}/diff?from=1&until=2")


@needs_browser
def test_what_is_asked_for_comes_back_as_text(visitor: Visitor) -> None:
    for payload in PAYLOADS[::9]:
        said = quote(payload)
        for path in (
            f"/resources?text={said}",
            f"/resources?tag={said}",
            f"/changes?text={said}",
            f"/hosts?text={said}",
            f"/hosts/{quote(payload, safe='')}",
            f"/plan?goal={said}",
            f"/plan/budget?per_day={said}",
            f"/{said}",
        ):
            unharmed(visitor, path)


def test_raw_bytes_are_never_shown(hostile: Served) -> None:
    with hostile.client() as client:
        for i in range(1, 61):
            answer = client.get(f"/api/v1/resources/{i}/versions/1/raw")
            assert answer.status_code == 200
            assert answer.headers["content-disposition"].startswith("attachment")
            assert answer.headers["content-type"].partition(";")[0] in (
                "text/plain",
                "application/octet-stream",
            )
            assert answer.headers["x-content-type-options"] == "nosniff"
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "sandbox" in policy
            assert "x-hit" not in answer.headers


def test_feeds_are_well_formed_and_plain(hostile: Served) -> None:
    with hostile.client() as client:
        for path in ("/changes.atom", "/changes.rss"):
            answer = client.get(path)
            assert answer.status_code == 200
            root = fromstring(answer.content)
            assert "data-hit" not in {name for one in root.iter() for name in one.attrib}
            assert not [
                one.tag for one in root.iter() if one.tag.rpartition("}")[2] in ("script", "img", "svg")
            ]


def test_answers_for_programs_are_json_and_nothing_else(hostile: Served) -> None:
    with hostile.client() as client:
        for path in ("resources", "changes", "hosts", "overview", "health"):
            answer = client.get(f"/api/v1/{path}")
            assert answer.status_code == 200, path
            assert answer.headers["content-type"] == "application/json"
            json.loads(answer.text)
        for payload in PAYLOADS[::6]:
            answer = client.get(f"/api/v1/resources/{quote(payload, safe='')}")
            assert answer.headers["content-type"] == "application/json"
            assert answer.status_code in (404, 422)
