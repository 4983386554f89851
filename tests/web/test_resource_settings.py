"""The settings form of one resource: what is refused comes back as it was typed, and nothing is said."""

from __future__ import annotations

from typing import Any

from lxml.html import fromstring
from tests.web.conftest import Served

from recrawl.model import Resource

SAID = {
    "weight": "much",
    "min_gap": "2d",
    "max_gap": "soon",
    "kind": "feed",
    "changes": "significant",
    "main": "yes",
    "mask": "no",
    "tags": "one, <b>two",
    "include": "main > p\n//p[",
    "ignore": "aside",
    "keys": "name\nplace",
}


def read(html: str) -> Any:
    """The form as a tree; the stubs know too little of those."""
    (form,) = fromstring(html).findall(".//form[@action='/resources/30/settings']")
    return form


def of_30(served: Served) -> Resource:
    with served.house() as house:
        return next(iter(house.store.resources(after=29, limit=1)))[0]


def test_a_form_that_is_refused_comes_back_with_what_was_typed(year_copy: Served) -> None:
    before = of_30(year_copy)
    with year_copy.client() as client:
        answer = client.post("/resources/30/settings", data=SAID)
        assert answer.status_code == 400
        assert before.url in answer.text  # its page
        assert "Nothing was changed. See below what to mend." in answer.text
        form = read(answer.text)
        fields = {one.get("name"): one for one in form.iter("input", "select", "textarea")}
        for name in ("weight", "min_gap", "max_gap", "tags"):
            assert fields[name].get("value") == SAID[name], name
        for name in ("kind", "changes", "main", "mask"):
            assert [one.text for one in fields[name].findall("option[@selected]")] == [SAID[name]], name
        for name in ("include", "ignore", "keys"):
            assert fields[name].text_content().splitlines() == SAID[name].splitlines(), name
        assert {name for name, one in fields.items() if one.get("aria-invalid")} == {
            "weight",
            "max_gap",
            "include",
        }
        told = {one.get("id"): one.text_content() for one in form.findall(".//label/span[@class='wrong']")}
        assert "is no number" in told["wrong-weight"]
        assert "soon" in told["wrong-max_gap"]
        assert "//p[" in told["wrong-include"]
        assert of_30(year_copy) == before


def test_what_is_wrong_stands_beside_its_field(year_copy: Served) -> None:
    mended = {**SAID, "weight": "2", "max_gap": "3d", "include": "main > p"}
    before = of_30(year_copy)
    with year_copy.client() as client:
        for wrong, field, status in (
            ({"max_gap": "1d"}, "max_gap", 409),
            ({"weight": "-1"}, "weight", 400),
            ({"kind": "movie"}, "kind", 400),
            ({"changes": "few"}, "changes", 400),
            ({"main": "perhaps"}, "main", 400),
            ({"ignore": "p["}, "ignore", 400),
            ({"keys": "a\tb"}, "keys", 400),
            ({"tags": "one, \u200b"}, "tags", 400),
            ({"tags": "x" * 20_001}, "tags", 422),
        ):
            answer = client.post("/resources/30/settings", data={**mended, **wrong})
            assert (answer.status_code, f'id="wrong-{field}"' in answer.text) == (status, True), wrong
            assert answer.text.count('class="wrong"') == 1, wrong
        assert of_30(year_copy) == before
        assert client.post("/resources/99999/settings", data=SAID).status_code == 404
        assert client.post("/resources/99999/settings", data=mended).status_code == 404
        assert client.post("/resources/30/settings", data=mended).status_code == 303
        shown = client.get("/resources/30").text
        assert "aria-invalid" not in shown
        fields = {one.get("name"): one for one in read(shown).iter("input", "select", "textarea")}
        assert [fields[name].get("value") for name in ("weight", "min_gap", "max_gap")] == [
            "2.0",
            "2 days",
            "3 days",
        ]
        for name in ("kind", "changes", "main", "mask"):
            assert [one.text for one in fields[name].findall("option[@selected]")] == [SAID[name]], name
        assert fields["keys"].text_content().split() == ["name", "place"]
    assert of_30(year_copy).settings.weight == 2.0
