"""Data for machines: one table of readings as JSON and CSV, and a dataset that answers queries."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass

from recrawl.livingweb.content.noise import hidden, visible
from recrawl.livingweb.content.scene import N_SLOTS, Scene, iso
from recrawl.livingweb.content.words import number, title
from recrawl.livingweb.kinds import Query

_N_FIRST_ITEMS = 5
_N_ANSWERED = 50  # as the query says
XSD = "http://www.w3.org/2001/XMLSchema#"


@dataclass(frozen=True, slots=True)
class Reading:
    id: int
    label: str
    amount: float
    revision: int
    revised_at: float


def readings(scene: Scene) -> list[Reading]:
    """Every version revises one of them."""
    rows = []
    for slot in range(N_SLOTS):
        edition = scene.edition(slot)
        amount = number(90_000, scene.key, "amount", slot, edition) / 100
        label = title(scene.key, "row", slot)
        rows.append(Reading(slot + 1, label, amount, edition, scene.made_at(edition)))
    return rows


def json_table(scene: Scene) -> str:
    rows = [
        {"id": r.id, "label": r.label, "amount": r.amount, "revision": r.revision, "at": iso(r.revised_at)}
        for r in readings(scene)
    ]
    stamp = visible(scene.document)
    made = f'"generated_at": "{stamp}", ' if stamp else ""
    table = json.dumps({"title": title(scene.key), "rows": rows}, ensure_ascii=False)
    return f"{{{hidden(scene.document)}{made}{table[1:]}\n"


def csv_table(scene: Scene) -> str:
    q = hidden(scene.document)
    stamp = visible(scene.document)
    columns = ("id", "label", "amount", "revision", "at", *(("made",) if stamp else ()))
    head = ",".join(f"{q}{column}{q}" for column in columns)
    made = f",{stamp}" if stamp else ""
    rows = [
        f"{r.id},{r.label},{r.amount:.2f},{r.revision},{iso(r.revised_at)}{made}" for r in readings(scene)
    ]
    return "\r\n".join([head, *rows, ""])


def sparql_results(scene: Scene) -> str:
    answer = json.dumps(_ANSWERS[Query(scene.document.query or "")](scene), ensure_ascii=False)
    return f"{{{hidden(scene.document)}{answer[1:]}\n"


def _n_items(scene: Scene) -> int:
    """The dataset grows by one item with every version."""
    return _N_FIRST_ITEMS + scene.version


def _items(scene: Scene) -> dict[str, object]:
    n = _n_items(scene)
    return _rows(scene, range(n, max(0, n - _N_ANSWERED), -1))


def _all(scene: Scene) -> dict[str, object]:
    return _rows(scene, range(1, _n_items(scene) + 1))


def _rows(scene: Scene, items: range) -> dict[str, object]:
    endpoint = scene.url.partition("?")[0]
    rows = [
        {
            "item": {"type": "uri", "value": f"{endpoint}#{i:06}"},
            "label": {"type": "literal", "xml:lang": "en", "value": title(scene.key, "item", i)},
            "amount": {
                "type": "literal",
                "datatype": f"{XSD}integer",
                "value": str(number(9000, scene.key, i)),
            },
        }
        for i in items
    ]
    return {"head": {"vars": ["item", "label", "amount"]}, "results": {"bindings": rows}}


def _count(scene: Scene) -> dict[str, object]:
    n = {"type": "literal", "datatype": f"{XSD}integer", "value": str(_n_items(scene))}
    return {"head": {"vars": ["n"]}, "results": {"bindings": [{"n": n}]}}


def _even(scene: Scene) -> dict[str, object]:
    return {"head": {}, "boolean": _n_items(scene) % 2 == 0}


_ANSWERS: dict[Query, Callable[[Scene], dict[str, object]]] = {
    Query.ITEMS: _items,
    Query.ALL: _all,
    Query.COUNT: _count,
    Query.EVEN: _even,
}
