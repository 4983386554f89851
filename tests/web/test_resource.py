"""The page of one resource, its parts, what can be done there, and the same for programs."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np
import pytest
from tests.houses import HTML, Past, seen
from tests.web import year as years
from tests.web.conftest import Served, serving

from recrawl.app.account import account
from recrawl.app.basis import basis
from recrawl.app.tokens import May
from recrawl.checks.store.samples import completion, lease_of, new
from recrawl.model import DAY_S, Changed, KinTable, Learned, Mask, Noise, Settings, Standing, Telling

PART = {"X-Part": "1"}
JSON_FORM, CSV_FORM, FEED_FORM = ".json", ".csv", ".rss"


def patiently(client: httpx.Client, path: str) -> httpx.Response:
    """Asked again while it is being worked out."""
    for _ in range(60):
        answer = client.get(path, headers=PART)
        if answer.status_code not in (202, 503):
            return answer
        time.sleep(1.0)
    raise AssertionError(path)


def numbers_of(served: Served, ending: str) -> list[int]:
    """Of resources in this form that have several versions."""
    with served.house() as house:
        found = [one.id for one, _, _ in house.store.resources() if one.url.endswith(ending)]
        return [key for key in found if len(house.store.history(key, limit=2)) == 2]


def test_the_page_has_what_the_store_has_at_once(year: Served) -> None:
    with year.client() as client, year.house() as house:
        resource, standing, _ = next(iter(house.store.resources(after=29, limit=1)))
        page = client.get("/resources/30")
    assert page.status_code == 200
    assert resource.url in page.text
    assert f"{standing.n_changes} changes seen in {standing.n_informative} visits" in page.text
    assert '<svg class="timeline"' in page.text
    assert "likely to have changed" in page.text
    assert 'data-part="/resources/30/forecast"' in page.text
    assert "Visit soon" in page.text
    assert "style=" not in page.text
    assert "<style" not in page.text
    assert len(page.content) < 300_000


def test_a_visit_that_found_a_change_leads_to_what_differs(year: Served) -> None:
    with year.client() as client, year.house() as house:
        shown = next(
            one.id
            for one, _, _ in house.store.resources(after=29)
            if len(house.store.history(one.id, limit=3)) == 3
        )
        visits = list(house.store.visits(shown, 25))
        versions = {one.at: one.seq for one in house.store.history(shown, limit=1_000)}
        part = client.get(f"/resources/{shown}/visits?from=1970&until=2100", headers=PART).text
        links = re.findall(rf'href="/resources/{shown}/diff\?until=(\d+)">Changed', part)
        wanted = [versions[one.at] for one in visits if one.changed is Changed.YES]
        assert [int(seq) for seq in links] == [seq for seq in wanted if seq > 1]
        assert links
        differs = patiently(client, f"/resources/{shown}/diff?until={links[0]}").text
    assert f"and version {links[0]} (" in differs
    assert "Nothing that counts differs" not in differs


def test_nobody_is_asked_for_that_is_not_watched(year: Served) -> None:
    with year.client() as client:
        for path in ("", "/visits", "/hours", "/versions", "/versions/1", "/versions/1/raw", "/remove"):
            assert client.get(f"/resources/99999{path}").status_code == 404, path
            if path != "/remove":
                assert client.get(f"/api/v1/resources/99999{path or '/visits'}").status_code == 404, path
        for path in ("/diff", "/forecast"):
            assert patiently(client, f"/resources/99999{path}").status_code == 404, path
            assert client.get(f"/api/v1/resources/99999{path}").status_code == 404, path
        assert client.get("/resources/30/versions/9999").status_code == 404
        assert client.get("/resources/0").status_code == 422
        assert client.get("/resources/30/visits?from=yesterday").status_code == 400
        for wrong in ("from=2026-05&until=2026-04", "from=2090", "from=9000&until=9999"):
            assert client.get(f"/resources/30/visits?{wrong}").status_code == 400, wrong
        for odd in (
            "from=0001&until=9999",
            "until=0001-01-01",
            "from=2026-12-31T23:59:59Z",
            "from=1970&until=2100",
        ):
            assert client.get(f"/resources/30/visits?{odd}").status_code == 200, odd


def test_whoever_may_only_look_has_no_buttons_and_changes_nothing(year_copy: Served) -> None:
    secret = year_copy.tokens.add("reader", May.READ, years.NOW)
    with year_copy.client(secret) as client:
        page = client.get("/resources/30")
        assert "Visit soon" not in page.text
        assert '<fieldset class="whole" disabled>' in page.text
        for deed in ("pause", "resume", "soon", "settings", "move", "remove", "noise"):
            assert client.post(f"/resources/30/{deed}").status_code == 403, deed


def test_visits_are_those_of_the_time_asked_for(year: Served) -> None:
    with year.client() as client, year.house() as house:
        visits = list(house.store.visits(30))
        part = client.get("/resources/30/visits?from=2026-03-01&until=2026-05-01", headers=PART).text
        rows = client.get("/api/v1/resources/30/visits?from=2026-03-01T00:00&until=2026-05-01T00:00Z").json()[
            "visits"
        ]
        first = client.get("/api/v1/resources/30/visits?limit=10").json()
        second = client.get(f"/api/v1/resources/30/visits?limit=1000&until={first['until']}").json()
    begin, end = 1_772_323_200.0, 1_777_593_600.0
    n = sum(begin <= one.at < end for one in visits)
    assert n > 3
    assert f"{n} visits from 2026-03-01" in part
    assert len(re.findall(r'class="visit ', part)) == n
    assert len(rows) == n
    assert "<html" not in part
    assert [*(one["fetch_id"] for one in (*first["visits"], *second["visits"]))] == [
        one.fetch_id for one in visits
    ]
    assert second["until"] is None


def test_the_forecast_is_the_account_that_the_command_gives(year: Served) -> None:
    with year.client() as client:
        part = patiently(client, "/resources/30/forecast").text
        row = patiently(client, "/api/v1/resources/30/forecast").json()
    with year.house() as house:
        found = account(house, row["url"])
    assert row["reason"] == found.sentence
    assert row["forecast"]["p_changed"] == pytest.approx(found.row()["forecast"]["p_changed"], abs=1e-3)
    gaps_s = [one["gap_s"] for one in row["in_the_long_run"]]
    assert gaps_s == pytest.approx([one.gap_s for one in found.otherwise], rel=1e-2)
    for name, _ in basis(found):
        assert f"<dt>{name}</dt>" in part
    assert '<svg class="curve"' in part
    assert "twice as much" in part


def test_hours_are_counted_where_one_lives(year: Served) -> None:
    with year.client() as client:
        here, there = (client.get(f"/api/v1/resources/30/hours?zone={zone}").json() for zone in (0, 3))
        part = client.get("/resources/30/hours?zone=3", headers=PART).text
        assert client.get("/resources/30/hours?zone=30").status_code == 422
    flat = [n for day in here["visits"] for n in day]
    assert [n for day in there["visits"] for n in day] == [*flat[-3:], *flat[:-3]]
    assert '<option value="3" selected>UTC+3</option>' in part
    assert part.count("<td") == 168


def test_versions_come_page_by_page(year: Served) -> None:
    with year.client() as client, year.house() as house:
        number = max(house.store.resources(), key=lambda found: found[1].n_changes)[0].id
        seqs = [one.seq for one in house.store.history(number, newest_first=True, limit=1_000)]
        assert len(seqs) > 30
        told, before = [], ""
        while True:
            page = client.get(f"/api/v1/resources/{number}/versions?limit=20{before}").json()
            told += [one["seq"] for one in page["versions"]]
            if page["before"] is None:
                break
            before = f"&before={page['before']}"
        assert told == seqs
        part = client.get(f"/resources/{number}/versions?before={seqs[24]}", headers=PART).text
    assert f'aria-label="From version {seqs[25]}"' in part
    assert f'aria-label="From version {seqs[24]}"' not in part


@pytest.mark.parametrize("ending", [JSON_FORM, CSV_FORM, FEED_FORM])
def test_what_data_say_differently_is_listed(year: Served, ending: str) -> None:
    number = numbers_of(year, ending)[0]
    with year.client() as client:
        part = patiently(client, f"/resources/{number}/diff").text
        row = patiently(client, f"/api/v1/resources/{number}/diff").json()
        raw = patiently(client, f"/api/v1/resources/{number}/diff?raw=true").json()
    assert row["differs"]
    assert row["listed"]
    assert not row["stretches"]
    assert '<ul class="listed diff"' in part
    assert raw["stretches"]


def test_texts_are_compared_line_by_line_in_two_looks(year: Served) -> None:
    with year.client() as client:
        inline = patiently(client, "/resources/30/diff?from=1&until=9").text
        sides = patiently(client, "/resources/30/diff?from=1&until=9&look=sides").text
        row = patiently(client, "/api/v1/resources/30/diff?from=1&until=9").json()
        assert client.get("/resources/30/diff?from=1&until=9999").status_code == 404
        assert client.get("/resources/30/diff?look=round").status_code == 422
        same = patiently(client, "/api/v1/resources/30/diff?from=1&until=1").json()
    assert (row["from"]["seq"], row["until"]["seq"]) == (1, 9)
    words = [text for stretch in row["stretches"] for line in stretch for text, new in line["new"] if new]
    assert words
    for text in words:
        assert f"<ins>{text}</ins>" in inline
        assert f"<ins>{text}</ins>" in sides
    assert sides.count('<th scope="col">Version ') == 2
    assert not same["differs"]


def test_a_version_is_shown_as_text_and_given_as_a_file_that_nothing_runs(year: Served) -> None:
    with year.client() as client, year.house() as house:
        version = house.store.version(30, 1)
        assert version is not None
        body = bytes(house.archive.snapshot(version).body)
        page = patiently(client, "/resources/30/versions/1").text
        text = client.get("/api/v1/resources/30/versions/1/text").json()
        for path in ("/resources/30/versions/1/raw", "/api/v1/resources/30/versions/1/raw"):
            raw = client.get(path)
            assert raw.content == body
            assert raw.headers["Content-Type"] == "application/octet-stream"
            assert raw.headers["X-Content-Type-Options"] == "nosniff"
            assert "sandbox" in raw.headers["Content-Security-Policy"]
            said = raw.headers["Content-Disposition"]
            assert said == 'attachment; filename="resource-30-version-1.html"'
    assert text["whole"]
    assert text["text"].splitlines()[0] in page
    assert "<p>" not in text["text"]


def test_what_is_too_large_is_not_compared_but_downloaded(tmp_path: Path) -> None:
    url = "https://large.example/"
    with Past(tmp_path / "home", years.NOW) as past:
        for day in (3, 2):
            past.visit(seen(url, years.NOW - day * DAY_S, b"<p>%d " % day + b"word " * 600_000))
    with serving(tmp_path / "home", years.NOW) as served, served.client() as client:
        part = patiently(client, "/resources/1/diff").text
        row = client.get("/api/v1/resources/1/diff").json()
    assert "Too large to be compared here; download both." in part
    assert part.count("Download version") == 2
    assert (row["differs"], row["whole"], row["stretches"]) == (True, False, [])


def test_hostile_words_of_every_kind_are_only_words(tmp_path: Path) -> None:
    bad = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
    url = "https://bad.example/?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E"
    bodies = [
        f"<title>{bad}</title><p>one {i} &lt;script&gt;alert({i})&lt;/script&gt;".encode() for i in range(2)
    ]
    with Past(tmp_path / "home", years.NOW) as past:
        for day, body in zip((3, 2), bodies, strict=True):
            past.visit(seen(url, years.NOW - day * DAY_S, body, HTML), bad)
        lease = lease_of(past.store, url, years.NOW - DAY_S)
        mask = Mask(place=bad, shape=bad, learned=Learned.HISTORY, at=years.NOW, example=bad)
        done = completion(lease, years.NOW - DAY_S)
        standing: Standing = replace(
            done.standing, noise=Noise(masks=(mask,)), moved_to=f"https://b.example/{bad}"
        )
        visit = replace(done.visit, evidence=bad)
        assert past.store.complete([replace(done, standing=standing, visit=visit)]) == [True]
    with serving(tmp_path / "home", years.NOW) as served, served.client() as client:
        for path in (
            "",
            "/visits",
            "/hours",
            "/versions",
            "/versions/1",
            "/diff",
            "/diff?look=sides",
            "/remove",
        ):
            page = patiently(client, f"/resources/1{path}")
            assert page.status_code == 200, path
            assert "<script>alert" not in page.text, path
            assert "<img" not in page.text, path
        assert "&lt;script&gt;alert(1)" in patiently(client, "/resources/1/versions/2").text
        whole = client.get("/resources/1").text
        assert "&lt;img src=x onerror=alert(1)&gt;" in whole
        assert 'rel="noopener noreferrer' in whole


def test_it_is_paused_resumed_hastened_set_and_removed(year_copy: Served) -> None:
    with year_copy.client("") as browser:
        browser.post("/enter", data={"token": year_copy.token})
        word = _word(browser.get("/resources/30").text)

        def done(deed: str, **fields: str) -> str:
            answer = browser.post(f"/resources/30/{deed}", data={"csrf": word, **fields})
            assert answer.status_code == 303, answer.text
            return browser.get(answer.headers["Location"]).text

        assert browser.post("/resources/30/pause").status_code == 403  # without the word
        assert "Paused: it is not visited" in done("pause")
        assert 'action="/resources/30/resume"' in browser.get("/resources/30").text
        assert browser.post("/resources/30/soon", data={"csrf": word}).status_code == 409
        assert "Resumed" in done("resume")
        assert "Somebody asked for a visit" in done("soon")
        shown = done("settings", weight="2.5", max_gap="3d", tags="one, two", ignore="aside")
        assert "Saved." in shown
        assert 'value="2.5"' in shown
        assert 'value="3 days"' in shown
        assert "now 2.5, said here" in shown
        wrong = browser.post("/resources/30/settings", data={"csrf": word, "weight": "-1"})
        assert wrong.status_code == 400
        assert "give a number above 0" in wrong.text
        with year_copy.house() as house:
            resource, standing, _ = next(iter(house.store.resources(after=29, limit=1)))
            assert resource.settings.weight == 2.5
            assert resource.tags == ("one", "two")
            assert standing.due_at <= house.clock.now()
        assert "Watch it no more?" in browser.get("/resources/30/remove").text
        gone = browser.post("/resources/30/remove", data={"csrf": word})
        assert gone.headers["Location"] == "/resources"
        assert browser.get("/resources/30").status_code == 404


def test_a_program_can_do_the_same(year_copy: Served) -> None:
    with year_copy.client() as client:
        assert client.post("/api/v1/resources/30/pause").json()["paused"] is True
        assert client.post("/api/v1/resources/30/soon").status_code == 409
        assert client.post("/api/v1/resources/30/resume").json()["paused"] is False
        assert client.post("/api/v1/resources/30/soon").status_code == 200
        assert client.post("/api/v1/resources/30/move").status_code == 409
        assert client.post("/api/v1/resources/30/noise/1/undo").status_code == 404
        assert client.get("/api/v1/resources/30/signals").json() == []
        assert client.get("/api/v1/resources/30/kin").json() == []
        assert client.get("/api/v1/resources/30/noise").json() == []
        wanted = {"ignore": ["aside", "$.price"], "main": True}
        told = client.put("/api/v1/resources/30/lens", json=wanted).json()["idle"]
        assert [sentence.partition(" ")[0] for sentence in told] == ["$.price"]
        held = {one["name"]: one for one in client.get("/api/v1/resources/30/settings").json()}
        assert (held["ignore"]["value"], held["ignore"]["scope"]) == ("aside and $.price", "resource")
        wrong = client.put("/api/v1/resources/30/lens", json={"ignore": ["aside", "p["]}).json()
        assert (wrong["said"], [one["selector"] for one in wrong["refused"]]) == (False, ["p["])
        assert client.get("/api/v1/resources/30/settings").json() == list(held.values())
        assert client.put("/api/v1/resources/30/lens", json={}).json()["idle"] == []
        assert client.get("/api/v1/resources/30/settings").json() != list(held.values())
        row = patiently(client, "/api/v1/resources/30/forecast").json()
        assert row["reason"].startswith("Somebody asked for a visit")


def test_masks_are_undone_and_what_moved_is_followed(tmp_path: Path) -> None:
    url, there = "https://old.example/", "https://new.example/"
    with Past(tmp_path / "home", years.NOW) as past:
        past.visit(seen(url, years.NOW - 3 * DAY_S, b"<p>one"))
        mask = Mask(place="html/p", shape="{number}", learned=Learned.REPEAT, at=years.NOW, n_differed=9)
        for day in (2, 1):
            at = years.NOW - day * DAY_S
            done = completion(lease_of(past.store, url, at), at)
            standing = replace(
                done.standing,
                moved_to=there,
                moved_since_at=years.NOW - 2 * DAY_S,
                noise=Noise(masks=(mask,)),
            )
            assert past.store.complete([replace(done, standing=standing)]) == [True]
    with serving(tmp_path / "home", years.NOW) as served, served.client() as client:
        page = client.get("/resources/1").text
        assert f'It has moved to <span class="url" dir="auto">{there}</span>' in page
        assert "Let it count" in page
        assert client.post("/resources/1/noise", data={"mask": "1", "undo": "true"}).status_code == 303
        assert "Mask again" in client.get("/resources/1").text
        assert client.get("/api/v1/resources/1/noise").json()[0]["state"] == "undone"
        assert client.post("/resources/1/noise", data={"mask": "1", "undo": "false"}).status_code == 303
        with served.house() as house:
            assert next(iter(house.store.resources()))[0].settings == Settings()
        assert client.post("/resources/1/move").status_code == 303
        assert there in client.get("/resources/1").text
        assert client.post("/resources/1/move").status_code == 409


def _word(page: str) -> str:
    found = re.search(r'name="csrf" value="([^"]+)"', page)
    assert found is not None
    return found[1]


def test_whoever_tells_of_it_is_named_and_leads_on(tmp_path: Path) -> None:
    page, feed, kin = (f"https://a.example/{name}" for name in ("page", "feed", "kin"))
    with Past(tmp_path / "home", years.NOW) as past:
        past.visit(seen(page, years.NOW - 3 * DAY_S, b"<p>one"))
        past.visit(seen(kin, years.NOW - 2 * DAY_S, b"<p>two"))
        at = years.NOW - DAY_S
        past.store.add([new(feed)], at)
        done = completion(lease_of(past.store, feed, at), at)
        assert past.store.complete([replace(done, tells=(Telling(page, at - 60.0),))]) == [True]
        table = KinTable(id=np.array([1]), of=np.array([2]), weight=np.array([0.75]))
        past.store.note_kin(np.array([1]), table)
    with serving(tmp_path / "home", years.NOW) as served, served.client() as client:
        shown = client.get("/resources/1").text
        (signal,) = client.get("/api/v1/resources/1/signals").json()
        (relative,) = client.get("/api/v1/resources/1/kin").json()
    assert f'href="/resources/3">{feed}</a>' in shown
    assert f'href="/resources/2">{kin}</a>' in shown
    assert "75.0 %" in shown
    assert (signal["source"], signal["source_id"]) == (feed, 3)
    assert (relative["url"], relative["id"], relative["weight"]) == (kin, 2, 0.75)
