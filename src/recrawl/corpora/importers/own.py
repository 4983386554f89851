"""A recrawl store as history: every visit that told something is a look."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from recrawl.contracts import Store
from recrawl.corpora.importing import Intake, Option
from recrawl.errors import BadInputError
from recrawl.model import Changed, Kind, Resource, Version, Visit
from recrawl.remember.sqlite import SqliteStore
from recrawl.remember.sqlite.database import APPLICATION_ID, migrations

GONE = "gone"  # the digest of a tombstone
_STORE_FILE = "recrawl.sqlite"
_DATA = frozenset({Kind.JSON, Kind.CSV, Kind.RDF, Kind.SPARQL, Kind.SITEMAP, Kind.FILE})


class OwnStore:
    """A look's digest is that of the version held after it, so that what was judged to be noise is no change.
    Nothing is written: a store of an older format is copied first.
    """

    name = "store"
    summary = "a recrawl store: a home folder or its recrawl.sqlite, every visit that told something"
    options: tuple[Option, ...] = (
        Option("tag", "word", "Only resources with this tag."),
        Option("since", "moment", "Leave earlier visits out."),
    )

    def __init__(self, *, tag: str | None = None, since: float = float("-inf")) -> None:
        self._tag = tag
        self._since = since

    def read(self, source: str, into: Intake) -> None:
        path = Path(source).expanduser()
        path = path / _STORE_FILE if path.is_dir() else path
        if not path.is_file():
            raise BadInputError(f"{source} holds no recrawl store; name a home folder or its {_STORE_FILE}.")
        # where a home lies says nothing to others, so it is not named
        into.about(observation="visits", resolution_s=1, title="Visits of a recrawl store")
        with opened(path, into.folder) as store:
            n_all = store.counts(0.0).get("resources", 0)
            kinds: set[Kind] = set()
            done = into.position or 0
            for n, (resource, _, _) in enumerate(store.resources(tag=self._tag), 1):
                kinds.add(resource.effective.kind)
                if resource.id > done:
                    self._take(store, resource, into)
                    into.reached(resource.id)
                into.progress(n, None if self._tag else n_all, "resources")
        into.about(kind="data" if kinds and kinds <= _DATA else "page")

    def _take(self, store: Store, resource: Resource, into: Intake) -> None:
        effective = resource.effective
        into.resource(
            resource.url,
            host=resource.host,
            kind=effective.kind.value,
            weight=effective.weight,
            tags=" ".join(resource.tags),
            min_gap_s=effective.min_gap_s,
            max_gap_s=effective.max_gap_s,
        )
        visits = list(store.visits(resource.id))[::-1]
        for visit, digest in looks(visits, store.versions(resource.id), into):
            if visit.at >= self._since:
                into.add(
                    resource.url,
                    visit.at,
                    digest,
                    host=resource.host,
                    outcome=visit.outcome.value,
                    size=visit.n_bytes or None,
                )
            else:
                into.leave_out("visits before --since")


def looks(visits: list[Visit], versions: Iterator[Version], into: Intake) -> Iterator[tuple[Visit, str]]:
    """Those that told something, the oldest first, each with the digest of what was held after it.

    Versions may have been let go of since, so the visits' own verdicts decide what is a change.
    """
    kept = {version.at: version for version in versions if not version.flag}
    held = ""
    for visit in visits:
        if not visit.informative:
            into.leave_out(f"visits that told nothing ({visit.outcome.value})")
            continue
        version = kept.get(visit.at)
        if held and visit.changed is Changed.UNKNOWN and version is None:
            into.leave_out("visits of which nobody can say whether there was a change")
            continue
        if not held or visit.changed is not Changed.NO:
            digest = _digest(visit, version)
            # A change is a change, whatever the bytes say: what counts in them may be another part now.
            same = digest == held and visit.changed is Changed.YES
            held = f"visit:{visit.fetch_id}" if same else digest
        yield visit, held


def _digest(visit: Visit, version: Version | None) -> str:
    if version is None:
        return f"visit:{visit.fetch_id}"
    return GONE if version.gone else version.digest


@contextmanager
def opened(path: Path, folder: Path) -> Iterator[Store]:
    """The store, to read. One that opening would change, or that cannot be shared, is copied to `folder`."""
    place = f"{path.resolve().as_uri()}?mode=ro"
    waiting = path.with_name(path.name + "-wal")
    writable = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    if not writable and not waiting.exists():
        place += "&immutable=1"
    copy = folder / "copy.sqlite"
    try:
        with closing(sqlite3.connect(place, uri=True)) as found:
            known = found.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
            form = found.execute("PRAGMA user_version").fetchone()[0]
            if known and (form < migrations()[-1][0] or not writable):
                copy.unlink(missing_ok=True)
                with closing(sqlite3.connect(copy)) as target:
                    found.backup(target)
                path = copy
    except sqlite3.Error as problem:
        raise BadInputError(
            f"{path} cannot be read as a recrawl store ({problem}); name a home folder or its {_STORE_FILE}."
        ) from None
    if not known:
        raise BadInputError(f"{path} is not recrawl's; name a home folder or its {_STORE_FILE}.")
    store = SqliteStore(path)
    try:
        yield store
    finally:
        store.close()
