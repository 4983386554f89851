"""What an importer is: it reads somebody's history of changes and hands it to an intake, row by row.

An importer knows its source and nothing of our files. A class is registered under the entry point group
`recrawl.importers`; it is made with those of its options that the user gave, as keywords
(`MediaWiki(drop_minor=True)`), and `read` is called once. `corpora.run.imported` does the rest.

    class Csv:
        name = "csv"
        summary = "A table of url, time and, if known, digest"
        options = (Option("since", "moment", "Leave earlier rows out."),)

        def __init__(self, *, since: float | None = None) -> None: ...

        def read(self, source: str, into: Intake) -> None:
            into.about(kind="page", observation="every-change", resolution_s=1)
            path = into.local(source)
            for number, line in lines(path):  # of corpora.sources.lines: unpacked, and none without an end
                if number <= (into.position or 0):
                    continue
                where = f"{path.name}:{number}"
                try: url, at, digest = ...
                except ValueError as problem: into.skip(where, str(problem)); continue
                into.add(url, at, digest, where=where)
                into.reached(number)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy.typing as npt

KINDS = ("page", "data", "thread")
OBSERVATIONS = ("every-change", "visits")
Value = str | int | float | bool | None  # of a further column; one column holds one type, or nothing
Column = Sequence[Value] | npt.NDArray[Any]  # an Arrow array will do as well


@dataclass(frozen=True, slots=True)
class Option:
    """Something the user may say to an importer: `--drop-minor`.

    Words come as str, numbers as float, counts as int, moments as seconds since 1970 (the user writes
    2020-05-01 or 2020-05-01T12:00Z), spans as seconds (7d), flags as True. What the user does not say is not
    given to the class, so that its own defaults hold.
    """

    name: str  # as on the command line, without the dashes: drop-minor
    type: Literal["flag", "word", "words", "count", "number", "moment", "span"]  # words: may be said again
    help: str


class Intake(Protocol):
    """Takes in what an importer finds, in any order.

    A resource is named by its URL or, where it has none, by any name without `://` that is unique within the
    source (then `url` is null in the corpus and the name stands in the column `path`).
    """

    @property
    def strict(self) -> bool: ...

    @property
    def position(self) -> Any:
        """What `reached` was last told and is safely kept, of an import that was cut off; None at the
        beginning. Everything added before it is there; everything added after it is forgotten."""

    def add(
        self,
        url: str,
        at: float,
        digest: str | None,
        *,
        host: str | None = None,
        changed: bool | None = None,
        where: str = "",
        **extra: Value,
    ) -> None:
        """A version; with `observation="visits"`, a visit, whether it found a change or not.

        `at` is kept in whole seconds. Of versions at the same moment, the one added last stands. `host` is
        the host in the URL unless given (a group that changes together, where there is no host). A digest
        that repeats the one before, in order of time, is no change; None is not known: then `changed` says
        whether it is a change (and if that is None too, it is). `where` names the row ("dump.xml:120") for
        the case that the URL or the time cannot be used: the row is then skipped. Further columns go to
        `events.parquet` (and `visits.parquet`)."""

    def add_columns(
        self,
        url: Sequence[str],
        at: Column,
        digest: Column | None,
        *,
        which: Column | None = None,
        host: Sequence[str | None] | None = None,
        changed: Column | None = None,
        where: str = "",
        **extra: Column,
    ) -> None:
        """Many at once, each argument a column. With `which`, `url` and `host` list resources, and row i
        belongs to `url[which[i]]`: much faster where resources have many rows. Digests may be numbers."""

    def resource(self, url: str, *, host: str | None = None, **facts: Value) -> None:
        """Facts about a resource, for further columns of `resources.parquet`; what is said last holds.
        Not needed for the resource to exist: `add` does that."""

    def post(self, url: str, at: float, user: str | None, text: str) -> None:
        """A post's text, for `posts.jsonl.gz`. The post itself is a version: `add` it too. Say `board`,
        `forum` and `title` of the thread as facts of the resource."""

    def text(self, url: str, at: float, digest: str | None, text: str) -> None:
        """A version's text, for `texts.jsonl.xz`."""

    def about(self, **facts: Any) -> None:
        """For `corpus.json`; what is said last holds. `kind` (of KINDS) and `observation` (of OBSERVATIONS)
        must be said by the end of the import. Further: `title`, `licence`, `source`, `resolution_s` (else 1),
        `step_s` where visits had a fixed step, `start` and `end` (else those of the rows)."""

    def skip(self, where: str, why: str) -> None:
        """A row that cannot be used: `where` is file:line or the like, `why` a short phrase that is the same
        for all rows of this sort, since it is counted by it ("the time cannot be read"). Raises
        BadInputError when strict."""

    def leave_out(self, why: str, n: int = 1) -> None:
        """Rows that are sound but not wanted (minor edits, other media types): counted, never an error."""

    def note(self, text: str) -> None:
        """A sentence that the user should read when the import ends ("Times without a zone were read as
        UTC."); the same sentence is said once, however often it is noted."""

    def progress(self, done: float, total: float | None = None, unit: str = "") -> None:
        """How far it is; cheap enough for every row."""

    def reached(self, position: Any) -> None:
        """All before `position` was added, all after it not yet. `position` is anything JSON can hold. It is
        saved now and then, together with what was added, so that an import can go on; cheap enough for
        every row."""

    def local(self, source: str, *, max_bytes: int | None = None) -> Path:
        """The file or folder; of a URL, the file downloaded from there (once: a later run has it)."""

    @property
    def folder(self) -> Path:
        """A folder for files of the importer's own (a clone), found again by an import that goes on and
        deleted with the last of it."""

    def ask(
        self,
        url: str,
        *,
        max_bytes: int = 64 << 20,
        accept: str = "*/*",
        busy: Callable[[bytes], bool] | None = None,
    ) -> bytes:
        """One polite GET, for sources that are asked page by page: retries what may pass, honours
        Retry-After, keeps one connection's pace. `busy` tells of a body that came with status 200 whether the
        server asks for patience in it; it is then asked again, as after a 503. Raises BadInputError when the
        answer is no success."""


class Importer(Protocol):
    """Reads one kind of source."""

    name: str
    summary: str  # half a line for `recrawl corpus list`
    options: tuple[Option, ...]

    def read(self, source: str, into: Intake) -> None:
        """`source` is a file, folder or URL, as the user gave it. Raises BadInputError where it is none that
        this importer can read, and says what it must look like."""
