"""Lists too long for one page."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.houses import DAY_AT, Past, seen
from tests.replay.serving import replaying

from recrawl.web import replay

URL = "http://busy.example/"


def test_a_long_timemap_comes_in_pages_that_hold_each_memento_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay, "N_MOMENTS", 3)
    moments = [0.0, 10.0, 20.2, 20.8, 30.0, 40.0, 50.0]  # two in one second
    with Past(tmp_path) as past:
        past.visits(seen(URL, DAY_AT + at, b"%f" % at) for at in moments)
    with replaying(tmp_path) as client:
        for form in ("link", "json"):
            page, found, n_pages = f"/timemap/{form}/{URL}", list[str](), 0
            while page:
                text = client(page).body.decode()
                found += (
                    re.findall(r'<([^>]*)>; rel="(?:first |last )*memento"', text)
                    if form == "link"
                    else [row["uri"][0] for row in json.loads(text)["mementos"]["list"]]
                )
                following = re.findall(r'<([^>]*)>; rel="timemap"; type="[^"]*"; from="[^"]*"; until', text)
                if form == "json":
                    following = [item["uri"] for item in json.loads(text).get("pages", {}).values()]
                page, n_pages = following[0] if following else "", n_pages + 1
            assert [url.split("/")[4][-2:] for url in found] == ["00", "10", "20", "30", "40", "50"]
            assert n_pages == 2
        newest = client(f"/memento/20260101120020id_/{URL}")
        assert newest.body == b"%f" % 20.8


def test_a_long_index_comes_in_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replay, "N_LISTED", 2)
    urls = [f"http://h{n}.example/" for n in range(5)]
    with Past(tmp_path) as past:
        past.visits(seen(url, DAY_AT, b"x") for url in urls)
    found, page = list[str](), "/"
    with replaying(tmp_path) as client:
        while page:
            text = client(page).body.decode()
            found += re.findall(r">(http://h\d\.example/)<", text)
            page = next(iter(re.findall(r'href="([^"]*after=\d+)"', text)), "")
    assert found == urls
