"""RDF: the graph counts, not its serialisation, the order of statements or the labels of blank nodes."""

from __future__ import annotations

from pyoxigraph import Quad

from recrawl.detect.structured import Differences, Structured, between, hashed
from recrawl.model import Snapshot
from recrawl.parse import rdf


def Rdf() -> Structured:  # noqa: N802 - it stands where a class could
    """The detector `rdf`. It always reads where it can be killed: a few blank nodes are enough to hang it."""
    return Structured("rdf", digest, differences, tame_bytes=0)


def digest(snapshot: Snapshot) -> str:
    return hashed(rdf.canonical(_quads(snapshot)))


def differences(before: Snapshot, after: Snapshot) -> Differences:
    old, new = rdf.described(_quads(before)), rdf.described(_quads(after))
    return between(
        dict.fromkeys(sorted(old), ""), dict.fromkeys(sorted(new), ""), noun="statement", plural="statements"
    )


def _quads(snapshot: Snapshot) -> list[Quad]:
    return rdf.quads(bytes(snapshot.body), snapshot.media_type, snapshot.url)
