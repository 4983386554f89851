"""RDF: the graph counts, not its serialisation, the order of statements or the labels of blank nodes.

JSON-LD whose context is in another document is judged as JSON: what its terms mean is not known here, nor
which of its arrays are in order.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from pyoxigraph import BlankNode, Literal, NamedNode, Quad

from recrawl.detect import json
from recrawl.detect.blanks import Difference, Statement, difference
from recrawl.detect.json import Document
from recrawl.detect.masks import Masks
from recrawl.detect.places import Pair, seen
from recrawl.detect.places import parts as parts_of
from recrawl.detect.selectors import Language, speaking
from recrawl.detect.structured import Differences, Form, Structured, Style, counted, hashed
from recrawl.detect.terms import shown, text
from recrawl.model import Part, Snapshot
from recrawl.parse import rdf
from recrawl.parse.rdf import Statements, divided

_MASKED = NamedNode("urn:recrawl:masked")
Spot = tuple[str, str, str]  # graph, subject, predicate
Spots = dict[Spot, list[str]]


@dataclass(frozen=True)
class Graph:
    """The statements that count, whatever is masked, and the masks."""

    quads: list[Quad]
    masks: Masks

    @cached_property
    def statements(self) -> Statements:
        return divided(self.quads)

    @cached_property
    def masked(self) -> Statements:
        return divided(_masked(quad, self.masks) for quad in self.quads) if self.masks else self.statements


def Rdf() -> Structured:  # noqa: N802 - it stands where a class could
    """The detector `rdf`. It always reads where it can be killed: a few blank nodes are enough to hang it."""
    return Structured("rdf", Form(read, digest, differences, parts, empty, texts), tame_bytes=0)


def read(snapshot: Snapshot) -> Graph | Document:
    try:
        quads = rdf.quads(bytes(snapshot.body), snapshot.media_type, snapshot.url)
    except rdf.RemoteContextError:
        return json.read(snapshot)
    lens = snapshot.lens
    include, ignore = (
        {selector.expression for selector in speaking(rules, Language.PREDICATE)}
        for rules in (lens.include, lens.ignore)
    )
    if include or ignore:
        quads = [
            quad
            for quad in quads
            if (not include or str(quad.predicate) in include) and str(quad.predicate) not in ignore
        ]
    return Graph(quads, Masks(lens.masks))


def empty(graph: Graph | Document) -> bool:
    return json.empty(graph) if isinstance(graph, Document) else not graph.quads


def texts(graph: Graph | Document) -> Iterator[str]:
    if isinstance(graph, Document):
        return json.texts(graph)
    statements = graph.masked
    quads = [*statements.ground.values(), *statements.blank]
    return (quad.object.value for quad in quads if isinstance(quad.object, Literal))


def digest(graph: Graph | Document) -> str:
    return json.digest(graph) if isinstance(graph, Document) else hashed(rdf.canonical(graph.masked))


def differences(before: Graph | Document, after: Graph | Document, style: Style) -> Differences:
    if isinstance(before, Document) and isinstance(after, Document):
        return json.differences(before, after, style)
    if isinstance(before, Document) or isinstance(after, Document):
        note = "the context of its JSON-LD is elsewhere now, or no longer so"
        return Differences(counts=(), magnitude=1.0, notes=(note,))
    found = difference(before.masked, after.masked)
    lines = list(_lines(found, style))
    n_added, n_removed = len(found.added), len(found.removed)
    return Differences(
        counts=(
            *counted(n_added, "statement", "statements", "added"),
            *counted(n_removed, "statement", "statements", "removed"),
        ),
        magnitude=min(1.0, (n_added + n_removed) / max(found.n, 1)),
        lines=tuple(lines[: style.n_lines]),
        n_lines=len(lines),
    )


def _lines(found: Difference, style: Style) -> Iterator[str]:
    """Where one object took the place of another, that is one line."""

    def named(term: str) -> str:
        if term not in found.held:
            return shown(term, style)
        subject, predicate = found.held[term]
        inner = "[]" if subject.startswith("_:") else shown(subject, style)
        return f"[{inner} {shown(predicate, style)}]"

    def where(spot: Spot) -> str:
        return " ".join(named(term) for term in spot if term)

    gone, come = _by_spot(found.removed), _by_spot(found.added)
    one_for_one = {spot for spot in gone if len(gone[spot]) == len(come.get(spot, ())) == 1}
    for spot in sorted(one_for_one):
        yield f"{where(spot)}: {named(gone[spot][0])} → {named(come[spot][0])}"
    for mark, statements in ((style.added, come), (style.removed, gone)):
        for spot in sorted(statements.keys() - one_for_one):
            for term in sorted(statements[spot]):
                yield f"{mark}{where(spot)} {named(term)}"


def parts(before: Graph | Document, after: Graph | Document) -> tuple[Part, ...]:
    if isinstance(before, Document) and isinstance(after, Document):
        return json.parts(before, after)
    if isinstance(before, Document) or isinstance(after, Document):
        return ()
    found = difference(before.statements, after.statements)
    gone, come = _by_spot(found.removed), _by_spot(found.added)
    n_all = Counter(str(quad.predicate) for quad in before.quads)
    pairs = [*_differing(gone, come, n_all), *_standing(gone, n_all)]
    return tuple(part for part in parts_of(pairs) if part.place)


def _differing(gone: Spots, come: Spots, n_all: Counter[str]) -> Iterator[Pair]:
    """Where one object took the place of another. Statements that only come or go are news, never noise."""
    for spot, objects in sorted(gone.items()):
        others = come.get(spot, [])
        if len(objects) != 1 or len(others) != 1 or "_:" in (objects[0][:2], others[0][:2]):
            continue
        general = f"predicate:{spot[2]}"
        exact = f"{general} subject:{spot[1]}"
        if spot[1].startswith("_:"):  # it has no name that would hold on the next visit
            exact = general if n_all[spot[2]] == 1 else ""
        yield Pair(exact, general, text(objects[0]), text(others[0]))


def _standing(gone: Spots, n_all: Counter[str]) -> Iterator[Pair]:
    """What stayed the same among statements with a predicate that changed elsewhere."""
    n_gone = Counter(predicate for (_, _, predicate), objects in gone.items() for _ in objects)
    for predicate, n in n_gone.items():
        for _ in range(n_all[predicate] - n):
            yield Pair("", f"predicate:{predicate}", "", "")


def _by_spot(statements: set[Statement]) -> Spots:
    found: Spots = defaultdict(list)
    for graph, subject, predicate, term in statements:
        found[graph, subject, predicate].append(term)
    return dict(found)


def _masked(quad: Quad, masks: Masks) -> Quad:
    if isinstance(quad.object, BlankNode):
        return quad
    general = f"predicate:{quad.predicate}"
    said = text(str(quad.object))
    through = seen(masks, f"{general} subject:{quad.subject}", general, said)
    if through == said:
        return quad
    return Quad(quad.subject, quad.predicate, Literal(through, datatype=_MASKED), quad.graph_name)
