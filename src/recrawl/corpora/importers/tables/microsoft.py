"""The tables of Microsoft's crawl-scheduling data: 14 weeks of about daily looks at some 18 million pages.

Two tables name the pages and their hosts, one weighs them, and one holds the looks, as gaps in days and
whether each found a change. They are joined by number, on disk: nobody promises that they are in order.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import isfinite
from pathlib import Path
from tempfile import TemporaryDirectory

from recrawl.corpora.importing import Intake, Option
from recrawl.corpora.sources.batch import Batch, unusable
from recrawl.corpora.sources.lines import Flaw, lines, text
from recrawl.corpora.sources.moments import within
from recrawl.errors import BadInputError

DAY_S = 86_400
DEFAULT_START_AT = 1_483_228_800  # 2017-01-01
HISTORIES = "urlid_offset_history"
PAGES = "url_urlid_hostid"
HOSTS = "host_hostid_isconstrained"
WEIGHTS = "urlid_imp"
RATES = "urlid_chrate_compl_obs_hist"
PACKINGS = (".txt", ".tsv", ".txt.gz", ".tsv.gz", ".txt.xz", ".txt.bz2", ".txt.zst")
N_TOLD = 10_000
_UNREADABLE = Flaw("the row cannot be read")
_TABLES = """
    CREATE TABLE pages (id INTEGER PRIMARY KEY, url TEXT NOT NULL, host INTEGER);
    CREATE TABLE hosts (id INTEGER PRIMARY KEY, name TEXT NOT NULL, is_constrained INTEGER NOT NULL);
    CREATE TABLE weights (id INTEGER PRIMARY KEY, weight REAL NOT NULL);
    CREATE TABLE rates (id INTEGER PRIMARY KEY, per_day REAL NOT NULL);
"""
_FACTS = """
    SELECT url, coalesce(hosts.name, CAST(host AS TEXT)), is_constrained, weight, per_day
    FROM (SELECT ? AS id) LEFT JOIN pages USING (id) LEFT JOIN hosts ON hosts.id = host
    LEFT JOIN weights USING (id) LEFT JOIN rates USING (id)
"""


class Microsoft:
    name = "microsoft"
    summary = "Microsoft's crawl-scheduling tables (gaps and changes, importance)"
    options: tuple[Option, ...] = (
        Option("start", "moment", "The moment from which offsets count; 2017-01-01 unless said."),
    )

    def __init__(self, *, start: float | None = None) -> None:
        self._start_at = DEFAULT_START_AT if start is None else start
        self._is_said = start is not None

    def read(self, source: str, into: Intake) -> None:
        into.about(kind="page", observation="visits", resolution_s=1)
        if not self._is_said:
            into.note("Offsets are counted from 2017-01-01; --start says otherwise.")
        folder = into.local(source)
        histories = _table(folder, HISTORIES)
        if histories is None:
            raise BadInputError(
                f"There is no {HISTORIES}.txt in {folder}; give the folder that holds it, with {PAGES}.txt "
                f"and, if you have them, {HOSTS}.txt, {WEIGHTS}.txt and {RATES}.txt (plain or packed)."
            )
        with _joined(folder, into) as known:
            self._read(histories, known, into)

    def _read(self, path: Path, known: sqlite3.Connection, into: Intake) -> None:
        has_pages = known.execute("SELECT EXISTS (SELECT 1 FROM pages)").fetchone()[0]
        if not has_pages:
            into.note(f"Without {PAGES}.txt, pages are known by their numbers only.")
        after = into.position or 0
        batch = Batch(into)
        for number, line in lines(path):
            if number <= after or not line:
                continue
            where = f"{path.name}:{number}"
            history = line if isinstance(line, Flaw) else self._history(line)
            if isinstance(history, Flaw):
                into.skip(where, history)
                continue
            page_id, at, changed = history
            url, host, is_constrained, weight, per_day = known.execute(_FACTS, (page_id,)).fetchone()
            if has_pages and url is None:
                into.skip(where, f"{PAGES} does not name the page")
                continue
            name = url or str(page_id)
            if (why := unusable(name)) is not None:
                into.skip(where, why)
                continue
            facts = {"weight": weight, "constrained": is_constrained, "complete_per_day": per_day}
            said = {key: value for key, value in facts.items() if value is not None}
            if said:
                into.resource(name, host=host, **said)
            batch.add(name, at, host=host, changed=changed, where=where)
            if batch.is_full:
                batch.hand_over()
                into.reached(number)
            if number % N_TOLD == 0:
                into.progress(number, unit="histories")
        batch.hand_over()

    def _history(self, line: bytes) -> tuple[int, list[float], list[bool | None]] | Flaw:
        """The page's number, its visits and whether each found a change."""
        try:
            page_id, offset_days, looks = line.split(b"\t")
            at = [within(self._start_at + DAY_S * _days(float(offset_days)))]
            changed: list[bool | None] = [True]
            for gap_days, bit in json.loads(looks):
                at.append(within(at[-1] + DAY_S * _days(gap_days)))
                changed.append({0: False, 1: True}[bit])
            return _number(page_id.decode()), at, changed
        except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
            return _UNREADABLE


