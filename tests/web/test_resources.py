"""The list of all that is watched, and what is done to several at once: as a person and as a program."""

from __future__ import annotations

import re
import time
from typing import Any

import httpx
import pytest
from lxml.html import fromstring
from tests.web.conftest import Served

from recrawl.model import Scope, ScopeKind, Settings
from recrawl.web.face.api.resources import Resource

ROW = re.compile(r'name="one" value="(\d+)"')


def asked(client: httpx.Client, path: str, **query: Any) -> httpx.Response:
    """As scripts and programs do: again, while it is being worked out."""
    for _ in range(60):
        answer = client.get(path, params=query, headers={"X-Part": "1"})
        if answer.status_code not in (202, 503):
            break
        time.sleep(1.0)
    assert answer.status_code == 200, answer.text
    return answer


def shown(client: httpx.Client, **query: Any) -> list[int]:
    return [int(number) for number in ROW.findall(asked(client, "/resources", **query).text)]


def listed(client: httpx.Client, **query: Any) -> dict[str, Any]:
    found: dict[str, Any] = asked(client, "/api/v1/resources", **query).json()
    return found


def test_pages_and_programs_see_the_same_list(year: Served) -> None:
    with year.client() as client:
        for query in (
            {},
            {"sort": "rate"},
            {"sort": "url", "down": 1},
            {"sort": "chance"},
            {"text": "GAZETTE", "sort": "added"},
            {"tag": "news", "page": 2},
            {"host": "council.example", "sort": "changed"},
            {"kind": "feed"},
            {"state": "failing"},
            {"state": "silent"},
        ):
            seen = shown(client, **query)
            found = listed(client, **query, limit=50)
            assert seen == [row["id"] for row in found["resources"]], query
            assert seen or "state" in query, query


def test_rows_are_as_they_are_described(year: Served) -> None:
    with year.client() as client:
        for row in listed(client, sort="chance", limit=300)["resources"]:
            assert Resource.model_validate(row, strict=False).p_changed_now is not None


def test_every_page_of_a_list_together_is_the_list(year: Served) -> None:
    with year.client() as client:
        seen: list[int] = []
        page, n_pages = 1, 2
        while page <= n_pages:
            found = listed(client, sort="url", page=page, limit=70)
            n_pages = found["n_pages"]
            seen += [row["id"] for row in found["resources"]]
            page += 1
        assert (len(seen), len(set(seen)), found["n_found"]) == (300, 300, 300)
        urls = [row["url"] for row in listed(client, sort="url", limit=300)["resources"]]
        assert urls == sorted(urls)
        beyond = listed(client, page=99_999, limit=100)
        assert (beyond["page"], len(beyond["resources"])) == (3, 100)


def test_a_part_is_asked_for_alone(year: Served) -> None:
    with year.client() as client:
        part = asked(client, "/resources", text="gazette")
        assert part.text.lstrip().startswith("<form")
        assert "<html" not in part.text
        whole = client.get("/resources", params={"sort": "rate"})
        assert whole.text.count('aria-sort="descending"') == 1
        assert whole.text.count('class="strip"') == 50
        assert len(whole.content) < 150_000


@pytest.mark.parametrize("query", ["sort=colour", "kind=movie", "state=sad"])
def test_a_list_that_is_not_there_is_refused(query: str, year: Served) -> None:
    with year.client() as client:
        assert client.get(f"/resources?{query}").status_code == 400
        assert client.get(f"/api/v1/resources?{query}").status_code == 422
        assert client.get("/api/v1/resources?limit=1001").status_code == 422


