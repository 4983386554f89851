"""SPARQL queries are read as far as it takes to ask them, and no word in a string is taken for a keyword."""

from __future__ import annotations

import pytest

from recrawl.errors import BadInputError, BadQueryError, BadUrlError
from recrawl.observe.query import Form, asked_by, query_url, read
from recrawl.urls import canonical, resource_url


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("SELECT * { ?s ?p ?o }", Form.SELECT),
        ("ask{}", Form.ASK),
        (
            "# SELECT\nPREFIX select: <http://x/#ask>\nBASE <http://y/>\nConstruct { ?s ?p ?o } {}",
            Form.CONSTRUCT,
        ),
        ("PREFIX : <http://x/> DESCRIBE :ask", Form.DESCRIBE),
        ('PREFIX a.b: <http://x/> ASK { ?s a.b:c "SELECT { \\" \'" }', Form.ASK),
        ("ASK { ?s ?p '''it's } ''{ here''' }", Form.ASK),
        ('ASK { ?s ?p """a "quoted" word\n} """, \'\', "" }', Form.ASK),
        ("ASK { FILTER(?a < 3 && ?b > 4 || ?a<?b) }", Form.ASK),
    ],
)
def test_a_query_says_what_it_asks_for_whatever_stands_around_it(text: str, form: Form) -> None:
    assert read(text).form is form


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("", "asks for nothing"),
        ("PREFIX a: <http://x/>", "asks for nothing"),
        ("SELECT *", "no pattern"),
        ("SELECT * { ?s ?p ?o", "ends before its last }"),
        ("SELECT * { ?s ?p ?o ) }", "Line 1, column 21"),
        ("ASK {\n ?s ?p 'open }", "Line 2, column 8: this string does not end"),
        ('ASK { ?s ?p """open" }', "does not end"),
        ("SELEKT * {}", "SELEKT"),
        ("DELETE WHERE { ?s ?p ?o }", "only looks"),
        ("PREFIX a: <http://x/> insert data {}", "only looks"),
    ],
)
def test_what_is_no_query_is_refused_with_the_place_and_the_remedy(text: str, wrong: str) -> None:
    with pytest.raises(BadQueryError, match=wrong):
        read(text)


@pytest.mark.parametrize(
    ("text", "pageable"),
    [
        ("SELECT * { ?s ?p ?o }", True),
        ("SELECT ?limit ?offset { ?limit :LIMIT 'LIMIT 3' } # LIMIT 4", True),
        ("SELECT * { { SELECT ?s { ?s ?p ?o } LIMIT 3 } }", True),
        ("SELECT * { ?s ?p ?o } limit 3", False),
        ("SELECT * { ?s ?p ?o }OFFSET 3", False),
        ("CONSTRUCT WHERE { ?s ?p ?o }", False),
        ("ASK {}", False),
    ],
)
def test_only_a_select_without_bounds_of_its_own_is_asked_for_by_the_page(text: str, pageable: bool) -> None:
    assert read(text).pageable is pageable


def test_a_window_stands_after_comments_and_before_a_last_values() -> None:
    assert read("SELECT * { } # all of it").window(10, 20) == "SELECT * { } # all of it\nLIMIT 10 OFFSET 20"
    text = "SELECT * { VALUES ?y { 1 } } ORDER BY ?x\nVALUES ?x { 1 2 }"
    windowed = read(text).window(5, 0)
    assert windowed == "SELECT * { VALUES ?y { 1 } } ORDER BY ?x\nLIMIT 5 OFFSET 0\nVALUES ?x { 1 2 }"
    assert read(windowed).limited


def test_a_query_has_one_url_and_comes_back_out_of_it() -> None:
    text = "SELECT * { ?s ?p 'a+b & c=d % ü #' }\n# end"
    url = query_url("HTTP://H:80/sparql?default-graph-uri=http://g/", text)
    assert canonical(url) == url
    endpoint, query = asked_by(url)
    assert query.text == text
    assert str(endpoint) == "http://h/sparql?default-graph-uri=http://g/"


def test_a_long_query_can_be_named_and_one_without_end_cannot() -> None:
    long = "SELECT * { " + "?s ?p ?o . " * 1000 + "}"
    assert resource_url(query_url("http://h/sparql", long)) == query_url("http://h/sparql", long)
    with pytest.raises(BadQueryError, match="shorten"):
        query_url("http://h/sparql", long * 10)
    with pytest.raises(BadUrlError, match="longer"):
        canonical(query_url("http://h/sparql", long))  # no request is sent with such a URL


@pytest.mark.parametrize(
    "url", ["http://h/sparql", "http://h/?query=ASK{}&query=ASK{}", "http://h/?query=no"]
)
def test_a_url_without_one_query_is_no_query(url: str) -> None:
    with pytest.raises(BadInputError):
        asked_by(url)


def test_an_endpoint_is_given_without_a_query() -> None:
    with pytest.raises(BadUrlError, match="endpoint alone"):
        query_url("http://h/sparql?query=ASK%7B%7D", "ASK {}")
