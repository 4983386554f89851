"""RDF and SPARQL results: equal graphs are never a change, every real edit is one."""

from __future__ import annotations

import json
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, RdfFormat, Triple, serialize

from recrawl.checks import detector as detector_checks
from recrawl.detect.rdf import Rdf
from recrawl.detect.results import Results
from recrawl.model import Changed, Snapshot

NODES = st.sampled_from([NamedNode(f"http://example.org/{name}") for name in "abcd"])
BLANKS = st.sampled_from([BlankNode(f"b{i}") for i in range(4)])
WORDS = st.builds(Literal, st.text("xyz ", max_size=4))
TRIPLES = st.builds(
    Triple, NODES | BLANKS, st.sampled_from([NamedNode("http://example.org/p"), NamedNode("http://example.org/q")]),
    NODES | BLANKS | WORDS,
)  # fmt: skip
GRAPHS = st.lists(TRIPLES, min_size=1, max_size=8, unique_by=str)
FORMATS = st.sampled_from([RdfFormat.TURTLE, RdfFormat.N_TRIPLES, RdfFormat.RDF_XML])


def written(triples: list[Triple], form: RdfFormat = RdfFormat.TURTLE) -> Snapshot:
    body = serialize(triples, format=form) or b""
    return Snapshot(body=body, media_type=form.media_type, url="http://example.org/doc")


def relabelled(triples: list[Triple]) -> list[Triple]:
    def name(term: object) -> object:
        return BlankNode(f"other{term.value}") if isinstance(term, BlankNode) else term

    return [Triple(name(t.subject), t.predicate, name(t.object)) for t in triples]  # type: ignore[arg-type]


def results(rows: list[dict[str, dict[str, str]]]) -> Snapshot:
    document = {"head": {"vars": ["x", "y"]}, "results": {"bindings": rows}}
    return Snapshot(body=json.dumps(document).encode(), media_type="application/sparql-results+json")


@pytest.mark.parametrize("check", detector_checks.CHECKS)
@pytest.mark.parametrize("make", [Rdf, Results])
def test_both_detectors_keep_the_contract(check: object, make: object) -> None:
    check(make)  # type: ignore[operator]


@settings(max_examples=60, deadline=None)
@given(GRAPHS, FORMATS, st.randoms(use_true_random=False))
def test_serialisation_order_and_labels_are_no_change(
    triples: list[Triple], form: RdfFormat, rng: Random
) -> None:
    other = relabelled(triples)
    rng.shuffle(other)
    assert Rdf().compare(written(triples), written(other, form)).changed is Changed.NO


@settings(max_examples=60, deadline=None)
@given(GRAPHS, st.data())
def test_a_statement_more_or_less_is_a_change(triples: list[Triple], data: st.DataObject) -> None:
    less = list(triples)
    less.pop(data.draw(st.integers(0, len(triples) - 1)))
    assert Rdf().compare(written(triples), written(less)).changed is Changed.YES
    assert Rdf().compare(written(less), written(triples)).changed is Changed.YES


def test_the_evidence_names_the_statements() -> None:
    before = b'@prefix e: <http://example.org/> . e:a e:p "one" ; e:q [ e:p "inner" ] .'
    after = b'@prefix e: <http://example.org/> . e:a e:q [ e:p "inner" ] ; e:p "two" .'
    verdict = Rdf().compare(
        Snapshot(body=before, media_type="text/turtle"), Snapshot(body=after, media_type="text/turtle")
    )
    assert verdict.evidence.startswith("1 statement added, 1 statement removed")
    assert '"two"' in verdict.evidence
    assert "inner" not in verdict.evidence


def test_a_graph_made_to_hang_is_unknown_and_does_not() -> None:
    names = [f"_:n{i}" for i in range(11)]
    poison = "\n".join(f"{a} <http://example.org/p> {b} ." for a in names for b in names if a != b)
    snapshot = Snapshot(body=poison.encode(), media_type="application/n-triples")
    assert Rdf().fingerprint(snapshot) == ""


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), max_size=6), st.randoms())
def test_the_order_of_solutions_is_no_change_and_their_number_is(
    rows: list[tuple[str, str]], rng: Random
) -> None:
    bindings = [{"x": {"type": "uri", "value": x}, "y": {"type": "literal", "value": y}} for x, y in rows]
    shuffled = list(bindings)
    rng.shuffle(shuffled)
    assert Results().compare(results(bindings), results(shuffled)).changed is Changed.NO
    assert Results().compare(
        results(bindings), results([*bindings, bindings[0]] if bindings else [{}])
    ).changed is (Changed.YES)


def test_blank_nodes_in_results_may_be_relabelled() -> None:
    def row(label: str, word: str) -> dict[str, dict[str, str]]:
        return {"x": {"type": "bnode", "value": label}, "y": {"type": "literal", "value": word}}

    before = results([row("b0", "one"), row("b1", "two")])
    assert Results().compare(before, results([row("q", "two"), row("r", "one")])).changed is Changed.NO
    assert Results().compare(before, results([row("q", "two"), row("q", "one")])).changed is Changed.YES


def test_ask_and_construct_are_judged_too() -> None:
    yes, no = (
        Snapshot(
            body=json.dumps({"head": {}, "boolean": b}).encode(), media_type="application/sparql-results+json"
        )
        for b in (True, False)
    )
    assert Results().compare(yes, no).changed is Changed.YES
    graph = written([Triple(NamedNode("http://e/a"), NamedNode("http://e/p"), Literal("x"))])
    assert Results().compare(graph, graph).changed is Changed.NO
