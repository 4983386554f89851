"""The report in a real browser, on a phone and on a desk, in the light and in the dark."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from recrawl.corpora.builtin import builtin
from recrawl.evaluate.ask import Ask
from recrawl.evaluate.findings import STRATEGIES
from recrawl.evaluate.report import policies, strategies
from recrawl.evaluate.report.page import page
from recrawl.evaluate.simulation import simulate
from recrawl.evaluate.umbrich import evaluate
from recrawl.observe.chromium import browser_found

pytestmark = pytest.mark.skipif(not browser_found()[0], reason=browser_found()[1])

SIZES = ((390, 844), (1440, 900))
# Names that lie on one another in some drawing, and what reaches out of its drawing.
OVERLAPS = """() => [...document.querySelectorAll('svg')].flatMap(svg => {
  const frame = svg.getBoundingClientRect(), found = [];
  const texts = [...svg.querySelectorAll('text')];
  const boxes = texts.map(text => [text.textContent, text.getBoundingClientRect()]);
  for (const [name, box] of boxes)
    if (box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 1)
      found.push(name + ' reaches out');
  boxes.forEach(([a, p], i) => boxes.slice(i + 1).forEach(([b, q]) => {
    const across = Math.min(p.right, q.right) - Math.max(p.left, q.left);
    const down = Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top);
    if (across > 2 && down > 0.5 * Math.min(p.height, q.height)) found.push(a + ' on ' + b);
  }));
  return found;
})"""

SMALLEST = """() => Math.min(
  ...[...document.querySelectorAll('svg text.label')].map(text => text.getBoundingClientRect().height))"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    names = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
    found = next((place for name in names if (place := shutil.which(name))), None)
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=found, chromium_sandbox=os.geteuid() != 0)
        yield browser
        browser.close()


@contextmanager
def opened(
    browser: Any, path: Path, width: int, height: int, scheme: str = "light"
) -> Iterator[tuple[Any, list[str]]]:
    """The page, and whatever it asked for or complained about."""
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    shown = context.new_page()
    trouble: list[str] = []
    shown.on("console", lambda message: trouble.append(message.text))
    shown.on("request", lambda request: trouble.append(request.url))
    shown.goto(path.as_uri())
    trouble.remove(path.as_uri())
    yield shown, trouble
    context.close()


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    corpus, folder = builtin("wiki", n_resources=80, years=3), tmp_path_factory.mktemp("reports")
    ask = Ask(policies=STRATEGIES, days=365.0, n_draws=2)
    made = {
        "experiment": strategies.page_of(evaluate("c", corpus, ask, lambda *_: None), "recrawl …"),
        "simulation": policies.page_of(simulate("c", corpus, ask, lambda *_: None), "recrawl …"),
    }
    for name, report in made.items():
        (folder / f"{name}.html").write_text(page(report), encoding="utf-8")
    return {name: folder / f"{name}.html" for name in made}


@pytest.mark.parametrize(("width", "height"), SIZES)
@pytest.mark.parametrize("name", ["experiment", "simulation"])
def test_nothing_overflows_sideways_and_no_name_lies_on_another(
    browser: Any, reports: dict[str, Path], name: str, width: int, height: int
) -> None:
    with opened(browser, reports[name], width, height) as (shown, trouble):
        assert shown.evaluate("document.documentElement.scrollWidth") <= width
        assert shown.evaluate(OVERLAPS) == []
        smallest = shown.evaluate(SMALLEST)
        assert smallest >= 9.0  # pixels: small, and still to be read
        assert trouble == []


def test_all_curves_are_there_and_seen_in_the_light_and_in_the_dark(
    browser: Any, reports: dict[str, Path]
) -> None:
    seen = {}
    for scheme in ("light", "dark"):
        with opened(browser, reports["experiment"], 1440, 900, scheme) as (shown, _):
            first = "figure:has(figcaption:text-is('Recall over time, all')) .curve:has(.line)"
            curves = shown.locator(first)
            assert [curves.nth(i).locator("title").text_content() for i in range(curves.count())] == list(
                STRATEGIES
            )
            colours = [
                curves.nth(i).locator(".line").evaluate("line => getComputedStyle(line).stroke")
                for i in range(curves.count())
            ]
            paper = shown.evaluate("getComputedStyle(document.body).backgroundColor")
            assert len(set(colours)) == len(STRATEGIES)
            assert paper not in colours
            seen[scheme] = paper
    assert seen["light"] != seen["dark"]


def test_the_page_is_whole_without_scripts(browser: Any, reports: dict[str, Path]) -> None:
    text = reports["experiment"].read_text("utf-8")
    assert "<script" not in text
    with opened(browser, reports["experiment"], 390, 844) as (shown, _):
        assert shown.locator("h2").count() >= 4
        assert shown.locator("table").count() == shown.locator("table caption").count() >= 2
