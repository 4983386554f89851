"""The store once more, for threads of their own: a connection is used by one at a time."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from math import inf
from pathlib import Path

from recrawl.contracts import Store
from recrawl.model import Version
from recrawl.registry import part


def store_beside(path: Path) -> Store:
    """Whoever asks for it closes it."""
    store: Store = part("stores", "sqlite")(path)
    return store


def carried(path: Path) -> Mapping[str, str]:
    """The addresses of archive files that were carried away; any thread may ask."""
    if not path.exists():
        return {}
    with closing(store_beside(path)) as store:
        return store.carried()


def placed(path: Path, version: Version) -> Version | None:
    """Where this version lies now: its file may have been written anew. Any thread may ask."""
    if not path.exists():
        return None
    with closing(store_beside(path)) as store:
        found = store.history(version.resource_id, from_at=version.at, until_at=inf, limit=8)
        flagged = (one for one in store.versions(version.resource_id)) if version.flag else ()
        wanted = version.at, version.digest
        return next((one for one in (*found, *flagged) if (one.at, one.digest) == wanted), None)
