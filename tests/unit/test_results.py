"""SPARQL results: only a whole document counts, and pages become one."""

from __future__ import annotations

import json

import pytest

from recrawl.parse.pool import ParseFailed
from recrawl.parse.results import BETWEEN, CLOSING, Rows, opening, rows


def page(*values: dict[str, object]) -> bytes:
    found = [{"x": value} for value in values]
    return json.dumps({"head": {"vars": ["x"]}, "results": {"bindings": found}}).encode()


def read(body: bytes, n_page: int = 1) -> Rows:
    found = rows(body, n_page)
    assert isinstance(found, Rows)
    return found


def test_pages_become_one_document() -> None:
    one = read(page({"type": "uri", "value": "a"}, {"value": "ü", "type": "literal"}))
    two = read(page({"type": "uri", "value": "c"}), 2)
    whole = opening(one.variables) + BETWEEN.join([one.text, two.text]) + CLOSING
    document = json.loads(whole)
    assert document["head"] == {"vars": ["x"]}
    assert [row["x"]["value"] for row in document["results"]["bindings"]] == ["a", "ü", "c"]
    assert rows(whole) == Rows(("x",), 3, BETWEEN.join([one.text, two.text]))


def test_rows_are_written_in_one_way_however_they_came() -> None:
    assert read(page({"type": "uri", "value": "a"})) == read(page({"value": "a", "type": "uri"}))


def test_a_blank_node_of_another_page_is_another_node() -> None:
    body = page({"type": "bnode", "value": "b0"}, {"type": "literal", "value": "b0"})
    assert b'"p2-b0"' in read(body, 2).text
    assert read(body, 2).text.count(b"p2-") == 1
    assert b"p2-" not in read(body, 1).text


def test_a_yes_or_no_is_a_result() -> None:
    assert rows(b'{"head": {}, "boolean": false}') == Rows((), 0)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"head": {}}',
        b'{"head": {"vars": ["x"]}, "results": {"bindings": [1]}}',
        b'{"head": {"vars": 1}, "results": {"bindings": []}}',
        page({"type": "uri", "value": "a"})[:-3],
        page({"type": "uri", "value": "a"}) + b"\njava.lang.TimeoutException",
        b"[" * 100_000,
        b'{"head":' + b"[" * 300_000,  # too long to be read in this process
    ],
)
def test_half_a_result_or_none_is_told(body: bytes) -> None:
    assert isinstance(rows(body), ParseFailed)


def test_a_large_result_is_read_elsewhere_with_the_same_result() -> None:
    values: list[dict[str, object]] = [{"type": "literal", "value": f"{i:0100}"} for i in range(4_000)]
    many = page(*values)
    assert len(many) > 256 * 1024
    assert read(many).n_rows == 4_000
