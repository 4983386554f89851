"""JSON through a lens: what is ignored or masked is no change, all else is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recrawl.detect import noise, structured
from recrawl.detect.json import Json, parsed
from recrawl.detect.paths import GONE, check
from recrawl.detect.trees import steps
from recrawl.errors import BadSettingError
from recrawl.model import Changed, Lens, Mask, Noise, Part, Snapshot
from recrawl.parse.pool import Pool

WORDS = st.text("abc'\"\\. ü", max_size=4)
DOCUMENTS = st.recursive(
    st.integers(-5, 5) | WORDS | st.none() | st.booleans(),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3) | st.dictionaries(WORDS, inner, min_size=1, max_size=3)
    ),
    max_leaves=8,
)
ITEMS = {"items": [{"id": "a", "price": 3, "seen": "10:15"}, {"id": "b", "price": 4, "seen": "10:20"}]}


def seen(value: Any, lens: Lens | None = None) -> Snapshot:
    return Snapshot(body=json.dumps(value).encode(), media_type="application/json", lens=lens or Lens())


def changed(before: Any, after: Any, **rules: Any) -> Changed:
    lens = Lens(**rules)
    return Json().compare(seen(before, lens), seen(after, lens)).changed


def places(value: Any, path: str = "$") -> list[tuple[str, list[Any]]]:
    """Every single value: its normalised path, and the steps to it."""
    if isinstance(value, dict) and value:
        found = [(f"{path}['{_escaped(name)}']", name, item) for name, item in value.items()]
    elif isinstance(value, list) and value:
        found = [(f"{path}[{i}]", i, item) for i, item in enumerate(value)]
    else:
        return [(path, [])]
    return [(inner, [step, *rest]) for at, step, item in found for inner, rest in places(item, at)]


def _escaped(name: str) -> str:
    return name.replace("\\", "\\\\").replace("'", "\\'")


def edited(value: Any, way: list[Any]) -> Any:
    if not way:
        return "another"
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[way[0]] = edited(value[way[0]], way[1:])
    return copy


@settings(max_examples=60, deadline=None)
@given(DOCUMENTS, st.data())
def test_an_edit_is_a_change_unless_it_is_in_what_is_ignored(document: Any, data: st.DataObject) -> None:
    everywhere = places(document)
    path, way = data.draw(st.sampled_from(everywhere))
    other, _ = data.draw(st.sampled_from(everywhere))
    after = edited(document, way)
    assert changed(document, after) is Changed.YES
    assert changed(document, after, ignore=(f"json:{path}",)) is Changed.NO
    assert changed(document, after, include=(path,)) is Changed.YES
    if other != path:
        assert changed(document, after, ignore=(other,)) is Changed.YES
        assert changed(document, after, include=(other,)) is Changed.NO
    assert changed(document, after, ignore=("column:another", "main > p", "field:x")) is Changed.YES


@pytest.mark.parametrize(
    ("selector", "price", "seen_at"),
    [
        ("$.items[*].seen", True, False),
        ("$..seen", True, False),
        ("json:$['items'][0:2]['seen', 'price']", False, False),
        ("$.items[?@.price < 10].seen", True, False),
        ("$.items[?match(@.id, '[a-z]')].price", False, True),
        ("$.items[?@.price > 100]", True, True),
        ("$", False, False),
    ],
)
def test_selectors_speak_jsonpath(selector: str, price: bool, seen_at: bool) -> None:
    dearer = {"items": [ITEMS["items"][0], {**ITEMS["items"][1], "price": 5}]}
    later = {"items": [{**item, "seen": "11:00"} for item in ITEMS["items"]]}
    assert (changed(ITEMS, dearer, ignore=(selector,)) is Changed.YES) == price
    assert (changed(ITEMS, later, ignore=(selector,)) is Changed.YES) == seen_at


def test_what_is_left_out_of_an_array_leaves_no_hole() -> None:
    advert = {"id": "x", "advert": True}
    rule = ("$.items[?@.advert == true]",)
    assert changed(ITEMS, {"items": [advert, *ITEMS["items"]]}, ignore=rule) is Changed.NO
    assert changed(ITEMS, {"items": [*ITEMS["items"], {"id": "y"}]}, ignore=rule) is Changed.YES
    assert changed({"tags": [1, 2]}, {"tags": [2, 1]}, include=("$.tags[*]",)) is Changed.YES


def test_the_evidence_names_elements_by_what_is_not_included() -> None:
    lens = Lens(include=("$.items[*].price",))
    dearer = {"items": [{**item, "price": 9} for item in ITEMS["items"][1:]]}
    verdict = Json().compare(seen(ITEMS, lens), seen(dearer, lens))
    assert verdict.evidence == (
        '1 value changed, 1 value removed: $.items[id=b].price: 4 → 9; −$.items[id=a]: {"price":3}'
    )


@pytest.mark.parametrize(
    "wrong", ["items", "$.items[", "$.a b", "$[?@.a = 1]", "$.a | $.b", "$" + "[0]" * 2 + "]", "$..", ""]
)
def test_what_is_no_jsonpath_is_refused_with_a_remedy(wrong: str) -> None:
    with pytest.raises(BadSettingError, match="json:"):
        check(wrong)


def test_a_selector_that_would_take_for_ever_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    deep: Any = 1
    for _ in range(60):
        deep = [deep, deep] if isinstance(deep, int) else [deep]
    with Pool(n_workers=1, limit_s=1.0) as pool:
        monkeypatch.setattr(structured, "shared", lambda: pool)
        assert Json().fingerprint(seen(deep, Lens(ignore=("$..*",)))) != ""
        assert Json().fingerprint(seen(deep, Lens(ignore=("$" + "..*" * 12,)))) == ""


def test_masks_leave_out_what_fits_them_and_nothing_else() -> None:
    masks = (Mask(place="$.items[*].seen", shape="{time}"),)
    later = {"items": [{**item, "seen": "11:30"} for item in ITEMS["items"]]}
    never = {"items": [{**item, "seen": "never"} for item in ITEMS["items"]]}
    dearer = {"items": [{**item, "price": 9} for item in later["items"]]}
    assert changed(ITEMS, later, masks=masks) is Changed.NO
    assert changed(ITEMS, never, masks=masks) is Changed.YES
    assert changed(ITEMS, dearer, masks=masks) is Changed.YES
    verdict = Json().compare(seen(ITEMS, Lens(masks=masks)), seen(dearer, Lens(masks=masks)))
    assert "seen" not in verdict.evidence
    anything = (Mask(place="$.advert", shape="{…}"),)
    assert changed(ITEMS, {**ITEMS, "advert": "Buy soap"}, masks=anything) is Changed.NO
    assert changed(ITEMS, {**ITEMS, "advice": "Buy soap"}, masks=anything) is Changed.YES


def test_parts_are_told_of_like_places_together() -> None:
    later = {"items": [{**item, "seen": "11:30"} for item in ITEMS["items"]], "now": "11:31"}
    before = {**ITEMS, "now": "10:21"}
    assert Json().differing(seen(before), seen(later)) == (
        Part("$.items[*].seen", "10:15", "11:30"),
        Part("$.now", "10:21", "11:31"),
    )
    dearer = {"items": [ITEMS["items"][0], {**ITEMS["items"][1], "price": 5}]}
    assert Json().differing(seen(ITEMS), seen(dearer)) == (Part("$.items[id=b].price", "4", "5"),)
    more = {"items": [*ITEMS["items"], {"id": "c"}]}
    assert Json().differing(seen(ITEMS), seen(more)) == ()
    lens = Lens(ignore=("$.now",), masks=(Mask(place="$.items[*].seen", shape="{time}"),))
    assert [part.place for part in Json().differing(seen(before, lens), seen(later, lens))] == [
        "$.items[*].seen"
    ]
    many = [{"id": str(i), "x": str(i)} for i in range(600)]
    fewer = [{**item, "x": "y"} if i % 2 else item for i, item in enumerate(many)]
    assert Json().differing(seen(many), seen(fewer)) == ()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 59), st.integers(0, 59)), min_size=2, max_size=5))
def test_what_parts_tell_of_can_be_masked(times: list[tuple[int, int]]) -> None:
    def document(k: int, price: int = 1) -> Any:
        rows = [{"id": f"n{i}", "at": f"1{k}:{pair[k]:02}", "price": price} for i, pair in enumerate(times)]
        return {"nonce": f"a{k}b{k}c{k}d{k}", "rows": rows}

    before, after = seen(document(0)), seen(document(1))
    learned = noise.learned(Noise(), Json().differing(before, after), 0.0)
    assert changed(document(0), document(1)) is Changed.YES
    assert changed(document(0), document(1), masks=learned.masks) is Changed.NO
    assert changed(document(0), document(1, price=2), masks=learned.masks) is Changed.YES


def test_every_difference_has_a_line() -> None:
    after = {"items": [{**ITEMS["items"][0], "price": 5}, {"id": "c"}], "a.b": [1, {"x": None}]}
    lines = Json().listed(seen(ITEMS), seen(after))
    assert lines == [
        "$.items[id=a].price: 3 → 5",
        '+ $.items[id=c]: {"id":"c"}',
        "+ $['a.b']: [1,{\"x\":null}]",
        '- $.items[id=b]: {"id":"b","price":4,"seen":"10:20"}',
    ]
    assert Json().listed(seen(ITEMS), seen(ITEMS)) == []
    many, none = seen({str(i): i for i in range(11_000)}), seen({})
    listed = Json().listed(many, none)
    assert isinstance(listed, list)
    assert listed[-1] == "… and 1,000 more"


def test_what_was_put_in_is_told_and_not_what_moved() -> None:
    found = list(steps(parsed(b"[1, 2, 3]"), parsed(b"[1, 9, 2, 3]")))
    assert [(step.exact, step.before is GONE) for step in found] == [("$[1]", True)]
    found = list(steps(parsed(b'{"a": 1}'), parsed(b'{"a": "1"}')))
    assert [step.exact for step in found] == ["$.a"]