def test_what_is_done_to_several_shows_at_once(year_copy: Served) -> None:
    with year_copy.client() as client:

        def do(**fields: object) -> str:
            answer = client.post(
                "/resources/several", data={"one": ["5", "7"], "query": "sort=url", **fields}
            )
            assert answer.status_code == 303, answer.text
            assert answer.headers["location"] == "/resources?sort=url"
            with year_copy.house() as house:
                return str(
                    [
                        (r.effective.paused, r.effective.weight, r.tags)
                        for r, _, _ in house.store.these([5, 7])
                    ]
                )

        before = listed(client, state="paused")["n_found"]
        do(do="pause")
        assert listed(client, state="paused")["n_found"] == before + 2
        do(do="resume")
        assert listed(client, state="paused")["n_found"] == before
        assert do(do="tag", tag="mine").count("'mine'") == 2
        assert shown(client, tag="mine", sort="added", down=0) == [5, 7]
        assert do(do="untag", tag="mine").count("'mine'") == 0
        assert do(do="set", weight="4.5", min_gap="2h").count("4.5") == 2
        # the Enter key presses no button
        assert do(do="", weight="2.5").count("2.5") == 2
        assert do(do="", tag="mine").count("'mine'") == 2
        for wrong in (
            {"do": ""},
            {"do": "", "tag": "mine", "weight": "1"},
            {"do": "set"},
            {"do": "set", "weight": "much"},
            {"do": "set", "min_gap": "2d", "max_gap": "1d"},
            {"do": "tag", "tag": " "},
            {"do": "burn"},
        ):
            answer = client.post("/resources/several", data={"one": ["5"], **wrong})
            assert answer.status_code in (400, 409), wrong
        assert client.post("/resources/several", data={"do": "pause"}).status_code == 400


def read(html: str) -> Any:
    """The form below the list as a tree; the stubs know too little of those."""
    (form,) = fromstring(html).findall(".//form[@action='/resources/several']")
    return form


def test_a_form_that_is_refused_comes_back_with_what_was_typed_and_ticked(year_copy: Served) -> None:
    """On the page of the list where that was done; one that is not on it any more stays chosen too."""
    with year_copy.client() as client:
        there = shown(client, tag="news", sort="url", page=2)
        away = shown(client, tag="news", sort="url")[0]
        (query,) = read(client.get("/resources?tag=news&sort=url&page=2").text).findall(
            "input[@name='query']"
        )
        said = {"tag": "a & b", "weight": "much", "min_gap": "2d", "max_gap": "<soon>"}
        form = {"one": [str(there[1]), str(there[3]), str(away)], "query": query.get("value"), **said}
        with year_copy.house() as house:
            before = [one for one, _, _ in house.store.resources()]
        answer = client.post("/resources/several", data={**form, "do": "set"})
        assert answer.status_code == 400
        assert [int(number) for number in ROW.findall(answer.text)] == there
        page = read(answer.text)
        assert "Nothing was changed. See below what to mend." in page.text_content()
        fields = {one.get("name"): one for one in page.findall(".//fieldset//input")}
        assert {name: fields[name].get("value") for name in said} == said
        assert {name for name, one in fields.items() if one.get("aria-invalid")} == {"weight", "max_gap"}
        told = {one.get("id"): one.text_content() for one in page.findall(".//label/span[@class='wrong']")}
        assert "is no number" in told["wrong-weight"]
        assert "<soon>" in told["wrong-max_gap"]
        ticks = [(one.get("name"), one.get("value")) for one in page.findall(".//input[@checked]")]
        assert ticks == [("one", str(there[1])), ("one", str(there[3])), ("these", str(away))]
        assert 'id="list" data-part' not in answer.text  # no script puts another form in its place
        for wrong, place, status in (
            ({"do": "set", "weight": "", "min_gap": "", "max_gap": ""}, 'id="wrong-weight"', 400),
            ({"do": "set", "weight": "1", "max_gap": "1d"}, 'id="wrong-max_gap"', 409),
            ({"do": "tag", "tag": " "}, 'id="wrong-tag"', 400),
            ({"do": "pause", "tag": "x" * 501}, 'id="wrong-tag"', 422),
            ({"do": ""}, "press the button that says it", 400),
            ({"do": "burn"}, "&#39;burn&#39; is nothing that can be done", 400),
            ({"do": "remove", "one": []}, "Nothing is chosen; tick", 400),
        ):
            answer = client.post("/resources/several", data={**form, **wrong})
            assert (answer.status_code, place in answer.text) == (status, True), wrong
        every = client.post("/resources/several", data={**form, "do": "set", "everything": "1"})
        assert [
            one.get("value") for one in read(every.text).findall(".//input[@name='everything'][@checked]")
        ]
        with year_copy.house() as house:
            assert [one for one, _, _ in house.store.resources()] == before
        mended = {"do": "set", "weight": "3", "max_gap": "9d", "these": str(away), "one": form["one"][:2]}
        done = client.post("/resources/several", data={**form, **mended})
        assert (done.status_code, done.headers["location"]) == (303, "/resources?tag=news&sort=url&page=2")
        with year_copy.house() as house:
            chosen = house.store.these([there[1], there[3], away])
            assert [one.effective.weight for one, _, _ in chosen] == [3.0] * 3


