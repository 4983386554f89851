"""Looks a corpus through, row by row: what the format forbids is a fault, what it allows but a reader passes
over is a remark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from recrawl.corpora.about import About
from recrawl.corpora.native import (
    EVENTS,
    NO_VERSIONS,
    OUT_OF_ORDER,
    RESOURCES,
    SAME_MOMENT,
    VISITS,
    Corpus,
)
from recrawl.corpora.opened import must_be_there
from recrawl.corpora.rows import Fault, Rows, read_rows
from recrawl.errors import BadInputError
from recrawl.model import Bools, Ints
from recrawl.model.columns import Bits

ALIKE = "the same content as the row before"
OUTSIDE = "a time outside start and end"
MISFLAGGED = "`changed` does not fit the digests"
UNLIKE = "a resource whose changed visits are not its events"
_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(slots=True)
class Finding:
    """Rows of a file that have the same thing to them, and the first of them (0: the file as a whole)."""

    file: str
    why: str
    n: int
    row: int


@dataclass(slots=True, kw_only=True)
class Checked:
    about: About
    n_resources: int
    n_events: int = 0
    n_visits: int = 0
    faults: list[Finding] = field(default_factory=list)
    remarks: list[Finding] = field(default_factory=list)


def check(folder: Path, *, strict: bool = False, told: Callable[[int], object] = lambda _: None) -> Checked:
    """Raises BadInputError where the corpus cannot be opened at all and, when strict, at the first fault."""
    must_be_there(folder)
    corpus = Corpus(folder)
    result = Checked(about=corpus.about, n_resources=len(corpus))

    def fault(why: str, file: str, n: int, row: int) -> None:
        if strict:
            place = f", row {row}" if row else ""
            raise BadInputError(f"{folder / file}{place}: {why}; mend it, or check without --strict for all.")
        _count(result.faults, Path(file).name, why, n, row)

    def remark(why: str, file: str, n: int, row: int) -> None:
        _count(result.remarks, file, why, n, row)

    look = _Look(corpus, fault, remark, told)
    n_versions = np.zeros(len(corpus), dtype=np.int64)
    events = np.zeros(len(corpus), dtype=np.uint64)
    for rows, fresh in look.through(EVENTS):
        result.n_events += len(fresh)
        np.add.at(n_versions, rows.place[fresh], 1)
        np.add.at(events, rows.place[fresh], _sums(rows.pick(fresh)))
    bare = np.flatnonzero(n_versions == 0)
    if len(bare):
        remark(NO_VERSIONS, RESOURCES, len(bare), int(bare[0]) + 1)
    if corpus.about.observation == "visits":
        _check_visits(look, result, events, fault)
    _check_counts(result, fault)
    return result


def _check_visits(look: _Look, result: Checked, events: Bits, fault: Fault) -> None:
    if not (look.folder / VISITS).exists():
        fault("missing, though `observation` is `visits`", VISITS, 1, 0)
        return
    changed = np.zeros_like(events)
    for rows, fresh in look.through(VISITS):
        result.n_visits += len(fresh)
        marked = fresh[rows.changed[fresh]]
        np.add.at(changed, rows.place[marked], _sums(rows.pick(marked)))
    unlike = np.flatnonzero(changed != events)
    if len(unlike):
        fault(UNLIKE, VISITS, len(unlike), 0)


def _check_counts(result: Checked, fault: Fault) -> None:
    held = {"resources": result.n_resources, "events": result.n_events, "visits": result.n_visits}
    for name, n in held.items():
        said = result.about.more.get(name, n)
        if said != n and (name != "visits" or n):
            fault(f"`{name}` is {said}, but there are {n} sound ones", "corpus.json", 1, 0)


class _Look:
    """Reads a file of rows, each batch with the last row of the one before it, so that neighbours are met."""

    def __init__(self, corpus: Corpus, fault: Fault, remark: Fault, told: Callable[[int], object]) -> None:
        self.folder = corpus.folder
        self._corpus = corpus
        self._fault = fault
        self._remark = remark
        self._told = told

    def through(self, file: str) -> Iterator[tuple[Rows, Ints]]:
        """Batches, and which of their rows are new."""
        about, visits = self._corpus.about, file == VISITS
        before: Rows | None = None
        for batch in read_rows(self.folder / file, self._corpus.number, self._fault, visits=visits):
            rows = batch if before is None else _joined(before, batch)
            fresh = np.arange(0 if before is None else 1, len(rows))
            same = np.diff(rows.place) == 0
            step = np.diff(rows.at)
            alike = same & (np.diff(rows.digest) == 0) & (rows.digest[1:] != 0)
            self._say(self._fault, OUT_OF_ORDER, file, rows, same & (step < 0))
            self._say(self._remark, SAME_MOMENT, file, rows, same & (step == 0))
            if visits:
                known = (rows.digest[1:] != 0) & (rows.digest[:-1] != 0)
                self._say(self._fault, MISFLAGGED, file, rows, same & known & (rows.changed[1:] == alike))
            else:
                self._say(self._remark, ALIKE, file, rows, alike & (step != 0))
            outside = (rows.at[fresh] < about.start_at) | (rows.at[fresh] > about.end_at)
            if outside.any():
                first = int(rows.row[fresh][outside][0])
                self._remark(OUTSIDE, file, int(np.count_nonzero(outside)), first)
            yield rows, fresh
            before = rows.pick(slice(-1, None))
            self._told(int(rows.row[-1]))

    def _say(self, to: Fault, why: str, file: str, rows: Rows, which: Bools) -> None:
        found = np.flatnonzero(which)
        if len(found):
            to(why, file, len(found), int(rows.row[found[0] + 1]))


def _joined(one: Rows, other: Rows) -> Rows:
    return Rows(
        place=np.concatenate([one.place, other.place]),
        at=np.concatenate([one.at, other.at]),
        digest=np.concatenate([one.digest, other.digest]),
        row=np.concatenate([one.row, other.row]),
        changed=np.concatenate([one.changed, other.changed]),
    )


def _sums(rows: Rows) -> Bits:
    """A number for each row, such that equal sums of them mean equal rows."""
    out: Bits = (rows.digest ^ (rows.at.astype(np.uint64) * _ODD)) * _ODD
    return out


def _count(findings: list[Finding], file: str, why: str, n: int, row: int) -> None:
    for found in findings:
        if (found.file, found.why) == (file, why):
            found.n += n
            return
    findings.append(Finding(file, why, n, row))
