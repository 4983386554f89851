"""Tables of (url, time[, digest]): what most people have, or can make with one query."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from recrawl.corpora.importers.tables.layout import COLUMNS, TIMES, Times, named, records, told
from recrawl.corpora.importing import Intake, Option
from recrawl.corpora.sources.batch import unusable
from recrawl.corpora.sources.files import files
from recrawl.corpora.sources.lines import Flaw, lines
from recrawl.errors import BadInputError

ENDINGS = tuple(
    f".{name}{packing}" for name in ("csv", "tsv", "txt") for packing in ("", ".gz", ".bz2", ".xz", ".zst")
)
N_SAMPLED = 50  # lines from which delimiter and columns are told
N_TOGETHER = 20_000
_YES, _NO = frozenset({"1", "true", "yes", "y", "t"}), frozenset({"0", "false", "no", "n", "f"})

Entry = tuple[str, float, str | None, str | None, bool | None]  # url, at, digest, host, changed


class Csv:
    name = "csv"
    summary = "tables of url, time and, where known, digest and host"
    options: tuple[Option, ...] = (
        Option("columns", "word", "What the columns hold, such as `url,time,-,digest`; - is passed over."),
        Option("delimiter", "word", "What stands between columns: one character, or `tab`."),
        Option("time", "word", "How times are written: auto, iso, seconds, milliseconds or stamp."),
        Option("visits", "flag", "Rows are looks, changed or not; nothing is known between them."),
        Option("since", "moment", "Leave earlier rows out."),
        Option("until", "moment", "Leave rows from this moment on out."),
    )

    def __init__(
        self,
        *,
        columns: str | None = None,
        delimiter: str | None = None,
        time: str = "auto",
        visits: bool = False,
        since: float = float("-inf"),
        until: float = float("inf"),
    ) -> None:
        self._columns = None if columns is None else _said(columns)
        self._delimiter = "\t" if delimiter in ("tab", "\\t") else delimiter
        if self._delimiter is not None and len(self._delimiter.encode()) != 1:
            raise BadInputError(f"--delimiter {delimiter} is not one plain character; use , ; | or tab.")
        if time not in TIMES:
            raise BadInputError(f"--time {time} is not known; use {', '.join(TIMES)}.")
        self._time = time
        self._visits = visits
        self._since, self._until = since, until

    def read(self, source: str, into: Intake) -> None:
        into.about(kind="page", observation="visits" if self._visits else "every-change", resolution_s=1)
        found = files(into.local(source), *ENDINGS)
        first, after = into.position or (0, 0)
        for index in range(first, len(found)):
            into.progress(index, len(found), "files")
            self._read(found[index], index, after if index == first else 0, into)
            into.reached([index + 1, 0])

    def _read(self, path: Path, index: int, after: int, into: Intake) -> None:
        sample = list(islice(lines(path), N_SAMPLED))
        layout = told(sample, delimiter=self._delimiter, columns=self._columns, time=self._time)
        places = [layout.columns.get(name) for name in COLUMNS]
        times = Times(self._time)
        waiting: list[Entry] = []
        for number, row in records(lines(path), layout.delimiter):
            if number <= after or not row or (number == 1 and layout.has_header):
                continue
            entry = row if isinstance(row, Flaw) else _entry(row, places, times)
            if isinstance(entry, Flaw):
                into.skip(f"{path.name}:{number}", entry)
            elif self._since <= entry[1] < self._until:
                waiting.append(entry)
            else:
                into.leave_out("outside --since and --until")
            if len(waiting) == N_TOGETHER:
                _hand_over(waiting, into)
                _tell(times, into)  # first, so that whoever goes on from here need not find it out again
                into.reached([index, number])
        _hand_over(waiting, into)
        _tell(times, into)


def _tell(times: Times, into: Intake) -> None:
    """What had to be taken for granted."""
    if times.n_naive:
        into.note("Times without a zone were read as UTC.")
    for unit in sorted(times.units):
        into.note(f"Times that are numbers were read as {unit} since 1970; --time says otherwise.")


def _said(columns: str) -> dict[str, int]:
    words = [word.strip() for word in columns.split(",")]
    found = named(words)
    unknown = [
        word for place, word in enumerate(words) if word not in ("", "-") and place not in found.values()
    ]
    if unknown or not {"url", "time"} <= found.keys():
        wrong = f"{unknown[0]} is none or is said twice" if unknown else "url and time are needed"
        raise BadInputError(
            f"--columns {columns}: {wrong}; use {', '.join(COLUMNS)} and -, one for each column."
        )
    return found


def _entry(row: Sequence[str], places: Sequence[int | None], times: Times) -> Entry | Flaw:
    try:
        url, said, digest, host, changed = [None if place is None else row[place].strip() for place in places]
    except IndexError:
        return Flaw("the row has too few columns")
    if (why := unusable(url)) is not None or url is None:
        return Flaw(why)
    try:
        return url, times.at(said or ""), digest or None, host or None, _yes(changed)
    except ValueError as problem:
        return Flaw(problem)


def _yes(said: str | None) -> bool | None:
    if not said:
        return None
    if said.lower() in _YES:
        return True
    if said.lower() in _NO:
        return False
    raise ValueError("what the row says of a change is neither yes nor no")


def _hand_over(waiting: list[Entry], into: Intake) -> None:
    if waiting:
        url, at, digest, host, changed = zip(*waiting, strict=True)
        into.add_columns(
            url,
            at,
            digest if any(one is not None for one in digest) else None,
            host=host if any(one is not None for one in host) else None,
            changed=changed if any(one is not None for one in changed) else None,
        )
    waiting.clear()
