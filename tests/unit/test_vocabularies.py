"""Real vocabularies: each parses, has one canonical form, and keeps it when its statements are reordered and
its blank nodes are relabelled.

Opt in with RECRAWL_VOCABULARIES, a folder with `texts.jsonl.xz`: one JSON object a line, of which the first
with `lines` for a `resource` is its first version.
"""

from __future__ import annotations

import json
import lzma
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from pyoxigraph import BlankNode, Quad, RdfFormat, serialize

from recrawl.detect.rdf import Rdf
from recrawl.model import Changed, Snapshot
from recrawl.parse.rdf import format_of, quads

FOLDER = os.environ.get("RECRAWL_VOCABULARIES")
BASE = "http://example.org/vocabulary"


def first_versions(folder: Path) -> Iterator[tuple[int, bytes]]:
    seen: set[int] = set()
    with lzma.open(folder / "texts.jsonl.xz", "rt", encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if "lines" in row and row["resource"] not in seen:
                seen.add(row["resource"])
                yield row["resource"], "\n".join(row["lines"]).encode()


def relabelled(statements: list[Quad], rng: Random) -> list[Quad]:
    def name(term: object) -> object:
        return BlankNode(f"other{term.value}x") if isinstance(term, BlankNode) else term

    renamed = [
        Quad(name(q.subject), q.predicate, name(q.object), name(q.graph_name))  # type: ignore[arg-type]
        for q in statements
    ]
    rng.shuffle(renamed)
    return renamed


def judged(body: bytes, statements: list[Quad]) -> tuple[Changed, Changed]:
    """The verdict on another spelling of the same graph, and on one with a statement less."""
    whole = Snapshot(body=body, url=BASE)
    return Rdf().compare(whole, written(relabelled(statements, Random(len(body))))).changed, (
        Rdf().compare(whole, written(statements[1:])).changed if statements else Changed.YES
    )


def written(statements: list[Quad]) -> Snapshot:
    body = serialize(statements, format=RdfFormat.N_QUADS) or b""
    return Snapshot(body=body, media_type=RdfFormat.N_QUADS.media_type)


@pytest.mark.skipif(FOLDER is None, reason="RECRAWL_VOCABULARIES names no folder of vocabularies")
@pytest.mark.timeout(1800)
def test_real_vocabularies_survive_relabelling_and_reordering(capsys: pytest.CaptureFixture[str]) -> None:
    n_passed: Counter[str] = Counter()
    n_statements = 0
    failed: list[str] = []
    unread: Counter[str] = Counter()
    for resource, body in first_versions(Path(FOLDER or "")):
        form = format_of(body, "", "").name
        try:
            statements = list(dict.fromkeys(quads(body, "", BASE)))
        except (ValueError, SyntaxError) as problem:
            unread[f"{form}: {str(problem)[:100]}"] += 1
            continue
        n_statements += len(statements)
        if judged(body, statements) == (Changed.NO, Changed.YES):
            n_passed[form] += 1
        else:
            failed.append(f"{resource} ({form})")
    with capsys.disabled():
        print(f"\n{n_passed.total():,} passed ({dict(n_passed)}), {n_statements:,} statements")
        for why, n in unread.most_common():
            print(f"{n} unread, {why}")
    assert not failed
    assert n_passed.total() > 0