def test_a_list_that_is_empty_by_now_has_the_form_that_was_refused(year_copy: Served) -> None:
    with year_copy.client() as client:
        fields = {"do": "tag", "tag": " ", "one": ["5", "7"], "query": "text=no-such-address"}
        answer = client.post("/resources/several", data=fields)
        assert answer.status_code == 400
        assert [one.get("value") for one in read(answer.text).findall(".//input[@checked]")] == ["5,7"]


def test_what_was_said_elsewhere_shows_at_once_too(year_copy: Served) -> None:
    with year_copy.client() as client:
        n = listed(client, state="paused")["n_found"]
        with year_copy.house() as house:
            house.store.say_each([21, 22], Settings(paused=True), year_copy.clock.now())
        assert listed(client, state="paused")["n_found"] == n + 2


def test_all_of_a_list_are_meant_where_that_is_said(year_copy: Served) -> None:
    with year_copy.client() as client:
        n = listed(client, tag="news")["n_found"]  # and so the back room is open
        assert n > 50
        fields = {"do": "tag", "tag": "all-of-them", "everything": "1", "query": "tag=news&page=2"}
        assert client.post("/resources/several", data=fields).status_code == 303
        assert client.get("/api/v1/tags").json()["all-of-them"] == n


def test_removing_is_asked_about_first(year_copy: Served) -> None:
    with year_copy.client() as client:
        asked = client.post("/resources/several", data={"do": "remove", "one": ["3", "4"]})
        assert asked.status_code == 200
        assert "Remove 2 resources?" in asked.text
        assert listed(client)["n_found"] == 300
        (these,) = re.findall(r'name="these" value="([\d,]+)"', asked.text)
        fields = {"do": "remove", "these": these, "sure": "1"}
        assert client.post("/resources/several", data=fields).status_code == 303
        assert listed(client)["n_found"] == 298
        assert client.get("/api/v1/resources/3").status_code == 404


def test_programs_say_the_same(year_copy: Served) -> None:
    with year_copy.client() as client:
        one = client.get("/api/v1/resources/9").json()
        assert one["id"] == 9
        with year_copy.house() as house:
            house.store.say(Scope(ScopeKind.HOST, one["host"]), Settings(paused=True), year_copy.clock.now())
        said = {"weight": 2.0, "max_gap": "5d", "paused": False, "add_tags": ["x"], "kind": "json"}
        after = client.patch("/api/v1/resources/9", json=said).json()
        assert (after["weight"], after["max_gap_s"], after["kind"]) == (2.0, 5 * 86_400.0, "json")
        assert not after["paused"]  # against its host's pause
        assert "x" in after["tags"]
        back = client.patch(
            "/api/v1/resources/9", json={"weight": None, "paused": None, "drop_tags": ["x"]}
        ).json()
        assert (back["weight"], back["paused"], back["kind"]) == (1.0, True, "json")
        assert "x" not in back["tags"]
        assert client.patch("/api/v1/resources", json={"ids": [1, 2, 999], "weight": 7}).json() == {"n": 2}
        assert client.get("/api/v1/resources/2").json()["weight"] == 7.0
        assert client.delete("/api/v1/resources/2").json() == {"n": 1}
        assert client.delete("/api/v1/resources/2").status_code == 404
        assert client.post("/api/v1/resources/remove", json={"ids": [1, 2, 3]}).json() == {"n": 2}
        for wrong in (
            {"weight": 0},
            {"colour": "red"},
            {"min_gap": "soon"},
            {"kind": "movie"},
            {"add_tags": [""]},
        ):
            assert client.patch("/api/v1/resources/9", json=wrong).status_code in (400, 422), wrong


def test_a_token_for_reading_sees_no_buttons(year: Served) -> None:
    from recrawl.app.tokens import May

    secret = year.tokens.add("looker", May.READ, year.clock.now())
    with year.client(secret) as client:
        assert "gazette" in asked(client, "/resources", text="gazette").text
        assert shown(client) == []
        assert client.post("/resources/several", data={"do": "pause", "one": ["1"]}).status_code == 403
        assert "disabled" in client.get("/add").text


def test_nothing_watched_says_what_to_do(served: Served) -> None:
    with served.client() as client:
        assert listed(client)["resources"] == []
        page = client.get("/resources").text
        assert "Nothing is watched yet" in page
        assert 'href="/add"' in page.partition("<main")[2]
