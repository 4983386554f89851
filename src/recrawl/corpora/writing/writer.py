"""Writes corpora from rows in any order, in bounded memory: what grows is the list of resources' names.

    with Writer(Path("corpora/mine"), kind="page", observation="every-change") as writer:
        writer.add("https://example.org/", 1_600_000_000, "d1")
        writer.finish()

Until `finish` has ended there is no such folder; what was taken in waits beside it. A writer that is made
with the same `what` after a kill goes on from the last `save`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import IO, Any, Self

import numpy as np

from recrawl.corpora.about import EARLIEST_AT, LATEST_AT
from recrawl.corpora.arrow import require
from recrawl.corpora.importing import Column, Value
from recrawl.corpora.writing.finishing import finish
from recrawl.corpora.writing.held import HeldRows, HeldTexts, arrow, checked, texts
from recrawl.corpora.writing.journal import Journal
from recrawl.corpora.writing.unfinished import Unfinished
from recrawl.errors import BadInputError
from recrawl.urls import MAX_URL_BYTES

_HOST = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^/?#@]*@)?([^/?#]*)", re.IGNORECASE)
_USUAL_PORT = re.compile(r"(?<=[^:]):(?:80|443)?$")
NAMES = "names.jsonl"
_BAD_TIME = "the time is before 1970 or after 9999"

Refuse = Callable[[str, str], None]  # where, why


def _raised(where: str, why: str) -> None:
    raise BadInputError(f"{where or 'This row'} cannot be used: {why}; leave it out.")


class Writer:
    """`what` tells one import from another; `about` are fields of `corpus.json`. `refuse` is told of rows
    whose URL or time cannot be used; by itself it raises."""

    def __init__(
        self,
        folder: Path,
        *,
        what: Mapping[str, Any] | None = None,
        anew: bool = False,
        refuse: Refuse = _raised,
        **about: Any,
    ) -> None:
        require()
        self.about: dict[str, Any] = about
        self._refuse = refuse
        self.unfinished = Unfinished(folder, what or {}, anew=anew)
        place = self.unfinished.folder
        self._journals = {name: Journal(place / f"{name}.arrows") for name in ("rows", "posts", "texts")}
        self._numbers: dict[str, int] = {}
        try:
            self._names = self._opened(place / NAMES)
        except BaseException:
            self.unfinished.close()
            raise
        self._rows = HeldRows(self._journals["rows"])
        self._texts = {name: HeldTexts(self._journals[name]) for name in ("posts", "texts")}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._names.close()
        self.unfinished.close()

    def _opened(self, path: Path) -> IO[bytes]:
        """The list of names, after everything was cut to the length that the last state knows."""
        sizes = self.unfinished.state.get("sizes", {})
        if path.exists():
            with path.open("r+b") as file:
                file.truncate(sizes.get(NAMES, 0))
        held = {name: journal.n_bytes for name, journal in self._journals.items()}
        held[NAMES] = path.stat().st_size if path.exists() else 0
        if any(n_bytes < sizes.get(name, 0) for name, n_bytes in held.items()):
            raise BadInputError(f"{self.unfinished.folder} is damaged; start over with --anew.")
        for name, journal in self._journals.items():
            journal.cut(sizes.get(name, 0))
        try:
            self._numbers = {url: number for number, url in enumerate(_named(path))}
        except ValueError as problem:
            raise BadInputError(f"{path} is damaged; start over with --anew.") from problem
        return path.open("ab")

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
        """See `Intake.add`."""
        if not EARLIEST_AT <= at <= LATEST_AT:  # so written that NaN is refused too
            self._refuse(where, _BAD_TIME)
            return
        number = self._number(url, host, where)
        if number is None:
            return
        self._rows.row({"resource": number, "at": int(at), "digest": digest, "changed": changed}, extra)

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
        """See `Intake.add_columns`."""
        import pyarrow as pa

        hosts = host if host is not None else repeat(None)
        named = (self._number(one, of, f"{where} [{i}]") for i, (one, of) in enumerate(zip(url, hosts)))  # noqa: B905
        number = np.array([-1 if n is None else n for n in named], dtype=np.int32)
        if which is not None:
            number = number[np.asarray(which)]
        times = np.asarray(at, dtype=np.float64)
        timely = (times >= EARLIEST_AT) & (times <= LATEST_AT)
        for row in np.flatnonzero(~timely & (number >= 0)):
            self._refuse(f"{where} [{row}]", _BAD_TIME)
        table = pa.table(
            {
                "resource": number,
                "at": np.where(timely, times, 0).astype(np.int64),
                "digest": texts(digest, len(number), "digest"),
                "changed": pa.nulls(len(number), pa.bool_())
                if changed is None
                else pa.array(changed, pa.bool_()),
                **{name: arrow(column, name) for name, column in checked(extra).items()},
            }
        )
        sound = timely & (number >= 0)
        self._rows.table(table if sound.all() else table.filter(sound))

    def resource(self, url: str, *, host: str | None = None, **facts: Value) -> None:
        """See `Intake.resource`."""
        number = self._number(url, host, url)
        if number is None:
            return
        said = {"resource": number} | ({} if host is None else {"host": host}) | facts
        # what is no Unicode would else be found out when all is taken in
        self._names.write(json.dumps(said, ensure_ascii=False).encode("utf-8", "replace") + b"\n")

    def post(self, url: str, at: float, user: str | None, text: str) -> None:
        """See `Intake.post`."""
        self._say("posts", url, at, user, text)

    def text(self, url: str, at: float, digest: str | None, text: str) -> None:
        """See `Intake.text`."""
        self._say("texts", url, at, digest, text)

    def save(self, **state: Any) -> None:
        """What was added up to now is kept, and the state with it."""
        self._rows.flush()
        for held in self._texts.values():
            held.flush()
        self._names.flush()
        os.fsync(self._names.fileno())
        sizes = {name: journal.n_bytes for name, journal in self._journals.items()}
        for journal in self._journals.values():
            journal.sync()
        self.unfinished.save({"sizes": {**sizes, NAMES: self._names.tell()}, **state})

    def finish(self, **about: Any) -> dict[str, Any]:
        """Sort everything and make the corpus; what its `corpus.json` says."""
        self.save(**{name: value for name, value in self.unfinished.state.items() if name != "what"})
        return finish(self.unfinished, self._journals, len(self._numbers), self.about | about)

    def _number(self, url: str, host: str | None, where: str) -> int | None:
        known = self._numbers.get(url)
        if known is not None:
            return known
        if not url or len(url) > MAX_URL_BYTES:
            why = "no URL" if not url else f"a URL of more than {MAX_URL_BYTES:,} characters"
            self._refuse(where, why)
            return None
        try:
            url.encode()
        except UnicodeEncodeError:
            self._refuse(where, "a URL that is no Unicode text")
            return None
        self._numbers[url] = number = len(self._numbers)
        named = json.dumps([url, host_of(url) if host is None else host], ensure_ascii=False)
        self._names.write(named.encode("utf-8", "replace") + b"\n")
        return number

    def _say(self, what: str, url: str, at: float, who: str | None, text: str) -> None:
        number = self._number(url, None, url)
        if number is None or not EARLIEST_AT <= at <= LATEST_AT:
            return  # the version itself was refused and counted
        self._texts[what].add(number, int(at), who, text)


def _named(path: Path) -> Iterator[str]:
    """The resources that a list of names holds, in order of their numbers."""
    if path.exists():
        with path.open("rb") as lines:
            for said in map(json.loads, lines):
                if isinstance(said, list):
                    yield said[0]


def host_of(url: str) -> str:
    """
    >>> host_of("https://me@Example.org:443/a"), host_of("http://[::1]:8080/"), host_of("data/a.csv")
    ('example.org', '[::1]:8080', '')
    """
    match = _HOST.match(url)
    return _USUAL_PORT.sub("", match[1].lower()) if match else ""
