"""The living web's graphs and queries: serialisations by Accept, rows by the window."""

from __future__ import annotations

import json
from collections.abc import Iterator
from urllib.parse import quote, urlencode
from urllib.request import Request, urlopen

import pytest
from defusedxml.ElementTree import fromstring

from recrawl.errors import BadSettingError
from recrawl.live.clock import WallClock
from recrawl.livingweb import Document, Form, LivingWeb, Noise, Query, Script, serving

GRAPH = Document(host="g.localhost", path="/graph", form=Form.RDF)
ALL = Document(host="g.localhost", path="/sparql", form=Form.SPARQL, query=Query.ALL, max_rows=3)


@pytest.fixture(scope="module")
def web() -> Iterator[LivingWeb]:
    with serving(Script((GRAPH, ALL)), clock=WallClock()) as living:
        yield living


def asked(web: LivingWeb, entry: Document, target: str = "", **said: str | bytes) -> tuple[str, bytes]:
    url = f"http://127.0.0.1:{web.port}{target or entry.path}"
    headers = {"Host": entry.host, "Accept": str(said.get("accept", "*/*"))}
    data = said.get("data")
    with urlopen(Request(url, data=data if isinstance(data, bytes) else None, headers=headers)) as answer:
        return answer.headers["Content-Type"], answer.read()


def triples(media_type: str, body: bytes) -> set[tuple[str, str, str]]:
    if media_type == "application/rdf+xml":
        about = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"
        return {
            (node.attrib[about], said.tag.replace("{", "").replace("}", ""), said.text or "")
            for node in fromstring(body)
            for said in node
        }
    if media_type == "application/ld+json":
        return {
            (node["@id"], p, node[p][0]["@value"]) for node in json.loads(body) for p in node if p != "@id"
        }
    found = set()
    for line in body.decode().splitlines():
        s, p, rest = line.split(" ", 2)
        found.add((s.strip("<>"), p.strip("<>"), json.loads(rest.rpartition("^^")[0])))
    return found


def test_every_serialisation_says_the_same(web: LivingWeb) -> None:
    said = []
    for accept in ("text/turtle", "application/n-quads", "application/rdf+xml", "application/ld+json"):
        media_type, body = asked(web, GRAPH, accept=accept)
        assert media_type == accept
        said.append(triples(media_type, body))
    assert len(said[0]) == 80
    assert all(one == said[0] for one in said)


def test_the_serialisations_take_turns_where_none_is_preferred(web: LivingWeb) -> None:
    assert len({asked(web, GRAPH)[0] for _ in range(6)}) == 6
    weighed = "text/turtle;q=0.4, application/trig;q=0.8, */*;q=0.1"
    assert {asked(web, GRAPH, accept=weighed)[0] for _ in range(3)} == {"application/trig"}


def n_rows(body: bytes) -> int:
    return len(json.loads(body)["results"]["bindings"])


def test_rows_come_by_the_window_and_no_more_than_the_endpoint_gives(web: LivingWeb) -> None:
    def rows(window: str) -> int:
        return n_rows(asked(web, ALL, f"/sparql?query={quote(f'{Query.ALL}{window}')}")[1])

    assert rows("") == 3
    assert rows("\nLIMIT 2 OFFSET 0") == 2
    assert rows("\nLIMIT 9 OFFSET 3") == 2
    assert rows("\nLIMIT 9 OFFSET 5") == 0


def test_a_query_may_be_posted(web: LivingWeb) -> None:
    assert n_rows(asked(web, ALL, data=urlencode({"query": Query.ALL}).encode())[1]) == 3
    with pytest.raises(OSError, match="405"):
        asked(web, GRAPH, data=b"query=x")


def test_what_cannot_be_kept_is_refused() -> None:
    with pytest.raises(BadSettingError, match="no rows to hold back"):
        Document(host="a.localhost", path="/q", form=Form.SPARQL, query=Query.COUNT, max_rows=3)
    with pytest.raises(BadSettingError, match="no place for noise"):
        Document(host="a.localhost", path="/g", form=Form.RDF, noise=Noise.HIDDEN)