def _days(value: float) -> float:
    if not (isfinite(value) and value >= 0):
        raise ValueError
    return value


@contextmanager
def _joined(folder: Path, into: Intake) -> Iterator[sqlite3.Connection]:
    """What is known of pages by their numbers."""
    with TemporaryDirectory(dir=into.folder) as there:  # where there is room: the tables may be large
        known = sqlite3.connect(Path(there) / "known.sqlite", isolation_level=None)
        try:
            known.executescript(f"PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; {_TABLES}; BEGIN")
            for table, name, casts in _COLUMNS:
                path = _table(folder, name)
                if path is not None:
                    into.progress(0, unit=f"rows: reading {path.name}")
                    marks = ", ".join("?" * len(casts))
                    known.executemany(
                        f"INSERT OR REPLACE INTO {table} VALUES ({marks})",  # noqa: S608  # names of ours
                        _rows(path, casts, into),
                    )
            known.execute("COMMIT")
            yield known
        finally:
            known.close()


def _rows(path: Path, casts: Sequence[Cast], into: Intake) -> Iterator[Sequence[object]]:
    for number, line in lines(path):
        if not line:
            continue
        said = line if isinstance(line, Flaw) else text(line)
        row = said if isinstance(said, Flaw) else _cast(said.split("\t"), casts)
        if not isinstance(row, Flaw):
            yield row
        elif into.position is None:  # else it was told before the import was cut off
            into.skip(f"{path.name}:{number}", row)


def _cast(cells: Sequence[str], casts: Sequence[Cast]) -> Sequence[object] | Flaw:
    """In the order of the table's columns."""
    try:
        return [cast(cells[place].strip()) for place, cast in casts]
    except (ValueError, IndexError):
        return _UNREADABLE


def _table(folder: Path, name: str) -> Path | None:
    return next((path for packing in PACKINGS if (path := folder / f"{name}{packing}").is_file()), None)


def _number(said: str) -> int:
    value = int(said)
    if not 0 <= value < 1 << 63:
        raise ValueError
    return value


def _positive(said: str) -> float:
    return _days(float(said))


def _name(said: str) -> str:
    if not said:
        raise ValueError
    return said


Cast = tuple[int, Callable[[str], object]]
# Each table, the file that fills it, and for each of its columns where it is in the file.
_COLUMNS: tuple[tuple[str, str, tuple[Cast, ...]], ...] = (
    ("pages", PAGES, ((1, _number), (0, _name), (2, _number))),
    ("hosts", HOSTS, ((1, _number), (0, _name), (2, _number))),
    ("weights", WEIGHTS, ((0, _number), (1, _positive))),
    ("rates", RATES, ((0, _number), (1, _positive))),
)
