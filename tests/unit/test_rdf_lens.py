"""Graphs and results of queries through a lens: what is ignored or masked is no change, all else is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, RdfFormat, Triple, serialize

from recrawl.detect import noise
from recrawl.detect.blanks import difference
from recrawl.detect.rdf import Rdf
from recrawl.detect.results import Results
from recrawl.model import Changed, Lens, Noise, Part, Snapshot
from recrawl.parse.rdf import divided

E = "http://example.org/"
NODES = [*(NamedNode(f"{E}{name}") for name in "ab"), *(BlankNode(f"n{i}") for i in range(3))]
STATEMENTS = st.builds(
    Triple,
    st.sampled_from(NODES),
    st.sampled_from([NamedNode(f"{E}p"), NamedNode(f"{E}q")]),
    st.sampled_from([*NODES, Literal("x"), Literal("y")]),
)
TURTLE = """@prefix e: <http://example.org/> .
e:a e:name "A" ; e:seen "10:15" ; e:at [ e:street "One" ; e:seen "10:15" ] .
e:b e:name "B" ; e:seen "10:20" ; e:at [ e:street "Two" ; e:seen "10:20" ] .
"""


def turtle(text: str, **rules: Any) -> Snapshot:
    return Snapshot(body=text.encode(), media_type="text/turtle", url=E, lens=Lens(**rules))


def graph(triples: list[Triple], **rules: Any) -> Snapshot:
    body = serialize(triples, format=RdfFormat.N_TRIPLES) or b""
    return Snapshot(body=body, media_type="application/n-triples", lens=Lens(**rules))


@settings(max_examples=60, deadline=None)
@given(st.lists(STATEMENTS, min_size=1, max_size=7, unique_by=str), st.data())
def test_a_statement_less_is_a_change_unless_its_predicate_does_not_count(
    triples: list[Triple], data: st.DataObject
) -> None:
    less = list(triples)
    gone = less.pop(data.draw(st.integers(0, len(triples) - 1)))
    other = f"{E}p" if str(gone.predicate) == f"<{E}q>" else f"{E}q"

    def changed(**rules: Any) -> Changed:
        return Rdf().compare(graph(triples, **rules), graph(less, **rules)).changed

    assert changed() is Changed.YES
    assert changed(ignore=(f"predicate:{gone.predicate}",)) is Changed.NO
    assert changed(ignore=(f"predicate:<{other}>", "column:x")) is Changed.YES
    assert changed(include=(f"predicate:{gone.predicate}",)) is Changed.YES
    assert changed(include=(f"predicate:<{other}>",)) is Changed.NO


@settings(max_examples=80, deadline=None)
@given(
    st.lists(STATEMENTS, min_size=1, max_size=8, unique_by=str),
    st.lists(STATEMENTS, min_size=1, max_size=8, unique_by=str),
)
def test_what_is_said_to_differ_makes_one_graph_of_the_other(one: list[Triple], other: list[Triple]) -> None:
    def quads(triples: list[Triple], mark: str) -> list[Quad]:
        def name(term: object) -> object:
            return BlankNode(f"{mark}{term.value}") if isinstance(term, BlankNode) else term

        return [Quad(name(t.subject), t.predicate, name(t.object)) for t in triples]  # type: ignore[arg-type]

    found = difference(divided(quads(one, "l")), divided(quads(other, "r")))
    same = Rdf().compare(graph(one), graph(other)).changed is Changed.NO
    assert not same or len(one) == len(other)
    assert same or found.removed or found.added
    assert len(one) - len(found.removed) + len(found.added) == len(other)


def test_one_edit_far_from_named_things_is_told_as_one() -> None:
    verdict = Rdf().compare(turtle(TURTLE), turtle(TURTLE.replace("Two", "Three")))
    assert verdict.evidence == (
        "1 statement added, 1 statement removed: "
        '[<http://example.org/b> <http://example.org/at>] <http://example.org/street>: "Two" → "Three"'
    )
    more = TURTLE.replace('e:street "Two"', 'e:street "Two" ; e:country "NO"')
    verdict = Rdf().compare(turtle(TURTLE), turtle(more))
    assert verdict.evidence.startswith("1 statement added: +[<http://example.org/b> <http://example.org/at>]")


def test_named_graphs_count() -> None:
    def nquads(name: str) -> Snapshot:
        line = f'<{E}a> <{E}p> "x" <{E}{name}> .\n<{E}a> <{E}p> "x" _:g .'
        return Snapshot(body=line.encode(), media_type="application/n-quads")

    assert Rdf().compare(nquads("g"), nquads("g")).changed is Changed.NO
    verdict = Rdf().compare(nquads("g"), nquads("h"))
    assert verdict.changed is Changed.YES
    assert "<http://example.org/h>" in verdict.evidence


def test_well_known_names_are_shown_in_short() -> None:
    line = f'<{E}a> <http://www.w3.org/2000/01/rdf-schema#label> "%s"@en .'
    before, after = (
        Snapshot(body=(line % word).encode(), media_type="text/turtle") for word in ("one", "two")
    )
    assert Rdf().listed(before, after) == [f'<{E}a> rdfs:label: "one"@en → "two"@en']


def test_masks_and_parts_speak_of_predicates() -> None:
    later = TURTLE.replace("10:", "11:")
    parts = Rdf().differing(turtle(TURTLE), turtle(later))
    assert parts == (Part(f"predicate:<{E}seen>", "10:15", "11:15"),)
    masks = noise.learned(Noise(), parts, 0.0).masks
    assert Rdf().compare(turtle(TURTLE, masks=masks), turtle(later, masks=masks)).changed is Changed.NO
    other = turtle(later.replace("Two", "Three"), masks=masks)
    assert Rdf().compare(turtle(TURTLE, masks=masks), other).changed is Changed.YES
    never = turtle(later.replace("11:15", "never"), masks=masks)
    assert Rdf().compare(turtle(TURTLE, masks=masks), never).changed is Changed.YES
    renamed = turtle(TURTLE.replace('"A"', '"C"'))
    assert Rdf().differing(turtle(TURTLE), renamed) == (
        Part(f"predicate:<{E}name> subject:<{E}a>", "A", "C"),
    )
    assert Rdf().differing(turtle(TURTLE), turtle(TURTLE.replace("One", "Six"))) == ()


def test_xml_may_be_written_in_any_charset() -> None:
    form = (
        '<?xml version="1.0" encoding="%s"?><!DOCTYPE r [<!ENTITY e \'http://example.org/\'>]>'
        '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:e="&e;">'
        '<r:Description r:about="&e;a"><e:p>Äther</e:p></r:Description></r:RDF>'
    )
    same = turtle(f'<{E}a> <{E}p> "Äther" .')
    for charset in ("utf-8", "iso-8859-1", "utf-16"):
        body = (form % charset).encode(charset)
        other = Snapshot(body=body, media_type="application/rdf+xml")
        assert Rdf().compare(same, other).changed is Changed.NO, charset


def test_json_ld_with_its_context_elsewhere_is_judged_as_json() -> None:
    def linked(**members: object) -> Snapshot:
        document = {"@context": "https://schema.org", **members}
        return Snapshot(body=json.dumps(document).encode(), media_type="application/ld+json")

    before = linked(name="A", year=1)
    assert Rdf().compare(before, linked(year=1.0, name="A")).changed is Changed.NO
    assert Rdf().compare(before, linked(name="B", year=1)).evidence == '1 value changed: $.name: "A" → "B"'


def results(rows: list[dict[str, str]], **rules: Any) -> Snapshot:
    bindings = [{name: {"type": "literal", "value": value} for name, value in row.items()} for row in rows]
    document = {"head": {"vars": ["id", "n", "seen"]}, "results": {"bindings": bindings}}
    media_type = "application/sparql-results+json"
    return Snapshot(body=json.dumps(document).encode(), media_type=media_type, lens=Lens(**rules))


ROWS = [{"id": "a", "n": "1", "seen": "10:15"}, {"id": "b", "n": "2", "seen": "10:20"}]
LATER = [{**row, "seen": "11:00"} for row in ROWS]


def test_variables_of_a_query_are_columns() -> None:
    for spelling in ("column:seen", "column:?seen"):
        assert (
            Results()
            .compare(results(ROWS, ignore=(spelling,)), results(LATER[::-1], ignore=(spelling,)))
            .changed
            is Changed.NO
        )
    verdict = Results().compare(results(ROWS), results([{**ROWS[1], "n": "7"}, ROWS[0]]))
    assert verdict.evidence == '1 value changed: [id="b"].n: "2" → "7"'
    parts = Results().differing(results(ROWS), results(LATER))
    assert [part.place for part in parts] == ["column:seen"]
    masks = noise.learned(Noise(), parts, 0.0).masks
    assert Results().compare(results(ROWS, masks=masks), results(LATER, masks=masks)).changed is Changed.NO
    assert Results().listed(results(ROWS), results([*ROWS, {"id": "c"}])) == ['+ [id="c"]']


def test_results_in_xml_say_the_same() -> None:
    rows = "".join(
        "<result>" + "".join(f"<binding name='{k}'><literal>{v}</literal></binding>" for k, v in row.items())
        + "</result>"
        for row in ROWS
    )  # fmt: skip
    head = "".join(f"<variable name='{name}'/>" for name in ROWS[0])
    body = f"<sparql xmlns='x'><head>{head}</head><results>{rows}</results></sparql>"
    written = Snapshot(body=body.encode(), media_type="application/sparql-results+xml")
    assert Results().compare(results(ROWS), written).changed is Changed.NO
    assert Results().compare(results(LATER), written).changed is Changed.YES
    asked = Snapshot(body=b"<sparql><head/><boolean>true</boolean></sparql>", media_type=written.media_type)
    answer = Snapshot(body=b'{"head": {}, "boolean": true}', media_type="application/sparql-results+json")
    assert Results().compare(asked, answer).changed is Changed.NO


@pytest.mark.parametrize("typed", ["http://www.w3.org/2001/XMLSchema#string", ""])
def test_a_plain_literal_is_a_string(typed: str) -> None:
    def one(term: dict[str, str]) -> Snapshot:
        document = {"head": {"vars": ["x"]}, "results": {"bindings": [{"x": term}]}}
        return Snapshot(body=json.dumps(document).encode(), media_type="application/sparql-results+json")

    plain = one({"type": "literal", "value": "a"})
    assert (
        Results().compare(plain, one({"type": "literal", "value": "a", "datatype": typed})).changed
        is Changed.NO
    )
