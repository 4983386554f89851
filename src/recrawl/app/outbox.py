"""How far news was gathered, and what waits to be sent: one note of the store, so that it is as safe as the
visits are, and in a backup it belongs to them.

Visits are numbered in the order of recording. The note says up to which of them news was gathered, beside
what was made of it: a crash at any moment leaves both as they were, or both as they should be.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf

from recrawl.app.rows import Row
from recrawl.contracts import Store
from recrawl.errors import StoreError
from recrawl.notify.box import Box, box_of, box_row

NOTE, LOG = "notices", "notices_sent"
N_LOGGED = 200
_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    mark: int | None = None  # None: nobody has ever asked
    boxes: Mapping[str, Box] = field(default_factory=dict)
    silent: Mapping[int, float] = field(default_factory=dict)  # told of: the last change before, by resource
    silent_at: float = -inf  # when it was last looked for
    troubled: Sequence[str] = ()  # hosts that were told of
    hosts_at: float = -inf


def started(store: Store) -> None:
    """Of what was recorded so far nothing is news."""
    keep(store, State(mark=store.recorded_since(None, 1)[1]))


def kept_state(store: Store) -> State:
    text = store.note(NOTE)
    if text is None:
        return State()
    row = json.loads(text)
    if row.pop("format") != _FORMAT:
        raise StoreError("What waits to be told was kept by another recrawl; upgrade this one.")
    row["boxes"] = {name: box_of(box) for name, box in row["boxes"].items()}
    row["silent"] = {int(key): at for key, at in row["silent"].items()}
    return State(**row)


def keep(store: Store, state: State) -> None:
    row = {
        "format": _FORMAT,
        "mark": state.mark,
        "boxes": {name: box_row(box) for name, box in state.boxes.items()},
        "silent": dict(state.silent),
        "silent_at": state.silent_at,
        "troubled": list(state.troubled),
        "hosts_at": state.hosts_at,
    }
    store.note(NOTE, json.dumps(row))


def delivery_rows(store: Store) -> list[Row]:
    """Oldest first."""
    rows: list[Row] = json.loads(store.note(LOG) or "[]")
    return rows


def logged(store: Store, rows: Sequence[Row]) -> None:
    if rows:
        store.note(LOG, json.dumps([*delivery_rows(store), *rows][-N_LOGGED:]))
