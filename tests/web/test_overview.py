"""Overview, changes, hosts and health over a real server, with a year of history and with none."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from defusedxml.ElementTree import fromstring
from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain_metrics
from tests.web import year as years
from tests.web.conftest import Served

from recrawl.app.build import STORE_FILE
from recrawl.app.quantity import iso
from recrawl.app.tokens import May, Tokens
from recrawl.checks.store.samples import completion, lease_of, new
from recrawl.live.clock import FastClock
from recrawl.model import DAY_S, Changed, Sought
from recrawl.remember.sqlite import SqliteStore
from recrawl.web.face.app import create

PAGES = (
    "/",
    "/overview/figures",
    "/overview/day",
    "/overview/hour",
    "/overview/most",
    "/overview/progress",
    "/changes",
    "/hosts",
    "/troubled-hosts",
    "/health",
    "/health/checks",
    "/health/forecasts",
    "/health/capacity",
)
ATOM = "{http://www.w3.org/2005/Atom}"
BAD = "<script>alert(1)</script>\"'&\x07"


def asked(client: httpx.Client, path: str, **headers: str) -> httpx.Response:
    """What is still being worked out is asked for again, as a page does."""
    for _ in range(60):
        answer = client.get(path, headers=headers)
        if answer.status_code not in (202, 503):
            break
        time.sleep(0.5)
    return answer


def timeless(html: str) -> str:
    """Without what says how long ago something was: the two were asked for one after the other."""
    return re.sub(r"<time.*?</time>|\d\d:\d\d", "", html)


@pytest.mark.parametrize("path", PAGES)
def test_every_page_comes_whole_and_as_a_part(year: Served, path: str) -> None:
    with year.client() as client:
        whole, part = asked(client, path), asked(client, path, **{"X-Part": "1"})
    assert (whole.status_code, part.status_code) == (200, 200), whole.text
    assert whole.text.count("<h1") == 1
    assert "style=" not in whole.text
    assert len(whole.content) < 300_000
    if path not in ("/", "/health"):
        assert "<html" not in part.text
        assert timeless(part.text).strip() in timeless(whole.text)


def test_every_page_comes_where_nothing_is_watched(served: Served) -> None:
    with served.client() as client:
        answers = {path: asked(client, path) for path in PAGES}
    assert {path: answer.status_code for path, answer in answers.items()} == dict.fromkeys(PAGES, 200)
    assert "Nothing is watched yet" in answers["/"].text
    assert "recrawl run" in answers["/"].text


def test_the_overview_says_what_the_store_says(year: Served) -> None:
    with year.client() as client:
        found = asked(client, "/api/v1/overview").json()
        page = asked(client, "/").text
    glance = found["glance"]
    with year.house() as house:
        counts = house.store.counts(year.clock.now())
        assert (glance["resources"], glance["hosts"]) == (counts["resources"], counts["hosts"])
        assert glance["visits"] == counts["visits"]
    assert glance["running"] == 0
    assert "Nobody is visiting" in page
    assert f"{glance['resources']:,}" in page
    assert found["last_24h"]["visits"] == glance["visits_last_24h"]


def test_what_changed_most_is_what_the_visits_say(year: Served) -> None:
    with year.client() as client:
        found = asked(client, "/api/v1/most-changed?days=30&limit=5").json()
        part = asked(client, "/overview/most?days=30").text
    assert found[0]["url"] in part
    with year.house() as house:
        now = year.clock.now()
        visits = house.store.visits(found[0]["resource_id"], from_at=now - 30 * DAY_S)
        assert sum(visit.changed is Changed.YES for visit in visits) == found[0]["changes"]
    assert [one["changes"] for one in found] == sorted((one["changes"] for one in found), reverse=True)


def test_changes_are_paged_to_the_end_each_once(year: Served) -> None:
    with year.client() as client:
        seen: list[str] = []
        since = quote(iso(year.clock.now() - 60 * DAY_S) or "")
        older: str | None = ""
        n_pages = 0
        while older is not None:
            page = asked(client, f"/api/v1/changes?since={since}&limit=100&older={older}").json()
            seen += [one["id"] for one in page["changes"]]
            older, n_pages = page["older"], n_pages + 1
        html = asked(client, "/changes").text
        next_page = re.findall(r'rel="next" href="([^"]+)"', html)[0].replace("&amp;", "&")
        again = asked(client, next_page).text
    with year.house() as house:
        sought = Sought(from_at=year.clock.now() - 60 * DAY_S)
        whole, _ = house.store.stream(sought, limit=100_000, reach=100_000)
    # the clock goes on between the two: the oldest may have fallen out
    n = min(len(seen), len(whole)) - 2
    assert seen[:n] == [visit.fetch_id for visit in whole][:n]
    assert len(seen) == len(set(seen)) > 100
    assert n_pages > 1
    assert html.count("data-glimpse") == again.count("data-glimpse") == 25
    first, second = (set(re.findall(r"data-glimpse=\"[^\"]+", one)) for one in (html, again))
    assert not first & second


def test_a_change_is_shown_in_a_few_lines(year: Served) -> None:
    with year.client() as client:
        html = asked(client, "/changes").text
        paths = [one.replace("&amp;", "&") for one in re.findall(r'data-glimpse="([^"]+)"', html)]
        parts = [asked(client, path, **{"X-Part": "1"}).text for path in paths[:6]]
    assert any("<ins>" in part or "<del>" in part for part in parts)
    with year.client() as client:
        missing = client.get("/changes/glimpse?resource=1&fetch=no&at=1")
    assert missing.status_code == 404


@pytest.mark.parametrize(
    "query",
    [
        "which=odd",
        "kind=odd",
        "since=odd",
        "older=odd",
        "older=nan~1~x",
        "host=/",
        "tag=%00",
        "older=1e400~1~x",
    ],
)
def test_what_makes_no_sense_is_said(year: Served, query: str) -> None:
    with year.client() as client:
        assert client.get(f"/changes?{query}").status_code == 400
        if not query.startswith(("host", "tag")):  # a program's are taken as they are
            assert client.get(f"/api/v1/changes?{query}").status_code == 422


def test_feeds_are_sound_stable_and_can_be_asked_for_again(year: Served) -> None:
    with year.client() as client:
        first, second = client.get("/changes.atom"), client.get("/changes.atom")
        again = client.get("/changes.atom", headers={"If-None-Match": first.headers["etag"]})
        rss = client.get("/changes.rss?which=all")
    assert first.content == second.content
    assert (again.status_code, again.content) == (304, b"")
    feed = fromstring(first.content)
    entries = feed.findall(f"{ATOM}entry")
    assert len(entries) == 50
    ids = [entry.findtext(f"{ATOM}id") for entry in entries]
    assert len(set(ids)) == 50
    assert all(str(one).startswith("urn:uuid:") for one in ids)
    times = [entry.findtext(f"{ATOM}updated", "") for entry in entries]
    assert times == sorted(times, reverse=True)
    assert feed.findtext(f"{ATOM}updated") == times[0]
    items = fromstring(rss.content).findall("channel/item")
    assert len(items) == 50
    assert {one.get("isPermaLink") for item in items for one in item.findall("guid")} == {"false"}


def test_feeds_lead_to_where_the_face_is_called_from_outside(year_home: Path) -> None:
    tokens = Tokens(year_home / "none.json")
    tokens.begin("rc_secret", years.NOW)
    outside = "https://watch.example.org"
    app = create(year_home, tokens, origin=outside, clock=FastClock(start_at=years.NOW, speed=1.0))

    async def feed() -> str:
        # as a proxy sends it on
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app), base_url="http://watch.example.org"
        ) as client:
            token = {"Authorization": "Bearer rc_secret"}
            return (await client.get("/changes.atom", headers=token)).text

    try:
        found = fromstring(asyncio.run(feed()).encode())
    finally:
        app.state.desk.close()
    links = [one.get("href", "") for one in found.iter(f"{ATOM}link")]
    assert {link for link in links if "example.org" in link} >= {
        f"{outside}/changes.atom",
        f"{outside}/changes",
    }
    assert not any(link.startswith("http://watch") for link in links)


def test_a_token_for_feeds_opens_feeds_alone_and_stands_in_none(year: Served) -> None:
    secret = year.tokens.add("feeds of changes", May.FEED, years.NOW)
    with year.client("") as stranger:
        for form in ("atom", "rss"):
            assert stranger.get(f"/changes.{form}").status_code == 401
            feed = stranger.get(f"/changes.{form}?tag=news&token={secret}")
            assert feed.status_code == 200
            assert secret not in feed.text
            assert "tag=news" in feed.text
        for path in ("/changes", "/api/v1/changes", "/", "/metrics"):
            assert stranger.get(f"{path}?token={secret}").status_code == 401
        wrong = stranger.get("/changes.atom?token=rc_the-token-of-the-tests")
        assert wrong.status_code == 401  # one that opens more stands in no address


def test_what_came_from_the_web_is_text_everywhere(served: Served) -> None:
    url = "http://a.example/%3Cscript%3E?q=%22%3E"
    with closing(SqliteStore(served.home / STORE_FILE)) as store:
        store.add([new(url, BAD.strip("\x07"))], years.NOW - DAY_S)
        for at, changed in ((years.NOW - 900.0, Changed.UNKNOWN), (years.NOW - 600.0, Changed.YES)):
            done = completion(lease_of(store, url, at), at, gate_s=0.0)
            visit = replace(done.visit, changed=changed, evidence=BAD, moved_to=BAD)
            assert store.complete([replace(done, visit=visit)]) == [True]
    with served.client() as client:
        answers = {path: asked(client, path) for path in (*PAGES, "/hosts/a.example")}
        atom, rss = client.get("/changes.atom"), client.get("/changes.rss")
        rows = client.get("/api/v1/changes").json()["changes"]
    for path, answer in answers.items():
        assert answer.status_code == 200, (path, answer.text)
        assert "<script>" not in answer.text, path
    assert "&lt;script&gt;" in answers["/changes"].text
    assert rows[0]["evidence"] == BAD
    (summary,) = fromstring(atom.content).findall(f"{ATOM}entry/{ATOM}summary")
    assert (summary.get("type"), (summary.text or "").split(" (seen")[0]) == ("text", BAD[:-1] + "\ufffd")
    (description,) = fromstring(rss.content).findall("channel/item/description")
    assert (description.text or "").startswith("&lt;script&gt;")


def test_hosts_are_found_paged_and_paused(year_copy: Served) -> None:
    with year_copy.client() as client:
        page = asked(client, "/hosts?text=BROKEN").text
        assert "broken.example" in page
        assert "gazette.example" not in page.split('id="hosts"')[1]
        names: list[str] = []
        after: str | None = ""
        while after is not None:
            some = client.get("/api/v1/hosts", params={"limit": 5, "after": after}).json()
            names += [one["host"] for one in some["hosts"]]
            after = some["after"]
        assert names == sorted(years.HOSTS)
        one = client.get("/api/v1/hosts/broken.example").json()
        assert one["failures"]
        assert one["failed"]
        n = one["resources"]
        answer = client.post("/hosts/broken.example/pause")
        assert (answer.status_code, answer.headers["location"]) == (303, "/hosts/broken.example")
        paused = client.get("/api/v1/hosts/broken.example").json()
        assert (paused["paused"], paused["planned"], paused["next_visit_at"]) == (True, 0, None)
        assert "Resume this host" in client.get("/hosts/broken.example").text
        assert client.post("/api/v1/hosts/broken.example/resume").json() == {"changed": n, "otherwise": 0}
        assert client.get("/api/v1/hosts/broken.example").json()["planned"] == n
        assert client.get("/hosts/nowhere.example").status_code == 404
        assert client.post("/hosts/nowhere.example/pause").status_code == 404


def metrics(read: Callable[..., Any], text: str) -> dict[str, Any]:
    return {one.name: one for one in read(text)}


def test_metrics_in_both_formats(year: Served) -> None:
    with year.client() as client:
        plain = asked(client, "/metrics")
        wanted = "application/openmetrics-text; version=1.0.0"
        opened = client.get("/metrics", headers={"Accept": wanted})
        status = asked(client, "/api/v1/status").json()
    assert plain.headers["content-type"].startswith("text/plain")
    assert opened.headers["content-type"].startswith("application/openmetrics-text")
    found, same = metrics(plain_metrics, plain.text), metrics(open_metrics, opened.text)
    assert {name.removesuffix("_info") for name in found} == set(same)
    assert found["recrawl_resources"].samples[0].value == status["resources"] == years.N_RESOURCES
    assert found["recrawl_store_bytes"].samples[0].value > 1e5
    assert sum(len(one.samples) for one in found.values()) < 40  # however many hosts there are


def test_health_says_what_is_kept_and_whether_forecasts_came_true(year: Served) -> None:
    with year.client() as client:
        health = asked(client, "/api/v1/health").json()
        report = asked(client, "/api/v1/report").json()
        capacity = asked(client, "/api/v1/capacity").json()
        page = asked(client, "/health/checks").text
        status = asked(client, "/api/v1/status").json()
    assert health["sizes"]["store_bytes"] == pytest.approx((year.home / STORE_FILE).stat().st_size, rel=0.5)
    assert all(check["ok"] is not False for check in health["checks"] if check["name"] != "names")
    assert "recrawl doctor" in page
    assert report["card"]["visits"] > 0
    assert capacity["urls"] == years.N_RESOURCES
    assert "store" not in status  # where it lies is nobody's business
