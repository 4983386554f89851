"""What a server is asked for."""

from __future__ import annotations

import pytest

from recrawl.model import Kind, Request
from recrawl.observe.negotiate import RDF, accept, negotiated


def weights(header: str) -> dict[str, float]:
    parts = (part.strip().partition(";q=") for part in header.split(","))
    return {name: float(q or 1) for name, _, q in parts}


def test_rdf_is_asked_for_in_every_serialisation_before_anything_else() -> None:
    said = weights(accept(Kind.RDF))
    assert set(RDF) < set(said)
    assert said["text/turtle"] == 1.0
    assert said["*/*"] < min(said[name] for name in RDF)


@pytest.mark.parametrize("held", sorted(RDF))
@pytest.mark.parametrize("kind", [Kind.RDF, Kind.AUTO])
def test_the_serialisation_that_is_held_is_asked_for_before_all_others(kind: Kind, held: str) -> None:
    said = weights(accept(kind, held))
    assert all(q < said[held] for name, q in said.items() if name != held)


@pytest.mark.parametrize(
    ("kind", "first"),
    [
        (Kind.JSON, "application/json"),
        (Kind.CSV, "text/csv"),
        (Kind.FEED, "application/atom+xml"),
        (Kind.SITEMAP, "application/xml"),
        (Kind.PAGE, "text/html"),
    ],
)
def test_each_kind_is_asked_for_by_its_own_media_types(kind: Kind, first: str) -> None:
    said = weights(accept(kind))
    assert said[first] == max(said.values())
    assert said["*/*"] == min(said.values())


@pytest.mark.parametrize("held", ["", "text/html", "image/png"])
def test_a_resource_of_no_known_kind_is_asked_for_as_anything(held: str) -> None:
    assert accept(Kind.AUTO, held) == "*/*"


def test_a_request_that_says_what_it_accepts_is_left_alone() -> None:
    request = Request(url="http://h/", kind=Kind.RDF, accept="text/turtle")
    assert negotiated(request) is request
    assert negotiated(Request(url="http://h/", kind=Kind.RDF)).accept == accept(Kind.RDF)
