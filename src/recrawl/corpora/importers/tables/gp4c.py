"""Rows of 0 and 1, one a page and one character a day: whether the page had changed since the day before."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from recrawl.corpora.importing import Intake, Option
from recrawl.corpora.sources.files import files
from recrawl.corpora.sources.lines import Flaw, lines
from recrawl.model import Bools

DAY_S = 86_400
DEFAULT_START_AT = 1_325_376_000  # 2012-01-01
N_TOGETHER = 200_000  # visits
_SPACES = b" \t,"


class Gp4c:
    name = "gp4c"
    summary = "rows of 0 and 1, a page each and a day a character (GP4C)"
    options: tuple[Option, ...] = (
        Option("start", "moment", "The day before the first character; 2012-01-01 unless said."),
    )

    def __init__(self, *, start: float | None = None) -> None:
        self._start_at = DEFAULT_START_AT if start is None else int(start)
        self._is_said = start is not None

    def read(self, source: str, into: Intake) -> None:
        into.about(kind="page", observation="visits", step_s=DAY_S, resolution_s=DAY_S)
        if not self._is_said:
            into.note(
                "The rows name no dates; the first copies are dated 2012-01-01 (--start says otherwise)."
            )
        found = files(into.local(source), "")
        first, after = into.position or (0, 0)
        for index in range(first, len(found)):
            into.progress(index, len(found), "files")
            self._read(found[index], index, after if index == first else 0, into)
            into.reached([index + 1, 0])

    def _read(self, path: Path, index: int, after: int, into: Intake) -> None:
        group = path.name.partition(".")[0]
        names: list[str] = []
        rows: list[Bools] = []
        for number, line in lines(path):
            if number <= after:
                continue
            row = line if isinstance(line, Flaw) else _row(line)
            if isinstance(row, Flaw):
                into.skip(f"{path.name}:{number}", row)
            elif len(row) > 1:
                names.append(f"{group}/{number}")
                rows.append(row)
            if len(rows) * len(rows[-1] if rows else ()) >= N_TOGETHER:
                self._hand_over(group, names, rows, into)
                into.reached([index, number])
        self._hand_over(group, names, rows, into)

    def _hand_over(self, group: str, names: list[str], rows: list[Bools], into: Intake) -> None:
        if rows:
            n_visits = np.array([len(row) for row in rows])
            day = np.concatenate([np.arange(n) for n in n_visits])
            into.add_columns(
                list(names),
                self._start_at + DAY_S * day,
                None,
                which=np.repeat(np.arange(len(rows)), n_visits),
                host=[group] * len(names),
                changed=np.concatenate(rows),
            )
        names.clear()
        rows.clear()


def _row(line: bytes) -> Bools | Flaw:
    """What each visit found; the first copy, a day before the first character, stands for itself."""
    bits = np.frombuffer(b"1" + line.translate(None, _SPACES), dtype=np.uint8) - ord("0")
    if (bits > 1).any():
        return Flaw("the row holds something other than 0 and 1")
    found: Bools = bits.astype(np.bool_)
    return found
