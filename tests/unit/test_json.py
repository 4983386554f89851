"""JSON: equal meaning is never a change, every real edit is one."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recrawl.checks import detector as detector_checks
from recrawl.detect import json as json_detector
from recrawl.detect import structured
from recrawl.detect.json import Document, Json
from recrawl.detect.masks import REST
from recrawl.detect.structured import Form, Structured
from recrawl.model import Changed, Lens, Mask, Snapshot

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8)
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
)


def snapshot(text: str) -> Snapshot:
    return Snapshot(body=text.encode(), media_type="application/json", charset="utf-8")


def changed(before: str, after: str) -> Changed:
    return Json().compare(snapshot(before), snapshot(after)).changed


def reversed_members(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: reversed_members(value[name]) for name in reversed(value)}
    return [reversed_members(item) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("check", detector_checks.CHECKS)
def test_the_json_detector_keeps_the_contract(check: object) -> None:
    check(Json)  # type: ignore[operator]


@given(VALUES)
def test_order_of_members_white_space_and_escapes_are_no_change(value: Any) -> None:
    plain = json.dumps(value)
    other = json.dumps(reversed_members(value), indent=3, ensure_ascii=False).encode("utf-8", "surrogatepass")
    before, after = snapshot(plain), Snapshot(body=other, media_type="application/json", charset="utf-8")
    if b"\xed" not in other:  # lone surrogates cannot be written as UTF-8
        assert Json().compare(before, after).changed is Changed.NO


@given(VALUES, VALUES)
def test_two_values_are_the_same_only_if_they_are_equal(one: Any, other: Any) -> None:
    verdict = changed(json.dumps(one), json.dumps(other))
    same = typed(one) == typed(other)
    assert (verdict is Changed.NO) == same


def typed(value: Any) -> Any:
    """Equality of JSON: true is not 1, but 1 is 1.0."""
    match value:
        case bool() | None | str():
            return (type(value).__name__, value)
        case int():
            return ("number", value)
        case float():
            return ("number", int(value) if value.is_integer() else value)
        case list():
            return ("array", [typed(item) for item in value])
        case _:
            return ("object", {name: typed(item) for name, item in value.items()})


def test_one_judgement_reads_each_copy_once_through_each_lens() -> None:
    read: list[Lens] = []

    def counted(snapshot: Snapshot) -> Document:
        read.append(snapshot.lens)
        return json_detector.read(snapshot)

    own = json_detector
    form = Form(counted, own.digest, own.differences, own.parts, own.empty, own.texts)
    detector = Structured("json", form)
    old, new = (replace(snapshot(text), memo={}) for text in ('{"a": "one", "n": 1}', '{"a": "two", "n": 2}'))
    assert detector.fingerprint(new) == Json().fingerprint(new)
    assert detector.compare(old, new) == Json().compare(old, new)
    assert detector.differing(old, new) == Json().differing(old, new)
    assert detector.words(old) == Json().words(old)
    assert read == [new.lens, old.lens]
    masked = replace(new, lens=Lens(masks=(Mask(place="$.n", shape=REST),)))
    assert detector.fingerprint(masked) != detector.fingerprint(new)
    assert len(read) == 3


def test_numbers_are_told_apart_by_value_and_no_digit_is_lost() -> None:
    assert changed("[1, 100, 0.5]", "[1.0, 1e2, 5E-1]") is Changed.NO
    assert changed("[-0]", "[0]") is Changed.NO
    assert changed("12345678901234567890123", "12345678901234567890124") is Changed.YES
    assert changed("0.1000000000000000000001", "0.1") is Changed.YES
    assert changed("1e999999", "1e999998") is Changed.YES
    assert changed("1e999999999", "10e999999998") is Changed.NO
    assert changed("1" * 40, "1" * 39 + "2") is Changed.YES
    assert changed("0." + "1" * 40, "0." + "1" * 39 + "2") is Changed.YES
    assert changed("1" + "0" * 500, "1e500") is Changed.NO
    assert changed("1" * 5000, "1" * 4999 + "2") is Changed.YES


def test_the_evidence_names_the_path_and_both_values() -> None:
    before = '{"items": [{"id": "a", "price": 3}, {"id": "b", "price": 4}]}'
    after = '{"items": [{"id": "b", "price": 5}, {"id": "a", "price": 3}, {"id": "c", "price": 1}]}'
    evidence = Json().compare(snapshot(before), snapshot(after)).evidence
    assert "$.items[id=b].price: 4 → 5" in evidence
    assert '+$.items[id=c]: {"id":"c","price":1}' in evidence
    assert evidence.startswith("1 value changed, 2 values added")


def test_the_order_of_an_array_has_meaning() -> None:
    verdict = Json().compare(snapshot('[{"id": "a"}, {"id": "b"}]'), snapshot('[{"id": "b"}, {"id": "a"}]'))
    assert verdict.changed is Changed.YES
    assert verdict.evidence == "the same values in another order"


def test_a_member_given_twice_is_kept_twice() -> None:
    assert changed('{"a": 1, "a": 2}', '{"a": 1, "a": 2}') is Changed.NO
    assert changed('{"a": 1, "a": 2}', '{"a": 3, "a": 2}') is Changed.YES


@pytest.mark.parametrize("broken", ["", "{", "[1,]", "[" * 100_000, "\x00", "<html>", '{"a": 1} trailing'])
def test_what_is_not_json_is_unknown_and_no_change(broken: str) -> None:
    assert changed('{"a": 1}', broken) is Changed.UNKNOWN
    assert Json().fingerprint(snapshot(broken)) == ""


def test_in_a_process_of_its_own_each_copy_is_read_once_too() -> None:
    """Reading takes longest, and has ten seconds there."""
    read: list[bytes] = []

    def counted(snapshot: Snapshot) -> Document:
        read.append(bytes(snapshot.body))
        return json_detector.read(snapshot)

    own = Json()._form
    form = Form(counted, own.digest, own.differences, own.parts, own.empty, own.texts)
    copies = [snapshot('{"a": 1}'), snapshot('{"a": 2}')]
    assert structured._elsewhere(structured._compared, form, *copies) is not None
    assert read == [bytes(copy.body) for copy in copies]
